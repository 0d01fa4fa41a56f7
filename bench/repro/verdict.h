/* SPDX-License-Identifier: MIT */
/**
 * DOC: The verdict on a claim, from its declaration and the figures alone
 *
 * A claim declares terms: figures, each with the interval outside which the paper is
 * contradicted, and the band within which it counts as reproduced. verdict_of() is the
 * only place where a verdict comes from. It is pure: no run, no clock, no file.
 */
#ifndef BENCH_VERDICT_H
#define BENCH_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

/* From the best to the worst; the worst term of a claim is the claim's. */
enum verdict {
	VERDICT_REPRODUCES,
	VERDICT_SHAPE, /* the direction, not the size */
	VERDICT_UNKNOWN, /* not measured: nothing is known */
	VERDICT_DOES_NOT, /* contradicts the paper */
};

/* What a figure rests on. */
enum basis {
	BASIS_COUNT, /* the same on a busy machine */
	BASIS_TIME, /* time or the scheduler's choice: wants a quiet machine */
	BASIS_PROXY, /* time as a substitute for energy */
	BASIS_ENERGY, /* wants a power rail: this program reads none */
};

/**
 * struct term - one figure of a claim, and the values allowed for it
 * @paper: the paper's own figure; NAN where it prints none (a plot, or words)
 * @shape: open interval; at its ends and outside them the paper is contradicted
 * @size: closed band within @shape in which ours counts as reproduced; both ends finite
 */
struct term {
	const char *name, *unit;
	enum basis basis;
	double paper, shape[2], size[2];
};

/** struct needs - @cpus and @runs at least; @rail: a power rail */
struct needs {
	unsigned int cpus, runs;
	bool rail;
};

enum {
	UNMET_CPUS = 1,
	UNMET_RAIL = 2,
	UNMET_RUNS = 4,
	UNMET_QUIET = 8,
};

/** struct setup - where the figures were taken; @quiet: no timing was disturbed */
struct setup {
	unsigned int cpus, runs;
	bool quiet;
};

/** verdict_term() - the verdict on one figure; NAN is unknown. */
enum verdict verdict_term(const struct term *term, double figure);

/**
 * verdict_of() - the verdict on a claim: the worst of its terms
 *
 * Terms of energy are left out, as nothing here measures them: needs_unmet() says so.
 * With @counts, so are those that rest on time. VERDICT_UNKNOWN where no term is left.
 */
enum verdict verdict_of(const struct term *term, const double *figure, size_t terms, bool counts);

/** needs_unmet() - what of @needs and of the terms' bases @setup lacks, UNMET_ bits. */
unsigned int needs_unmet(const struct needs *needs, const struct term *term, size_t terms,
			 const struct setup *setup, bool counts);

/** term_rests_on_time() - does a busy machine influence the figure? */
static inline bool term_rests_on_time(const struct term *term)
{
	return term->basis == BASIS_TIME || term->basis == BASIS_PROXY;
}

/**
 * control_confirms() - does the control confirm that the mechanism caused our verdict?
 * @plain: without the control; @control: with it
 *
 * A claim that holds must fail with the control, and the reverse. Unknown confirms nothing.
 */
bool control_confirms(enum verdict plain, enum verdict control);

/** verdict_name() - as the page prints it. */
const char *verdict_name(enum verdict verdict);

#endif
