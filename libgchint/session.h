/* SPDX-License-Identifier: MIT */
/*
 * The process's session, and the one page that holds all the library remembers.
 * Nothing here is shared with the kernel.
 */
#ifndef GCHINT_SESSION_H
#define GCHINT_SESSION_H

#include "record.h"

#define EXPECT_PHASES 16
#define EXPECT_KINDS  4

/** struct identity - of an open file: the program may close ours and use the number */
struct identity {
	dev_t dev;
	ino_t ino;
};

/**
 * struct gchint_session - the process's session
 * @slots: the mapped slots; NULL without the device
 * @info: the mapped information page; NULL without the device
 * @device: the device's file
 * @trace: the trace file
 * @fd: of the device, or -1
 * @trace_fd: or -1
 * @pid: process that opened it; 0 none
 * @lock: pid of who opens or closes now; 0 nobody. After a fork the parent's pid
 *	means nothing.
 * @refs: gchint_open() less gchint_close(); 0 closed
 * @inside: threads that are attaching now
 * @why: why there is no device
 * @min_us: GCHINT_MIN_US, or -1
 * @clamp: cap in units of 1/1024 of the capacity
 * @epoch: changes when handles lose their meaning; never 0 once open
 * @backend: enum gchint_backend
 * @init: gchint_init() holds one of @refs
 * @expect: expected length by phase and kind, 1024 ns; 0 unknown
 */
struct gchint_session {
	struct gchint_slot *slots;
	const struct gchint_info *info;
	struct identity device;
	struct identity trace;
	int fd;
	int trace_fd;
	pid_t pid;
	pid_t lock;
	int refs;
	int inside;
	int why;
	int32_t min_us;
	uint16_t clamp;
	uint16_t epoch;
	uint8_t backend;
	uint8_t init;
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

void identity_of(int fd, struct identity *id);
int identity_is(int fd, const struct identity *id);

/** fd_above_stdio() - @fd or a copy of it that no program takes for its output. */
int fd_above_stdio(int fd);

#endif /* GCHINT_SESSION_H */
