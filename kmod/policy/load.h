/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How busy a CPU is, in units of its highest frequency.
 *
 * The scheduler's signal for a CPU is not exported to modules. This one is the
 * higher of two:
 *  - from idle time, a geometric mean with PELT's half-life of 32 periods and PELT's
 *    idea of invariance: time at a lower frequency counts slower, and the time
 *    so lost is made up for in the idle time that follows. It includes everybody
 *    who ran here, and is off what PELT would say for the same busy and idle time by
 *    what half a window can move a mean, to either side;
 *  - the utilisation of the thread that runs, which the scheduler keeps in the
 *    thread itself. A thread brings it along: when it wakes after a sleep, comes
 *    from another CPU or is new, the CPU knows nothing yet. What a thread that
 *    was not here lately brings is added to the mean, as PELT does, and taken
 *    from that of the CPU that it came from when that is next looked at. Of one
 *    that may have been here unseen only what its time here does not account for
 *    is added.
 *
 * There are two channels. ALL counts everything. BASE leaves out the busy time
 * in which a hint decided, for a capped thread looks busier than it is; when
 * the phase ends, BASE is what load asks for, and the frequency is given back
 * without a spike.
 */
#ifndef _GCHINT_LOAD_H
#define _GCHINT_LOAD_H

#include "pure.h"

/**
 * struct gchint_load_meter - one channel
 * @wall_ns: length of the window under way
 * @busy_ns: busy time in it, scaled by frequency
 * @real_ns: busy time in it
 * @lag_ns: time lost to low frequency since the CPU was last idle
 * @mean: geometric mean, 0..GCHINT_ONE << 10
 */
struct gchint_load_meter {
	u64 wall_ns;
	u64 busy_ns;
	u64 real_ns;
	u64 lag_ns;
	u32 mean;
};

#define GCHINT_LOAD_GUESTS     8
#define GCHINT_LOAD_MIGRATIONS 256

/**
 * struct gchint_load_migrations - where threads that mattered ran last, by a hash of them
 * @where: who, 22 bits (as many as a pid has), and 10 of the CPU
 * @what: 0..GCHINT_ONE, 11 bits, and 21 of the time in units of 2^20 ns
 *
 * Shared by all CPUs without a lock: a pair written by two at once, or two threads of
 * one place, make a load too high or too low until its mean has forgotten it.
 */
struct gchint_load_migrations {
	struct {
		u32 where;
		u32 what;
	} entry[GCHINT_LOAD_MIGRATIONS];
};

/**
 * struct gchint_load - load of one CPU
 * @last_ns: time of the last account
 * @last_idle_us: idle counter then
 * @split_ns: when a hint last decided; 0: the channels are one, @all
 * @all: everything
 * @base: without hinted time; used only while split
 * @idle_ns: time without any busy time, up to the last account
 * @task: gchint_load_task() since the CPU last idled, 0..GCHINT_ONE
 * @who: of whom that was
 * @guest: the last to matter that ran here; 0 nobody
 * @next: which of @guest to forget next
 * @io_ns: last gchint_load_io()
 * @io_boost: 0..GCHINT_ONE
 * @io_pending: woken since the last gchint_load_boost()
 * @migrations: by which it sees who has left; NULL nobody does
 * @cpu: which one it is, for @migrations
 *
 * The caller serialises all calls for one CPU.
 */
struct gchint_load {
	u64 last_ns;
	u64 last_idle_us;
	u64 split_ns;
	struct gchint_load_meter all;
	struct gchint_load_meter base;
	u64 idle_ns;
	u32 task;
	u32 who;
	u32 guest[GCHINT_LOAD_GUESTS];
	u32 next;
	u64 io_ns;
	u32 io_boost;
	bool io_pending;
	u32 cpu;
	struct gchint_load_migrations *migrations;
};

/**
 * gchint_load_init() - start counting
 * @l: load of a CPU
 * @migrations: of all CPUs between which threads move, zeroed at first; NULL none
 * @cpu: which one it is
 * @now_ns: current time
 * @idle_us: idle counter of the CPU in microseconds, e.g. get_cpu_idle_time()
 */
void gchint_load_init(struct gchint_load *l, struct gchint_load_migrations *migrations, u32 cpu,
		      u64 now_ns, u64 idle_us);

/**
 * gchint_load_account() - take note of the time since the last call
 * @l: load of a CPU
 * @now_ns: current time
 * @idle_us: idle counter; a backward or impossible step counts as busy
 * @scale: gchint_scale() of the frequency in force since the last call
 * @hinted: a hint capped meanwhile: gchint_demand_capped() of the last demand.
 *	Time at a boost is not so marked: at the highest frequency a thread is
 *	as busy as it looks.
 * @window_ns: &gchint_tunables.window_us: busy and idle time are put in order
 *	once in so long, half of the idle first
 *
 * Whoever ran here and has since run on another CPU took along what it brought.
 */
void gchint_load_account(struct gchint_load *l, u64 now_ns, u64 idle_us, u32 scale, bool hinted,
			 u64 window_ns);

/**
 * gchint_load_task() - the utilisation of the thread that runs
 * @l: load of its CPU, just accounted
 * @who: the thread, by any number but 0
 * @util: 0..GCHINT_ONE, of that CPU at its highest frequency; 0 if it says
 *	nothing about what load asks for
 *
 * @util counts until the next call, or until gchint_load_account() sees idle time.
 *
 * Return: true if it may have come from elsewhere and matters: gchint_load_come() is
 * due. While the same thread runs on, what it takes along need not be worked out.
 */
bool gchint_load_task(struct gchint_load *l, u32 who, u32 util);

/**
 * gchint_load_come() - the thread that runs may have brought something along
 * @l: load of its CPU, after gchint_load_task() returned true
 * @who: as there
 * @mean: of the utilisation said there, what it has used of late, and takes along; that
 *	may be what it is known to use when it wakes
 * @ran_ns: how long it has run in its life, scaled by frequency. Of one of whom no CPU has
 *	told, that was here: the mean has it already
 */
void gchint_load_come(struct gchint_load *l, u32 who, u32 mean, u64 ran_ns);

/**
 * gchint_load_idle() - has the CPU been idle for a while?
 * @l: load of a CPU, just accounted
 * @ns: for so long
 *
 * What such a CPU did before is no reason to keep others of its policy fast:
 * when it wakes it asks for itself.
 */
static inline bool gchint_load_idle(const struct gchint_load *l, u64 ns)
{
	return l->idle_ns > ns;
}

/**
 * gchint_load_all() - load, hinted time included
 * @l: load of a CPU
 *
 * What load alone would ask for while a hinted thread runs: the bound for
 * sessions that may not raise.
 *
 * Return: 0..GCHINT_ONE, without headroom
 */
u32 gchint_load_all(const struct gchint_load *l);

/**
 * gchint_load_base() - load without hinted time
 * @l: load of a CPU
 *
 * Return: 0..GCHINT_ONE, without headroom
 */
u32 gchint_load_base(const struct gchint_load *l);

/**
 * gchint_load_io() - gchint_load_iowait() while there is a boost, or a reason for one
 * @l: load of a CPU
 * @now_ns: current time
 * @woken: with SCHED_CPUFREQ_IOWAIT
 * @tick_ns: length of a scheduler tick
 */
void gchint_load_io(struct gchint_load *l, u64 now_ns, bool woken, u64 tick_ns);

/**
 * gchint_load_iowait() - the update hook was called
 * @l: load of a CPU
 * @now_ns: current time
 * @woken: with SCHED_CPUFREQ_IOWAIT
 * @tick_ns: length of a scheduler tick
 *
 * Doubles a boost from an eighth up to one while wakeups from I/O wait come
 * within a tick of each other, as schedutil does.
 */
static inline void gchint_load_iowait(struct gchint_load *l, u64 now_ns, bool woken, u64 tick_ns)
{
	/* Without a boost nothing is measured from the last call. */
	if (woken || l->io_boost)
		gchint_load_io(l, now_ns, woken, tick_ns);
}

/**
 * gchint_load_io_fade() - halve the boost if no wakeup came since the last call
 * @l: load of a CPU
 */
void gchint_load_io_fade(struct gchint_load *l);

/**
 * gchint_load_boost() - the I/O boost now
 * @l: load of a CPU
 *
 * Halves the boost when no wakeup came since the last call. Combine it by
 * taking the higher of it and the load.
 *
 * Return: 0..GCHINT_ONE
 */
static inline u32 gchint_load_boost(struct gchint_load *l)
{
	if (l->io_boost)
		gchint_load_io_fade(l);
	return l->io_boost;
}

#endif /* _GCHINT_LOAD_H */
