// SPDX-License-Identifier: MIT
#include "utilisation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int curve_alloc(struct util_curve *curve, size_t count)
{
	curve->step = calloc(count, sizeof(*curve->step));
	curve->sum = calloc(count, sizeof(*curve->sum));
	curve->count = count;
	if (curve->step && curve->sum)
		return 0;
	util_curve_free(curve);
	return -ENOMEM;
}

static void curve_sum(struct util_curve *curve)
{
	const struct util_step *s = curve->step;

	curve->sum[0] = 0;
	for (size_t i = 1; i < curve->count; i++)
		curve->sum[i] = curve->sum[i - 1] + s[i - 1].util * (double)(s[i].at - s[i - 1].at);
}

int util_curve_set(struct util_curve *curve, const struct util_step *step, size_t count)
{
	memset(curve, 0, sizeof(*curve));
	if (!count)
		return 0;
	for (size_t i = 0; i < count; i++) {
		if (!(step[i].util >= 0 && step[i].util <= 1))
			return -EINVAL;
		if (i && step[i].at <= step[i - 1].at)
			return -EINVAL;
	}
	if (curve_alloc(curve, count))
		return -ENOMEM;
	memcpy(curve->step, step, count * sizeof(*step));
	curve_sum(curve);
	return 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

int util_curve_from_pauses(struct util_curve *curve, struct span *pause, size_t count,
			   int64_t begin, int64_t end)
{
	size_t n = 0;

	memset(curve, 0, sizeof(*curve));
	if (end < begin)
		return -EINVAL;
	if (end == begin)
		return 0;
	if (curve_alloc(curve, 2 * count + 2))
		return -ENOMEM;
	if (count)
		qsort(pause, count, sizeof(*pause), by_begin);
	curve->step[n++] = (struct util_step){ begin, 1 };
	for (size_t i = 0; i < count; i++) {
		int64_t b = pause[i].begin < begin ? begin : pause[i].begin;
		int64_t e = pause[i].end > end ? end : pause[i].end;
		struct util_step *last = &curve->step[n - 1];

		if (b >= e)
			continue;
		/* Between pauses the last step is util 1 at the end of the latest pause. */
		if (b < last->at)
			b = last->at;
		if (b >= e)
			continue;
		if (b == last->at && n >= 2) {
			last->at = e; /* touches or overlaps the pause before */
		} else if (b == last->at) {
			last->util = 0;
			curve->step[n++] = (struct util_step){ e, 1 };
		} else {
			curve->step[n++] = (struct util_step){ b, 0 };
			curve->step[n++] = (struct util_step){ e, 1 };
		}
	}
	if (curve->step[n - 1].at < end)
		curve->step[n++] = (struct util_step){ end, 0 };
	curve->count = n;
	curve_sum(curve);
	return 0;
}

struct change {
	int64_t at;
	double util;
	int lives;
};

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

int util_curve_pool(struct util_curve *out, const struct util_curve *curve, size_t count)
{
	struct change *change;
	size_t total = 0, n = 0, m = 0;
	double util = 0;
	int lives = 0;

	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < count; i++)
		total += curve[i].count;
	if (!total)
		return 0;
	change = calloc(total, sizeof(*change));
	if (!change)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < curve[i].count; k++) {
			const struct util_step *s = &curve[i].step[k];
			double before = k ? s[-1].util : 0;
			int last = k + 1 == curve[i].count;

			change[n++] = (struct change){
				.at = s->at,
				.util = (last ? 0 : s->util) - before,
				.lives = !k - last,
			};
		}
	}
	qsort(change, n, sizeof(*change), by_time);
	if (curve_alloc(out, n)) {
		free(change);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		double mean;

		util += change[i].util;
		lives += change[i].lives;
		if (i + 1 < n && change[i + 1].at == change[i].at)
			continue;
		mean = lives ? util / lives : 1;
		/* Sums of 1/n may leave 0..1 by a rounding error. */
		mean = mean < 1e-12 ? 0 : mean > 1 - 1e-12 ? 1 : mean;
		out->step[m++] = (struct util_step){ change[i].at, mean };
	}
	out->count = m;
	curve_sum(out);
	free(change);
	return 0;
}

void util_curve_free(struct util_curve *curve)
{
	free(curve->step);
	free(curve->sum);
	memset(curve, 0, sizeof(*curve));
}

static int64_t curve_length(const struct util_curve *c)
{
	return c->count < 2 ? 0 : c->step[c->count - 1].at - c->step[0].at;
}

double util_overall(const struct util_curve *c)
{
	int64_t length = curve_length(c);

	return length ? c->sum[c->count - 1] / (double)length : 1;
}

/* Mutator time up to @at, which lies in the segment after step @i. */
static double sum_at(const struct util_curve *c, size_t i, int64_t at)
{
	return c->sum[i] + c->step[i].util * (double)(at - c->step[i].at);
}

/*
 * One pass over the corners of u(., w): the windows whose left edge is on a step
 * and those whose right edge is, in order of time. Both edges only move right.
 */
struct sweep {
	const struct util_curve *c;
	int64_t window, at;
	size_t left, right; /* segments that hold the window's edges */
	int over;
};

static void sweep_begin(struct sweep *s, const struct util_curve *c, int64_t window)
{
	*s = (struct sweep){ .c = c, .window = window, .at = c->step[0].at };
	while (s->right + 2 < c->count && c->step[s->right + 1].at <= s->at + window)
		s->right++;
}

static double sweep_util(const struct sweep *s)
{
	double work = sum_at(s->c, s->right, s->at + s->window) - sum_at(s->c, s->left, s->at);
	double u = work / (double)s->window;

	return u < 0 ? 0 : u > 1 ? 1 : u;
}

static void sweep_next(struct sweep *s)
{
	const struct util_step *step = s->c->step;
	size_t last = s->c->count - 1;
	int64_t end = step[last].at - s->window;
	int64_t a = s->left + 1 <= last ? step[s->left + 1].at : INT64_MAX;
	int64_t b = s->right + 1 <= last ? step[s->right + 1].at - s->window : INT64_MAX;

	if (s->at >= end) {
		s->over = 1;
		return;
	}
	s->at = a < b ? a : b;
	if (s->at > end)
		s->at = end;
	while (s->left + 2 <= last && step[s->left + 1].at <= s->at)
		s->left++;
	while (s->right + 2 <= last && step[s->right + 1].at <= s->at + s->window)
		s->right++;
}

static double least_step(const struct util_curve *c)
{
	double least = 1;

	for (size_t i = 0; i + 1 < c->count; i++)
		least = c->step[i].util < least ? c->step[i].util : least;
	return least;
}

double util_mmu(const struct util_curve *c, int64_t window)
{
	struct sweep s;
	double least = 1;

	if (c->count < 2)
		return 1;
	if (window <= 0)
		return least_step(c); /* the limit of ever shorter windows */
	if (window >= curve_length(c))
		return util_overall(c);
	for (sweep_begin(&s, c, window); !s.over; sweep_next(&s)) {
		double u = sweep_util(&s);

		least = u < least ? u : least;
	}
	return least;
}

/* Does the path a -> b -> d turn so that b can never start a least-steep chord? */
static int point_is_hidden(const struct util_curve *c, size_t a, size_t b, size_t d)
{
	double ab = (c->sum[b] - c->sum[a]) * (double)(c->step[d].at - c->step[b].at);
	double bd = (c->sum[d] - c->sum[b]) * (double)(c->step[b].at - c->step[a].at);

	return bd >= ab;
}

static double chord_slope(const struct util_curve *c, size_t a, size_t b)
{
	return (c->sum[b] - c->sum[a]) / (double)(c->step[b].at - c->step[a].at);
}

/*
 * A window w' >= w of least utilisation either is exactly w long (MMU(w)) or has both
 * edges on steps. The latter is a least-steep chord of the points (at, sum) at
 * least w apart: for each right end, search the upper hull of the left ends.
 */
double util_bmu(const struct util_curve *c, int64_t window)
{
	double least = util_mmu(c, window);
	size_t n = c->count, top = 0, next = 0;
	size_t *hull;

	if (n < 2 || window <= 0 || window >= curve_length(c))
		return window <= 0 && n >= 2 ? least_step(c) : least;
	hull = calloc(n, sizeof(*hull));
	if (!hull)
		return -1;
	for (size_t e = 1; e < n; e++) {
		size_t lo = 0, hi;

		while (next < e && c->step[e].at - c->step[next].at >= window) {
			while (top >= 2 && point_is_hidden(c, hull[top - 2], hull[top - 1], next))
				top--;
			hull[top++] = next++;
		}
		if (!top)
			continue;
		hi = top - 1;
		while (lo < hi) {
			size_t mid = (lo + hi) / 2;

			if (chord_slope(c, hull[mid], e) <= chord_slope(c, hull[mid + 1], e))
				hi = mid;
			else
				lo = mid + 1;
		}
		if (chord_slope(c, hull[lo], e) < least)
			least = chord_slope(c, hull[lo], e);
	}
	free(hull);
	return least < 0 ? 0 : least;
}

double util_minmu(const struct util_curve *curve, size_t count, int64_t window)
{
	double least = 1;

	for (size_t i = 0; i < count; i++) {
		double u = util_mmu(&curve[i], window);

		least = u < least ? u : least;
	}
	return least;
}

int util_mud_init(struct util_mud *mud, const struct util_curve *c, int64_t window)
{
	struct sweep s;
	int64_t before;
	double u;

	memset(mud, 0, sizeof(*mud));
	mud->least = mud->most = util_overall(c);
	if (c->count < 2 || window >= curve_length(c))
		return 0;
	mud->piece = calloc(2 * c->count + 2, sizeof(*mud->piece));
	if (!mud->piece)
		return -ENOMEM;
	if (window <= 0) {
		for (size_t i = 0; i + 1 < c->count; i++) {
			double w = (double)(c->step[i + 1].at - c->step[i].at);

			u = c->step[i].util;
			mud->piece[mud->count++] = (struct util_piece){ u, u, w };
		}
	} else {
		sweep_begin(&s, c, window);
		u = sweep_util(&s);
		for (before = s.at, sweep_next(&s); !s.over; before = s.at, sweep_next(&s)) {
			double v = sweep_util(&s);
			struct util_piece p = { u < v ? u : v, u < v ? v : u,
						(double)(s.at - before) };

			if (p.weight > 0)
				mud->piece[mud->count++] = p;
			u = v;
		}
	}
	mud->least = 1;
	mud->most = 0;
	for (size_t i = 0; i < mud->count; i++) {
		const struct util_piece *p = &mud->piece[i];

		mud->total += p->weight;
		mud->least = p->low < mud->least ? p->low : mud->least;
		mud->most = p->high > mud->most ? p->high : mud->most;
	}
	return 0;
}

/* Weight of @p's windows at or below @x. */
static double piece_below(const struct util_piece *p, double x)
{
	if (x >= p->high)
		return p->weight;
	if (x <= p->low)
		return 0;
	return p->weight * (x - p->low) / (p->high - p->low);
}

/*
 * Narrow (lo, hi) around the answer by random pivots taken from the pieces' ends.
 * Pieces with no end inside only contribute a constant slope and leave the work list,
 * so that the list shrinks with the interval: each iteration removes an end.
 */
double util_mud_quantile(const struct util_mud *mud, double q)
{
	double lo = mud->least, hi = mud->most, below = 0, slope = 0, answer;
	double want = q * mud->total;
	uint64_t rng = 88172645463325252u;
	struct util_piece *work;
	size_t n = mud->count;

	if (q <= 0 || !n)
		return mud->least;
	if (q >= 1)
		return mud->most;
	work = malloc(n * sizeof(*work));
	if (!work)
		return -1;
	memcpy(work, mud->piece, n * sizeof(*work));
	for (size_t i = 0; i < n; i++)
		below += piece_below(&work[i], lo);
	if (below >= want) {
		hi = lo;
		n = 0;
	}
	while (n) {
		const struct util_piece *p;
		double pivot, at;
		size_t m = 0;

		rng ^= rng << 13;
		rng ^= rng >> 7;
		rng ^= rng << 17;
		p = &work[rng % n];
		pivot = (rng >> 60) & 1 ? p->low : p->high;
		if (!(pivot > lo && pivot < hi))
			pivot = p->low > lo && p->low < hi ? p->low : p->high;
		if (!(pivot > lo && pivot < hi))
			pivot = lo; /* every end of it is outside: the pass below removes it */
		at = below + slope * (pivot - lo);
		for (size_t i = 0; i < n; i++)
			at += piece_below(&work[i], pivot) - piece_below(&work[i], lo);
		/* Steps of the distribution at the pivot itself count as below it. */
		if (pivot > lo && at >= want) {
			hi = pivot;
		} else if (pivot > lo) {
			below = at;
			lo = pivot;
		}
		for (size_t i = 0; i < n; i++) {
			p = &work[i];
			if (p->low < p->high && p->low <= lo && p->high >= hi)
				slope += p->weight / (p->high - p->low);
			else if ((p->low > lo && p->low < hi) || (p->high > lo && p->high < hi))
				work[m++] = *p;
		}
		n = m;
	}
	free(work);
	answer = slope > 0 ? lo + (want - below) / slope : hi;
	return answer < lo ? lo : answer > hi ? hi : answer;
}

void util_mud_free(struct util_mud *mud)
{
	free(mud->piece);
	memset(mud, 0, sizeof(*mud));
}
