// SPDX-License-Identifier: GPL-2.0-or-later
#include "timeline.h"

#include <stdlib.h>
#include <string.h>

#include "../../analysis/energy.h"
#include "../../common/text.h"
#include "../../recording/reader/db.h"
#include "../../recording/reader/frequency.h"

static int window_compare_begin(const void *a, const void *b)
{
	const struct timeline_window *x = a, *y = b;

	return (x->t0 > y->t0) - (x->t0 < y->t0);
}

size_t timeline_merge_windows(struct timeline_window *window, size_t nr)
{
	size_t kept = 0;

	qsort(window, nr, sizeof(*window), window_compare_begin);
	for (size_t i = 0; i < nr; i++) {
		if (kept && window[i].t0 <= window[kept - 1].t1) {
			if (window[i].t1 > window[kept - 1].t1)
				window[kept - 1].t1 = window[i].t1;
		} else {
			window[kept++] = window[i];
		}
	}
	return kept;
}

void timeline_find_cell(const struct timeline *tl, uint64_t t, struct timeline_cell *c)
{
	uint64_t t0 = tl->t0, t1 = tl->t1;

	while (c->window < tl->windows && tl->window[c->window].t1 < t)
		c->window++;
	c->inside = c->window < tl->windows && tl->window[c->window].t0 <= t;
	if (c->inside) {
		t0 = tl->window[c->window].t0;
		t1 = tl->window[c->window].t1;
	}
	c->length = (t1 - t0) / tl->cells + 1;
	c->number = t > t0 ? (t - t0) / c->length : 0;
}

/* Keeps up to four points of each part, in order of time. */
struct thinned {
	const struct timeline *timeline;
	const struct timeline_sink *sink;
	struct timeline_cell cell;
	bool whole;
	struct point {
		uint64_t t;
		double v;
	} first, low, high, last;
	size_t in_cell, points;
};

static void thinned_put(const struct thinned *l, const struct point *p)
{
	l->sink->point(l->sink->data, p->t, p->v);
}

static void thinned_flush(struct thinned *l)
{
	const bool rising = l->low.t <= l->high.t;
	const struct point *middle[2] = { rising ? &l->low : &l->high,
					  rising ? &l->high : &l->low };

	if (!l->in_cell)
		return;
	thinned_put(l, &l->first);
	for (int i = 0; i < 2; i++)
		if (middle[i]->t != l->first.t && middle[i]->t != l->last.t)
			thinned_put(l, middle[i]);
	if (l->last.t != l->first.t)
		thinned_put(l, &l->last);
	l->in_cell = 0;
}

/* @nr: number of points before they are thinned, or more. */
static struct thinned thinned_init(const struct timeline *t, size_t nr,
				   const struct timeline_sink *sink)
{
	return (struct thinned){ .timeline = t, .sink = sink, .whole = nr <= t->whole };
}

static void thinned_add(struct thinned *l, uint64_t t, double v)
{
	const struct point p = { t, v };
	struct timeline_cell cell = l->cell;

	timeline_find_cell(l->timeline, t, &cell);
	if (l->in_cell && (l->whole || cell.number != l->cell.number ||
			   cell.window != l->cell.window || cell.inside != l->cell.inside))
		thinned_flush(l);
	if (!l->in_cell)
		l->first = l->low = l->high = p;
	if (v < l->low.v)
		l->low = p;
	if (v > l->high.v)
		l->high = p;
	l->last = p;
	l->cell = cell;
	l->in_cell++;
	l->points++;
}

/* The samples of a power meter; an unknown value is a gap in the line. */
static size_t timeline_put_powers(const struct timeline *t, size_t rail,
				  const struct timeline_sink *sink)
{
	const struct recording_series *s = recording_samples(t->rec, rail);
	struct thinned line = thinned_init(t, s ? s->nr : 0, sink);

	for (size_t i = 0; s && i < s->nr && s->sample[i].t <= t->t1; i++) {
		const struct recording_sample *now = &s->sample[i];

		if (now->t < t->t0)
			continue;
		if (now->value == RECORDING_UNKNOWN) {
			thinned_flush(&line);
			sink->gap(sink->data);
			continue;
		}
		thinned_add(&line, now->t, (double)now->value / 1e6);
	}
	thinned_flush(&line);
	return line.points;
}

/* The mean power between each two samples of an energy counter. */
static size_t timeline_put_means(const struct timeline *t, size_t rail,
				 const struct timeline_sink *sink)
{
	const struct recording_series *s = recording_samples(t->rec, rail);
	struct thinned line = thinned_init(t, s ? s->nr : 0, sink);
	bool broken = true;

	for (size_t i = 1; s && i < s->nr && s->sample[i].t <= t->t1; i++) {
		const struct recording_sample *now = &s->sample[i], *before = now - 1;
		double w;

		if (before->t < t->t0 || now->t <= before->t)
			continue;
		if (now->value == RECORDING_UNKNOWN || before->value == RECORDING_UNKNOWN ||
		    now->value < before->value) {
			thinned_flush(&line);
			if (!broken)
				sink->gap(sink->data);
			broken = true;
			continue;
		}
		w = ((double)now->value - (double)before->value) * 1e3 /
		    (double)(now->t - before->t);
		/* With its end alone, a single interval would be a point instead of a line. */
		if (broken)
			thinned_add(&line, before->t, w);
		broken = false;
		thinned_add(&line, now->t, w);
	}
	thinned_flush(&line);
	return line.points;
}

size_t timeline_cpu(const struct timeline *t, size_t i, const struct timeline_sink *sink)
{
	const struct recording_cpu *c = &t->rec->cpu[t->cpu[i]];
	struct thinned line = thinned_init(t, c->nr, sink);
	uint32_t khz = recording_khz(t->rec, (int)c->cpu, t->t0);

	if (khz)
		thinned_add(&line, t->t0, khz / 1000.0);
	for (size_t k = 0; k < c->nr; k++)
		if (c->step[k].t <= t->t0 || c->step[k].t >= t->t1) {
			continue;
		} else if (c->step[k].khz) {
			thinned_add(&line, c->step[k].t, c->step[k].khz / 1000.0);
		} else {
			thinned_flush(&line);
			sink->gap(sink->data);
		}
	khz = recording_khz(t->rec, (int)c->cpu, t->t1);
	if (khz)
		thinned_add(&line, t->t1, khz / 1000.0);
	thinned_flush(&line);
	return line.points;
}

/* A voltage is recorded when it changes: a sample is valid until the next one. */
static size_t timeline_put_levels(const struct timeline *t, size_t rail,
				  const struct timeline_sink *sink)
{
	const struct recording_series *s = recording_samples(t->rec, rail);
	struct thinned line = thinned_init(t, s ? s->nr : 0, sink);
	double last = 0;
	bool known = false;

	for (size_t i = 0; s && i < s->nr && s->sample[i].t <= t->t1; i++) {
		double v = (double)s->sample[i].value / 1e6;

		if (s->sample[i].value == RECORDING_UNKNOWN || (known && v == last))
			continue;
		if (known && !line.points && s->sample[i].t > t->t0)
			thinned_add(&line, t->t0, last);
		if (s->sample[i].t >= t->t0)
			thinned_add(&line, s->sample[i].t, v);
		last = v;
		known = true;
	}
	if (known && !line.points)
		thinned_add(&line, t->t0, last);
	if (known)
		thinned_add(&line, t->t1, last);
	thinned_flush(&line);
	return line.points;
}

size_t timeline_rail(const struct timeline *t, size_t i, const struct timeline_sink *sink)
{
	const size_t rail = t->rail[i];

	if (t->steps)
		return timeline_put_levels(t, rail, sink);
	return (t->rec->rail[rail].kind != RAIL_ENERGY ? timeline_put_powers :
							 timeline_put_means)(t, rail, sink);
}

const char *timeline_rail_name(const struct timeline *t, size_t i)
{
	const struct recording_rail *r = &t->rec->rail[t->rail[i]];

	return *r->label ? r->label : r->name;
}

static bool series_has_value(const struct recording_series *s, bool changes)
{
	int64_t first = RECORDING_UNKNOWN;

	for (size_t i = 0; s && i < s->nr; i++) {
		if (s->sample[i].value == RECORDING_UNKNOWN)
			continue;
		if (!changes || (first != RECORDING_UNKNOWN && first != s->sample[i].value))
			return true;
		first = s->sample[i].value;
	}
	return false;
}

static bool rail_is_power(const struct recording_rail *rail)
{
	return rail->kind == RAIL_POWER || rail->kind == RAIL_ENERGY;
}

/*
 * Rails of more than a core. timeline_choose_rails() takes meters before counters, since
 * both may measure the same rail.
 */
static bool rail_is_meter(const struct recording_rail *rail)
{
	return rail->kind == RAIL_POWER && !*rail->cpus;
}

static bool rail_is_counter(const struct recording_rail *rail)
{
	return rail->kind == RAIL_ENERGY && !*rail->cpus;
}

static bool rail_is_core(const struct recording_rail *rail)
{
	return rail_is_power(rail) && *rail->cpus;
}

static bool rail_is_voltage(const struct recording_rail *rail)
{
	return rail->kind == RAIL_VOLTAGE;
}

static void timeline_add_rails(struct timeline *t, bool (*is)(const struct recording_rail *rail),
			       bool changes)
{
	for (size_t i = 0; i < t->rec->rails; i++) {
		const struct recording_series *series = recording_samples(t->rec, i);

		if (!is(&t->rec->rail[i]) || !series_has_value(series, changes))
			continue;
		if (t->rec->rail[i].kind == RAIL_ENERGY && !series_has_value(series, true)) {
			t->rails_still++;
			continue;
		}
		/* A mean of the whole run would look like a power that never changes. */
		if (rail_is_power(&t->rec->rail[i]) &&
		    recording_samples(t->rec, i)->nr < ENERGY_READINGS)
			t->rails_rare++;
		else if (t->rails < TIMELINE_RAILS)
			t->rail[t->rails++] = i;
		else
			t->rails_left++;
	}
}

/* Rails of power if there are any, else the voltages that changed, such as a core's. */
static void timeline_choose_rails(struct timeline *t)
{
	t->rails = t->rails_left = t->rails_rare = t->rails_still = 0;
	timeline_add_rails(t, rail_is_meter, false);
	timeline_add_rails(t, rail_is_counter, false);
	timeline_add_rails(t, rail_is_core, false);
	t->axis = t->rails ? "power (W)" : "";
	if (t->rails)
		return;
	timeline_add_rails(t, rail_is_voltage, true);
	if (t->rails)
		t->axis = "voltage (V)";
}

static bool cpu_has_frequency(const struct recording_cpu *c)
{
	for (size_t k = 0; k < c->nr; k++)
		if (c->step[k].khz)
			return true;
	return false;
}

/* All CPUs of a policy have one frequency, so only the first of each policy is drawn. */
static void timeline_choose_cpus(const struct recording *rec, size_t *cpu, size_t *nr, size_t *left)
{
	uint8_t set[1024], *taken = calloc(rec->cpus ? rec->cpus : 1, 1);
	sqlite3_stmt *s = db_query(rec->db, "SELECT replace(cpus, ' ', ',') FROM policies");

	*nr = *left = 0;
	if (!taken)
		db_missing(rec->path, "no memory for its policies");
	/* All CPUs of a policy but the first are marked as taken. */
	while (taken && db_next(s)) {
		bool first = true;

		if (text_cpulist(db_text(s, 0, ""), set, sizeof(set)) <= 0)
			continue;
		for (size_t i = 0; i < rec->cpus; i++) {
			if (rec->cpu[i].cpu >= sizeof(set) || !set[rec->cpu[i].cpu])
				continue;
			taken[i] = !first;
			first = false;
		}
	}
	sqlite3_finalize(s);
	for (size_t i = 0; i < rec->cpus; i++) {
		if ((taken && taken[i]) || !cpu_has_frequency(&rec->cpu[i]))
			continue;
		if (*nr < TIMELINE_CPUS)
			cpu[(*nr)++] = i;
		else
			++*left;
	}
	free(taken);
}

/* Readings of a heap follow each other. */
static bool heap_is_same(const struct recording_heap *a, const struct recording_heap *b)
{
	return a->tgid == b->tgid && a->tid == b->tid;
}

static void timeline_choose_heaps(struct timeline *t)
{
	const struct recording *rec = t->rec;
	size_t first = 0;
	bool used = false;

	t->heaps = t->heaps_left = 0;
	for (size_t i = 0; i < rec->heaps; i++) {
		used = used || rec->heap[i].used != RECORDING_UNKNOWN;
		if (i + 1 < rec->heaps && heap_is_same(&rec->heap[i], &rec->heap[i + 1]))
			continue;
		if (used && t->heaps < TIMELINE_HEAPS)
			t->heap[t->heaps++] = first;
		else if (used)
			t->heaps_left++;
		first = i + 1;
		used = false;
	}
}

size_t timeline_heap(const struct timeline *t, size_t i, const struct timeline_sink *sink)
{
	const struct recording *rec = t->rec;
	const struct recording_heap *first = &rec->heap[t->heap[i]], *end = rec->heap + rec->heaps;
	struct thinned line = thinned_init(t, rec->heaps, sink);

	for (const struct recording_heap *h = first; h < end && heap_is_same(first, h); h++)
		if (h->used != RECORDING_UNKNOWN && h->t >= t->t0 && h->t <= t->t1)
			thinned_add(&line, h->t, (double)h->used / (1 << 20));
	thinned_flush(&line);
	return line.points;
}

bool timeline_is_whole(const struct timeline *t)
{
	int64_t decisions;
	bool whole = !db_number(t->rec->db,
				"SELECT max(n) FROM (SELECT count(*) AS n FROM decisions GROUP "
				"BY policy)",
				0, &decisions) ||
		     (uint64_t)decisions <= t->whole;

	for (size_t i = 0; i < t->rails; i++) {
		const struct recording_series *s = recording_samples(t->rec, t->rail[i]);

		whole = whole && s && s->nr <= t->whole;
	}
	for (size_t i = 0; i < t->cpus; i++)
		whole = whole && t->rec->cpu[t->cpu[i]].nr <= t->whole;
	return whole && (!t->heaps || t->rec->heaps <= t->whole);
}

void timeline_choose(struct timeline *t)
{
	timeline_choose_rails(t);
	t->steps = t->rails && t->rec->rail[t->rail[0]].kind == RAIL_VOLTAGE;
	timeline_choose_cpus(t->rec, t->cpu, &t->cpus, &t->cpus_left);
	timeline_choose_heaps(t);
}
