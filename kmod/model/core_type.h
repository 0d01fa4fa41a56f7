/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Core types, for the learner: how memory-bound a phase is depends on the core that
 * runs it, so that what was learned on one type is not valid for another.
 */
#ifndef _GCHINT_CORE_TYPE_H
#define _GCHINT_CORE_TYPE_H

#include "phase.h"

struct gchint_core_type {
	u32 capacity; /* of the first CPU of this type, 1..GCHINT_ONE */
	u32 khz; /* highest frequency of that CPU: the unit of what is learned */
};

/* Core types of a machine, as they were found. The caller serialises. Starts all zero. */
struct gchint_core_types {
	u32 nr;
	struct gchint_core_type core_type[GCHINT_CORE_TYPES];
};

/**
 * gchint_core_type_find() - the core type of a CPU
 * @k: core types of the machine; a new one is added, or the nearest is taken if
 *	there are GCHINT_CORE_TYPES already
 * @capacity: 1..GCHINT_ONE; the same for all CPUs if it is not known
 * @khz: its highest frequency, boost included; not 0
 *
 * CPUs are of one type if their capacities differ by less than a sixteenth and
 * their highest frequencies by less than an eighth: favoured cores are a few per
 * cent faster than others, efficient cores lack a fifth or more. Ask once per CPU
 * and keep the answer, because boost may come and go.
 */
u8 gchint_core_type_find(struct gchint_core_types *k, u32 capacity, u32 khz);

#endif /* _GCHINT_CORE_TYPE_H */
