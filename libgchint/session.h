/* SPDX-License-Identifier: MIT */
/*
 * The process's session, and the one page that holds all the library remembers.
 * Nothing here is shared with the kernel.
 */
#ifndef GCHINT_SESSION_H
#define GCHINT_SESSION_H

#include "record.h"

struct gchint_stream;

#define EXPECT_PHASES 16
#define EXPECT_KINDS  3

/** struct identity - of an open file: the program may close ours and use the number */
struct identity {
	dev_t dev;
	ino_t ino;
};

/* As many threads as a session of the kernel may have slots. */
#define BANKS	   (GCHINT_SLOTS_MAX / GCHINT_SLOTS)
#define BANKS_NEAR 8 /* that struct gchint_session knows of */

/**
 * struct bank - GCHINT_SLOTS leases: of the one session of a kernel whose sessions
 * grow, of a session of its own with an older one
 * @slots: the mapped slots; NULL without the device
 * @device: the device's file
 * @fd: of the device, or -1; past the first bank always, where sessions grow
 */
struct bank {
	struct gchint_slot *slots;
	struct identity device;
	int fd;
};

/**
 * struct more - the records of one more bank, when those before it are full
 *
 * A page of its own, made when it is needed and kept: handles point into it.
 * @far: of the second bank: those that struct gchint_session does not know of
 */
struct more {
	struct bank bank;
	struct record record[GCHINT_SLOTS];
	struct more *far[BANKS - BANKS_NEAR];
};

_Static_assert(sizeof(struct more) <= 4096, "a page for each further bank");

/**
 * struct gchint_session - the process's session
 * @info: the mapped information page; NULL without the device
 * @cpus: mapped, an entry of gchint_info.cpu_size bytes a CPU; NULL where the kernel
 *	has none
 * @bank: the first one; its records are in struct page
 * @more: the others, filled in order
 * @stream: the ring to a recorder, or NULL
 * @trace: the trace file
 * @trace_fd: or -1
 * @pid: process that opened it; 0 none
 * @lock: pid of who opens or closes now; 0 nobody. After a fork the parent's pid
 *	means nothing.
 * @refs: gchint_open() less gchint_close(); 0 closed
 * @inside: threads that are attaching now
 * @why: why there is no device
 * @hints: enum hints
 * @bad: environment variable that could not be obeyed at the last open: index in
 *	variables[] of session.c
 * @trace_lost: lines that the trace could not take
 * @min_us: GCHINT_MIN_US, or -1
 * @clamp: cap in units of 1/1024 of the capacity
 * @epoch: changes when handles lose their meaning; never 0 once open
 * @backend: enum gchint_backend
 * @init: gchint_init() holds one of @refs
 * @elsewhere: the device is not /dev/gchint
 * @grows: the kernel's session has slots for all banks
 * @profile: GCHINT_PROFILE
 * @profiled: the recorder's samples are answered
 * @method: how many interpreted methods were given an address
 * @methods: where those addresses begin; 0 no range yet
 * @expect: expected length by phase and kind, 1024 ns; 0 unknown
 */
struct gchint_session {
	const struct gchint_info *info;
	const void *cpus;
	struct bank bank;
	struct more *more[BANKS_NEAR - 1];
	struct gchint_stream *stream;
	struct identity trace;
	int trace_fd;
	pid_t pid;
	pid_t lock;
	int refs;
	int inside;
	int why;
	uint32_t trace_lost;
	int32_t min_us;
	uint16_t clamp;
	uint16_t epoch;
	uint8_t backend;
	uint8_t init;
	uint8_t hints;
	uint8_t bad;
	uint8_t elsewhere;
	uint8_t grows;
	uint8_t profile;
	uint8_t profiled;
	uint32_t method;
	uintptr_t methods;
	uint32_t expect[EXPECT_PHASES][EXPECT_KINDS];
};

/**
 * struct page - all of it
 * @unread: stands for the slot of a thread that has none any more
 */
struct page {
	struct gchint_slot unread;
	struct gchint_session session;
	struct record record[GCHINT_SLOTS];
};

_Static_assert(sizeof(struct page) <= 4096, "the library's bound: one page a process");

extern struct page gchint_page;

/*
 * A thread that announces itself may look at the session while it is closed and
 * opened again: what it reads is old or new, never torn.
 */
static inline unsigned int backend_of(const struct gchint_session *s)
{
	return load_relaxed(&s->backend);
}

/** more_place() - where the bank of number @n, from 1, is known; NULL if nowhere yet. */
static inline struct more **more_place(struct gchint_session *s, unsigned int n)
{
	struct more *second;

	if (n < BANKS_NEAR)
		return &s->more[n - 1];
	second = n < BANKS ? load_acquire(&s->more[0]) : NULL;
	return second ? &second->far[n - BANKS_NEAR] : NULL;
}

static inline struct more *more_at(struct gchint_session *s, unsigned int n)
{
	struct more **place = more_place(s, n);

	return place ? load_acquire(place) : NULL;
}

/** bank_at() - the bank of number @n, or NULL where there are not so many. */
static inline struct bank *bank_at(struct gchint_session *s, unsigned int n)
{
	struct more *more;

	if (!n)
		return &s->bank;
	more = more_at(s, n);
	return more ? &more->bank : NULL;
}

/** bank_records() - its records; NULL likewise. */
static inline struct record *bank_records(unsigned int n)
{
	struct more *more;

	if (!n)
		return gchint_page.record;
	more = more_at(&gchint_page.session, n);
	return more ? more->record : NULL;
}

/* All records of all banks; @n counts them. */
#define for_each_record(r, n)                                                                      \
	for ((n) = 0; bank_records((n) / GCHINT_SLOTS) &&                                          \
		      ((r) = &bank_records((n) / GCHINT_SLOTS)[(n) % GCHINT_SLOTS], 1);            \
	     (n)++)

/**
 * bank_add() - make the one of number @n, from 1, after all before it
 *
 * Async-signal-safe.
 *
 * Return: 0 or -errno.
 */
int bank_add(struct gchint_session *s, unsigned int n);

void identity_of(int fd, struct identity *id);
int identity_is(int fd, const struct identity *id);

/** fd_above_stdio() - @fd or a copy of it that no program takes for its output. */
int fd_above_stdio(int fd);

#endif /* GCHINT_SESSION_H */
