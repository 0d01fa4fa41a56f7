/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares groups of recordings. Recordings with the same label (else with the same governor) are
 * the runs of one group. Each figure is one number per run.
 */
#ifndef GCHINTCTL_COMPARISON_H
#define GCHINTCTL_COMPARISON_H

#include "../recording/recording.h"
#include "verdict.h"

#define COMPARE_GROUPS 12
#define COMPARE_RUNS   VERDICT_RUNS

struct compare_group {
	const char *label;
	size_t base; /* index of the group to compare it with; its own index: none */
	const struct run *run[COMPARE_RUNS];
	size_t nr;
};

/**
 * struct compare_figure - one number per run
 * @name: for example "energy of pin, measured"
 * @unit: its unit, "" none
 * @better: -1 lower is better, +1 higher, 0 neither
 * @main: energy, time or pauses: one of the main figures
 * @n: number of values per group: of its runs that have the figure
 * @value: the values
 */
struct compare_figure {
	char name[160];
	const char *unit;
	int better;
	bool main;
	size_t n[COMPARE_GROUPS];
	double value[COMPARE_GROUPS][COMPARE_RUNS];
};

struct comparison {
	struct compare_group group[COMPARE_GROUPS];
	size_t groups, left; /* @left: recordings beyond the limits, not compared */
	struct compare_figure *figure; /* energy, time and pauses first */
	size_t figures;
};

/* False, after an error message, without memory. */
bool compare_make(struct run *const *run, size_t runs, struct comparison *c);
void compare_free(struct comparison *c);

/* Compares a figure of a group with that of its base group. */
void compare_verdict(const struct comparison *c, const struct compare_figure *f, size_t group,
		     struct verdict *v);

#endif
