/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A measurement of one or several commands: what the options say, and what the runs took. */
#ifndef GCHINTCTL_MEASURE_H
#define GCHINTCTL_MEASURE_H

#include <limits.h>
#include <signal.h>
#include <stdint.h>

#include "../../analysis/comparison.h"
#include "../launch/counters.h"
#include "plan.h"

#define MEASURE_COMMANDS COMPARE_GROUPS
#define MEASURE_RUNS	 COMPARE_RUNS
#define MEASURE_FILES	 900 /* recordings, which are open at the same time at the end */

/* Commands that belong to a measured one. They are not measured. */
enum measure_hook {
	HOOK_SETUP, /* once, before all runs */
	HOOK_PREPARE, /* before each run */
	HOOK_CONCLUDE, /* after each run */
	HOOK_CLEANUP, /* once, after all runs */
	HOOK_NR
};

/**
 * struct measure_command - a command and what its runs took
 * @argv: its words
 * @text: its words as a user would type them
 * @label: of its recordings: "baseline", "command", or its number
 * @value: of the parameter; NULL without one
 * @hook: words of its hooks; NULL: none
 * @cpu_s: CPU time of each run
 * @count: cycles and instructions of each run, in millions; NAN: not known
 * @peak_mib: memory of the largest process of each run; NAN: not known
 * @runs: number of these
 */
struct measure_command {
	char **argv, *text, label[16], *value;
	char **hook[HOOK_NR];
	double cpu_s[MEASURE_RUNS], peak_mib[MEASURE_RUNS], count[COUNTERS][MEASURE_RUNS];
	size_t runs;
};

struct measure {
	struct measure_command command[MEASURE_COMMANDS]; /* the first is the base of the others */
	size_t commands;
	unsigned int runs, warmup, period_ms;
	double idle_s;
	bool ignore_failure, show, json;
	bool conclusive; /* what the runs cannot say is a failure */
	const char *keep, *program, *parameter; /* a name; NULL: none */
	const char *export_json, *export_csv, *export_markdown; /* files; NULL: none */
	struct plan_limits limits;

	sigset_t taken;
	char dir[64]; /* "" recordings are kept */
	char *file[MEASURE_FILES]; /* recordings of the runs, in order */
	size_t files;
	char idle_file[PATH_MAX];
	size_t failed, left;
	uint64_t began;
	size_t done, all; /* runs, those to warm up included */
};

/* "setup", "prepare", "conclude", "cleanup": the option of a hook. */
const char *measure_hook_name(enum measure_hook hook);

/* Reads the arguments. Returns -1 to go on, or an exit code. */
int measure_options(struct measure *m, int argc, char **argv);
void measure_options_free(struct measure *m);

#endif
