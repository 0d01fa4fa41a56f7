/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Minimum mutator utilisation (Cheng and Blelloch, PLDI 2001): the least share of the time that
 * the mutators can run, over all windows of a given length.
 */
#ifndef ANALYSIS_MMU_H
#define ANALYSIS_MMU_H

#include "../recording/reader/recording.h"

/**
 * mmu - compute the minimum mutator utilisation of one process, exactly
 * @pause: its pauses, by begin; they do not overlap
 * @nr: how many
 * @t0: begin of the execution
 * @t1: its end
 * @window: length, at most t1 - t0, more than 0
 *
 * Returns 0 to 1.
 */
double mmu(const struct recording_pause *pause, size_t nr, uint64_t t0, uint64_t t1,
	   uint64_t window);

/* The pauses of a recording, apart by process. */
struct mmu_processes {
	const struct recording *rec;
	struct recording_pause *pause; /* by process, then by begin */
};

/* Returns false without memory, after reporting it; else call mmu_processes_free(). */
bool mmu_processes_of(const struct recording *rec, struct mmu_processes *p);
void mmu_processes_free(struct mmu_processes *p);

/* The minimum over the processes, 0 to 1: pauses of one do not stop the mutators of another. */
double mmu_of_processes(const struct mmu_processes *p, uint64_t window);

#endif
