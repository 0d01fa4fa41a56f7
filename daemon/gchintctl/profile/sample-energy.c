// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample-energy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../analysis/attribution.h"
#include "../../analysis/power-model.h"
#include "../../recording/reader/db.h"

struct sample_shares {
	const struct profile *p;
	struct profile_energy *e;
	const struct recording_rail *rail;
	struct rail_attribution *attribution; /* NULL: shares are by time alone */
	struct powers *powers;
};

/* The rail that the headline of summary answers with, the first of several; -1 if none. */
static int rail_find(const struct recording *rec)
{
	size_t rail;

	return energy_headline(rec, &rail, 1) ? (int)rail : -1;
}

static double sample_weight(const struct sample_shares *s, const struct profile_sample *x)
{
	return rail_attribution_weight(s->attribution, x->cpu, x->khz, s->p->seconds * 1e9);
}

/*
 * The weight of all CPU time of the rail between two readings, which samples @first to @end - 1
 * lie between. Samples prove that CPUs were busy: it is at least theirs. Returns -1 if it is not
 * known.
 */
static double interval_weight(const struct sample_shares *s, size_t first, size_t end,
			      const struct attributed_interval *v)
{
	double sum = 0;

	if (!v->known)
		return -1;
	for (size_t k = first; k < end; k++) {
		const double weight = sample_weight(s, &s->p->sample[k]);

		if (weight <= 0)
			return -1;
		sum += weight;
	}
	return fmax(sum, v->busy);
}

static void interval_spread(const struct sample_shares *s, size_t first, size_t end,
			    const struct recording_sample *a, size_t interval)
{
	const bool counter = s->rail->kind == RAIL_ENERGY;
	const bool known = energy_known(&a[0], &a[1], counter);
	const double length = (double)(a[1].t - a[0].t) * 1e-9;
	const double by_time = fmin(s->p->seconds / length, 1.0 / (double)(end - first));
	const double joules = known ? energy_joules(&a[0], &a[1], counter) : NAN;
	struct attributed_interval v = { .known = false };
	double all = -1;

	if (s->attribution && a[1].t > a[0].t) {
		rail_attribution_interval(s->attribution, interval - 1, &v);
		all = interval_weight(s, first, end, &v);
	}
	s->e->most[interval] = known && counter ? joules : INFINITY;
	if (all > 0)
		s->e->weighed += end - first;
	else if (s->attribution && v.known)
		s->e->lack[PROFILE_LACK_FREQUENCY] += end - first;
	else
		s->e->lack[PROFILE_LACK_IDLE] += end - first;
	if (all > 0)
		s->e->idle_joules += joules - v.active;
	for (size_t k = first; k < end; k++) {
		s->e->interval[k] = (uint32_t)interval;
		s->e->joules[k] = all > 0 ? v.active * sample_weight(s, &s->p->sample[k]) / all :
					    joules * by_time;
	}
}

static bool rail_spread(struct sample_shares *s, size_t rail,
			const struct recording_series *readings)
{
	const struct profile *p = s->p;
	enum attribution_lack lack;
	size_t at = 0;

	s->attribution = rail_attribution_of(p->rec, rail, &lack);
	s->e->most = calloc(readings->nr + 1, sizeof(*s->e->most));
	if (lack == ATTRIBUTION_NO_MEMORY || !s->e->most)
		return false;
	if (s->attribution)
		s->e->weight = rail_attribution_how(s->attribution);
	for (size_t i = 0; i + 1 < readings->nr; i++) {
		const struct recording_sample *a = &readings->sample[i], *b = a + 1;
		size_t first;

		while (at < p->samples && p->sample[at].t < a->t)
			at++;
		for (first = at; at < p->samples && p->sample[at].t < b->t; at++)
			;
		if (at > first)
			interval_spread(s, first, at, a, i + 1);
	}
	return true;
}

/* Models the energy of each sample by the power of a CPU that is busy at its frequency. */
static bool samples_model(const struct sample_shares *s)
{
	s->e->most = malloc(2 * sizeof(*s->e->most));
	if (!s->e->most)
		return false;
	s->e->most[0] = s->e->most[1] = INFINITY;
	for (size_t k = 0; k < s->p->samples; k++) {
		const struct profile_sample *x = &s->p->sample[k];
		const double uw = powers_at(s->powers, x->cpu, x->khz);

		s->e->interval[k] = 1;
		if (uw > 0)
			s->e->joules[k] = uw * 1e-6 * s->p->seconds;
	}
	return true;
}

bool profile_energy(const struct profile *p, struct profile_energy *e)
{
	const int rail = rail_find(p->rec);
	const struct recording_series *readings =
		rail >= 0 ? recording_samples(p->rec, (size_t)rail) : NULL;
	struct sample_shares s = { .p = p, .e = e, .powers = powers_of(p->rec->db) };
	bool good;

	*e = (struct profile_energy){ .joules = malloc(p->samples * sizeof(*e->joules)),
				      .interval = calloc(p->samples, sizeof(*e->interval)) };
	good = s.powers && e->joules && e->interval;
	for (size_t k = 0; good && k < p->samples; k++)
		e->joules[k] = NAN;
	if (good && readings) {
		s.rail = &p->rec->rail[rail];
		e->rail = true;
		e->how = recording_rail_how(s.rail);
		snprintf(e->what, sizeof(e->what), "%s", s.rail->name);
		good = rail_spread(&s, (size_t)rail, readings);
	} else if (good && rail < 0 && *powers_source(s.powers)) {
		e->how = "modelled";
		snprintf(e->what, sizeof(e->what), "%s", powers_source(s.powers));
		good = samples_model(&s);
	}
	rail_attribution_free(s.attribution);
	powers_free(s.powers);
	if (!good)
		db_missing(p->rec->path, "no memory for its energy");
	return good;
}

void profile_energy_free(struct profile_energy *e)
{
	free(e->joules);
	free(e->interval);
	free(e->most);
}
