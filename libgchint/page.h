/* SPDX-License-Identifier: MIT */
/*
 * The one page that holds all state of the library, and a page for each further slot
 * block. Nothing here is shared with the kernel.
 */
#ifndef GCHINT_PAGE_H
#define GCHINT_PAGE_H

#include <stdint.h>
#include <sys/types.h>
#include <gchint.h>

#include "barrier.h"
#include "fd.h"

struct gchint_stream;
struct retired;

#define NEST 4 /* enclosing phases that are remembered */

/* struct record flags */
#define RECORD_USED   0x01 /* belongs to a thread; set and cleared by one atomic access */
#define RECORD_SELF   0x02 /* the thread announces itself: the handle is its __gchint_self */
#define RECORD_DIRTY  0x04 /* the slot holds details that the next edge clears */
#define RECORD_CAP    0x08 /* clamps: its role caps it whenever it runs */
#define RECORD_CAPPED 0x10 /* clamps: it is capped now */

#define SLOT_NONE UINT32_MAX /* no slot yet, or the slot was lost when its thread ended */

/**
 * struct record - what the library knows of one leased thread
 * @handle: the handle that gchint_attach() returns
 * @nest: words (phase, flags) of the enclosing phases, innermost lowest
 * @since: when the open phases began, innermost first: units of 1024 ns, shifted
 *	left by two; the lowest bit says that the phase was filtered, the next one that it
 *	is capped. 0 not timed.
 * @slot: with the device: number of its block * GCHINT_SLOTS + number in that block, or
 *	SLOT_NONE
 * @word: without the device: the state word
 * @prior: clamps: the thread's own upper clamp
 * @cause: of the open phase, for a recorder
 * @depth: enclosing phases, remembered or not
 * @flags: RECORD_*
 *
 * A handle has one user at a time. Only @flags, @slot, @handle.tid and @handle.state
 * are also touched by threads that attach others, each by one atomic access.
 */
struct record {
	struct gchint_thread handle;
	uint64_t nest;
	uint32_t since[NEST];
	union {
		uint32_t slot;
		uint32_t word;
	};
	uint16_t prior : 11;
	uint16_t cause : 5;
	uint8_t depth;
	uint8_t flags;
};

/*
 * State words that are never written. A handle points to gchint_closed when the library
 * has to handle its edges, and to gchint_nowhere when they are to be ignored.
 */
extern const uint32_t gchint_closed, gchint_nowhere;
#define CLOSED	((uint32_t *)&gchint_closed)
#define NOWHERE ((uint32_t *)&gchint_nowhere)

#define EXPECT_PHASES (GCHINT_PHASE_NR - 1) /* all but that of no phase */
#define EXPECT_KINDS  3

/* As many threads as a session of the kernel may have slots. */
#define BLOCKS	    (GCHINT_SLOTS_MAX / GCHINT_SLOTS)
#define BLOCKS_NEAR 8 /* that struct gchint_session refers to */

/**
 * struct slot_block - slot block: GCHINT_SLOTS leases
 * @slots: the mapped slots; NULL without the device
 * @device: the device's file
 * @fd: of the device, or -1; where sessions can grow, only the first block has one
 *
 * All blocks belong to one session of a kernel whose sessions can grow; with an older
 * kernel each block has a session of its own.
 */
struct slot_block {
	struct gchint_slot *slots;
	struct fd_identity device;
	int fd;
};

/**
 * struct slot_page - a further slot block and its records, when those before it are full
 *
 * A page of its own, mapped when it is needed and never freed: handles point into it.
 * @far: used in the second block only: the blocks beyond gchint_session.further
 */
struct slot_page {
	struct slot_block block;
	struct record record[GCHINT_SLOTS];
	struct slot_page *far[BLOCKS - BLOCKS_NEAR];
};

_Static_assert(sizeof(struct slot_page) <= 4096, "a page for each further block");

enum unsent_state {
	UNSENT_NONE,
	UNSENT_WAITS,
	UNSENT_TRIES, /* a thread sends it now */
};

/**
 * struct unsent_stream - a ring that a busy recorder has not received yet
 * @fds: of the ring and of a socket that is connected to the recorder
 * @files: identify them
 * @again: when to try again, CLOCK_MONOTONIC, ms
 * @state: enum unsent_state
 */
struct unsent_stream {
	struct fd_identity files[2];
	int fds[2];
	uint32_t again;
	uint32_t state;
};

/**
 * struct owner - what a forked child does not inherit, if the kernel can empty a page
 * @lock: thread that opens or closes now, as FUTEX_LOCK_PI has it; 0 unlocked
 * @mark: 1 in the process that opened the session
 * @retired: pages of closed sessions that threads may store to, or that are free
 */
struct owner {
	uint32_t lock;
	uint32_t mark;
	struct retired *retired;
};

/**
 * struct gchint_session - the process's session
 * @info: the mapped information page; NULL without the device
 * @cpus: mapped, an entry of gchint_info.cpu_size bytes a CPU; NULL where the kernel
 *	has none
 * @block: the first one; its records are in struct page
 * @further: the other blocks, filled in order
 * @stream: the ring to a recorder, or NULL
 * @unsent: @stream, while the recorder has not received it
 * @trace: the trace file
 * @trace_fd: or -1
 * @pid: process that opened the session; 0 none
 * @owner: mapped at the first open
 * @refs: gchint_open() less gchint_close(); 0 closed
 * @inside: threads that are attaching now
 * @hints: enum hints
 * @bad: environment variable that was invalid at the last open: index in
 *	variables[] of environ.c
 * @trace_lost: lines that could not be written to the trace
 * @min_us: GCHINT_MIN_US, or -1
 * @why: why there is no device: a negative errno, or 0
 * @clamp: cap in units of 1/1024 of the capacity; 0 none
 * @found: clamps: the upper clamp of the thread that opened the session
 * @epoch: changes when handles lose their meaning; never 0 once open
 * @backend: enum gchint_backend
 * @init: gchint_init() holds one of @refs
 * @clamped: clamps: a thread was capped since the session opened
 * @fork_handled: clamps: the fork handlers are registered
 * @reported: the error about GCHINT_HINTS was printed
 * @elsewhere: the device is not /dev/gchint
 * @grows: the kernel's session has slots in all blocks
 * @profile: GCHINT_PROFILE
 * @profiled: @profile, if the recorder's samples are answered, or need no answer; else 0
 * @sending: the recorder may have the ring, which is not in @stream yet
 * @method: number of interpreted methods that have an address
 * @methods: where those addresses begin; 0 no range yet
 * @expect: expected length by phase, from the first on, and class (filter.c), in units of
 *	1024 ns; 0 unknown
 */
struct gchint_session {
	const struct gchint_info *info;
	const void *cpus;
	struct slot_block block;
	struct slot_page *further[BLOCKS_NEAR - 1];
	struct gchint_stream *stream;
	struct unsent_stream unsent;
	struct fd_identity trace;
	int trace_fd;
	pid_t pid;
	struct owner *owner;
	int refs;
	int inside;
	uint32_t trace_lost;
	int32_t min_us;
	int16_t why;
	uint16_t clamp;
	uint16_t found;
	uint16_t epoch;
	uint8_t backend;
	uint8_t init;
	uint8_t hints;
	uint8_t bad;
	uint8_t elsewhere;
	uint8_t grows;
	uint8_t clamped;
	uint8_t fork_handled;
	uint8_t reported;
	uint8_t profile;
	uint8_t profiled;
	uint8_t sending;
	uint32_t method;
	uintptr_t methods;
	uint32_t expect[EXPECT_PHASES][EXPECT_KINDS];
};

/**
 * struct page - all state of the library
 * @unread: substitute for the slot of a thread that has lost its slot
 */
struct page {
	struct gchint_slot unread;
	struct gchint_session session;
	struct record record[GCHINT_SLOTS];
};

_Static_assert(sizeof(struct page) <= 4096, "the library's bound: one page a process");

extern struct page gchint_page;

/*
 * A thread that announces itself may read the session while it is closed and opened
 * again: it reads an old or a new value, never a torn one.
 */
static inline unsigned int backend_of(const struct gchint_session *s)
{
	return load_relaxed(&s->backend);
}

/** slot_page_place() - the pointer to slot block @n, counted from 1; NULL if it has none yet. */
static inline struct slot_page **slot_page_place(struct gchint_session *s, unsigned int n)
{
	struct slot_page *second;

	if (n < BLOCKS_NEAR)
		return &s->further[n - 1];
	second = n < BLOCKS ? load_acquire(&s->further[0]) : NULL;
	return second ? &second->far[n - BLOCKS_NEAR] : NULL;
}

static inline struct slot_page *slot_page_at(struct gchint_session *s, unsigned int n)
{
	struct slot_page **place = slot_page_place(s, n);

	return place ? load_acquire(place) : NULL;
}

/** block_at() - slot block number @n, or NULL if there are fewer. */
static inline struct slot_block *block_at(struct gchint_session *s, unsigned int n)
{
	struct slot_page *page;

	if (!n)
		return &s->block;
	page = slot_page_at(s, n);
	return page ? &page->block : NULL;
}

/** block_records() - the records of slot block @n, or NULL if there are fewer. */
static inline struct record *block_records(unsigned int n)
{
	struct slot_page *page;

	if (!n)
		return gchint_page.record;
	page = slot_page_at(&gchint_page.session, n);
	return page ? page->record : NULL;
}

/* All records of all slot blocks; @n counts them. */
#define for_each_record(r, n)                                                                      \
	for ((n) = 0; block_records((n) / GCHINT_SLOTS) &&                                         \
		      ((r) = &block_records((n) / GCHINT_SLOTS)[(n) % GCHINT_SLOTS], 1);           \
	     (n)++)

#endif /* GCHINT_PAGE_H */
