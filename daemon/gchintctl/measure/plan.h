/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What gchintctl measure runs in which order, and what it fails for. Pure. */
#ifndef GCHINTCTL_PLAN_H
#define GCHINTCTL_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "../../analysis/verdict.h"

/*
 * Which of @commands runs as the @i-th: in turns whose order is reversed each time (ABBA, ABCCBA), so
 * that a steady drift of the machine, such as its warming up, is the same for all.
 */
size_t plan_command_at(size_t i, size_t commands);

/* Types of figures that can have a limit. */
enum plan_figure {
	PLAN_ENERGY,
	PLAN_TIME,
	PLAN_CPU,
	PLAN_COLLECTOR_CPU,
	PLAN_PAUSE,
	PLAN_FIGURES
};

/**
 * struct plan_limits - by how many percent a figure may grow
 * @percent: NAN no limit
 * @named: the limit was set for this type, so the figure must be known
 */
struct plan_limits {
	double percent[PLAN_FIGURES];
	bool named[PLAN_FIGURES];
};

void plan_limits_init(struct plan_limits *limits);

/* Takes "5" for all figures, "energy=5" for one. Returns false, changing nothing, for others. */
bool plan_limits_set(struct plan_limits *limits, const char *text);

/* The type of a figure of a comparison; PLAN_FIGURES if none can have a limit. */
enum plan_figure plan_figure_of(const char *name);
/* "energy", "time", "cpu", "gc-cpu", "pause". */
const char *plan_figure_name(enum plan_figure figure);

enum plan_judgement {
	PLAN_WITHIN, /* the interval lies below the limit */
	PLAN_EXCEEDED, /* more than the limit, and not by chance */
	PLAN_INCONCLUSIVE /* more than the limit is not ruled out */
};

/*
 * Judges a figure that may grow by @percent. A base of 0 has no percentage: what is above 0 in all of
 * 4 runs or more exceeds any limit then, since chance orders 4 and 4 runs like that in 1 of 70 cases.
 */
enum plan_judgement plan_judge(const struct verdict *v, double percent);

/**
 * plan_words - split a command into words
 * @text: words as for a shell, with quotes, variables and patterns; no shell runs
 * @argv: receives them, with a NULL, to be freed as plan_words_free() does
 *
 * Returns NULL, or the reason why @text cannot be split.
 */
const char *plan_words(const char *text, char ***argv);
void plan_words_free(char **argv);

#define PLAN_VALUES 100 /* values of a parameter */

/**
 * plan_scan - the values of a parameter
 * @from: the first one
 * @to: the last one, unless a step goes past it
 * @step: not 0; below 0 if @to is below @from
 * @values: receives them, separated by commas, with as many decimals as the most exact of the
 *	three has, to be freed
 *
 * Returns NULL, or the reason why there are no such values.
 */
const char *plan_scan(const char *from, const char *to, const char *step, char **values);

/* @text with each "{@name}" replaced, to be freed; NULL without memory. */
char *plan_replace(const char *text, const char *name, const char *value);

#endif
