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
#define RECORD_DIRTY  0x04 /* the slot holds details that the next edge clears */
#define RECORD_CAP    0x08 /* clamps: its role caps it whenever it runs */
#define RECORD_CAPPED 0x10 /* clamps: it is capped now */

#define SLOT_NONE UINT32_MAX /* no slot yet, or no more: it went with its thread */

/**
 * struct record - a leased thread
 * @handle: what gchint_attach() gives out
 * @nest: words (phase, flags) of the enclosing phases, innermost lowest
 * @since: when the open phases began, innermost first: units of 1024 ns, shifted
 *	left by one; the lowest bit says that the phase was filtered. 0 not timed.
 * @slot: with the device: number of its bank * GCHINT_SLOTS + number in that bank, or
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

/* State words that are never written: what a handle points to when an edge is the
 * library's to do, and when it leads nowhere.
 */
extern const uint32_t gchint_closed, gchint_nowhere;
#define CLOSED	((uint32_t *)&gchint_closed)
#define NOWHERE ((uint32_t *)&gchint_nowhere)

/** record_take() - a free record of bank @bank for thread @tid, or NULL. */
struct record *record_take(struct gchint_session *s, unsigned int bank, pid_t tid, int self);
void record_give(struct record *r);

/** record_at() - the record of a handle's index, which is not 0. */
struct record *record_at(uint32_t index);

/** record_bank() - the number of the bank that @r belongs to. */
static inline unsigned int record_bank(const struct record *r)
{
	return (r->handle.index - 1u) / GCHINT_SLOTS;
}

/**
 * record_of() - the record of a handle
 *
 * Return: NULL if it leases nothing; the handle then leads nowhere, or for a
 * thread's own handle of an earlier session back to being attached.
 */
struct record *record_of(struct gchint_session *s, struct gchint_thread *t);

/** record_slot_taken() - @slot is another thread's now: who had it before has none. */
void record_slot_taken(uint32_t slot);

/** record_find() - is thread @tid leased by this library? */
struct record *record_find(pid_t tid);

/** record_selves() - living threads but @but that announce themselves. */
int record_selves(pid_t but);

static inline uint8_t record_flags(const struct record *r)
{
	return load_relaxed(&r->flags);
}

void record_set_flags(struct record *r, uint8_t set);
void record_clear_flags(struct record *r, uint8_t clear);
int thread_lives(pid_t tid);

#endif /* GCHINT_RECORD_H */
