/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several recordings as runs of some kinds: those of one label (else of one
 * governor) are a kind. Each figure is one number a run.
 */
#ifndef GCHINTCTL_COMPARISON_H
#define GCHINTCTL_COMPARISON_H

#include "run.h"
#include "verdict.h"

#define COMPARE_GROUPS 12
#define COMPARE_RUNS   VERDICT_RUNS

struct compare_group {
	const char *label;
	size_t base; /* the group that it is held against; its own is none */
	const struct run *run[COMPARE_RUNS];
	size_t nr;
};

/**
 * struct compare_figure - one number a run
 * @name: what, "energy of pin, measured"
 * @unit: its unit, "" none
 * @better: -1 lower is better, +1 higher, 0 neither
 * @main: one of those that a verdict begins with
 * @n: values of each group: of the runs that tell it
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
	size_t groups, left; /* @left: recordings that had no room */
	struct compare_figure *figure; /* energy, time and pauses first */
	size_t figures;
};

/* False without memory, which is told. */
bool compare_make(struct run *const *run, size_t runs, struct comparison *c);
void compare_free(struct comparison *c);

/* A figure of a group against its base. */
void compare_verdict(const struct comparison *c, const struct compare_figure *f, size_t group,
		     struct verdict *v);

#endif
