// SPDX-License-Identifier: MIT
#include "timeline.h"

#include <stdlib.h>
#include <string.h>

#include "../timed/timed.h"

struct event {
	struct trace_record r;
	size_t order;
};

/*
 * Orders by time, because the threads that write the log differ in modelled time by up to a
 * quantum, and records of the same time as in the log.
 */
static int event_compare(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	if (x->r.ns != y->r.ns)
		return x->r.ns < y->r.ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static struct event *events_load(FILE *in, size_t *count)
{
	size_t capacity = 4096, n = 0;
	struct event *e = malloc(capacity * sizeof(*e)), *more;

	while (e && fread(&e[n].r, sizeof(e[n].r), 1, in) == 1) {
		e[n].order = n;
		if (++n < capacity)
			continue;
		capacity *= 2;
		more = realloc(e, capacity * sizeof(*e));
		if (!more)
			free(e);
		e = more;
	}
	*count = n;
	return e;
}

/* Appends the core's current span, which ends at @t1; merges it with an equal predecessor. */
static void span_close(struct timeline *t, unsigned int cpu, const struct span *now, uint64_t t1,
		       uint64_t stall_ns)
{
	struct span *last = t->span[cpu] + t->spans[cpu];

	if (t1 <= now->t0)
		return;
	if (t->spans[cpu] && last[-1].busy == now->busy && last[-1].khz == now->khz &&
	    last[-1].state == now->state && last[-1].leaving == now->leaving) {
		last[-1].t1 = t1;
		last[-1].stall_ns += stall_ns;
		return;
	}
	*last = *now;
	last->t1 = t1;
	last->stall_ns = stall_ns;
	t->spans[cpu]++;
}

int timeline_read(struct timeline *t, const struct board *b, FILE *in)
{
	struct span now[BOARD_CORES] = { { .busy = true } };
	uint64_t stalled[BOARD_CORES] = { 0 };
	size_t n, i;
	struct event *e;
	unsigned int c;
	int r = -1;

	memset(t, 0, sizeof(*t));
	e = events_load(in, &n);
	if (!e || !n)
		goto out;
	qsort(e, n, sizeof(*e), event_compare);
	t->mark_ns = calloc(n, sizeof(*t->mark_ns));
	t->mark = calloc(n, sizeof(*t->mark));
	t->mark_lines = calloc(n, sizeof(*t->mark_lines));
	for (c = 0; c < b->cores; c++) {
		t->span[c] = calloc(n + 2, sizeof(*t->span[c]));
		if (!t->span[c])
			goto out;
		now[c].khz = board_top(board_of(b, c))->khz;
	}
	if (!t->mark_ns || !t->mark || !t->mark_lines)
		goto out;
	for (i = 0; i < n; i++) {
		const struct trace_record *p = &e[i].r;

		if (p->cpu >= b->cores || p->type < TRACE_BUSY || p->type > TRACE_LEAVE)
			goto out;
		c = p->cpu;
		if (p->type == TRACE_MARK) {
			t->mark_ns[t->marks] = p->ns;
			t->mark[t->marks] = p->arg;
			t->mark_lines[t->marks] = p->lines;
			t->marks++;
			continue;
		}
		span_close(t, c, &now[c], p->ns,
			   p->stall_ns > stalled[c] ? p->stall_ns - stalled[c] : 0);
		now[c].t0 = p->ns;
		stalled[c] = p->stall_ns;
		now[c].khz = p->khz;
		if (p->type != TRACE_CLOCK) {
			now[c].busy = p->type == TRACE_BUSY;
			now[c].leaving = p->type == TRACE_LEAVE;
			now[c].state = now[c].busy ? 0 : (uint8_t)p->arg;
		}
	}
	t->end_ns = e[n - 1].r.ns;
	for (c = 0; c < b->cores; c++)
		span_close(t, c, &now[c], t->end_ns, 0);
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
static size_t span_find(const struct timeline *t, unsigned int cpu, uint64_t ns)
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

static uint64_t span_overlap(const struct span *s, uint64_t t0, uint64_t t1)
{
	uint64_t from = s->t0 > t0 ? s->t0 : t0, to = s->t1 < t1 ? s->t1 : t1;

	return to > from ? to - from : 0;
}

/*
 * Share of a busy span in which its core waited for memory. Limited to 1, because the stall time
 * may exceed the span by a quantum.
 */
static double span_stall_share(const struct span *s)
{
	double share = (double)s->stall_ns / (double)(s->t1 - s->t0);

	return share > 1 ? 1 : share;
}

void timeline_powers(const struct board_cluster *k, enum board_power model, const struct span *s,
		     double *dynamic, double *stall, double *leak)
{
	const struct board_opp *o = board_opp(k, s->khz);

	*dynamic = *stall = 0;
	*leak = board_static_mw(k, o);
	if (!s->busy) {
		*leak *=
			s->leaving ? board_leave_share(k, s->state) : board_idle_share(k, s->state);
		return;
	}
	*stall = k->stall_share * span_stall_share(s) * board_dynamic_mw(k, o, model);
	*dynamic = (1 - span_stall_share(s)) * board_dynamic_mw(k, o, model) + *stall;
}

/* Whether the core's idle state in this span allows its cluster to be off. */
static bool span_allows_off(const struct board_cluster *k, const struct span *s)
{
	return !s->busy && !s->leaving && s->state && s->state <= k->idles &&
	       k->idle[s->state - 1].cluster;
}

/*
 * Adds the power of the cluster itself: awake while a core is busy, off while all cores allow it,
 * otherwise retained.
 */
static void usage_add_cluster(const struct timeline *t, const struct board_cluster *k, uint64_t t0,
			      uint64_t t1, struct usage *u)
{
	unsigned int c, end = k->first + k->cores;
	size_t at[BOARD_CORES];
	uint64_t now = t0;

	for (c = k->first; c < end; c++)
		at[c] = span_find(t, c, t0);
	while (now < t1) {
		uint64_t next = t1;
		bool any = false, off = true;

		for (c = k->first; c < end; c++) {
			while (at[c] < t->spans[c] && t->span[c][at[c]].t1 <= now)
				at[c]++;
			if (at[c] == t->spans[c])
				continue;
			if (t->span[c][at[c]].t1 < next)
				next = t->span[c][at[c]].t1;
			any |= t->span[c][at[c]].busy || t->span[c][at[c]].leaving;
			off &= span_allows_off(k, &t->span[c][at[c]]);
		}
		if (any)
			u->awake_mj += k->awake_mw * (double)(next - now) / 1e9;
		else if (!off)
			u->awake_mj += k->retained_mw * (double)(next - now) / 1e9;
		else
			u->off_ns += next - now;
		now = next;
	}
}

static void usage_add_core(const struct timeline *t, const struct board *b, enum board_power model,
			   unsigned int c, uint64_t t0, uint64_t t1, struct usage *u)
{
	const struct board_cluster *k = board_of(b, c);
	size_t i;

	for (i = span_find(t, c, t0); i < t->spans[c] && t->span[c][i].t0 < t1; i++) {
		const struct span *s = &t->span[c][i];
		double ns = (double)span_overlap(s, t0, t1), dynamic, stall, leak;

		timeline_powers(k, model, s, &dynamic, &stall, &leak);
		u->static_mj += leak * ns / 1e9;
		u->wfi_mj += s->busy ? 0 : leak * ns / 1e9;
		u->dynamic_mj += dynamic * ns / 1e9;
		u->stall_mj += stall * ns / 1e9;
		u->core_mj[c] += (leak + dynamic) * ns / 1e9;
		if (s->busy) {
			u->busy_ns[c] += (uint64_t)ns;
			u->opp_ns[c][board_opp(k, s->khz) - k->opp] += (uint64_t)ns;
		} else if (s->leaving) {
			u->leave_ns += (uint64_t)ns;
		} else {
			u->state_ns[s->state <= k->idles ? s->state : 0] += (uint64_t)ns;
		}
		if (i && s->t0 >= t0 && s->khz != s[-1].khz && board_clock(b, c) == c)
			u->transitions++;
	}
}

/* Reads the clock of each core just before @ns. */
static void clocks_read(const struct timeline *t, const struct board *b, uint64_t ns, uint32_t *khz)
{
	unsigned int c;

	for (c = 0; c < b->cores; c++) {
		size_t i = span_find(t, c, ns ? ns - 1 : 0);

		khz[c] = i < t->spans[c] ? t->span[c][i].khz : board_top(board_of(b, c))->khz;
	}
}

void timeline_usage(const struct timeline *t, const struct board *b, enum board_power model,
		    uint64_t t0, uint64_t t1, struct usage *u)
{
	uint32_t khz[BOARD_CORES];
	unsigned int c;

	memset(u, 0, sizeof(*u));
	u->ns = t1 - t0;
	for (c = 0; c < b->cores; c++)
		usage_add_core(t, b, model, c, t0, t1, u);
	for (c = 0; c < b->clusters; c++)
		usage_add_cluster(t, &b->cluster[c], t0, t1, u);
	u->background_mj = b->background_mw * (double)(t1 - t0) / 1e9;
	clocks_read(t, b, t1, khz);
	u->rest_mw = board_rest_mw(b, khz);
}

double timeline_core_mj(const struct timeline *t, const struct board *b, enum board_power model,
			unsigned int cpu, uint64_t t0, uint64_t t1)
{
	double mj = 0;
	size_t i;

	for (i = span_find(t, cpu, t0); i < t->spans[cpu] && t->span[cpu][i].t0 < t1; i++) {
		const struct span *s = &t->span[cpu][i];
		double dynamic, stall, leak;

		timeline_powers(board_of(b, cpu), model, s, &dynamic, &stall, &leak);
		mj += (dynamic + leak) * (double)span_overlap(s, t0, t1) / 1e9;
	}
	return mj;
}
