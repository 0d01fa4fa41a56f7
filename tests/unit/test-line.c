// SPDX-License-Identifier: GPL-2.0-only
/*
 * The line of time over frequency, exact to the last bit: how a sample is weighted, how far it
 * moves the line and when it is rejected.
 */
#include "unit.h"
#include "learn.h"

#define REF 2000000
/* Fixed point of fmax/f, and of the time per unit in the lines below */
#define X 1048576
#define Y 1048576

static struct gchint_sample sample(u32 khz, u64 ran_ns, u64 work)
{
	return (struct gchint_sample){ .khz = khz, .ran_ns = ran_ns, .work = work };
}

static bool add(struct gchint_learn_line *n, u32 khz, u64 ran_ns, u64 work)
{
	struct gchint_sample s = sample(khz, ran_ns, work);

	return gchint_learn_work(n, &s, REF);
}

/* Whether a first sample is accepted. */
static bool taken(u32 khz, u64 ran_ns, u64 work)
{
	struct gchint_learn_line n = {};
	bool good = add(&n, khz, ran_ns, work);

	assert_int_equal(n.samples, good);
	return good;
}

static void test_only_credible_samples_count(void **state)
{
	(void)state;
	assert_false(taken(0, MS, 1000));
	assert_false(taken(REF, 20 * US - 1, 1000));
	assert_true(taken(REF, 20 * US, 1000));
	assert_true(taken(REF, BIT_ULL(39), 1000));
	assert_false(taken(REF, BIT_ULL(39) + 1, 1000));
	/* 1024 units per nanosecond, and the remainder of one */
	assert_true(taken(REF, MS, 1024 * MS + 1023));
	assert_false(taken(REF, MS, 1024 * (MS + 1)));
}

static u32 first_weight(u64 ran_ns)
{
	struct gchint_learn_line n = {};

	assert_true(add(&n, REF, ran_ns, 1000));
	return n.weight;
}

static void test_short_run_weighs_less(void **state)
{
	(void)state;
	assert_int_equal(first_weight(20 * US), 128);
	assert_int_equal(first_weight(125 * US), 128);
	assert_int_equal(first_weight(250 * US), 256);
	assert_int_equal(first_weight(MS - 1), 1023);
	assert_int_equal(first_weight(MS), 1024);
	assert_int_equal(first_weight(100 * MS), 1024);
}

static u32 first_x(u32 khz, u32 ref_khz)
{
	struct gchint_sample s = sample(khz, MS, 1000);
	struct gchint_learn_line n = {};

	assert_true(gchint_learn_work(&n, &s, ref_khz));
	return n.mean_x;
}

static void test_ratio_of_frequencies_is_bounded(void **state)
{
	(void)state;
	assert_int_equal(first_x(REF, REF), X);
	assert_int_equal(first_x(REF / 2, REF), 2 * X);
	assert_int_equal(first_x(REF * 2, REF), X / 2);
	assert_int_equal(first_x(REF / 20, REF), 16 * X);
	assert_int_equal(first_x(REF * 8, REF), X / 4);
	/* A core type without a maximum frequency uses that of the sample. */
	assert_int_equal(first_x(REF / 2, 0), X);
}

/* A unit takes 1000 ns at REF, 2000 at half of it. */
static void test_step_of_each_sample(void **state)
{
	struct gchint_learn_line n = {};

	(void)state;
	assert_true(add(&n, REF, MS, 1000));
	assert_int_equal(n.shift, 10);
	assert_int_equal(n.mean_y, 1000 << 10);
	assert_int_equal(n.cxx, 0);
	assert_int_equal(n.cxy, 0);

	/* 15/16 of the old weight remain: the new sample is 1024 in 1984. */
	assert_true(add(&n, REF / 2, 2 * MS, 1000));
	assert_int_equal(n.weight, 1984);
	assert_int_equal(n.mean_x, 1048576 + 541200);
	assert_int_equal(n.mean_y, 1024000 + 528516);
	/* 2^20 / 64 before the mean moved, 507376 / 64 after */
	assert_int_equal(n.cxx, 16384 * 7927);
	assert_int_equal(n.cxy, 16384ll * 495484);
	assert_int_equal(n.samples, 2);

	/*
	 * Back again: weight 1984 * 960 / 1024 + 1024 = 2884; x -541200 before and
	 * -349041 after, y -528516 and -340860, and 15 in 16 of the old sums.
	 */
	assert_true(add(&n, REF, MS, 1000));
	assert_int_equal(n.weight, 2884);
	assert_int_equal(n.mean_x, 1589776 - 192159);
	assert_int_equal(n.mean_y, 1552516 - 187656);
	assert_int_equal(n.cxx, 129875968 / 1024 * 960 + 8456 * 5453);
	assert_int_equal(n.cxy, 8118009856ll / 1024 * 960 + 8456ll * 340860);
}

/* A sample at the mean frequency gives no slope, and the slope is kept. */
static void test_sample_at_the_mean_frequency_keeps_the_slope(void **state)
{
	struct gchint_learn_line n = { .mean_x = X,
				       .mean_y = Y,
				       .weight = 8192,
				       .samples = 3,
				       .shift = 10,
				       .noise = 100,
				       .cxx = 1 << 28,
				       .cxy = 1ll << 32 };

	(void)state;
	assert_true(add(&n, REF, MS, 1000));
	assert_int_equal(n.cxx, 1 << 28);
	assert_int_equal(n.cxy, 1ll << 32);
	assert_int_equal(n.mean_x, X);
	/* 8192 * 15 / 16 + 1024 = 8704; a unit took 24576 / 2^10 ns less. */
	assert_int_equal(n.weight, 8704);
	assert_int_equal(n.mean_y, Y - 2891);
}

/* Three times the noise off the line is one step of a drift; a closer sample ends it. */
static void test_drift_threshold(void **state)
{
	const struct gchint_learn_line of = { .mean_x = X,
					      .mean_y = Y,
					      .weight = 8192,
					      .samples = 4,
					      .shift = 10,
					      .noise = 100,
					      .drift = -1 };
	struct gchint_learn_line n = of;

	(void)state;
	/* 1024 ns a unit are expected: 349 more in 1024, 290, and 349 less. */
	assert_true(add(&n, REF, MS, 728));
	assert_int_equal(n.drift, 1);
	n = of;
	assert_true(add(&n, REF, MS, 761));
	assert_int_equal(n.drift, 0);
	n = of;
	assert_true(add(&n, REF, MS, 1482));
	assert_int_equal(n.drift, -2);
	n = of;
	assert_true(add(&n, REF, MS, 1363));
	assert_int_equal(n.drift, 0);
}

/* A time beyond the first one's tolerance: three are ignored, the fourth is a new program. */
static void test_fourth_deviating_sample_resets_the_line(void **state)
{
	struct gchint_learn_line n = {};

	(void)state;
	assert_true(add(&n, REF, MS, 1000));
	for (u32 i = 1; i < 4; i++) {
		assert_false(add(&n, REF, 200 * MS, 1000));
		assert_int_equal(n.odd, i);
		assert_int_equal(n.mean_y, 1000 << 10);
	}
	assert_true(add(&n, REF, 200 * MS, 1000));
	assert_int_equal(n.odd, 0);
	assert_int_equal(n.samples, 1);
	/* 200 us of 18 bits are kept with three more: 2^3 parts of a ns. */
	assert_int_equal(n.mean_y >> n.shift, 200000);

	/* A fitting sample resets the count of those that did not. */
	assert_false(add(&n, REF, 20 * US, 20000));
	assert_true(add(&n, REF, 200 * MS, 1000));
	assert_int_equal(n.odd, 0);
	assert_int_equal(n.samples, 2);
}

/* Four or more samples of the time Y at REF; the slope is Y / 4 for one more fmax/f. */
static struct gchint_learn line(u32 samples, u32 noise)
{
	struct gchint_learn l = {};

	l.line[GCHINT_PHASE_MARK][0] = (struct gchint_learn_line){
		.mean_x = X,
		.mean_y = Y,
		.weight = 8192,
		.samples = (u16)samples,
		.noise = (u16)noise,
		.cxx = 1 << 28,
		.cxy = 1ll << 32,
	};
	return l;
}

static struct gchint_fit fit_of(const struct gchint_learn *l)
{
	struct gchint_fit fit;

	gchint_learn_fit(l, GCHINT_PHASE_MARK, 0, &fit);
	return fit;
}

static void test_line_has_two_parts(void **state)
{
	struct gchint_learn l = line(4, 100);
	struct gchint_learn_line *n = &l.line[GCHINT_PHASE_MARK][0];

	(void)state;
	assert_int_equal(fit_of(&l).mem, 768);
	assert_int_equal(fit_of(&l).a_ps, 3ull * Y / 4 * 1000);
	assert_int_equal(fit_of(&l).b_ps, Y / 4 * 1000ull);
	n->shift = 1;
	assert_int_equal(fit_of(&l).b_ps, Y / 8 * 1000ull);
	n->shift = -1;
	assert_int_equal(fit_of(&l).b_ps, Y / 2 * 1000ull);
	n->shift = 0;
	/* Around a mean at half of REF: a quarter of Y less at REF. */
	n->mean_x = 2 * X;
	assert_int_equal(fit_of(&l).b_ps, Y / 4 * 1000ull);
	assert_int_equal(fit_of(&l).a_ps, Y / 2 * 1000ull);
	/* All of the time at that mean, and twice as much, which is impossible. */
	n->cxy = 1ll << 33;
	assert_int_equal(fit_of(&l).a_ps, 0);
	assert_int_equal(fit_of(&l).b_ps, Y / 2 * 1000ull);
	n->cxy = 1ll << 34;
	assert_int_equal(fit_of(&l).a_ps, 0);
	assert_int_equal(fit_of(&l).b_ps, Y / 2 * 1000ull);
	/* Faster at a lower clock: none of it computes. */
	n->cxy = -(1ll << 32);
	assert_int_equal(fit_of(&l).b_ps, 0);
	assert_int_equal(fit_of(&l).mem, GCHINT_ONE);
}

static void test_least_spread_with_a_slope(void **state)
{
	struct gchint_learn l = line(4, 100);
	struct gchint_learn_line *n = &l.line[GCHINT_PHASE_MARK][0];

	(void)state;
	n->cxx = 0;
	n->cxy = 1;
	assert_int_equal(fit_of(&l).b_ps, 0);
	assert_int_equal(fit_of(&l).error, GCHINT_ONE);
	assert_false(fit_of(&l).known);
	n->cxx = 1;
	assert_int_equal(fit_of(&l).b_ps, (1 << 14) * 1000);
	/* Sums too large for the product are both scaled by 2^-8. */
	n->cxx = 1ll << 46;
	n->cxy = 1ll << 50;
	assert_int_equal(fit_of(&l).b_ps, Y / 4 * 1000ull);
}

/* The error is 5/4 of the noise where x spreads by one. */
static void test_known_from_four_samples_and_fifteen_per_cent(void **state)
{
	struct gchint_learn l = line(4, 123);

	(void)state;
	assert_int_equal(fit_of(&l).error, 153);
	assert_true(fit_of(&l).known);
	l = line(3, 123);
	assert_int_equal(fit_of(&l).samples, 3);
	assert_false(fit_of(&l).known);
	l = line(4, 124);
	assert_int_equal(fit_of(&l).error, 155);
	assert_false(fit_of(&l).known);
	/* A spread of one half doubles the uncertainty. */
	l = line(4, 60);
	l.line[GCHINT_PHASE_MARK][0].cxx = 1 << 26;
	assert_int_equal(fit_of(&l).error, 150);
	l = line(0, 123);
	assert_int_equal(fit_of(&l).error, 0);
	assert_int_equal(fit_of(&l).a_ps, 0);
}

/* As far as integers reach: from the previous square to the next one. */
static void test_square_root_of_the_spread_is_exact(void **state)
{
	struct gchint_learn l = line(4, 1);
	s64 *cxx = &l.line[GCHINT_PHASE_MARK][0].cxx;

	(void)state;
	/* A noise of 2^-10 of the mean: the error is 2^14 over the root. */
	for (s64 r = 17; r < 16384; r++) {
		*cxx = r * r;
		assert_int_equal(fit_of(&l).error, min_t(s64, 16384 / r, GCHINT_ONE));
		*cxx = r * r - 1;
		assert_int_equal(fit_of(&l).error, min_t(s64, 16384 / (r - 1), GCHINT_ONE));
	}
}

/* A run beyond 32 bits drops as many bits of its work. */
static void test_long_run_is_halved_with_its_work(void **state)
{
	struct gchint_learn_line n = {};

	(void)state;
	assert_true(add(&n, REF, BIT_ULL(33), 8193));
	assert_int_equal(n.shift, 0);
	assert_int_equal(n.mean_y, 1 << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_credible_samples_count),
		cmocka_unit_test(test_short_run_weighs_less),
		cmocka_unit_test(test_ratio_of_frequencies_is_bounded),
		cmocka_unit_test(test_step_of_each_sample),
		cmocka_unit_test(test_sample_at_the_mean_frequency_keeps_the_slope),
		cmocka_unit_test(test_drift_threshold),
		cmocka_unit_test(test_fourth_deviating_sample_resets_the_line),
		cmocka_unit_test(test_line_has_two_parts),
		cmocka_unit_test(test_least_spread_with_a_slope),
		cmocka_unit_test(test_known_from_four_samples_and_fifteen_per_cent),
		cmocka_unit_test(test_square_root_of_the_spread_is_exact),
		cmocka_unit_test(test_long_run_is_halved_with_its_work),
	};

	return run_tap(tests);
}
