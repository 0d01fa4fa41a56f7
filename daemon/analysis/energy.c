// SPDX-License-Identifier: GPL-2.0-or-later
#include "energy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../recording/reader/db.h"
#include "../recording/reader/frequency.h"
#include "power-model.h"

/* Tolerance: counters advance in steps, and the time of a reading is accurate to some us. */
#define SLACK 1e-3

struct edge {
	uint64_t t;
	uint16_t group;
	int16_t step; /* +1 begin, -1 end */
};

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->step - y->step; /* ends before begins */
}

static void segment_append(struct energy_segment *seg, size_t *nr, uint64_t t0, uint64_t t1,
			   const uint32_t *active)
{
	struct energy_segment *s = &seg[*nr];

	if (t1 <= t0)
		return;
	*s = (struct energy_segment){ .t0 = t0, .t1 = t1 };
	for (unsigned int g = 1; g < PHASE_GROUPS && s->nr < ENERGY_SHARES; g++)
		if (active[g])
			s->group[s->nr++] = (uint16_t)g;
	++*nr;
}

struct energy_segment *energy_segments(const struct recording *rec,
				       const struct recording_rail *rail, const uint16_t *group,
				       size_t *nr)
{
	struct edge *edge = malloc((rec->phases * 2 + 1) * sizeof(*edge));
	struct energy_segment *seg = malloc((rec->phases * 2 + 2) * sizeof(*seg));
	uint32_t active[PHASE_GROUPS] = { 0 };
	uint64_t t = rec->t0;
	size_t edges = 0;

	*nr = 0;
	if (!edge || !seg) {
		free(edge);
		free(seg);
		return NULL;
	}
	for (size_t i = 0; i < rec->phases; i++) {
		const struct recording_phase *p = &rec->phase[i];

		const uint16_t g = group ? group[i] : p->group;

		if (rail && !recording_rail_feeds(rail, p->cpu))
			continue;
		edge[edges++] = (struct edge){ p->t0, g, 1 };
		edge[edges++] = (struct edge){ p->t1, g, -1 };
	}
	qsort(edge, edges, sizeof(*edge), by_time);
	for (size_t i = 0; i < edges; i++) {
		if (edge[i].t > t) {
			segment_append(seg, nr, t, edge[i].t, active);
			t = edge[i].t;
		}
		active[edge[i].group] += (uint32_t)edge[i].step;
	}
	segment_append(seg, nr, t, rec->t1, active);
	free(edge);
	return seg;
}

static bool sample_known(const struct recording_sample *s)
{
	return s->value != RECORDING_UNKNOWN;
}

double energy_joules(const struct recording_sample *a, const struct recording_sample *b,
		     bool counter)
{
	if (counter)
		return ((double)b->value - (double)a->value) * 1e-6;
	return ((double)a->value + (double)b->value) / 2 * 1e-6 * (double)(b->t - a->t) * 1e-9;
}

bool energy_known(const struct recording_sample *a, const struct recording_sample *b, bool counter)
{
	return sample_known(a) && sample_known(b) && b->t > a->t &&
	       (!counter || b->value >= a->value);
}

/*
 * The time of a group within one interval, by the number n of groups that were active together. A
 * stretch gives each of its n groups an n-th of its energy. A counter that advances in steps needs
 * three such accounts: the time between its readings (@ns), all the time whose energy they may
 * include (@wide), and the time whose energy they certainly include (@sure). Otherwise all three
 * are equal.
 */
struct share {
	unsigned int group;
	uint64_t ns[ENERGY_SHARES + 1]; /* by n; [0] unused */
	uint64_t wide[ENERGY_SHARES + 1], sure[ENERGY_SHARES + 1];
};

/* @length, @wide and @sure are as in struct share, but over all groups, in seconds. */
struct interval {
	double joules, length, wide, sure;
	bool known, counter;
	const struct energy_limits *limits;
};

/*
 * The least or the most energy of an interval that a group can have taken. Each stretch took
 * between the rail's minimum and maximum power times its length, and all stretches together took
 * the interval's energy. Start with the minimum everywhere, and put the rest where it counts
 * least, or most, for the group.
 */
static double share_bound(const struct share *s, const struct interval *v, bool most)
{
	double weight[ENERGY_SHARES + 1], seconds[ENERGY_SHARES + 1], least[ENERGY_SHARES + 1];
	const struct energy_limits *limits = v->limits;
	double in = 0, certain = 0, sum = 0, rest = v->joules - limits->min_w * v->sure;

	for (int n = 1; n <= ENERGY_SHARES; n++) {
		weight[n] = 1.0 / n;
		seconds[n] = (double)s->wide[n] * 1e-9;
		least[n] = limits->min_w * (double)s->sure[n] * 1e-9;
		in += seconds[n];
		certain += (double)s->sure[n] * 1e-9;
		sum += least[n] * weight[n];
	}
	weight[0] = 0;
	seconds[0] = fmax(0, v->wide - in);
	least[0] = limits->min_w * fmax(0, v->sure - certain);
	/* In order of weight: from n = 1 down to 0, time without the group; or in reverse. */
	for (int k = 0; k <= ENERGY_SHARES && rest > 0; k++) {
		int n = most ? (k + 1) % (ENERGY_SHARES + 1) :
			       (ENERGY_SHARES + 1 - k) % (ENERGY_SHARES + 1);
		double room;

		if (seconds[n] <= 0)
			continue;
		room = fmin(rest, limits->max_w * seconds[n] - least[n]);
		sum += room * weight[n];
		rest -= room;
	}
	return sum;
}

static void add_share(const struct interval *v, const struct share *s, struct energy_part *p)
{
	double part = 0, seconds;
	uint64_t ns = 0;
	int kinds = 0;
	bool whole;

	for (int n = 1; n <= ENERGY_SHARES; n++) {
		part += (double)s->ns[n] / n;
		ns += s->wide[n];
		kinds += s->wide[n] > 0;
	}
	if (!v->known) {
		p->unknown_ns += (uint64_t)part;
		return;
	}
	seconds = (double)ns * 1e-9;
	/* The same n throughout: the share is exact, however power varied in the interval. */
	whole = kinds == 1 && seconds >= v->wide * (1 - 1e-9);
	p->ns += (uint64_t)part;
	p->joules += v->joules * part * 1e-9 / v->length;
	if (whole) {
		p->whole_ns += (uint64_t)part;
		p->low += v->joules * part * 1e-9 / v->length;
		p->high += v->joules * part * 1e-9 / v->length;
	} else if (v->counter) {
		p->low += share_bound(s, v, false);
		p->high += share_bound(s, v, true);
	} else {
		p->low += v->limits->min_w * part * 1e-9;
		p->high += v->limits->max_w * part * 1e-9;
	}
}

/* ns of a stretch that lie between two instants. */
static uint64_t segment_overlap(const struct energy_segment *seg, uint64_t from, uint64_t to)
{
	from = seg->t0 > from ? seg->t0 : from;
	to = seg->t1 < to ? seg->t1 : to;
	return to > from ? to - from : 0;
}

static void split_interval(const struct recording_sample *a, const struct recording_sample *b,
			   const struct interval *v, const struct energy_segment *seg,
			   size_t segments, size_t *at, struct energy *e)
{
	struct share share[PHASE_GROUPS];
	unsigned int index[PHASE_GROUPS] = { 0 }, nr = 0; /* of share, from 1 */
	const uint64_t step = v->limits->update_ns;
	const uint64_t first = a->t > step ? a->t - step : 0;

	while (*at < segments && seg[*at].t1 <= first)
		++*at;
	for (size_t i = *at; i < segments && seg[i].t0 < b->t; i++) {
		unsigned int n = seg[i].nr ? seg[i].nr : 1;

		for (unsigned int g = 0; g < n; g++) {
			unsigned int group = seg[i].nr ? seg[i].group[g] : 0;

			if (!index[group]) {
				index[group] = ++nr;
				share[nr - 1] = (struct share){ .group = group };
			}
			share[index[group] - 1].ns[n] += segment_overlap(&seg[i], a->t, b->t);
			share[index[group] - 1].wide[n] += segment_overlap(&seg[i], first, b->t);
			share[index[group] - 1].sure[n] +=
				segment_overlap(&seg[i], a->t, b->t - step);
		}
	}
	for (unsigned int i = 0; i < nr; i++)
		add_share(v, &share[i], &e->part[share[i].group]);
}

bool energy_resolved(const struct energy_part *p)
{
	return p->high - p->low <= p->joules || (double)p->whole_ns >= 0.9 * (double)p->ns;
}

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool median_interval(const struct recording_sample *s, size_t samples, uint64_t *interval)
{
	uint64_t *d;

	if (samples < 2)
		return true;
	d = malloc((samples - 1) * sizeof(*d));
	if (!d)
		return false;
	for (size_t i = 0; i + 1 < samples; i++)
		d[i] = s[i + 1].t - s[i].t;
	qsort(d, samples - 1, sizeof(*d), by_length);
	*interval = d[(samples - 1) / 2];
	free(d);
	return true;
}

double energy_max_power(const struct recording_sample *s, size_t samples, uint64_t step)
{
	double w = 0;

	for (size_t i = 0; i + 1 < samples; i++)
		if (energy_known(&s[i], &s[i + 1], true))
			w = fmax(w, energy_joules(&s[i], &s[i + 1], true) * 1e9 /
					    (double)(s[i + 1].t - s[i].t + step));
	return w;
}

bool energy_may_wrap(const struct energy_limits *limits, double joules, double seconds,
		     double most_w)
{
	return limits->wraps > 0 && joules + limits->wraps <= most_w * seconds;
}

/* Equal readings on both sides of an unknown one show nothing: what was between them is not added. */
bool energy_is_still(const struct recording_sample *s, size_t samples)
{
	const struct recording_sample *first = NULL;
	bool pair = false;

	for (size_t i = 0; i < samples; i++) {
		if (!sample_known(&s[i]))
			continue;
		first = first ? first : &s[i];
		if (s[i].value != first->value)
			return false;
		pair |= i && sample_known(&s[i - 1]);
	}
	return pair;
}

bool energy_split(const struct recording_sample *s, size_t samples, bool counter,
		  const struct energy_limits *limits, const struct energy_segment *seg,
		  size_t segments, struct energy *e)
{
	const uint64_t step = limits->update_ns;
	/* Until then the mean that a meter shows is also of what was before. */
	const uint64_t own = !counter && step && segments ? seg[0].t0 + step : 0;
	double most = isfinite(limits->max_w) ? limits->max_w : 0;
	size_t at = 0;
	bool whole;

	memset(e, 0, sizeof(*e));
	e->samples = samples;
	whole = median_interval(s, samples, &e->interval_ns);
	if (counter && limits->wraps > 0 && most <= 0)
		most = energy_max_power(s, samples, step);
	for (size_t i = 0; i < samples; i++)
		e->unknown += !sample_known(&s[i]);
	for (size_t i = 0; i + 1 < samples; i++) {
		const struct energy_limits none = { 0, INFINITY, limits->update_ns, 0 };
		struct interval v = { .counter = counter, .limits = limits };

		if (s[i + 1].t <= s[i].t)
			continue;
		v.known = energy_known(&s[i], &s[i + 1], counter);
		if (v.known && s[i].t < own) {
			v.known = false;
			e->averaged++;
		}
		v.length = (double)(s[i + 1].t - s[i].t) * 1e-9;
		v.wide = v.length + (double)step * 1e-9;
		v.sure = fmax(0, v.length - (double)step * 1e-9);
		if (v.known)
			v.joules = energy_joules(&s[i], &s[i + 1], counter);
		if (v.known && counter && energy_may_wrap(limits, v.joules, v.length, most)) {
			v.known = false;
			e->wrapped++;
		}
		if (v.known) {
			e->total += v.joules;
			e->known_ns += s[i + 1].t - s[i].t;
			/* Ignore limits that the measurement contradicts. */
			if (v.joules < limits->min_w * v.sure * (1 - SLACK) ||
			    v.joules > limits->max_w * v.wide * (1 + SLACK)) {
				e->beyond++;
				v.limits = &none;
			}
		}
		if (!v.known)
			e->gaps_ns += s[i + 1].t - s[i].t;
		split_interval(&s[i], &s[i + 1], &v, seg, segments, &at, e);
	}
	if (e->known_ns)
		e->mean_w = e->total / ((double)e->known_ns * 1e-9);
	return whole;
}

/* Whether a power is known between any two readings. */
static bool series_has_pair(const struct recording_series *s)
{
	for (size_t i = 0; i + 1 < s->nr; i++)
		if (sample_known(&s->sample[i]) && sample_known(&s->sample[i + 1]))
			return true;
	return false;
}

bool energy_of(const struct recording *rec, size_t rail, const uint16_t *group, struct energy *e)
{
	const struct recording_rail *r = &rec->rail[rail];
	bool counter = r->kind == RAIL_ENERGY;
	const struct recording_series *series;
	struct energy_segment *seg;
	size_t segments;

	memset(e, 0, sizeof(*e));
	if (!counter && r->kind != RAIL_POWER)
		return false;
	series = recording_samples(rec, rail);
	if (!series)
		return false;
	e->still = counter && energy_is_still(series->sample, series->nr);
	e->negative = series->negative && !series_has_pair(series);
	if (e->still || e->negative) {
		e->samples = series->nr + series->still;
		return false;
	}
	seg = energy_segments(rec, r, group, &segments);
	if (!seg ||
	    !energy_split(series->sample, series->nr, counter, &r->limits, seg, segments, e)) {
		db_missing(rec->path, "no memory for its energy");
		free(seg);
		return false;
	}
	free(seg);
	e->stopped = series->stopped;
	return e->known_ns;
}

const char *energy_lack_text(const struct energy *e)
{
	if (e->still)
		return "its counter never moved: it does not count here";
	if (e->negative)
		return "its power is negative: its shunt is reversed, or it feeds a battery";
	if (e->averaged && !e->known_ns)
		return "its readings are means of a time that is longer than the recording";
	return NULL;
}

/* Whether two rails report the same energy, reading by reading: one mirrors the other. */
static bool rail_mirrors(const struct recording *rec, size_t a, size_t b)
{
	const struct recording_series *x = recording_samples(rec, a),
				      *y = recording_samples(rec, b);
	size_t same = 0;

	if (!x || !y || x->nr != y->nr)
		return false;
	for (size_t i = 0; i < x->nr; i++) {
		if (x->sample[i].value != y->sample[i].value)
			return false;
		same += x->sample[i].value != RECORDING_UNKNOWN;
	}
	return same > 1;
}

static bool headline_has(const struct recording *rec, const size_t *rail, size_t nr, size_t i)
{
	for (size_t k = 0; k < nr; k++) {
		const struct recording_rail *have = &rec->rail[rail[k]], *r = &rec->rail[i];

		if ((*r->label && !strcmp(have->label, r->label)) || rail_mirrors(rec, rail[k], i))
			return true;
	}
	return false;
}

size_t energy_headline(const struct recording *rec, size_t *rail, size_t max)
{
	size_t nr = 0;
	struct energy e;

	for (enum rail_role role = 0; role < RAIL_ROLE_MEMORY && !nr; role++) {
		const bool all = role == RAIL_ROLE_PACKAGE || role == RAIL_ROLE_CPU;

		for (size_t i = 0; i < rec->rails && nr < (all ? max : 1); i++)
			if (rec->rail[i].role == role && !*rec->rail[i].cpus &&
			    energy_of(rec, i, NULL, &e) && !headline_has(rec, rail, nr, i))
				rail[nr++] = i;
	}
	return nr;
}

double energy_of_command(const struct recording *rec, size_t rail)
{
	const struct recording_rail *r = &rec->rail[rail];
	const bool counter = r->kind == RAIL_ENERGY;
	const struct energy_segment seg[] = {
		{ .t0 = 0, .t1 = rec->c0 },
		{ .t0 = rec->c0, .t1 = rec->c1, .group = { 1 }, .nr = 1 },
		{ .t0 = rec->c1, .t1 = UINT64_MAX },
	};
	const double length = (double)recording_duration(rec);
	const struct recording_series *series;
	const struct energy_part *p;
	struct energy e;

	if (!rec->c1 || (!counter && r->kind != RAIL_POWER))
		return NAN;
	series = recording_samples(rec, rail);
	if (!series || (counter && energy_is_still(series->sample, series->nr)))
		return NAN;
	if (!energy_split(series->sample, series->nr, counter, &r->limits, seg, 3, &e)) {
		db_missing(rec->path, "no memory for its energy");
		return NAN;
	}
	p = &e.part[1];
	if (p->unknown_ns || (double)p->ns < 0.9 * length || !energy_resolved(p))
		return NAN;
	return p->joules * length / (double)p->ns;
}

static void energy_add(struct energy *e, const struct energy *one)
{
	for (unsigned int g = 0; g < PHASE_GROUPS; g++) {
		e->part[g].joules += one->part[g].joules;
		e->part[g].low += one->part[g].low;
		e->part[g].high += one->part[g].high;
		e->part[g].ns += one->part[g].ns;
		e->part[g].whole_ns += one->part[g].whole_ns;
		e->part[g].unknown_ns += one->part[g].unknown_ns;
	}
	e->total += one->total;
	e->mean_w += one->mean_w;
	e->interval_ns = one->interval_ns > e->interval_ns ? one->interval_ns : e->interval_ns;
	e->known_ns = one->known_ns > e->known_ns ? one->known_ns : e->known_ns;
	e->gaps_ns = one->gaps_ns > e->gaps_ns ? one->gaps_ns : e->gaps_ns;
	e->stopped += one->stopped;
}

size_t energy_of_cores(const struct recording *rec, const uint16_t *group, struct energy *e)
{
	struct energy one;
	size_t nr = 0;

	memset(e, 0, sizeof(*e));
	for (size_t i = 0; i < rec->rails; i++) {
		if (!*rec->rail[i].cpus || !energy_of(rec, i, group, &one))
			continue;
		energy_add(e, &one);
		nr++;
	}
	return nr;
}

void energy_of_rails(const struct recording *rec, const size_t *rail, size_t nr,
		     const uint16_t *group, struct energy *e)
{
	struct energy one;

	memset(e, 0, sizeof(*e));
	for (size_t i = 0; i < nr; i++)
		if (energy_of(rec, rail[i], group, &one))
			energy_add(e, &one);
}

struct energy_part energy_inside(const struct energy *e)
{
	struct energy_part in = { 0 };
	bool bounded = isfinite(e->part[0].high);

	for (unsigned int g = 1; g < PHASE_GROUPS; g++) {
		in.ns += e->part[g].ns;
		in.whole_ns += e->part[g].whole_ns;
		in.unknown_ns += e->part[g].unknown_ns;
		bounded = bounded && isfinite(e->part[g].high);
		in.low += e->part[g].low;
		in.high += e->part[g].high;
	}
	in.joules = e->total - e->part[0].joules;
	/* Two bounds hold: the sum over the groups, and the total less what was outside. */
	if (bounded) {
		in.low = fmax(in.low, e->total - e->part[0].high);
		in.high = fmin(in.high, e->total - e->part[0].low);
	}
	return in;
}

struct model_sum {
	struct powers *powers;
	/* While recording_stretches() walks over a phase. */
	struct energy *e;
	unsigned int group;
	int cpu;
	uint64_t ns; /* with a known frequency */
};

static void add_stretch(void *data, uint32_t khz, uint64_t ns)
{
	struct model_sum *m = data;
	struct energy_part *part = &m->e->part[m->group];
	double joules = powers_at(m->powers, m->cpu, khz) * 1e-6 * (double)ns * 1e-9;

	m->ns += ns;
	if (joules <= 0) {
		part->unknown_ns += ns;
		return;
	}
	part->ns += ns;
	part->joules += joules;
	m->e->total += joules;
}

bool energy_modelled(const struct recording *rec, struct energy *e, char *source, size_t size)
{
	struct model_sum m = { .powers = powers_of(rec->db), .e = e };
	bool any;

	memset(e, 0, sizeof(*e));
	snprintf(source, size, "%s", "");
	if (!m.powers) {
		db_missing(rec->path, "no memory for modelled energy");
		return false;
	}
	any = *powers_source(m.powers);
	snprintf(source, size, "%s", powers_source(m.powers));
	for (size_t i = 0; i < rec->phases && any; i++) {
		m.group = rec->phase[i].group;
		m.cpu = rec->phase[i].cpu;
		m.ns = 0;
		recording_stretches(rec, m.cpu, rec->phase[i].t0, rec->phase[i].t1, add_stretch,
				    &m);
		e->no_khz_ns += rec->phase[i].t1 - rec->phase[i].t0 - m.ns;
	}
	powers_free(m.powers);
	return any;
}
