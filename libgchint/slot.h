/* SPDX-License-Identifier: MIT */
/* The state word of a thread, and the slot of the kernel that holds it. */
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
	struct gchint_slot *slots = load_relaxed(&s->block.slots);
	uint32_t slot = load_relaxed(&r->slot);
	struct slot_block *block;

	if (!slots)
		return NULL;
	if (slot < GCHINT_SLOTS)
		return &slots[slot];
	block = block_at(s, slot / GCHINT_SLOTS);
	slots = block ? load_relaxed(&block->slots) : NULL;
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

#endif /* GCHINT_SLOT_H */
