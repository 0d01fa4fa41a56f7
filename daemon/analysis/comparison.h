/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares groups of recordings. Recordings with the same label (else with the same governor) are
 * the runs of one group. Each figure is one number per run.
 */
#ifndef ANALYSIS_COMPARISON_H
#define ANALYSIS_COMPARISON_H

#include "../common/json.h"
#include "../recording/reader/recording.h"
#include "verdict.h"

#define COMPARE_GROUPS 12
#define COMPARE_RUNS   VERDICT_RUNS

struct compare_group {
	const char *label;
	size_t base; /* index of the group to compare it with; its own index: none */
	const struct recording *rec[COMPARE_RUNS];
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

/**
 * struct compare_energy - which energy to compare
 * @idle: a run in which the machine was idle: its mean power is subtracted; NULL: none is
 *
 * The energy is that of the recorded commands.
 */
struct compare_energy {
	const struct recording *idle;
};

/*
 * @energy may be NULL: the energy of whole recordings. Returns false, after an error message,
 * without memory.
 */
bool compare_make(struct recording *const *rec, size_t runs, const struct compare_energy *energy,
		  struct comparison *c);
void compare_free(struct comparison *c);

/* Figures that a caller adds, at most. */
#define COMPARE_ADDED 4

/* Adds one figure without values, to be filled in. At most one after compare_make(). */
struct compare_figure *compare_add_figure(struct comparison *c, const char *name, const char *unit,
					  int better, bool main);

/* Compares a figure of a group with that of its base group. */
void compare_verdict(const struct comparison *c, const struct compare_figure *f, size_t group,
		     struct verdict *v);

/* Writes the verdict on a figure of a group as members of the open object. */
void compare_print_json(struct json *j, const struct comparison *c, const struct compare_figure *f,
			size_t group);

#endif
