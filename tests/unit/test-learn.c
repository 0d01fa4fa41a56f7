// SPDX-License-Identifier: GPL-2.0-only
/* Time per unit of work = a + b/f, from samples that are noisy, few or false. */
#include "unit.h"
#include "learn.h"

#define REF   2000000
#define PHASE GCHINT_PHASE_MARK

struct truth {
	double a; /* ns per unit */
	double b; /* ns per unit at REF */
};

static bool feed(struct gchint_learn *l, const struct truth *t, u32 khz, u64 ran_ns, double luck)
{
	double unit = (t->a + t->b * REF / khz) * luck;
	struct gchint_sample s = {
		.valid = true,
		.phase = PHASE,
		.class = GCHINT_CLASS_CONCURRENT,
		.khz = khz,
		.work = (u64)((double)ran_ns / unit + 0.5),
		.ran_ns = ran_ns,
	};

	return gchint_learn_add(l, &s, REF);
}

static struct gchint_fit fit_of(const struct gchint_learn *l)
{
	struct gchint_fit fit;

	gchint_learn_fit(l, PHASE, 0, &fit);
	return fit;
}

/* Relative error of the slope. */
static double off(const struct gchint_learn *l, const struct truth *t)
{
	struct gchint_fit fit = fit_of(l);

	return fabs((double)fit.b_ps / 1000 - t->b) / t->b;
}

/* The chosen frequency, and neighbours a quarter below and above, as probing gives. */
static u32 probing(u32 n)
{
	static const u32 khz[] = { 800000, 1200000 };

	return khz[n & 1];
}

static void test_state_is_small(void **state)
{
	(void)state;
	assert_cmp(sizeof(struct gchint_learn), <=, GCHINT_LEARN_BYTES);
	printf("# learned state: %zu bytes a session\n", sizeof(struct gchint_learn));
}

static void test_exact_samples_give_the_exact_line(void **state)
{
	static const double m[] = { 0, .1, .3, .5, .7, .9, .95, 1 };
	/* From bytes at memory speed to whole cycles as one unit. */
	static const double size[] = { 0.05, 1, 40, 3000, 1e6 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(m); i++) {
		for (u32 j = 0; j < ARRAY_SIZE(size); j++) {
			struct truth t = { m[i] * size[j], (1 - m[i]) * size[j] };
			struct gchint_learn l = {};
			struct gchint_fit fit;

			for (u32 n = 0; n < 20; n++)
				assert_true(feed(&l, &t, probing(n), 20 * MS, 1));
			fit = fit_of(&l);
			assert_true(fit.known);
			/* A few whole units in a sample are a coarse measure. */
			assert_near(fit.mem / 1024.0, m[i], size[j] > 1e5 ? 0.25 : 0.01);
			assert_near((double)(fit.a_ps + fit.b_ps) / (1000 * size[j]), 1,
				    size[j] > 1e5 ? 0.1 : 0.03);
		}
	}
}

/* Within 20 phases to within 10 % of the true slope. */
static void test_converges_within_20_phases(void **state)
{
	static const double m[] = { 0, .2, .4, .6, .7 };
	u32 runs = 0, good = 0;
	u64 seed = 5;

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(m); i++) {
		for (u32 run = 0; run < 200; run++) {
			struct truth t = { m[i] * 50, (1 - m[i]) * 50 };
			struct gchint_learn l = {};

			for (u32 n = 0; n < 20; n++)
				feed(&l, &t, probing(n), 15 * MS, 1 + 0.03 * rnd_unit(&seed));
			assert_true(fit_of(&l).known);
			runs++;
			good += off(&l, &t) <= 0.1;
			if (off(&l, &t) > 0.2)
				fail_msg("m %.1f: slope off by %.0f %%", m[i], 100 * off(&l, &t));
		}
	}
	printf("# +-3 %% noise: %u of %u runs within 10 %%\n", good, runs);
	assert_cmp(good * 100, >=, runs * 98);
}

/* And from there within 20 more to a changed slope. */
static void test_follows_a_change_within_20_more(void **state)
{
	static const struct {
		double before, after, size;
	} change[] = {
		{ .7, .2, 1 },	{ .2, .7, 1 }, { .5, .5, 3 },
		{ .5, .5, .4 }, { 0, .6, 2 },  { .6, 0, .5 },
	};
	u32 runs = 0, good = 0;
	u64 seed = 9;

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(change); i++) {
		for (u32 run = 0; run < 200; run++) {
			double m = change[i].after, size = 50 * change[i].size;
			struct truth before = { change[i].before * 50,
						(1 - change[i].before) * 50 };
			struct truth after = { m * size, (1 - m) * size };
			struct gchint_learn l = {};

			for (u32 n = 0; n < 40; n++)
				feed(&l, n < 20 ? &before : &after, probing(n), 15 * MS,
				     1 + 0.03 * rnd_unit(&seed));
			runs++;
			good += off(&l, &after) <= 0.1;
			if (off(&l, &after) > 0.25)
				fail_msg("%.1f to %.1f x %.1f: slope off by %.0f %%",
					 change[i].before, m, change[i].size,
					 100 * off(&l, &after));
		}
	}
	printf("# after a change: %u of %u runs within 10 %%\n", good, runs);
	assert_cmp(good * 100, >=, runs * 95);
}

static void test_one_frequency_gives_no_slope(void **state)
{
	struct truth t = { 20, 30 };
	struct gchint_learn l = {};
	u64 seed = 2;

	(void)state;
	for (u32 n = 0; n < 500; n++)
		feed(&l, &t, 1000000, 15 * MS, 1 + 0.05 * rnd_unit(&seed));
	assert_false(fit_of(&l).known);
	assert_cmp(fit_of(&l).samples, >=, 500);
}

/* A learned line is kept while the frequency stays the same. */
static void test_slope_survives_a_long_steady_time(void **state)
{
	struct truth t = { 20, 30 };
	struct gchint_learn l = {};
	u64 seed = 2;

	(void)state;
	for (u32 n = 0; n < 40; n++)
		feed(&l, &t, probing(n), 15 * MS, 1 + 0.03 * rnd_unit(&seed));
	for (u32 n = 0; n < 300; n++)
		feed(&l, &t, n % 16 ? 1000000 : probing(n / 16), 15 * MS,
		     1 + 0.03 * rnd_unit(&seed));
	assert_true(fit_of(&l).known);
	assert_true(off(&l, &t) < 0.15);
}

/* Standard error of a slope: deviation over the root of the spread, at any scale. */
static void test_error_is_deviation_over_square_root(void **state)
{
	u64 seed = 8;

	(void)state;
	for (u32 i = 0; i < 20000; i++) {
		struct gchint_learn l = {};
		struct gchint_learn_line *n = &l.line[PHASE][0];
		double want;

		n->samples = 20;
		n->mean_x = 1 << 20;
		n->mean_y = rnd_in(&seed, 1 << 14, 1 << 27);
		n->noise = rnd_in(&seed, 1, GCHINT_ONE);
		/* At least the root of a thousand, so that an integer is close to it. */
		n->cxx =
			((s64)rnd_in(&seed, 1 << 20, (1U << 31) - 1) << 30) >> rnd_in(&seed, 0, 30);
		want = floor(n->noise * 1.25) / GCHINT_ONE * (1 << 14) / sqrt((double)n->cxx);
		assert_near(fit_of(&l).error, fmin(want, 1) * GCHINT_ONE,
			    1 + want * GCHINT_ONE / 500);
	}
}

/* The slope does not depend on the size of its sums. */
static void test_slope_is_a_ratio(void **state)
{
	(void)state;
	for (u32 shift = 8; shift < 50; shift++) {
		struct gchint_learn l = {};
		struct gchint_learn_line *n = &l.line[PHASE][0];

		n->samples = 20;
		n->mean_x = 1 << 20;
		n->mean_y = 1 << 21;
		n->cxx = (s64)BIT_ULL(shift);
		n->cxy = n->cxx * (1 << 6);
		assert_int_equal(fit_of(&l).mem, GCHINT_ONE / 2);
		n->cxy = -n->cxy;
		assert_int_equal(fit_of(&l).mem, GCHINT_ONE);
	}
}

static void test_outliers_hardly_move_the_model(void **state)
{
	struct truth t = { 25, 25 };
	u64 seed = 4;

	(void)state;
	for (u32 run = 0; run < 100; run++) {
		struct gchint_learn l = {};

		for (u32 n = 0; n < 60; n++) {
			double luck = 1 + 0.03 * rnd_unit(&seed);

			/* Every eighth phase was disturbed: up to four times as long. */
			if (n > 8 && n % 8 == 0)
				luck *= 2 + 2 * fabs(rnd_unit(&seed));
			feed(&l, &t, probing(n / 2), 15 * MS, luck);
		}
		assert_near(fit_of(&l).mem / 1024.0, 0.5, 0.2);
	}
}

static void test_false_counters_are_ignored(void **state)
{
	struct truth t = { 25, 25 };
	struct gchint_learn l = {};
	struct gchint_sample s = { .valid = true, .phase = PHASE, .khz = 1000000 };
	struct gchint_fit before, after;

	(void)state;
	for (u32 n = 0; n < 20; n++)
		feed(&l, &t, probing(n), 15 * MS, 1);
	before = fit_of(&l);

	/* A sample without work teaches nothing and is no error. */
	s.ran_ns = 10 * MS;
	assert_true(gchint_learn_add(&l, &s, REF));
	/* Work without time or frequency is an error. */
	s.work = 1000;
	s.ran_ns = 0;
	assert_false(gchint_learn_add(&l, &s, REF));
	s.ran_ns = 10 * MS;
	s.khz = 0;
	assert_false(gchint_learn_add(&l, &s, REF));
	s.khz = 1000000;
	s.work = GCHINT_WORK_MAX;
	assert_false(gchint_learn_add(&l, &s, REF));
	s.work = 1;
	assert_false(gchint_learn_add(&l, &s, REF));
	/* A value out of range is not stored anywhere. */
	s.phase = GCHINT_PHASE_NR;
	assert_false(gchint_learn_add(&l, &s, REF));
	s.phase = PHASE;
	s.core_type = GCHINT_CORE_TYPES;
	assert_false(gchint_learn_add(&l, &s, REF));
	s.valid = false;
	assert_true(gchint_learn_add(&l, &s, REF));

	after = fit_of(&l);
	assert_int_equal(after.mem, before.mem);
	assert_int_equal(after.samples, before.samples);
}

/* A slope steeper than the whole time is clamped: the phase only computes. */
static void test_impossible_slopes_are_bounded(void **state)
{
	struct gchint_learn l = {};
	struct gchint_fit fit;

	(void)state;
	for (u32 n = 0; n < 30; n++) {
		struct truth t = { -40, 60 };

		feed(&l, &t, probing(n), 15 * MS, 1);
	}
	fit = fit_of(&l);
	assert_int_equal(fit.mem, 0);
	assert_cmp(fit.a_ps, ==, 0);
	/* At the observed frequencies the time per unit was 60 to 110 ns. */
	assert_near((double)fit.b_ps / 1000 * REF / 1000000, 83, 10);

	memset(&l, 0, sizeof(l));
	for (u32 n = 0; n < 30; n++) {
		struct truth t = { 60, -10 };

		feed(&l, &t, probing(n), 15 * MS, 1);
	}
	fit = fit_of(&l);
	assert_int_equal(fit.mem, GCHINT_ONE);
	assert_cmp(fit.b_ps, ==, 0);
}

static void test_new_unit_of_work_resets_the_model(void **state)
{
	struct truth objects = { 25, 25 }, bytes = { 0.05, 0.05 };
	struct gchint_learn l = {};

	(void)state;
	for (u32 n = 0; n < 20; n++)
		feed(&l, &objects, probing(n), 15 * MS, 1);
	for (u32 n = 0; n < 24; n++)
		feed(&l, &bytes, probing(n), 15 * MS, 1);
	assert_true(off(&l, &bytes) < 0.1);
}

/* Whatever the input, the result stays within its range. */
static void test_garbage_is_survived(void **state)
{
	u64 seed = 77;

	(void)state;
	for (u32 run = 0; run < 200; run++) {
		struct gchint_learn l = {};

		for (u32 n = 0; n < 300; n++) {
			struct gchint_sample s = {
				.valid = true,
				.ended = rnd(&seed) & 1,
				.phase = (u8)rnd_in(&seed, 0, 15),
				.class = (u8)rnd_in(&seed, 0, 5),
				.core_type = (u8)rnd_in(&seed, 0, 2),
				.khz = rnd(&seed) >> rnd_in(&seed, 0, 31),
				.work = (((u64)rnd(&seed) << 32) | rnd(&seed)) >>
					rnd_in(&seed, 0, 63),
				.ran_ns = (((u64)rnd(&seed) << 32) | rnd(&seed)) >>
					  rnd_in(&seed, 20, 63),
				.wall_ns = ((u64)rnd(&seed) << 32) >> rnd_in(&seed, 0, 40),
			};

			gchint_learn_add(&l, &s, rnd_in(&seed, 1, 8000000));
		}
		for (u8 phase = 0; phase < GCHINT_PHASE_NR; phase++) {
			for (u8 kind = 0; kind < GCHINT_CORE_TYPES; kind++) {
				struct gchint_fit fit;

				gchint_learn_fit(&l, phase, kind, &fit);
				assert_cmp(fit.mem, <=, GCHINT_ONE);
				assert_cmp(fit.error, <=, GCHINT_ONE);
			}
		}
	}
}

static void test_core_types_and_phases_are_separate(void **state)
{
	struct truth t = { 25, 25 };
	struct gchint_learn l = {};
	struct gchint_fit fit;

	(void)state;
	for (u32 n = 0; n < 20; n++)
		feed(&l, &t, probing(n), 15 * MS, 1);
	gchint_learn_fit(&l, PHASE, 1, &fit);
	assert_int_equal(fit.samples, 0);
	gchint_learn_fit(&l, GCHINT_PHASE_SWEEP, 0, &fit);
	assert_int_equal(fit.samples, 0);
}

static void test_length_is_learned(void **state)
{
	struct gchint_sample s = {
		.valid = true,
		.ended = true,
		.phase = PHASE,
		.class = GCHINT_CLASS_CONCURRENT,
	};
	struct gchint_learn l = {};

	(void)state;
	assert_cmp(gchint_learn_left_ns(&l, PHASE, GCHINT_CLASS_CONCURRENT, 0), ==, U64_MAX);
	for (u32 n = 0; n < 30; n++) {
		s.wall_ns = (n & 1 ? 18 : 22) * MS;
		gchint_learn_add(&l, &s, REF);
	}
	assert_near((double)gchint_learn_left_ns(&l, PHASE, GCHINT_CLASS_CONCURRENT, 0) / 1e6, 20,
		    1.5);
	assert_near((double)gchint_learn_left_ns(&l, PHASE, GCHINT_CLASS_CONCURRENT, 15 * MS) / 1e6,
		    5, 1.5);
	/* Already longer than usual: as long again. */
	assert_cmp(gchint_learn_left_ns(&l, PHASE, GCHINT_CLASS_CONCURRENT, 50 * MS), ==, 50 * MS);
	/* A pause of the same work has a length of its own. */
	assert_cmp(gchint_learn_left_ns(&l, PHASE, GCHINT_CLASS_STW, 0), ==, U64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_state_is_small),
		cmocka_unit_test(test_exact_samples_give_the_exact_line),
		cmocka_unit_test(test_converges_within_20_phases),
		cmocka_unit_test(test_follows_a_change_within_20_more),
		cmocka_unit_test(test_one_frequency_gives_no_slope),
		cmocka_unit_test(test_slope_survives_a_long_steady_time),
		cmocka_unit_test(test_error_is_deviation_over_square_root),
		cmocka_unit_test(test_slope_is_a_ratio),
		cmocka_unit_test(test_outliers_hardly_move_the_model),
		cmocka_unit_test(test_false_counters_are_ignored),
		cmocka_unit_test(test_impossible_slopes_are_bounded),
		cmocka_unit_test(test_new_unit_of_work_resets_the_model),
		cmocka_unit_test(test_garbage_is_survived),
		cmocka_unit_test(test_core_types_and_phases_are_separate),
		cmocka_unit_test(test_length_is_learned),
	};

	return run_tap(tests);
}
