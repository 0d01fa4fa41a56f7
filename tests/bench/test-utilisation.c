// SPDX-License-Identifier: MIT
#include "unit.h"

#include "lib/random.h"
#include "lib/utilisation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MS     INT64_C(1000000)
#define SEC    (1000 * MS)
#define ROUNDS 400

/* Utilisation 1, 0, 1, 0, 1 for a second each: the vector of Go's internal/trace TestMMU. */
static const struct util_step golden[] = {
	{ 0, 1 }, { 1 * SEC, 0 }, { 2 * SEC, 1 }, { 3 * SEC, 0 }, { 4 * SEC, 1 }, { 5 * SEC, 0 },
};

static void golden_mmu(void **state)
{
	static const struct {
		int64_t window;
		double want;
	} row[] = {
		{ 0, 0 },
		{ MS, 0 },
		{ SEC, 0 },
		{ 2 * SEC, 0.5 },
		{ 3 * SEC, 1 / 3.0 },
		{ 4 * SEC, 0.5 },
		{ 5 * SEC, 0.6 },
		{ 6 * SEC, 0.6 },
	};
	struct util_curve c;

	(void)state;
	assert_int_equal(util_curve_set(&c, golden, 6), 0);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		assert_near(util_mmu(&c, row[i].window), row[i].want, 1e-12);
	assert_near(util_bmu(&c, 2 * SEC), 1 / 3.0, 1e-12);
	assert_near(util_bmu(&c, 3 * SEC + SEC / 2), util_mmu(&c, 3 * SEC + SEC / 2), 1e-12);
	assert_near(util_overall(&c), 0.6, 1e-12);
	util_curve_free(&c);
}

static void golden_from_pauses(void **state)
{
	/* Unsorted, overlapping, touching, empty and outside pieces of the same two pauses. */
	struct span pause[] = {
		{ 3 * SEC, 4 * SEC }, { SEC, SEC + MS },	 { SEC + MS, 2 * SEC },
		{ SEC, SEC },	      { SEC, SEC + 2 * MS },	 { -SEC, 0 },
		{ 5 * SEC, 9 * SEC }, { 3 * SEC + MS, 4 * SEC },
	};
	struct util_curve c;

	(void)state;
	assert_int_equal(util_curve_from_pauses(&c, pause, 8, 0, 5 * SEC), 0);
	assert_int_equal(c.count, 6);
	for (size_t i = 0; i < 5; i++) {
		assert_true(c.step[i].at == golden[i].at);
		assert_near(c.step[i].util, golden[i].util, 0);
	}
	util_curve_free(&c);
}

static void pauses_at_the_ends(void **state)
{
	struct span pause[] = { { 0, 10 }, { 10, 20 }, { 90, 100 } };
	struct span all[] = { { -5, 200 } };
	struct util_curve c;

	(void)state;
	assert_int_equal(util_curve_from_pauses(&c, pause, 3, 0, 100), 0);
	assert_near(util_overall(&c), 0.7, 1e-12);
	assert_near(util_mmu(&c, 20), 0, 0);
	assert_near(util_mmu(&c, 40), 0.5, 1e-12);
	util_curve_free(&c);
	assert_int_equal(util_curve_from_pauses(&c, all, 1, 0, 100), 0);
	assert_near(util_overall(&c), 0, 0);
	util_curve_free(&c);
	assert_int_equal(util_curve_from_pauses(&c, NULL, 0, 5, 5), 0);
	assert_near(util_mmu(&c, 3), 1, 0);
	util_curve_free(&c);
	assert_int_equal(util_curve_from_pauses(&c, NULL, 0, 5, 4), -EINVAL);
}

static void bad_steps(void **state)
{
	static const struct util_step back[] = { { 1, 1 }, { 1, 0 } };
	static const struct util_step high[] = { { 0, 1.5 }, { 1, 0 } };
	struct util_curve c;

	(void)state;
	assert_int_equal(util_curve_set(&c, back, 2), -EINVAL);
	assert_int_equal(util_curve_set(&c, high, 2), -EINVAL);
}

static void pool_weights_mutators_equally(void **state)
{
	/* One lives [0, 100) and pauses [40, 60); the other lives [50, 100) and does not. */
	struct span pause[] = { { 40, 60 } };
	struct util_curve c[2], pool;

	(void)state;
	assert_int_equal(util_curve_from_pauses(&c[0], pause, 1, 0, 100), 0);
	assert_int_equal(util_curve_from_pauses(&c[1], NULL, 0, 50, 100), 0);
	assert_int_equal(util_curve_pool(&pool, c, 2), 0);
	assert_near(util_mmu(&pool, 10), 0, 1e-12);
	assert_near(util_mmu(&pool, 20), 0.25, 1e-12);
	assert_near(util_overall(&pool), 0.85, 1e-12);
	assert_true(util_minmu(c, 2, 20) <= util_mmu(&pool, 20));
	assert_near(util_minmu(c, 2, 20), 0, 0);
	for (int i = 0; i < 2; i++)
		util_curve_free(&c[i]);
	util_curve_free(&pool);
}

/* ---- against brute force ------------------------------------------------ */

static void random_curve(struct util_curve *c, struct random *r)
{
	struct util_step step[40];
	size_t n = 2 + (size_t)random_below(r, 38);
	int64_t at = random_below(r, 50);

	for (size_t i = 0; i < n; i++) {
		step[i].at = at;
		step[i].util = random_below(r, 3) ? random_below(r, 2) : random_unit(r);
		at += 1 + random_below(r, random_below(r, 4) ? 10 : 200);
	}
	assert_int_equal(util_curve_set(c, step, n), 0);
}

/* Mutator time in [from, to], summed step by step. */
static double work_in(const struct util_curve *c, int64_t from, int64_t to)
{
	double sum = 0;

	for (size_t i = 0; i + 1 < c->count; i++) {
		int64_t b = c->step[i].at > from ? c->step[i].at : from;
		int64_t e = c->step[i + 1].at < to ? c->step[i + 1].at : to;

		if (e > b)
			sum += c->step[i].util * (double)(e - b);
	}
	return sum;
}

/* Times are whole and so are the corners of u: trying each whole t misses nothing. */
static double reference_mmu(const struct util_curve *c, int64_t window)
{
	int64_t first = c->step[0].at, last = c->step[c->count - 1].at;
	double least = 1;

	if (window > last - first)
		window = last - first;
	for (int64_t t = first; t + window <= last; t++) {
		double u = work_in(c, t, t + window) / (double)window;

		least = u < least ? u : least;
	}
	return least;
}

static double reference_bmu(const struct util_curve *c, int64_t window)
{
	int64_t length = c->step[c->count - 1].at - c->step[0].at;
	double least = 1;

	for (int64_t w = window; w <= length || w == window; w++) {
		double u = reference_mmu(c, w);

		least = u < least ? u : least;
	}
	return least;
}

static void mmu_equals_brute_force(void **state)
{
	struct random r;

	(void)state;
	random_seed(&r, 1);
	for (int round = 0; round < ROUNDS; round++) {
		struct util_curve c;
		int64_t length;

		random_curve(&c, &r);
		length = c.step[c.count - 1].at - c.step[0].at;
		for (int k = 0; k < 8; k++) {
			int64_t w = 1 + random_below(&r, (int32_t)length + 10);

			assert_near(util_mmu(&c, w), reference_mmu(&c, w), 1e-9);
		}
		util_curve_free(&c);
	}
}

static void bmu_equals_brute_force(void **state)
{
	struct random r;

	(void)state;
	random_seed(&r, 2);
	for (int round = 0; round < 60; round++) {
		struct util_step step[10];
		struct util_curve c;
		int64_t at = 0;

		for (int i = 0; i < 10; i++) {
			step[i] =
				(struct util_step){ at, random_below(&r, 2) ? 1 : random_unit(&r) };
			at += 1 + random_below(&r, 12);
		}
		assert_int_equal(util_curve_set(&c, step, 10), 0);
		for (int k = 0; k < 4; k++) {
			int64_t w = 1 + random_below(&r, 60);

			assert_near(util_bmu(&c, w), reference_bmu(&c, w), 1e-9);
		}
		util_curve_free(&c);
	}
}

static void mmu_properties(void **state)
{
	struct random r;

	(void)state;
	random_seed(&r, 3);
	for (int round = 0; round < ROUNDS; round++) {
		struct util_curve c;
		double before = 0;

		random_curve(&c, &r);
		for (int64_t w = 1; w < 120; w++) {
			double u = util_mmu(&c, w), b = util_bmu(&c, w);
			int64_t length = c.step[c.count - 1].at - c.step[0].at;

			/*
			 * Both properties cut a window into whole shorter ones, so the
			 * longer must lie within the trace and be a multiple.
			 */
			if (length % w == 0)
				assert_true(u <= util_overall(&c) + 1e-9);
			for (int64_t k = 2; k < 5 && k * w <= length; k++)
				assert_true(util_mmu(&c, k * w) >= u - 1e-9);
			assert_true(b <= u + 1e-9);
			assert_true(b >= before - 1e-9); /* BMU only rises */
			before = b;
		}
		util_curve_free(&c);
	}
}

static double reference_share_below(const struct util_curve *c, int64_t window, double x)
{
	int64_t first = c->step[0].at, last = c->step[c->count - 1].at;
	double below = 0;

	/* u runs evenly between whole t: each unit of t adds its part at or below x. */
	for (int64_t t = first; t + window < last; t++) {
		double a = work_in(c, t, t + window) / (double)window;
		double b = work_in(c, t + 1, t + 1 + window) / (double)window;
		double low = a < b ? a : b, high = a < b ? b : a;

		if (x >= high)
			below += 1;
		else if (x > low)
			below += (x - low) / (high - low);
	}
	return below / (double)(last - first - window);
}

static void mud_equals_brute_force(void **state)
{
	static const double q[] = { 0, 0.001, 0.01, 0.1, 0.5, 0.9, 1 };
	struct random r;

	(void)state;
	random_seed(&r, 4);
	for (int round = 0; round < ROUNDS; round++) {
		struct util_curve c;
		struct util_mud mud;
		int64_t length, w;
		double before = -1;

		random_curve(&c, &r);
		length = c.step[c.count - 1].at - c.step[0].at;
		w = 1 + random_below(&r, (int32_t)length);
		assert_int_equal(util_mud_init(&mud, &c, w), 0);
		for (size_t i = 0; i < sizeof(q) / sizeof(*q); i++) {
			double x = util_mud_quantile(&mud, q[i]);

			assert_true(x >= before - 1e-9);
			before = x;
			if (w >= length) {
				assert_near(x, util_overall(&c), 1e-9);
				continue;
			}
			/* At least q lie at or below x, and no more than q just under it. */
			assert_true(reference_share_below(&c, w, x + 1e-7) >= q[i] - 1e-6);
			assert_true(reference_share_below(&c, w, x - 1e-7) <= q[i] + 1e-6);
		}
		assert_near(util_mud_quantile(&mud, 0), util_mmu(&c, w), 1e-9);
		util_mud_free(&mud);
		util_curve_free(&c);
	}
}

static void many_pauses_are_linear(void **state)
{
	/* A million pauses: quadratic work would never end. */
	const size_t n = 1000000;
	struct span *pause = calloc(n, sizeof(*pause));
	struct util_curve c;

	(void)state;
	assert_non_null(pause);
	for (size_t i = 0; i < n; i++)
		pause[i] = (struct span){ (int64_t)i * 1000,
					  (int64_t)i * 1000 + 100 + (int64_t)(i % 7) };
	assert_int_equal(util_curve_from_pauses(&c, pause, n, 0, (int64_t)n * 1000), 0);
	assert_near(util_mmu(&c, 50), 0, 0);
	assert_near(util_mmu(&c, 7000000), 1 - 0.103, 1e-4);
	util_curve_free(&c);
	free(pause);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_mmu),
		cmocka_unit_test(golden_from_pauses),
		cmocka_unit_test(pauses_at_the_ends),
		cmocka_unit_test(bad_steps),
		cmocka_unit_test(pool_weights_mutators_equally),
		cmocka_unit_test(mmu_equals_brute_force),
		cmocka_unit_test(bmu_equals_brute_force),
		cmocka_unit_test(mmu_properties),
		cmocka_unit_test(mud_equals_brute_force),
		cmocka_unit_test(many_pauses_are_linear),
	};

	return run_tap(tests);
}
