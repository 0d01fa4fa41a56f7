/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Minimum mutator utilisation (Cheng and Blelloch, PLDI 2001): the least share of the time that
 * the mutators can run, over all windows of a given length.
 */
#ifndef GCHINTCTL_MMU_H
#define GCHINTCTL_MMU_H

#include <stddef.h>
#include <stdint.h>

struct mmu_pause {
	uint64_t t0, t1;
};

/**
 * mmu_merge - sort pauses and join those that touch, in place
 *
 * Returns how many are left.
 */
size_t mmu_merge(struct mmu_pause *pause, size_t nr);

/**
 * mmu - compute the minimum mutator utilisation, exactly
 * @pause: merged pauses
 * @nr: how many
 * @t0: begin of the execution
 * @t1: its end
 * @window: length, at most t1 - t0, more than 0
 *
 * Returns 0 to 1.
 */
double mmu(const struct mmu_pause *pause, size_t nr, uint64_t t0, uint64_t t1, uint64_t window);

#endif
