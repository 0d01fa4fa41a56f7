/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the runs of gchintctl measure say: tables, verdicts, files, and the exit status. */
#ifndef GCHINTCTL_RESULT_H
#define GCHINTCTL_RESULT_H

#include <stdio.h>

#include "measure.h"

/**
 * struct result - measured runs
 * @measure: the commands and their runs
 * @comparison: of the runs; a group is a command
 * @no_energy: why no rail measures energy; "" if one does
 */
struct result {
	const struct measure *measure;
	const struct comparison *comparison;
	char no_energy[512];
};

/**
 * struct result_spread - the values of a command's runs in short
 * @n: how many runs have the figure; with 0 the other members are NAN, with 1 the interval and @sigma
 * @low: lower end of the mean's 95 % interval; not below 0 for figures above 0
 * @high: upper end
 * @sigma: standard deviation of a run
 */
struct result_spread {
	size_t n;
	double mean, low, high, sigma, min, max;
};

struct result_spread result_spread(const struct compare_figure *f, size_t group);

/* A figure that no run has is not printed as such; what is missing is said below the tables. */
bool result_shows(const struct result *r, const struct compare_figure *f);

/* What a command is called in a table: its parameter's value, else its words. */
void result_format_command(const struct result *r, size_t group, char *buf, size_t size);

void result_print_text(const struct result *r);
void result_write_json(const struct result *r, FILE *f);

/* Writes the files of the options --export-... Exit status. */
int result_export(const struct result *r);

/*
 * Reports figures that grew beyond their limits, and those that have a limit by name, but are unknown
 * of a command or of the one that it is compared with. Exit status.
 */
int result_judge(const struct result *r);

#endif
