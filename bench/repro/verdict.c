// SPDX-License-Identifier: MIT
#include "repro/verdict.h"

#include <math.h>

const char *verdict_name(enum verdict verdict)
{
	static const char *const name[] = {
		[VERDICT_REPRODUCES] = "reproduces",
		[VERDICT_SHAPE] = "shape only",
		[VERDICT_UNKNOWN] = "not measured",
		[VERDICT_DOES_NOT] = "does not",
	};

	return name[verdict];
}

enum verdict verdict_term(const struct term *term, double figure)
{
	if (!isfinite(figure))
		return VERDICT_UNKNOWN;
	if (figure <= term->shape[0] || figure >= term->shape[1])
		return VERDICT_DOES_NOT;
	if (figure < term->size[0] || figure > term->size[1])
		return VERDICT_SHAPE;
	return VERDICT_REPRODUCES;
}

static bool term_is_judged(const struct term *term, bool counts)
{
	return term->basis == BASIS_COUNT || (term_rests_on_time(term) && !counts);
}

enum verdict verdict_of(const struct term *term, const double *figure, size_t terms, bool counts)
{
	enum verdict worst = VERDICT_REPRODUCES;
	size_t tried = 0;

	for (size_t i = 0; i < terms; i++) {
		enum verdict one;

		if (!term_is_judged(&term[i], counts))
			continue;
		tried++;
		one = verdict_term(&term[i], figure[i]);
		worst = one > worst ? one : worst;
	}
	return tried ? worst : VERDICT_UNKNOWN;
}

unsigned int needs_unmet(const struct needs *needs, const struct term *term, size_t terms,
			 const struct setup *setup, bool counts)
{
	unsigned int unmet = 0;
	bool timed = false;

	for (size_t i = 0; i < terms; i++)
		timed = timed || (term_rests_on_time(&term[i]) && !counts);
	if (setup->cpus < needs->cpus)
		unmet |= UNMET_CPUS;
	if (needs->rail)
		unmet |= UNMET_RAIL;
	if (timed && setup->runs < needs->runs)
		unmet |= UNMET_RUNS;
	if (timed && !setup->quiet)
		unmet |= UNMET_QUIET;
	return unmet;
}

bool control_confirms(enum verdict plain, enum verdict control)
{
	if (plain <= VERDICT_SHAPE)
		return control == VERDICT_DOES_NOT;
	return plain == VERDICT_DOES_NOT && control <= VERDICT_SHAPE;
}
