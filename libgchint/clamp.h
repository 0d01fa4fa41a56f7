/* SPDX-License-Identifier: MIT */
/*
 * Utilisation clamps (sched_setattr(2), CONFIG_UCLAMP_TASK): a cap for concurrent
 * phases and roles, never a boost: threads that others wait for keep what they had.
 * schedutil lowers the frequency for a capped thread, and Energy-Aware Scheduling
 * places it on a core that is large enough for the cap.
 *
 * A thread is named by its number, and the kernel gives the number of one that has ended
 * to another thread, of any process of the user. So it is checked, before each clamp and
 * after, that the number is that of a thread of this process.
 *
 * The clamp found before is restored when a phase ends, a role changes, a thread is
 * detached and the session closes. A clamp that differs from ours by then was set by
 * another program or by the administrator, and stays.
 */
#ifndef GCHINT_CLAMP_H
#define GCHINT_CLAMP_H

#include "page.h"

/*
 * Phases that are expected to be shorter do not change the clamp, unless GCHINT_MIN_US
 * says otherwise. A cap and its end take two calls of sched_getattr(2), 0.5 us each, two of
 * sched_setattr(2), 4.5 us each (x86-64, a virtual machine with other load, Linux 6.18;
 * measured with a change of the nice value, which takes the same path), and three of
 * tgkill(2) with signal 0, 0.3 us each: 11 us, a hundredth of this limit. Besides, schedutil changes a frequency at most once per
 * millisecond unless the driver sets another interval, so that the cap of a shorter phase
 * would rarely reach the clock.
 */
#define CLAMP_MIN_US 1000

#define CLAMP_FITTING (-1)

/**
 * clamp_open() - find out whether clamps work here, and choose the cap
 * @s: the session
 * @percent: of the largest CPU. CLAMP_FITTING where the user names none: the utilisation
 *	that fits the least capable CPU by the scheduler's own rule, or half of a CPU where
 *	all are equal.
 *
 * Return: 0 or -errno.
 */
int clamp_open(struct gchint_session *s, long percent);

/** clamp_late() - has the time @stall_ns (CLOCK_MONOTONIC; 0 unknown) passed? */
int clamp_late(uint64_t stall_ns);

/** clamp_wanted() - is a thread in the phase @word to be capped? */
int clamp_wanted(uint32_t word);

/** clamp_attach() - remove a cap that the new thread of @r inherited from its creator. */
void clamp_attach(struct gchint_session *s, struct record *r);

/** clamp_role() - apply the new role @role to @r. GCHINT_ROLE_FOLLOW caps nothing. */
void clamp_role(struct gchint_session *s, struct record *r, unsigned int role);

/** clamp_standing() - does its role cap @r while it is in no phase? */
int clamp_standing(const struct record *r);

/** clamp_apply() - cap @r, or restore its own clamp. May change errno. */
void clamp_apply(struct gchint_session *s, struct record *r, int capped);

/** clamp_restore() - restore the thread's own clamp if it is capped. */
void clamp_restore(const struct gchint_session *s, struct record *r);

/** clamp_forked() - in a forked child: remove the parent's cap from its only thread. */
void clamp_forked(struct gchint_session *s);

/**
 * clamp_report_program() - report a cap that the program was started with
 *
 * posix_spawn(3) copies the cap of a thread that is in a capped phase. On standard error,
 * like clamp_report_threads(); one line in the life of a process and its forked children.
 */
void clamp_report_program(struct gchint_session *s);

/**
 * clamp_report_threads() - report threads that keep a cap
 *
 * The session closes, and has restored the clamps of the threads that it capped. Threads
 * that these created in a capped phase have the cap, too.
 */
void clamp_report_threads(struct gchint_session *s);

#endif /* GCHINT_CLAMP_H */
