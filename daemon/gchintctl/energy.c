// SPDX-License-Identifier: GPL-2.0-or-later
#include "energy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/text.h"
#include "db.h"

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

static void put(struct energy_segment *seg, size_t *nr, uint64_t t0, uint64_t t1,
		const uint32_t *active)
{
	struct energy_segment *s = &seg[*nr];

	if (t1 <= t0)
		return;
	*s = (struct energy_segment){ .t0 = t0, .t1 = t1 };
	for (unsigned int g = 1; g < RUN_GROUPS && s->nr < 4; g++)
		if (active[g])
			s->group[s->nr++] = (uint16_t)g;
	++*nr;
}

struct energy_segment *energy_segments(const struct run *run, size_t *nr)
{
	struct edge *edge = malloc((run->phases * 2 + 1) * sizeof(*edge));
	struct energy_segment *seg = malloc((run->phases * 2 + 2) * sizeof(*seg));
	uint32_t active[RUN_GROUPS] = { 0 };
	uint64_t t = run->t0;
	size_t edges = 0;

	*nr = 0;
	if (!edge || !seg) {
		free(edge);
		free(seg);
		return NULL;
	}
	for (size_t i = 0; i < run->phases; i++) {
		const struct run_phase *p = &run->phase[i];

		edge[edges++] = (struct edge){ p->t0, p->group, 1 };
		edge[edges++] = (struct edge){ p->t1, p->group, -1 };
	}
	qsort(edge, edges, sizeof(*edge), by_time);
	for (size_t i = 0; i < edges; i++) {
		if (edge[i].t > t) {
			put(seg, nr, t, edge[i].t, active);
			t = edge[i].t;
		}
		active[edge[i].group] += (uint32_t)edge[i].step;
	}
	put(seg, nr, t, run->t1, active);
	free(edge);
	return seg;
}

/*
 * How far from the truth a share of an interval's energy can be: what @overlap
 * of it took is bounded by the powers that the rail can have, in it and in the
 * rest.
 */
static double reach(double joules, double length, double overlap, const struct energy *e)
{
	double rest = length - overlap, share = joules * overlap / length, low, high;

	low = fmax(e->min_w * overlap, joules - e->max_w * rest);
	high = fmin(e->max_w * overlap, joules - e->min_w * rest);
	return fmax(0, fmax(share - low, high - share));
}

static double watts(const struct energy_sample *a, const struct energy_sample *b, bool counter)
{
	if (counter)
		return (double)(b->value - a->value) * 1e-6 / ((double)(b->t - a->t) * 1e-9);
	return ((double)a->value + (double)b->value) / 2 * 1e-6;
}

/* A counter that goes back was reset: nothing is known of that interval. */
static bool usable(const struct energy_sample *a, const struct energy_sample *b, bool counter)
{
	return a->known && b->known && b->t > a->t && (!counter || b->value >= a->value);
}

static void split_interval(const struct energy_sample *a, const struct energy_sample *b,
			   double joules, bool known, const struct energy_segment *seg,
			   size_t segments, size_t *at, struct energy *e)
{
	double share[RUN_GROUPS] = { 0 }; /* ns of this interval */
	double length = (double)(b->t - a->t);
	unsigned int touched[RUN_GROUPS] = { 0 }, nr = 0;

	while (*at < segments && seg[*at].t1 <= a->t)
		++*at;
	for (size_t i = *at; i < segments && seg[i].t0 < b->t; i++) {
		uint64_t from = seg[i].t0 > a->t ? seg[i].t0 : a->t;
		uint64_t to = seg[i].t1 < b->t ? seg[i].t1 : b->t;
		unsigned int n = seg[i].nr ? seg[i].nr : 1;

		for (unsigned int g = 0; g < n; g++) {
			unsigned int group = seg[i].nr ? seg[i].group[g] : 0;

			if (share[group] == 0)
				touched[nr++] = group;
			share[group] += (double)(to - from) / n;
		}
	}
	for (unsigned int i = 0; i < nr; i++) {
		struct energy_part *p = &e->part[touched[i]];
		double ns = share[touched[i]];

		if (!known) {
			p->unknown_ns += (uint64_t)ns;
			continue;
		}
		p->ns += (uint64_t)ns;
		p->joules += joules * ns / length;
		p->error += reach(joules, length * 1e-9, ns * 1e-9, e);
	}
}

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static uint64_t median_interval(const struct energy_sample *s, size_t samples)
{
	uint64_t *d = samples > 1 ? malloc((samples - 1) * sizeof(*d)) : NULL, m;

	if (!d)
		return 0;
	for (size_t i = 0; i + 1 < samples; i++)
		d[i] = s[i + 1].t - s[i].t;
	qsort(d, samples - 1, sizeof(*d), by_length);
	m = d[(samples - 1) / 2];
	free(d);
	return m;
}

void energy_split(const struct energy_sample *s, size_t samples, bool counter,
		  const struct energy_segment *seg, size_t segments, struct energy *e)
{
	size_t at = 0;

	memset(e, 0, sizeof(*e));
	e->samples = samples;
	e->interval_ns = median_interval(s, samples);
	e->min_w = INFINITY;
	e->max_w = -INFINITY;
	for (size_t i = 0; i < samples; i++)
		e->unknown += !s[i].known;
	for (size_t i = 0; i + 1 < samples; i++) {
		double w;

		if (!usable(&s[i], &s[i + 1], counter))
			continue;
		w = watts(&s[i], &s[i + 1], counter);
		e->total += w * (double)(s[i + 1].t - s[i].t) * 1e-9;
		e->known_ns += s[i + 1].t - s[i].t;
		/* Of a power rail the samples themselves are the extremes. */
		if (!counter) {
			e->min_w = fmin(e->min_w,
					fmin((double)s[i].value, (double)s[i + 1].value) * 1e-6);
			e->max_w = fmax(e->max_w,
					fmax((double)s[i].value, (double)s[i + 1].value) * 1e-6);
		} else {
			e->min_w = fmin(e->min_w, w);
			e->max_w = fmax(e->max_w, w);
		}
	}
	if (e->known_ns)
		e->mean_w = e->total / ((double)e->known_ns * 1e-9);
	for (size_t i = 0; i + 1 < samples; i++) {
		bool known = usable(&s[i], &s[i + 1], counter);
		double joules = 0;

		if (s[i + 1].t <= s[i].t)
			continue;
		if (known)
			joules = watts(&s[i], &s[i + 1], counter) * (double)(s[i + 1].t - s[i].t) *
				 1e-9;
		split_interval(&s[i], &s[i + 1], joules, known, seg, segments, &at, e);
	}
}

bool energy_of(const struct run *run, const struct run_rail *rail, struct energy *e)
{
	bool counter = !strcmp(rail->kind, "energy");
	struct energy_sample *s = NULL;
	struct energy_segment *seg;
	size_t nr = 0, room = 0, segments;
	sqlite3_stmt *stmt;

	if (!counter && strcmp(rail->kind, "power"))
		return false;
	stmt = db_query(run->db, "SELECT t, value FROM samples WHERE rail = ? ORDER BY t");
	if (!stmt)
		return false;
	sqlite3_bind_int64(stmt, 1, rail->id);
	while (db_next(stmt)) {
		if (nr == room) {
			struct energy_sample *more;

			room = room ? room * 2 : 1024;
			more = realloc(s, room * sizeof(*s));
			if (!more)
				break;
			s = more;
		}
		s[nr++] = (struct energy_sample){
			.t = (uint64_t)db_int(stmt, 0, 0),
			.value = db_int(stmt, 1, 0),
			.known = sqlite3_column_type(stmt, 1) != SQLITE_NULL,
		};
	}
	sqlite3_finalize(stmt);
	seg = energy_segments(run, &segments);
	if (seg)
		energy_split(s, nr, counter, seg, segments, e);
	free(seg);
	free(s);
	return seg && e->known_ns;
}

#define CPUS 512

/* One with a power, and where it applies. */
struct opp {
	int64_t policy;
	uint32_t khz;
	double uw;
};

struct model {
	struct opp *opp;
	size_t opps;
	int64_t policy[CPUS]; /* of each CPU; -1 not known */
	/* While run_stretches() walks over a phase. */
	struct energy *e;
	unsigned int group;
	int cpu;
};

static bool load_opps(struct model *m, sqlite3 *db, char *source, size_t size)
{
	sqlite3_stmt *s = db_query(db, "SELECT policy, khz, power_uw, source FROM opps "
				       "WHERE power_uw > 0");

	while (db_next(s)) {
		struct opp *more = realloc(m->opp, (m->opps + 1) * sizeof(*more));

		if (!more)
			break;
		m->opp = more;
		m->opp[m->opps++] = (struct opp){ db_int(s, 0, -1), (uint32_t)db_int(s, 1, 0),
						  (double)db_int(s, 2, 0) };
		snprintf(source, size, "%s", db_text(s, 3, "opps"));
	}
	sqlite3_finalize(s);
	return m->opps;
}

static void load_policies(struct model *m, sqlite3 *db)
{
	sqlite3_stmt *s = db_query(db, "SELECT policy, replace(cpus, ' ', ',') FROM policies");
	uint8_t cpus[CPUS];

	for (size_t i = 0; i < CPUS; i++)
		m->policy[i] = -1;
	while (db_next(s)) {
		if (text_cpulist(db_text(s, 1, ""), cpus, CPUS) <= 0)
			continue;
		for (size_t i = 0; i < CPUS; i++)
			if (cpus[i])
				m->policy[i] = db_int(s, 0, -1);
	}
	sqlite3_finalize(s);
}

/* Cores of two kinds may share a frequency, never its power. 0 not known. */
static double power_of(const struct model *m, int cpu, uint32_t khz)
{
	int64_t policy = cpu >= 0 && cpu < CPUS ? m->policy[cpu] : -1;
	double uw = 0;

	for (size_t i = 0; i < m->opps; i++) {
		if (m->opp[i].khz != khz || (policy >= 0 && m->opp[i].policy != policy))
			continue;
		if (uw > 0 && m->opp[i].uw != uw)
			return 0;
		uw = m->opp[i].uw;
	}
	return uw;
}

static void add_stretch(void *data, uint32_t khz, uint64_t ns)
{
	struct model *m = data;
	struct energy_part *part = &m->e->part[m->group];
	double joules = power_of(m, m->cpu, khz) * 1e-6 * (double)ns * 1e-9;

	if (joules <= 0) {
		part->unknown_ns += ns;
		return;
	}
	part->ns += ns;
	part->joules += joules;
	m->e->total += joules;
}

bool energy_modelled(const struct run *run, struct energy *e, char *source, size_t size)
{
	struct model *m = calloc(1, sizeof(*m));
	bool any;

	memset(e, 0, sizeof(*e));
	snprintf(source, size, "%s", "");
	if (!m)
		return false;
	any = load_opps(m, run->db, source, size);
	load_policies(m, run->db);
	m->e = e;
	for (size_t i = 0; i < run->phases && any; i++) {
		m->group = run->phase[i].group;
		m->cpu = run->phase[i].cpu;
		run_stretches(run, m->cpu, run->phase[i].t0, run->phase[i].t1, add_stretch, m);
	}
	free(m->opp);
	free(m);
	return any;
}
