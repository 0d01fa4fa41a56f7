/* SPDX-License-Identifier: MIT */
/* Records of leased threads: allocation, lookup, release. */
#ifndef GCHINT_RECORD_H
#define GCHINT_RECORD_H

#include "page.h"

/** record_take() - a free record of slot block @block for thread @tid, or NULL. */
struct record *record_take(struct gchint_session *s, unsigned int block, pid_t tid, int self);
void record_give(struct record *r);

/** record_at() - the record of a handle's index, which is not 0. */
struct record *record_at(uint32_t index);

/** record_block() - the number of the slot block that @r belongs to. */
static inline unsigned int record_block(const struct record *r)
{
	return (r->handle.index - 1u) / GCHINT_SLOTS;
}

/**
 * record_of() - the record of a handle
 *
 * Return: NULL if the handle has no lease. Its edges are then ignored; a thread's own
 * handle of an earlier session is attached again at its next edge.
 */
struct record *record_of(struct gchint_session *s, struct gchint_thread *t);

/** record_slot_taken() - @slot was leased again: detach the record that had it before. */
void record_slot_taken(uint32_t slot);

/** record_find() - the record of thread @tid, or NULL if it has none. */
struct record *record_find(pid_t tid);

/** record_selves() - count the living threads, except @but, that announce themselves. */
int record_selves(pid_t but);

static inline uint8_t record_flags(const struct record *r)
{
	return load_relaxed(&r->flags);
}

void record_set_flags(struct record *r, uint8_t set);
void record_clear_flags(struct record *r, uint8_t clear);
/** record_take_flags() - clear @take; each flag that was set is returned to one caller. */
uint8_t record_take_flags(struct record *r, uint8_t take);
int thread_lives(pid_t tid);

#endif /* GCHINT_RECORD_H */
