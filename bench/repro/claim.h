/* SPDX-License-Identifier: MIT */
/**
 * DOC: The seeds' claims as assertions
 *
 * Each claim is a function that runs what it needs and says what came out. Counts
 * decide where there are counts; time decides only gaps above 10 %.
 *
 * To add one: a function in claims-*.c and its line in claims.list.
 */
#ifndef BENCH_CLAIM_H
#define BENCH_CLAIM_H

#include "run/run.h"

#include <stdbool.h>
#include <stdio.h>

enum verdict {
	VERDICT_REPRODUCES,
	VERDICT_SHAPE, /* the direction, not the size */
	VERDICT_DOES_NOT,
	VERDICT_LAB, /* needs real frequency scaling, power rails or more cores */
	VERDICT_FAILED, /* a run failed: nothing is known */
};

/**
 * struct outcome - what came out
 * @ours: our figures; @why: the reason of the verdict
 * @timed: the verdict rests on time
 * @disturbed: a run that counts was made on a busy machine
 */
struct outcome {
	enum verdict verdict;
	char ours[900], why[700];
	bool timed, disturbed;
};

/** struct claim - @id as in the list of claims; @paper is the paper's figure */
struct claim {
	const char *id, *text, *paper;
	void (*check)(struct outcome *o);
};

/** repro_runs - repetitions of whatever is timed; set by the command line. */
extern unsigned int repro_runs;

/**
 * probe() - run a workload in its own process
 * @profile: name of a profile, or NULL
 * @setting: "key=value ..." parted by blanks
 * Return: true, or false with o->verdict VERDICT_FAILED and the reason.
 */
bool probe(struct outcome *o, const char *workload, const char *profile, const char *setting,
	   const char *options, struct run_result *r);

/**
 * probe_least() - the run of least CPU time of repro_runs
 *
 * For figures that noise can only raise. Marks o->disturbed when none was quiet.
 */
bool probe_least(struct outcome *o, const char *workload, const char *profile, const char *setting,
		 const char *options, struct run_result *r);

/**
 * repro_table1() - the Dalvik seed's Table 1 beside ours, as Markdown to @out
 * Return: 0, or 1 when a run failed (said on standard error).
 */
int repro_table1(FILE *out);

/** ours() and why() - printf onto the end of the outcome's texts. */
void ours(struct outcome *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
void why(struct outcome *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** decide() - reproduces if @full, else shape only if @shape, else does not. */
void decide(struct outcome *o, bool full, bool shape);

#endif
