// SPDX-License-Identifier: MIT
#include "timeline.h"

#include <stdlib.h>
#include <string.h>

#include "../timed/timed.h"

struct event {
	struct trace_record r;
	size_t order;
};

/* Threads write the log in turn; their times differ by up to a quantum. */
static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->r.ns != y->r.ns)
		return x->r.ns < y->r.ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static struct event *load(FILE *in, size_t *count)
{
	size_t room = 4096, n = 0;
	struct event *e = malloc(room * sizeof(*e)), *more;

	while (e && fread(&e[n].r, sizeof(e[n].r), 1, in) == 1) {
		e[n].order = n;
		if (++n < room)
			continue;
		room *= 2;
		more = realloc(e, room * sizeof(*e));
		if (!more)
			free(e);
		e = more;
	}
	*count = n;
	return e;
}

static void close_span(struct timeline *t, unsigned int cpu, uint64_t t0, uint64_t t1, uint32_t khz,
		       bool busy)
{
	struct span *last = t->span[cpu] + t->spans[cpu];

	if (t1 <= t0)
		return;
	if (t->spans[cpu] && last[-1].busy == busy && last[-1].khz == khz) {
		last[-1].t1 = t1;
		return;
	}
	*last = (struct span){ t0, t1, khz, busy };
	t->spans[cpu]++;
}

int timeline_read(struct timeline *t, const struct board *b, FILE *in)
{
	uint64_t since[BOARD_CORES] = { 0 };
	uint32_t khz[BOARD_CORES];
	bool busy[BOARD_CORES] = { false };
	size_t n, i;
	struct event *e;
	unsigned int c;
	int r = -1;

	memset(t, 0, sizeof(*t));
	e = load(in, &n);
	if (!e || !n)
		goto out;
	qsort(e, n, sizeof(*e), by_time);
	t->mark_ns = calloc(n, sizeof(*t->mark_ns));
	t->mark = calloc(n, sizeof(*t->mark));
	t->mark_lines = calloc(n, sizeof(*t->mark_lines));
	for (c = 0; c < b->cores; c++) {
		t->span[c] = calloc(n + 2, sizeof(*t->span[c]));
		if (!t->span[c])
			goto out;
		khz[c] = b->opp[b->opps - 1].khz;
	}
	if (!t->mark_ns || !t->mark || !t->mark_lines)
		goto out;
	busy[0] = true;
	for (i = 0; i < n; i++) {
		const struct trace_record *p = &e[i].r;

		if (p->cpu >= b->cores || p->type < TRACE_BUSY || p->type > TRACE_MARK)
			goto out;
		c = p->cpu;
		if (p->type == TRACE_MARK) {
			t->mark_ns[t->marks] = p->ns;
			t->mark[t->marks] = p->arg;
			t->mark_lines[t->marks] = p->lines;
			t->marks++;
			continue;
		}
		close_span(t, c, since[c], p->ns, khz[c], busy[c]);
		since[c] = p->ns;
		khz[c] = p->khz;
		if (p->type != TRACE_CLOCK)
			busy[c] = p->type == TRACE_BUSY;
	}
	t->end_ns = e[n - 1].r.ns;
	for (c = 0; c < b->cores; c++)
		close_span(t, c, since[c], t->end_ns, khz[c], busy[c]);
	r = 0;
out:
	free(e);
	if (r)
		timeline_free(t);
	return r;
}

void timeline_free(struct timeline *t)
{
	unsigned int c;

	for (c = 0; c < BOARD_CORES; c++)
		free(t->span[c]);
	free(t->mark_ns);
	free(t->mark);
	free(t->mark_lines);
	memset(t, 0, sizeof(*t));
}

/* The first span of a core that ends after @ns. */
static size_t find(const struct timeline *t, unsigned int cpu, uint64_t ns)
{
	size_t low = 0, high = t->spans[cpu], mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (t->span[cpu][mid].t1 > ns)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static uint64_t overlap(const struct span *s, uint64_t t0, uint64_t t1)
{
	uint64_t from = s->t0 > t0 ? s->t0 : t0, to = s->t1 < t1 ? s->t1 : t1;

	return to > from ? to - from : 0;
}

/* Time in which at least one core is busy. */
static uint64_t awake(const struct timeline *t, const struct board *b, uint64_t t0, uint64_t t1)
{
	size_t at[BOARD_CORES];
	uint64_t now = t0, sum = 0;
	unsigned int c;

	for (c = 0; c < b->cores; c++)
		at[c] = find(t, c, t0);
	while (now < t1) {
		uint64_t next = t1;
		bool any = false;

		for (c = 0; c < b->cores; c++) {
			while (at[c] < t->spans[c] && t->span[c][at[c]].t1 <= now)
				at[c]++;
			if (at[c] == t->spans[c])
				continue;
			if (t->span[c][at[c]].t1 < next)
				next = t->span[c][at[c]].t1;
			any |= t->span[c][at[c]].busy;
		}
		if (any)
			sum += next - now;
		now = next;
	}
	return sum;
}

void timeline_usage(const struct timeline *t, const struct board *b, enum board_power model,
		    uint64_t t0, uint64_t t1, struct usage *u)
{
	unsigned int c;
	size_t i;

	memset(u, 0, sizeof(*u));
	u->ns = t1 - t0;
	for (c = 0; c < b->cores; c++) {
		for (i = find(t, c, t0); i < t->spans[c] && t->span[c][i].t0 < t1; i++) {
			const struct span *s = &t->span[c][i];
			const struct board_opp *o = board_opp(b, s->khz);
			double ns = (double)overlap(s, t0, t1);
			double stat = board_static_mw(b, o) * ns / 1e9;
			double dyn = s->busy ? board_dynamic_mw(b, o, model) * ns / 1e9 : 0;

			u->static_mj += stat;
			u->dynamic_mj += dyn;
			u->core_mj[c] += stat + dyn;
			if (s->busy) {
				u->busy_ns[c] += (uint64_t)ns;
				u->opp_ns[c][o - b->opp] += (uint64_t)ns;
			}
			if (i && s->t0 >= t0 && s->khz != s[-1].khz && (!b->shared || c == 0))
				u->transitions++;
		}
	}
	u->awake_mj = b->awake_mw * (double)awake(t, b, t0, t1) / 1e9;
}

double timeline_core_mj(const struct timeline *t, const struct board *b, enum board_power model,
			unsigned int cpu, uint64_t t0, uint64_t t1)
{
	double mj = 0;
	size_t i;

	for (i = find(t, cpu, t0); i < t->spans[cpu] && t->span[cpu][i].t0 < t1; i++) {
		const struct span *s = &t->span[cpu][i];
		const struct board_opp *o = board_opp(b, s->khz);
		double mw = board_static_mw(b, o);

		if (s->busy)
			mw += board_dynamic_mw(b, o, model);
		mj += mw * (double)overlap(s, t0, t1) / 1e9;
	}
	return mj;
}
