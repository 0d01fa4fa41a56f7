/* SPDX-License-Identifier: MIT */
/* What the library knows of one leased thread. */
#ifndef GCHINT_RECORD_H
#define GCHINT_RECORD_H

#include <stdint.h>
#include <sys/types.h>
#include <gchint.h>

#include "barrier.h"

#define NEST 4 /* enclosing phases that are remembered */

/* struct record flags */
#define RECORD_USED   0x01 /* belongs to a thread; taken and given by one atomic access */
#define RECORD_SELF   0x02 /* the thread announces itself: the handle is its __gchint_self */
#define RECORD_GONE   0x04 /* the lease ended with its thread; the handle is still out */
#define RECORD_DIRTY  0x08 /* the slot holds details that the next edge clears */
#define RECORD_CAP    0x10 /* clamps: its role caps it whenever it runs */
#define RECORD_CAPPED 0x20 /* clamps: it is capped now */

/**
 * struct record - a leased thread
 * @handle: what gchint_attach() gives out
 * @nest: words (phase, flags) of the enclosing phases, innermost lowest
 * @since: when the open phases began, innermost first: units of 1024 ns, shifted
 *	left by one; the lowest bit says that the phase was filtered. 0 not timed.
 * @slot: its number in the session
 * @word: without the device: the state word
 * @prior: clamps: the thread's own upper clamp
 * @depth: enclosing phases, remembered or not
 * @flags: RECORD_*
 *
 * A handle has one user at a time; only @flags, @slot and @handle.state are also
 * touched by a thread that attaches another one.
 */
struct record {
	struct gchint_thread handle;
	uint64_t nest;
	uint32_t since[NEST];
	union {
		uint32_t slot;
		uint32_t word;
	};
	uint16_t prior;
	uint8_t depth;
	uint8_t flags;
};

/* State words that are never written: what a handle points to when an edge is the
 * library's to do, and when it leads nowhere.
 */
extern const uint32_t gchint_closed, gchint_nowhere;
#define CLOSED	((uint32_t *)&gchint_closed)
#define NOWHERE ((uint32_t *)&gchint_nowhere)

/** record_take() - a free record for thread @tid, or NULL. */
struct record *record_take(struct gchint_session *s, pid_t tid, int self);
void record_give(struct record *r);

/**
 * record_of() - the record of a handle
 *
 * Return: NULL if it leases nothing; the handle then leads nowhere, or for a
 * thread's own handle of an earlier session back to being attached.
 */
struct record *record_of(struct gchint_session *s, struct gchint_thread *t);

/** record_slot_taken() - @to has a slot now: who had it before is gone. */
void record_slot_taken(struct gchint_session *s, const struct record *to);

/** record_find() - is thread @tid leased by this library? */
struct record *record_find(struct gchint_session *s, pid_t tid);

/** record_selves() - other living threads that announce themselves. */
int record_selves(struct gchint_session *s, pid_t but);

void record_set_flags(struct record *r, uint8_t set);
void record_clear_flags(struct record *r, uint8_t clear);
int thread_lives(pid_t tid);

#endif /* GCHINT_RECORD_H */
