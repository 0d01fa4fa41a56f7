/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the runs of gchintctl measure say: tables, verdicts, and the exit status. */
#ifndef GCHINTCTL_RESULT_H
#define GCHINTCTL_RESULT_H

#include "../../analysis/comparison.h"
#include "plan.h"

/**
 * struct result - measured runs
 * @comparison: of the runs; its last group is the command, the one before it the baseline
 * @command: the command line of each side; that of the baseline is NULL without one
 * @runs: runs of each side
 * @warmup: unmeasured runs of each side before these
 * @period_ms: sampling interval of rails
 * @idle_s: length of the idle time whose power was subtracted; 0: none was
 * @failed: runs that exited with an error, which was ignored
 * @left: runs that left processes behind that still ran
 * @no_energy: why no rail measures energy; "" if one does
 * @limits: by how much figures may grow
 */
struct result {
	const struct comparison *comparison;
	const char *command[PLAN_SIDES];
	size_t runs, warmup;
	unsigned int period_ms;
	double idle_s;
	size_t failed, left;
	char no_energy[512];
	struct plan_limits limits;
};

void result_print_text(const struct result *r);
void result_print_json(const struct result *r);

/* Reports figures that grew beyond their limits, or are unknown and have one. Exit status. */
int result_judge(const struct result *r);

#endif
