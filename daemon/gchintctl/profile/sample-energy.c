// SPDX-License-Identifier: GPL-2.0-or-later
#include "sample-energy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/text.h"
#include "../recording/db.h"
#include "../recording/idle-time.h"
#include "../recording/power-model.h"

struct spreading {
	const struct profile *p;
	struct profile_energy *e;
	const struct run_rail *rail;
	struct powers *powers;
	struct asleep *asleep;
	uint8_t cpu[RUN_CPUS]; /* 1 for each CPU that the machine has */
	uint32_t cpus; /* number of the last CPU plus 1 */
};

/* Sums over the time of one CPU between two readings, without its sleep subtracted. */
struct awake {
	const struct spreading *s;
	uint32_t cpu;
	double weight; /* uW times ns */
	uint64_t ns; /* time at a known frequency */
	bool powers; /* the power of every frequency is known */
};

/* The first rail that counts energy, else the first that measures power; -1 if none. */
static int rail_find(const struct run *run)
{
	for (size_t i = 0; i < run->rails; i++)
		if (!strcmp(run->rail[i].kind, "energy"))
			return (int)i;
	for (size_t i = 0; i < run->rails; i++)
		if (!strcmp(run->rail[i].kind, "power"))
			return (int)i;
	return -1;
}

/* Recordings without a list of CPUs: takes the CPUs with a recorded frequency. */
static void spreading_find_cpus(struct spreading *s)
{
	const struct run *run = s->p->run;
	char list[256];

	if (!db_meta(run->db, "board.cpus", list, sizeof(list)) ||
	    text_cpulist(list, s->cpu, RUN_CPUS) <= 0)
		for (size_t i = 0; i < run->cpus; i++)
			if (run->cpu[i].cpu < RUN_CPUS)
				s->cpu[run->cpu[i].cpu] = 1;
	for (uint32_t cpu = 0; cpu < RUN_CPUS; cpu++)
		if (s->cpu[cpu])
			s->cpus = cpu + 1;
}

static double sample_weight(const struct spreading *s, const struct profile_sample *x)
{
	return powers_at(s->powers, x->cpu, x->khz) * s->p->seconds * 1e9;
}

static void awake_add_stretch(void *data, uint32_t khz, uint64_t ns)
{
	struct awake *a = data;
	const double uw = powers_at(a->s->powers, (int)a->cpu, khz);

	if (!khz)
		return;
	a->ns += ns;
	a->weight += uw * (double)ns;
	a->powers &= uw > 0;
}

/*
 * The weight of a CPU in [@t0, @t1): time awake times power, in uW ns. Returns -1 if it is not
 * known, with @lack set to what is missing.
 */
static double cpu_weight(const struct spreading *s, uint32_t cpu, uint64_t t0, uint64_t t1,
			 enum profile_lack *lack)
{
	struct awake a = { .s = s, .cpu = cpu, .powers = true };
	const double asleep = asleep_ns(s->asleep, cpu, t0, t1);

	run_stretches(s->p->run, (int)cpu, t0, t1, awake_add_stretch, &a);
	*lack = !a.powers      ? PROFILE_LACK_POWER :
		a.ns < t1 - t0 ? PROFILE_LACK_FREQUENCY :
				 PROFILE_LACK_IDLE;
	if (!a.powers || a.ns < t1 - t0 || asleep < 0)
		return -1;
	return a.weight * (1 - asleep / (double)(t1 - t0));
}

/*
 * The weight of all CPUs of the rail between two readings, which samples @first to @end - 1 lie
 * between. A sample proves that its CPU was awake, so that a CPU weighs at least as much as its
 * samples, whatever its idle states say. Returns -1 if the weight is not known.
 */
static double cpus_weight(const struct spreading *s, size_t first, size_t end, uint64_t t0,
			  uint64_t t1, enum profile_lack *lack)
{
	double sum = 0;

	*lack = PROFILE_LACK_FREQUENCY;
	for (uint32_t cpu = 0; cpu < s->cpus; cpu++) {
		double sampled = 0, weight;

		if (!s->cpu[cpu] || !run_rail_feeds(s->rail, (int)cpu))
			continue;
		weight = cpu_weight(s, cpu, t0, t1, lack);
		if (weight < 0)
			return -1;
		for (size_t k = first; k < end; k++)
			if (s->p->sample[k].cpu == (int)cpu)
				sampled += sample_weight(s, &s->p->sample[k]);
		sum += fmax(weight, sampled);
	}
	*lack = PROFILE_LACK_FREQUENCY;
	for (size_t k = first; k < end; k++)
		if (sample_weight(s, &s->p->sample[k]) <= 0)
			return -1;
	return sum > 0 ? sum : -1;
}

static void interval_spread(const struct spreading *s, size_t first, size_t end,
			    const struct run_sample *a, const struct run_sample *b, size_t interval)
{
	const bool counter = !strcmp(s->rail->kind, "energy");
	const bool known = a->value != RUN_UNKNOWN && b->value != RUN_UNKNOWN &&
			   (!counter || b->value >= a->value);
	const double length = (double)(b->t - a->t) * 1e-9;
	const double joules = counter ? (double)(b->value - a->value) * 1e-6 :
					((double)a->value + (double)b->value) / 2 * 1e-6 * length;
	enum profile_lack lack;
	const double all = cpus_weight(s, first, end, a->t, b->t, &lack);
	const double by_time = fmin(s->p->seconds / length, 1.0 / (double)(end - first));

	s->e->most[interval] = known && counter ? joules : INFINITY;
	if (all > 0)
		s->e->weighed += end - first;
	else
		s->e->lack[lack] += end - first;
	for (size_t k = first; k < end; k++) {
		const double part = all > 0 ? sample_weight(s, &s->p->sample[k]) / all : by_time;

		s->e->interval[k] = (uint32_t)interval;
		s->e->joules[k] = known ? joules * part : NAN;
	}
}

static bool rail_spread(struct spreading *s, const struct run_series *readings)
{
	const struct profile *p = s->p;
	size_t at = 0;

	spreading_find_cpus(s);
	s->asleep = asleep_of(p->run->db);
	s->e->most = calloc(readings->nr + 1, sizeof(*s->e->most));
	if (!s->asleep || !s->e->most)
		return false;
	for (size_t i = 0; i + 1 < readings->nr; i++) {
		const struct run_sample *a = &readings->sample[i], *b = a + 1;
		size_t first;

		while (at < p->samples && p->sample[at].t < a->t)
			at++;
		for (first = at; at < p->samples && p->sample[at].t < b->t; at++)
			;
		if (at > first)
			interval_spread(s, first, at, a, b, i + 1);
	}
	return true;
}

/* Models the energy of each sample by the power of a CPU that is busy at its frequency. */
static bool samples_model(const struct spreading *s)
{
	s->e->most = malloc(2 * sizeof(*s->e->most));
	if (!s->e->most)
		return false;
	s->e->most[0] = s->e->most[1] = INFINITY;
	for (size_t k = 0; k < s->p->samples; k++) {
		const double weight = sample_weight(s, &s->p->sample[k]);

		s->e->interval[k] = 1;
		if (weight > 0)
			s->e->joules[k] = weight * 1e-15;
	}
	return true;
}

bool profile_energy(const struct profile *p, struct profile_energy *e)
{
	const int rail = rail_find(p->run);
	const struct run_series *readings = rail >= 0 ? run_samples(p->run, (size_t)rail) : NULL;
	struct spreading s = { .p = p, .e = e, .powers = powers_of(p->run->db) };
	bool good;

	*e = (struct profile_energy){ .joules = malloc(p->samples * sizeof(*e->joules)),
				      .interval = calloc(p->samples, sizeof(*e->interval)) };
	good = s.powers && e->joules && e->interval;
	for (size_t k = 0; good && k < p->samples; k++)
		e->joules[k] = NAN;
	if (good && readings) {
		s.rail = &p->run->rail[rail];
		e->rail = true;
		e->how = run_rail_how(s.rail);
		snprintf(e->what, sizeof(e->what), "%s", s.rail->name);
		good = rail_spread(&s, readings);
	} else if (good && rail < 0 && *powers_source(s.powers)) {
		e->how = "modelled";
		snprintf(e->what, sizeof(e->what), "%s", powers_source(s.powers));
		good = samples_model(&s);
	}
	asleep_free(s.asleep);
	powers_free(s.powers);
	if (!good)
		db_missing(p->run->path, "no memory for its energy");
	return good;
}

void profile_energy_free(struct profile_energy *e)
{
	free(e->joules);
	free(e->interval);
	free(e->most);
}
