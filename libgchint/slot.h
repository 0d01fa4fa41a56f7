/* SPDX-License-Identifier: MIT */
/* The writer's side of struct gchint_slot. */
#ifndef GCHINT_SLOT_H
#define GCHINT_SLOT_H

#include <stddef.h>

#include "page.h"

#define WORD_MASK (~GCHINT_STATE_SEQ_MASK)

static inline uint32_t phase_of(uint32_t word)
{
	return word & 0xff;
}

static inline uint32_t flags_of(uint32_t word)
{
	return word >> GCHINT_STATE_FLAGS_SHIFT & 0xff;
}

/**
 * slot_of() - the kernel's slot of @r, or NULL without the device
 *
 * The slot of a thread that ended may be reassigned at any time; the result is then
 * a substitute that is never read.
 */
static inline struct gchint_slot *slot_of(struct gchint_session *s, struct record *r)
{
	struct gchint_slot *slots = load_relaxed(&s->bank.slots);
	uint32_t slot = load_relaxed(&r->slot);
	struct bank *bank;

	if (!slots)
		return NULL;
	if (slot < GCHINT_SLOTS)
		return &slots[slot];
	bank = bank_at(s, slot / GCHINT_SLOTS);
	slots = bank ? load_relaxed(&bank->slots) : NULL;
	return slots ? &slots[slot % GCHINT_SLOTS] : &gchint_page.unread;
}

/** state_of() - the address of the state word of @r. */
static inline uint32_t *state_of(struct gchint_session *s, struct record *r)
{
	struct gchint_slot *slot = slot_of(s, r);

	return slot ? &slot->state : &r->word;
}

/** state_next() - the state word after @old: next sequence number, phase and flags of @word. */
static inline uint32_t state_next(uint32_t old, uint32_t word)
{
	return (old & GCHINT_STATE_SEQ_MASK & ~GCHINT_STATE_WRITING) + GCHINT_STATE_EDGE + word;
}

/* Which details slot_publish() stores. */
#define DETAIL_CAUSE  0x01u
#define DETAIL_WORK   0x02u
#define DETAIL_METHOD 0x04u
#define DETAIL_ALL    0x07u

/**
 * slot_publish() - publish an edge with details, or progress, cause or method alone
 * @slot: the slot, or NULL without the device: details are then dropped
 * @state: its state word
 * @next: the new state word
 * @which: DETAIL_*
 * @d: their values; NULL zero
 */
void slot_publish(struct gchint_slot *slot, uint32_t *state, uint32_t next, unsigned int which,
		  const struct gchint_detail *d);

#endif /* GCHINT_SLOT_H */
