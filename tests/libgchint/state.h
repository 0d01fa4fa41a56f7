/* SPDX-License-Identifier: MIT */
/* Parts of a slot that the tests read. */
#ifndef STATE_H
#define STATE_H

#include <linux/gchint.h>

static inline __u32 state_of(const struct gchint_slot *slot)
{
	return __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
}

static inline __u32 phase_of(const struct gchint_slot *slot)
{
	return state_of(slot) & 0xff;
}

static inline __u32 flags_of(const struct gchint_slot *slot)
{
	return state_of(slot) >> GCHINT_STATE_FLAGS_SHIFT & 0xff;
}

/* Edges so far. */
static inline __u32 edges_of(const struct gchint_slot *slot)
{
	return state_of(slot) >> 17;
}

#define BIT(n) (1u << (n))

#endif /* STATE_H */
