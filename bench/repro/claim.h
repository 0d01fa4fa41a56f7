/* SPDX-License-Identifier: MIT */
/**
 * DOC: The seeds' claims as declarations
 *
 * A claim says what the paper says, what would contradict it, what it needs and how
 * large the effect is; its function only measures. The verdict follows (verdict.h).
 * Counts decide where there are counts; time decides only gaps above 10 %.
 *
 * A control is the same measurement with the claim's mechanism taken away (or, where
 * the claim does not hold here, with what would make it hold): a claim whose verdict
 * stays the same then says nothing about its mechanism.
 *
 * To add one: a struct claim in claims-*.c and its line in claims.list.
 */
#ifndef BENCH_CLAIM_H
#define BENCH_CLAIM_H

#include "repro/verdict.h"
#include "run/run.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#define CLAIM_TERMS 8
#define MORE	    INFINITY /* open end of a direction */

/**
 * struct outcome - the result of a measurement
 * @figure: of each term, NAN until found; @ours: further details
 * @failed: a run failed, for the reason in @error
 * @disturbed: a run that counts was made on a busy machine
 * @altered: runs that the control in force changed
 */
struct outcome {
	const struct claim *claim;
	double figure[CLAIM_TERMS];
	char ours[1200], error[300];
	bool failed, disturbed;
	unsigned int altered;
};

/**
 * struct alteration - replaces a word of the runs' options, settings or profile
 *
 * A @from of NULL adds @to to the settings. A @to of NULL: there is no such control.
 */
struct alteration {
	const char *from, *to;
};

/**
 * struct claim - a declaration
 * @id: as in the list of claims; @text: the claim; @paper: the paper's words and figures
 * @falsifier: what outcome contradicts it
 * @note: what to know of our figures
 * @without: takes the mechanism away: a claim that holds must then be contradicted
 * @with: makes a claim hold that does not hold here
 * @measure: runs what it needs and sets the figures with found()
 */
struct claim {
	const char *id, *text, *paper, *falsifier, *note;
	struct needs needs;
	struct alteration without, with;
	struct term term[CLAIM_TERMS];
	void (*measure)(struct outcome *o);
};

/** claim_terms() - how many terms @claim has. */
size_t claim_terms(const struct claim *claim);

/** outcome_init() - an empty outcome for @claim: no figure is known. */
void outcome_init(struct outcome *o, const struct claim *claim);

/** found() - set the figure of the term @name. An unknown name is a bug: it aborts. */
void found(struct outcome *o, const char *name, double figure);

/** ours() - printf onto the end of the details. */
void ours(struct outcome *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** figure_min() - the smaller figure; NAN if one of them is. */
static inline double figure_min(double a, double b)
{
	return isnan(a) || isnan(b) ? NAN : fmin(a, b);
}

/** failed() - mark the outcome as failed, with the reason. */
void failed(struct outcome *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * struct effort - how the claims are tried; set by the command line
 * @runs: repetitions of whatever is timed
 * @counts: only what rests on counts; a measure function leaves its timed part out
 * @small: sizes that end within seconds, for tests
 */
struct effort {
	unsigned int runs;
	bool counts, small;
};
extern struct effort effort;

/** probe_alter() - apply @alteration to every run from here on; NULL for none. */
void probe_alter(const struct alteration *alteration);

/** probe_epoch() - changes with every probe_alter(), so that callers can discard old results. */
unsigned int probe_epoch(void);

/**
 * probe() - run a workload in its own process; equal requests are run once
 * @profile: name of a profile, or NULL
 * @setting: "key=value ..." separated by blanks
 * Return: true, or false with o->failed and the reason.
 */
bool probe(struct outcome *o, const char *workload, const char *profile, const char *setting,
	   const char *options, struct run_result *r);

/** probe_again() - as probe(), but always runs: for timings. */
bool probe_again(struct outcome *o, const char *workload, const char *profile, const char *setting,
		 const char *options, struct run_result *r);

/**
 * probe_least() - the run of least CPU time of effort.runs
 *
 * For figures that noise can only raise. Marks o->disturbed when none was quiet.
 */
bool probe_least(struct outcome *o, const char *workload, const char *profile, const char *setting,
		 const char *options, struct run_result *r);

/**
 * probe_setting() - @setting as the control in force has it, to @out
 *
 * For claims that are derived and run nothing.
 */
void probe_setting(struct outcome *o, const char *setting, char *out, size_t size);

/**
 * repro_table1() - the Dalvik seed's Table 1 and ours, as Markdown to @out
 * Return: 0, or 1 when a run failed (reported on standard error).
 */
int repro_table1(FILE *out);

#endif
