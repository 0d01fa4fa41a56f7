/* SPDX-License-Identifier: MIT */
/* Whose a record is: taken for a leased thread, found, given back. */
#ifndef GCHINT_RECORD_H
#define GCHINT_RECORD_H

#include "page.h"

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
/** record_take_flags() - clear them; of several callers one is told which were set. */
uint8_t record_take_flags(struct record *r, uint8_t take);
int thread_lives(pid_t tid);

#endif /* GCHINT_RECORD_H */
