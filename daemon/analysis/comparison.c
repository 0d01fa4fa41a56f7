// SPDX-License-Identifier: GPL-2.0-or-later
#include "comparison.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../recording/reader/db.h"
#include "cpu-time.h"
#include "energy.h"
#include "mmu.h"
#include "pauses.h"

/* One number per run; NAN where the run does not have it. */
struct metric {
	const char *name, *unit;
	double (*of)(const struct recording *rec, double argument);
	double argument;
	int better; /* -1 lower is better, +1 higher, 0 neither */
	bool main;
};

static double metric_duration(const struct recording *rec, double unused)
{
	(void)unused;
	return (double)recording_duration(rec) / 1e9;
}

static double metric_longest_pause(const struct recording *rec, double unused)
{
	struct pauses_sum sum = pauses_sum(rec, PAUSES_ALL);

	(void)unused;
	return sum.longest ? (double)sum.longest / 1e6 : NAN;
}

static double metric_paused(const struct recording *rec, double unused)
{
	(void)unused;
	return rec->phases ? (double)pauses_sum(rec, PAUSES_ALL).paused / 1e6 : NAN;
}

/* Not known where most of it would be a guess: phases that no two readings of an account enclose. */
static double metric_collector_cpu(const struct recording *rec, double unused)
{
	struct cpu_time_sum sum;

	(void)unused;
	if (!rec->phases || !cpu_times_sum_of(rec, &sum) ||
	    (!sum.workers && sum.known <= sum.unknown))
		return NAN;
	return (double)sum.run / 1e6;
}

static double metric_phase_time(const struct recording *rec, double unused)
{
	uint64_t ns = 0;

	(void)unused;
	for (size_t i = 0; i < rec->phases; i++)
		if (!rec->phase[i].unsure)
			ns += rec->phase[i].t1 - rec->phase[i].t0;
	return rec->phases ? (double)ns / 1e6 : NAN;
}

static double metric_min_mu(const struct recording *rec, double window_ms)
{
	uint64_t window = (uint64_t)(window_ms * 1e6);
	struct mmu_processes p;
	double v;

	if (!rec->phases || window > rec->t1 - rec->t0 || !mmu_processes_of(rec, &p))
		return NAN;
	v = 100 * mmu_of_processes(&p, window);
	mmu_processes_free(&p);
	return v;
}

static double metric_transitions(const struct recording *rec, double unused)
{
	int64_t n;

	(void)unused;
	if (!rec->cpus ||
	    !db_number(rec->db, "SELECT count(*) FROM transitions WHERE how != 'start'", 0, &n))
		return NAN;
	return (double)n;
}

static double metric_mean_mhz(const struct recording *rec, double in_phase)
{
	double weighted = 0, ns = 0;

	for (size_t k = 0; k < rec->khzs; k++)
		for (unsigned int g = in_phase > 0 ? CLASS_NR : 0;
		     g < (in_phase > 0 ? PHASE_GROUPS : 1); g++) {
			weighted += (double)rec->residency[k][g] * rec->khz[k] / 1000;
			ns += (double)rec->residency[k][g];
		}
	return ns > 0 ? weighted / ns : NAN;
}

static const struct metric metrics[] = {
	{ "duration", "s", metric_duration, 0, -1, true },
	{ "longest pause", "ms", metric_longest_pause, 0, -1, true },
	{ "time paused", "ms", metric_paused, 0, -1, true },
	{ "GC CPU time", "ms", metric_collector_cpu, 0, -1, true },
	{ "time in phases", "ms", metric_phase_time, 0, 0, false },
	{ "MinMU, 10 ms window", "%", metric_min_mu, 10, 1, false },
	{ "MinMU, 50 ms window", "%", metric_min_mu, 50, 1, false },
	{ "MinMU, 100 ms window", "%", metric_min_mu, 100, 1, false },
	{ "frequency in phases", "MHz", metric_mean_mhz, 1, 0, false },
	{ "frequency outside", "MHz", metric_mean_mhz, 0, 0, false },
	{ "frequency changes", "", metric_transitions, 0, 0, false },
};

static const char *label_host(const char *label)
{
	const char *at = strstr(label, RECORDING_AT);

	return at ? at : "";
}

/*
 * The group to compare @g with: the first of the same program, preferably on the same host, because
 * hosts differ in hardware. A label without a program is compared with the first group, also
 * preferably on the same host.
 */
static size_t group_find_base(const struct compare_group *group, size_t g)
{
	const char *slash = strstr(group[g].label, " / ");
	size_t n = slash ? (size_t)(slash - group[g].label) + 3 : 0, base = n ? g : 0;

	for (size_t i = g; i-- > 0;)
		if (!strncmp(group[i].label, group[g].label, n))
			base = i;
	for (size_t i = g; i-- > 0;)
		if (!strncmp(group[i].label, group[g].label, n) &&
		    !strcmp(label_host(group[i].label), label_host(group[g].label)))
			base = i;
	return base;
}

static size_t group_runs(struct recording *const *rec, size_t runs, struct compare_group *group,
			 size_t *left)
{
	size_t nr = 0;

	for (size_t i = 0; i < runs; i++) {
		size_t g = 0;

		while (g < nr && strcmp(group[g].label, rec[i]->label))
			g++;
		if (g == COMPARE_GROUPS || (g < nr && group[g].nr == COMPARE_RUNS)) {
			++*left;
			continue;
		}
		if (g == nr) {
			group[nr++] = (struct compare_group){ .label = rec[i]->label };
			group[g].base = group_find_base(group, g);
		}
		group[g].rec[group[g].nr++] = rec[i];
	}
	return nr;
}

/* @name: of the rail; NULL: all rails that feed one core each. @energy: as in compare_make(). */
struct rail_query {
	const char *name;
	const struct compare_energy *energy;
};

/* Sums rails over the command, or over the recording; NAN if the run has none of them. */
static double rails_joules(const struct recording *rec, const char *name, bool command)
{
	double sum = NAN;
	bool missing = false;
	struct energy e;

	for (size_t i = 0; i < rec->rails; i++) {
		double v;

		if (name ? strcmp(rec->rail[i].name, name) != 0 : !*rec->rail[i].cpus)
			continue;
		if (command)
			v = energy_of_command(rec, i);
		else
			v = energy_of(rec, i, NULL, &e) ? e.total : NAN;
		if (!isnan(v))
			sum = isnan(sum) ? v : sum + v;
		else
			missing = missing || command;
	}
	recording_forget(rec);
	/* Without one core's the sum would be too low. */
	return missing ? NAN : sum;
}

static double rail_energy(const struct recording *rec, const void *data)
{
	const struct rail_query *query = data;
	const struct recording *idle = query->energy ? query->energy->idle : NULL;
	double v = rails_joules(rec, query->name, query->energy);

	if (idle)
		v -= rails_joules(idle, query->name, true) / (double)recording_duration(idle) *
		     (double)recording_duration(rec);
	return v;
}

struct compare_figure *compare_add_figure(struct comparison *c, const char *name, const char *unit,
					  int better, bool main)
{
	struct compare_figure *f = &c->figure[c->figures++];

	snprintf(f->name, sizeof(f->name), "%s", name);
	f->unit = unit;
	f->better = better;
	f->main = main;
	return f;
}

static void figure_fill(const struct comparison *c, struct compare_figure *f,
			double (*of)(const struct recording *rec, const void *data),
			const void *data)
{
	for (size_t g = 0; g < c->groups; g++)
		for (size_t i = 0; i < c->group[g].nr; i++) {
			double v = of(c->group[g].rec[i], data);

			if (!isnan(v))
				f->value[g][f->n[g]++] = v;
		}
}

static double metric_value(const struct recording *rec, const void *data)
{
	const struct metric *m = data;

	return m->of(rec, m->argument);
}

bool compare_make(struct recording *const *rec, size_t runs, const struct compare_energy *energy,
		  struct comparison *c)
{
	const char *above = energy && energy->idle ? " above idle" : "";
	struct rail_query query = { .energy = energy };
	const size_t metric_nr = sizeof(metrics) / sizeof(metrics[0]);
	const char *how = NULL; /* of the per-core rails: measured or modelled */
	char name[160];

	*c = (struct comparison){ 0 };
	c->groups = group_runs(rec, runs, c->group, &c->left);
	/* One more for all cores, and those of compare_add_figure(). */
	c->figure = calloc(metric_nr + rec[0]->rails + 1 + COMPARE_ADDED, sizeof(*c->figure));
	if (!c->figure) {
		db_missing(rec[0]->path, "no memory to compare it");
		return false;
	}
	for (size_t i = 0; i < rec[0]->rails; i++) {
		const struct recording_rail *r = &rec[0]->rail[i];

		if (r->kind != RAIL_POWER && r->kind != RAIL_ENERGY)
			continue;
		if (*r->cpus) {
			how = recording_rail_how(r);
			continue;
		}
		snprintf(name, sizeof(name), "energy of %s%s, %s", *r->label ? r->label : r->name,
			 above, recording_rail_how(r));
		query.name = r->name;
		figure_fill(c, compare_add_figure(c, name, "J", -1, true), rail_energy, &query);
	}
	if (how) {
		snprintf(name, sizeof(name), "energy of all cores%s, %s", above, how);
		query.name = NULL;
		figure_fill(c, compare_add_figure(c, name, "J", -1, true), rail_energy, &query);
	}
	for (size_t i = 0; i < metric_nr; i++)
		figure_fill(c,
			    compare_add_figure(c, metrics[i].name, metrics[i].unit,
					       metrics[i].better, metrics[i].main),
			    metric_value, &metrics[i]);
	return true;
}

void compare_free(struct comparison *c)
{
	free(c->figure);
}

void compare_verdict(const struct comparison *c, const struct compare_figure *f, size_t group,
		     struct verdict *v)
{
	size_t base = c->group[group].base;

	verdict_of(f->value[base], f->n[base], f->value[group], f->n[group], v);
}

void compare_print_json(struct json *j, const struct comparison *c, const struct compare_figure *f,
			size_t group)
{
	struct verdict v;

	compare_verdict(c, f, group, &v);
	json_text(j, "label", c->group[group].label);
	json_text(j, "against", c->group[c->group[group].base].label);
	json_text(j, "figure", f->name);
	json_text(j, "unit", f->unit);
	json_int(j, "better", f->better);
	json_list(j, "runs");
	json_uint(j, NULL, v.n[1]);
	json_uint(j, NULL, v.n[0]);
	json_end(j);
	json_real(j, "median", v.median[1], 9);
	json_real(j, "base_median", v.median[0], 9);
	json_real(j, "change", v.change, 9);
	json_real(j, "low", v.low, 9);
	json_real(j, "high", v.high, 9);
	json_bool(j, "significant", v.significant);
	json_text(j, "by", !v.known ? NULL : v.resampled ? "bootstrap" : "welch");
	if (v.wanted)
		json_uint(j, "runs_for_5_percent", v.wanted);
	else
		json_null(j, "runs_for_5_percent");
}
