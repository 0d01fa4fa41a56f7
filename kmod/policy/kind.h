/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kinds of CPU, for the learner: how memory-bound a phase is depends on the core
 * that runs it, so what was learned on one kind says nothing of another.
 */
#ifndef _GCHINT_KIND_H
#define _GCHINT_KIND_H

#include "phase.h"

/**
 * struct gchint_kind - one kind of CPU
 * @capacity: of its first CPU, 1..GCHINT_ONE
 * @khz: highest frequency of its first CPU: the unit of what is learned on it
 */
struct gchint_kind {
	u32 capacity;
	u32 khz;
};

/**
 * struct gchint_kinds - those of a machine
 * @nr: how many
 * @kind: in the order in which they were met
 *
 * The caller serialises. All zero is a valid initial state.
 */
struct gchint_kinds {
	u32 nr;
	struct gchint_kind kind[GCHINT_KINDS];
};

/**
 * gchint_kind_of() - the kind of a CPU
 * @k: those of the machine; gains one that was not met before
 * @capacity: of the CPU, 1..GCHINT_ONE; the same for all where nobody knows
 * @khz: its highest frequency, boost included; not 0
 *
 * CPUs whose capacities differ by less than a sixteenth and whose highest
 * frequencies by less than an eighth are of one kind: favoured cores of a
 * chip are some per cent faster than their neighbours, while efficient cores
 * beside them lack a fifth or more. A kind too many counts as the nearest.
 *
 * Ask once for each CPU and keep the answer, for boost may come and go.
 *
 * Return: below GCHINT_KINDS
 */
u8 gchint_kind_of(struct gchint_kinds *k, u32 capacity, u32 khz);

#endif /* _GCHINT_KIND_H */
