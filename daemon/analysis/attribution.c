// SPDX-License-Identifier: GPL-2.0-or-later
#include "attribution.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/text.h"
#include "../recording/reader/db.h"
#include "../recording/reader/frequency.h"
#include "../recording/reader/memory.h"
#include "cpu-time.h"
#include "idle-time.h"
#include "overlap.h"
#include "power-model.h"

/*
 * How much more than other code at the same weight a thread may draw: code that waits for memory
 * draws less than code that computes. Without the power of OPPs the voltage is not known, and
 * without the frequency nor is that.
 */
static const double spreads[] = { 2, 4, 10 };

/* An idle part is fitted to at least this many stretches of the recording. */
#define FIT_MIN 8

struct range {
	double est, low, high;
};

/* Time between two readings of a CPU's idle states, and its CPU time in phases in it. */
struct window {
	uint64_t t0, t1;
	double in_phases;
};

struct rail_attribution {
	const struct recording *rec;
	const struct recording_rail *rail;
	const struct recording_series *series;
	bool counter;
	double most_w; /* of any interval */
	struct powers *powers;
	struct asleep *asleep;
	struct cpu_times *times;
	struct overlap overlap;
	uint32_t *cpu; /* those that the rail feeds */
	struct window *window; /* the last one of each of these */
	size_t cpus;
	enum attribution_weight weight;
	struct range idle_w;
	double per_busy; /* J of the active part for each weighed second, over the whole recording */
};

static double khz_weight(const struct rail_attribution *a, int cpu, uint32_t khz)
{
	switch (a->weight) {
	case WEIGHT_POWER:
		return powers_at(a->powers, cpu, khz) * 1e-6;
	case WEIGHT_FREQUENCY:
		return khz * 1e-6;
	default:
		return 1;
	}
}

double rail_attribution_weight(const struct rail_attribution *a, int cpu, uint32_t khz, double ns)
{
	return khz_weight(a, cpu, khz) * ns * 1e-9;
}

enum attribution_weight rail_attribution_how(const struct rail_attribution *a)
{
	return a->weight;
}

double rail_attribution_idle_w(const struct rail_attribution *a)
{
	return a->idle_w.est;
}

/* While recording_stretches() walks: the weight of a CPU that is busy all the time. */
struct weight_sum {
	const struct rail_attribution *a;
	int cpu;
	double sum, least, most; /* @sum: times ns */
	uint64_t ns;
};

static void weight_sum_add(void *data, uint32_t khz, uint64_t ns)
{
	struct weight_sum *w = data;
	const double weight = khz_weight(w->a, w->cpu, khz);

	if (weight <= 0)
		return;
	w->least = w->ns ? fmin(w->least, weight) : weight;
	w->most = fmax(w->most, weight);
	w->sum += weight * (double)ns;
	w->ns += ns;
}

/* Per second that the CPU is busy in [@t0, @t1); false if no frequency is known. */
static bool cpu_weight(const struct rail_attribution *a, int cpu, uint64_t t0, uint64_t t1,
		       struct range *weight)
{
	struct weight_sum w = { .a = a, .cpu = cpu };

	*weight = (struct range){ 1, 1, 1 };
	if (a->weight == WEIGHT_NONE)
		return true;
	recording_stretches(a->rec, cpu, t0, t1, weight_sum_add, &w);
	if (!w.ns)
		return false;
	*weight = (struct range){ w.sum / (double)w.ns, w.least, w.most };
	return true;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static double limit(double value, double low, double high)
{
	return value < low ? low : value < high ? value : high;
}

/* While cpu_time_each() walks over a phase. */
struct cpu_sum {
	int cpu;
	double ns;
};

static void cpu_sum_add(void *data, int cpu, uint64_t t0, uint64_t t1, const struct cpu_time *time)
{
	struct cpu_sum *c = data;

	(void)t0;
	(void)t1;
	if (cpu == c->cpu)
		c->ns += time->ns;
}

/* Estimated CPU time in phases on a CPU, ns. */
static double cpu_in_phases(const struct rail_attribution *a, uint32_t cpu, uint64_t t0,
			    uint64_t t1)
{
	struct cpu_sum c = { .cpu = (int)cpu };
	const struct recording_phase *p;

	overlap_each(p, &a->overlap, t0, t1)
		cpu_time_each(a->times, p, later(p->t0, t0), earlier(p->t1, t1), cpu_sum_add, &c);
	return fmin(c.ns, (double)(t1 - t0));
}

/* While asleep_windows() walks over [@t0, @t1). */
struct awake {
	const struct rail_attribution *a;
	uint32_t cpu;
	struct window *window;
	uint64_t t0, t1;
	struct range ns;
};

/*
 * How a CPU's time awake is spread between two readings of its idle states is not known. What ran
 * in phases has its place; the rest is taken to be spread evenly over the other time.
 */
static void awake_add_window(void *data, uint64_t t0, uint64_t t1, double idle)
{
	struct awake *w = data;
	const uint64_t from = later(t0, w->t0), to = earlier(t1, w->t1);
	const double window = (double)(t1 - t0), part = (double)(to - from), busy = window - idle;
	const double here = cpu_in_phases(w->a, w->cpu, from, to);
	double rest, others;

	if (w->window->t0 != t0 || w->window->t1 != t1)
		*w->window = (struct window){ t0, t1, cpu_in_phases(w->a, w->cpu, t0, t1) };
	rest = window - w->window->in_phases;
	others = fmax(0, busy - w->window->in_phases);
	w->ns.est += limit(here + (rest > 0 ? others * (part - here) / rest : 0), 0, part);
	w->ns.low += limit(busy - (window - part), 0, part);
	w->ns.high += limit(busy, 0, part);
}

/* Weighed time that a CPU was busy; false if it is not known. */
static bool cpu_busy(const struct rail_attribution *a, size_t index, uint64_t t0, uint64_t t1,
		     struct range *busy)
{
	const uint32_t cpu = a->cpu[index];
	struct awake w = { .a = a, .cpu = cpu, .window = &a->window[index], .t0 = t0, .t1 = t1 };
	struct range weight;

	if (!asleep_windows(a->asleep, cpu, t0, t1, awake_add_window, &w) ||
	    !cpu_weight(a, (int)cpu, t0, t1, &weight))
		return false;
	*busy = (struct range){ weight.est * w.ns.est * 1e-9, weight.low * w.ns.low * 1e-9,
				weight.high * w.ns.high * 1e-9 };
	return true;
}

static bool cpus_busy(const struct rail_attribution *a, uint64_t t0, uint64_t t1,
		      struct range *busy)
{
	struct range one;

	*busy = (struct range){ 0 };
	for (size_t i = 0; i < a->cpus; i++) {
		if (!cpu_busy(a, i, t0, t1, &one))
			return false;
		busy->est += one.est;
		busy->low += one.low;
		busy->high += one.high;
	}
	return true;
}

static bool interval_known(const struct rail_attribution *a, size_t i, double *joules)
{
	const struct recording_sample *s = &a->series->sample[i];

	if (!energy_known(&s[0], &s[1], a->counter))
		return false;
	*joules = energy_joules(&s[0], &s[1], a->counter);
	return !a->counter || !energy_may_wrap(&a->rail->limits, *joules,
					       (double)(s[1].t - s[0].t) * 1e-9, a->most_w);
}

static double interval_watts(const struct rail_attribution *a, size_t i)
{
	const struct recording_sample *s = &a->series->sample[i];
	double joules;

	return interval_known(a, i, &joules) ? joules / ((double)(s[1].t - s[0].t) * 1e-9) : 0;
}

size_t rail_attribution_intervals(const struct rail_attribution *a)
{
	return a->series->nr ? a->series->nr - 1 : 0;
}

/*
 * A reading of a counter with steps is as of up to a step before it: the energy of that time is in
 * the interval before or in this one.
 */
static void interval_bound_joules(const struct rail_attribution *a, size_t i,
				  struct attributed_interval *v)
{
	const double step = a->counter ? (double)a->rail->limits.update_ns * 1e-9 : 0;
	const double here = interval_watts(a, i), before = i ? interval_watts(a, i - 1) : here;
	const double after =
		i + 1 < rail_attribution_intervals(a) ? interval_watts(a, i + 1) : here;

	v->low = fmax(0, v->joules - fmax(here, before) * step);
	v->high = v->joules + fmax(here, after) * step;
	/* Of a power meter nothing is known between two readings, but what the rail can draw. */
	if (!a->counter) {
		const struct recording_sample *s = &a->series->sample[i];
		const double seconds = (double)(s[1].t - s[0].t) * 1e-9;

		v->low = a->rail->limits.min_w * seconds;
		v->high = a->rail->limits.max_w * seconds;
	}
}

void rail_attribution_interval(const struct rail_attribution *a, size_t i,
			       struct attributed_interval *v)
{
	const struct recording_sample *s = &a->series->sample[i];
	const double seconds = (double)(s[1].t - s[0].t) * 1e-9;
	struct range busy;

	*v = (struct attributed_interval){ 0 };
	if (!interval_known(a, i, &v->joules) || !cpus_busy(a, s[0].t, s[1].t, &busy))
		return;
	v->known = true;
	interval_bound_joules(a, i, v);
	v->active = fmax(0, v->joules - a->idle_w.est * seconds);
	v->active_low = fmax(0, v->low - a->idle_w.high * seconds);
	v->active_high = fmax(0, v->high - a->idle_w.low * seconds);
	v->busy = busy.est;
	v->busy_low = busy.low;
	v->busy_high = busy.high;
}

/* Sums over stretches of the recording, for a straight line through power over busy time. */
struct fit {
	double n, w, x, y, xx, xy, yy; /* @w: weight, seconds */
	double least_w; /* lowest power of a stretch */
};

static void fit_add(struct fit *f, double seconds, double joules, double busy)
{
	const double y = joules / seconds, x = busy / seconds;

	f->n++;
	f->w += seconds;
	f->x += seconds * x;
	f->y += seconds * y;
	f->xx += seconds * x * x;
	f->xy += seconds * x * y;
	f->yy += seconds * y * y;
	f->least_w = fmin(f->least_w, y);
}

/*
 * The idle part is the power at no busy time of a line through the stretches. Of too few of them,
 * or if all were as busy, it is between 0 and the lowest power seen: what the power of OPPs
 * (@watts: busy time is weighed by it) leaves.
 */
static struct range fit_idle(const struct fit *f, bool watts)
{
	const double mx = f->x / f->w, my = f->y / f->w;
	const double vx = f->xx / f->w - mx * mx, vxy = f->xy / f->w - mx * my;
	const double vy = f->yy / f->w - my * my;
	const struct range none = { watts ? limit(my - mx, 0, f->least_w) : f->least_w / 2, 0,
				    f->least_w };
	double slope, idle, error;

	if (f->n < FIT_MIN || vx <= 1e-4 * mx * mx || vxy <= 0)
		return none;
	slope = vxy / vx;
	idle = limit(my - slope * mx, 0, f->least_w);
	error = sqrt(fmax(0, vy - slope * vxy) / (f->n - 2) * (1 + mx * mx / vx));
	return (struct range){ idle, fmax(0, idle - 4 * error),
			       fmin(f->least_w, idle + 4 * error) };
}

/* Stretches are longer than the readings of idle states and the steps of a counter. */
static bool rail_attribution_fit(struct rail_attribution *a)
{
	const uint64_t period = later(asleep_period(a->asleep), 10 * a->rail->limits.update_ns);
	const struct recording_sample *s = a->series->sample;
	struct fit f = { .least_w = INFINITY };
	double sum = 0, joules;
	uint64_t from = 0;
	struct range busy;

	for (size_t i = 0; i + 1 < a->series->nr; i++) {
		if (!interval_known(a, i, &joules)) {
			sum = 0;
			from = 0;
			continue;
		}
		from = from ? from : s[i].t;
		sum += joules;
		if (s[i + 1].t - from < period)
			continue;
		if (cpus_busy(a, from, s[i + 1].t, &busy))
			fit_add(&f, (double)(s[i + 1].t - from) * 1e-9, sum, busy.est);
		sum = 0;
		from = 0;
	}
	if (f.n)
		a->idle_w = fit_idle(&f, a->weight == WEIGHT_POWER);
	a->per_busy = f.x > 0 ? fmax(0, f.y - a->idle_w.est * f.w) / f.x : 0;
	return f.n;
}

/* Without a list of CPUs those with a recorded frequency are taken. */
static bool rail_attribution_find_cpus(struct rail_attribution *a)
{
	uint8_t set[RECORDING_CPUS] = { 0 };
	char list[4096];

	if (!db_meta(a->rec->db, "board.cpus", list, sizeof(list)) ||
	    text_cpulist(list, set, RECORDING_CPUS) <= 0)
		for (size_t i = 0; i < a->rec->cpus; i++)
			if (a->rec->cpu[i].cpu < RECORDING_CPUS)
				set[a->rec->cpu[i].cpu] = 1;
	a->cpu = calloc(RECORDING_CPUS, sizeof(*a->cpu));
	for (uint32_t cpu = 0; a->cpu && cpu < RECORDING_CPUS; cpu++)
		if (set[cpu] && recording_rail_feeds(a->rail, (int)cpu))
			a->cpu[a->cpus++] = cpu;
	a->window = calloc(a->cpus + 1, sizeof(*a->window));
	return (a->cpu && a->window) || recording_no_memory(a->rec);
}

/* The best weight that is known at every frequency of the CPUs. */
static void rail_attribution_choose_weight(struct rail_attribution *a)
{
	bool frequency = true, power = true;

	for (size_t i = 0; i < a->cpus; i++) {
		const struct recording_cpu *c = NULL;

		for (size_t k = 0; k < a->rec->cpus; k++)
			if (a->rec->cpu[k].cpu == a->cpu[i])
				c = &a->rec->cpu[k];
		frequency = frequency && c && c->nr;
		for (size_t k = 0; c && k < c->nr; k++)
			power = power && (!c->step[k].khz ||
					  powers_at(a->powers, (int)c->cpu, c->step[k].khz) > 0);
	}
	a->weight = !frequency ? WEIGHT_NONE : power ? WEIGHT_POWER : WEIGHT_FREQUENCY;
}

struct rail_attribution *rail_attribution_of(const struct recording *rec, size_t rail,
					     enum attribution_lack *lack)
{
	struct rail_attribution *a = calloc(1, sizeof(*a));
	const struct recording_rail *r = &rec->rail[rail];

	*lack = ATTRIBUTION_NO_MEMORY;
	if (!a) {
		recording_no_memory(rec);
		return NULL;
	}
	a->rec = rec;
	a->rail = r;
	a->counter = r->kind == RAIL_ENERGY;
	a->series = recording_samples(rec, rail);
	if (!a->series)
		goto free_attribution;
	*lack = ATTRIBUTION_NO_THREADS;
	if (!rail_role_has_threads(r->role))
		goto free_attribution;
	*lack = ATTRIBUTION_NO_ENERGY;
	if ((!a->counter && r->kind != RAIL_POWER) || a->series->nr < 2 ||
	    (a->counter && energy_is_still(a->series->sample, a->series->nr)))
		goto free_attribution;
	a->most_w = isfinite(r->limits.max_w) ?
			    r->limits.max_w :
			    energy_max_power(a->series->sample, a->series->nr, r->limits.update_ns);
	*lack = ATTRIBUTION_NO_MEMORY;
	a->powers = powers_of(rec->db);
	a->asleep = asleep_of(rec->db);
	a->times = cpu_times_of(rec);
	if (!a->powers || !a->asleep)
		recording_no_memory(rec);
	if (!a->powers || !a->asleep || !a->times || !overlap_of(rec, &a->overlap) ||
	    !rail_attribution_find_cpus(a))
		goto free_attribution;
	rail_attribution_choose_weight(a);
	*lack = ATTRIBUTION_NO_IDLE;
	if (!a->cpus || !rail_attribution_fit(a))
		goto free_attribution;
	*lack = ATTRIBUTION_KNOWN;
	return a;

free_attribution:
	rail_attribution_free(a);
	return NULL;
}

void rail_attribution_free(struct rail_attribution *a)
{
	if (!a)
		return;
	powers_free(a->powers);
	asleep_free(a->asleep);
	cpu_times_free(a->times);
	overlap_free(&a->overlap);
	free(a->cpu);
	free(a->window);
	free(a);
}

/* While cpu_time_each() walks over a phase. */
struct group_sum {
	const struct rail_attribution *a;
	struct range *sum;
	struct energy_part *part;
};

static void group_sum_add(void *data, int cpu, uint64_t t0, uint64_t t1,
			  const struct cpu_time *time)
{
	const struct group_sum *to = data;
	struct range weight;

	if (!recording_rail_feeds(to->a->rail, cpu))
		return;
	if (!cpu_weight(to->a, cpu, t0, t1, &weight)) {
		to->part->unknown_ns += t1 - t0;
		return;
	}
	to->sum->est += weight.est * time->ns * 1e-9;
	to->sum->low += weight.low * time->least * 1e-9;
	to->sum->high += weight.high * time->most * 1e-9;
	to->part->ns += (uint64_t)time->ns;
}

/*
 * The active energy of a group whose CPU time is @own, with @others of anything else: its share, as
 * far as it is known how busy the others were; else what its CPU time takes over the recording.
 */
static double part_estimate(const struct rail_attribution *a, const struct attributed_interval *v,
			    const struct range *own, const struct range *others)
{
	const double all = own->est + others->est;
	const double open = all > 0 ? fmin(1, (others->high - others->low) / all) : 0;

	return all > 0 ? (1 - open) * v->active * own->est / all +
				 open * fmin(v->active, a->per_busy * own->est) :
			 0;
}

static void part_bound(struct energy_part *part, const struct attributed_interval *v, double spread,
		       const struct range *own, const struct range *others)
{
	if (own->low > 0)
		part->low += v->active_low * own->low / (own->low + spread * others->high);
	if (own->high > 0)
		part->high +=
			v->active_high * spread * own->high / (spread * own->high + others->low);
}

static void attribution_add_interval(const struct rail_attribution *a, size_t i,
				     const uint16_t *group, struct attribution *to)
{
	const struct recording_sample *s = &a->series->sample[i];
	const double seconds = (double)(s[1].t - s[0].t) * 1e-9;
	struct range own[PHASE_GROUPS] = { 0 }, sum = { 0 };
	double joules[PHASE_GROUPS], phases = 0;
	struct attributed_interval v;
	const struct recording_phase *p;

	rail_attribution_interval(a, i, &v);
	overlap_each(p, &a->overlap, s[0].t, s[1].t)
	{
		const unsigned int g = group ? group[p - a->rec->phase] : p->group;
		const uint64_t t0 = later(p->t0, s[0].t), t1 = earlier(p->t1, s[1].t);

		struct group_sum group_sum = { a, &own[g], &to->part[g] };

		if (v.known)
			cpu_time_each(a->times, p, t0, t1, group_sum_add, &group_sum);
		else if (recording_rail_feeds(a->rail, p->cpu))
			to->part[g].unknown_ns += t1 - t0;
	}
	if (!v.known) {
		to->unknown++;
		return;
	}
	to->intervals++;
	to->total += v.joules;
	for (unsigned int g = 1; g < PHASE_GROUPS; g++) {
		sum.est += own[g].est;
		sum.low += own[g].low;
		sum.high += own[g].high;
	}
	/* CPU time outside of phases. Phases prove that CPUs were busy. */
	own[0].est = fmax(0, v.busy - sum.est);
	own[0].low = fmax(0, v.busy_low - sum.high);
	own[0].high = fmax(0, v.busy_high - sum.low);
	sum.est += own[0].est;
	sum.low += own[0].low;
	sum.high += own[0].high;
	for (unsigned int g = 0; g < PHASE_GROUPS; g++) {
		const struct range others = { sum.est - own[g].est,
					      fmax(sum.low, v.busy_low) - own[g].high,
					      fmin(sum.high, fmax(v.busy_high, sum.low)) -
						      own[g].low };
		const struct range rest = { fmax(0, others.est), fmax(0, others.low),
					    fmax(0, others.high) };

		if (own[g].high > 0)
			part_bound(&to->part[g], &v, spreads[a->weight], &own[g], &rest);
		joules[g] = g ? part_estimate(a, &v, &own[g], &rest) : 0;
		phases += joules[g];
	}
	/* The parts are all of it: the rest is outside of phases, if anything ran there. */
	for (unsigned int g = 1; g < PHASE_GROUPS; g++)
		if (phases > v.active || (phases > 0 && own[0].est <= 0))
			joules[g] *= v.active / phases;
	joules[0] = own[0].est > 0 ? fmax(0, v.active - phases) : 0;
	for (unsigned int g = 0; g < PHASE_GROUPS; g++)
		to->part[g].joules += joules[g];
	/* Nothing ran: all of it is idle or shared. */
	to->idle.joules += sum.est > 0 ? v.joules - v.active : v.joules;
	to->idle.low += a->idle_w.low * seconds;
	to->idle.high += sum.low > 0 ? a->idle_w.high * seconds : v.high;
}

void attribution_of(const struct recording *rec, size_t rail, const uint16_t *group,
		    struct attribution *to)
{
	struct rail_attribution *a;

	*to = (struct attribution){ 0 };
	a = rail_attribution_of(rec, rail, &to->lack);
	if (!a)
		return;
	to->weight = a->weight;
	snprintf(to->powers, sizeof(to->powers), "%s", powers_source(a->powers));
	to->threads = cpu_times_source(a->times);
	to->idle_w = a->idle_w.est;
	to->idle_low_w = a->idle_w.low;
	to->idle_high_w = a->idle_w.high;
	for (size_t i = 0; i < rail_attribution_intervals(a); i++)
		if (a->series->sample[i + 1].t > a->series->sample[i].t)
			attribution_add_interval(a, i, group, to);
	rail_attribution_free(a);
	if (!to->intervals)
		to->lack = ATTRIBUTION_NO_IDLE;
}

size_t attribution_of_cores(const struct recording *rec, const uint16_t *group,
			    struct attribution *a)
{
	struct attribution one;
	size_t nr = 0;

	*a = (struct attribution){ .lack = ATTRIBUTION_NO_ENERGY };
	for (size_t i = 0; i < rec->rails; i++) {
		if (!*rec->rail[i].cpus)
			continue;
		attribution_of(rec, i, group, &one);
		if (one.lack) {
			/* Without one core the sum would not be that of all. */
			*a = one;
			return 0;
		}
		for (unsigned int g = 0; g < PHASE_GROUPS; g++) {
			one.part[g].joules += a->part[g].joules;
			one.part[g].low += a->part[g].low;
			one.part[g].high += a->part[g].high;
			one.part[g].ns += a->part[g].ns;
			one.part[g].unknown_ns += a->part[g].unknown_ns;
		}
		one.idle.joules += a->idle.joules;
		one.idle.low += a->idle.low;
		one.idle.high += a->idle.high;
		one.idle_w += a->idle_w;
		one.idle_low_w += a->idle_low_w;
		one.idle_high_w += a->idle_high_w;
		one.total += a->total;
		one.intervals += a->intervals;
		one.unknown += a->unknown;
		*a = one;
		nr++;
	}
	return nr;
}

const char *attribution_how(const struct attribution *a, char *buf, size_t size)
{
	static const char *const weights[] = { "weighed by power", "weighed by frequency",
					       "not weighed: frequencies are not known" };

	snprintf(buf, size, "by CPU time, %s%s%s%s; CPU time of threads: %s", weights[a->weight],
		 a->weight == WEIGHT_POWER ? " (" : "", a->weight == WEIGHT_POWER ? a->powers : "",
		 a->weight == WEIGHT_POWER ? ")" : "",
		 *a->threads ? a->threads : "not recorded, taken to run in all of their phases");
	return buf;
}

const char *attribution_lack_text(enum attribution_lack lack)
{
	switch (lack) {
	case ATTRIBUTION_NO_ENERGY:
		return "the rail's energy is not known";
	case ATTRIBUTION_NO_THREADS:
		return "the rail does not feed CPUs";
	case ATTRIBUTION_NO_IDLE:
		return "the recording has no idle states of the rail's CPUs, so that the CPU time "
		       "of other threads is not known";
	default:
		return "no memory";
	}
}
