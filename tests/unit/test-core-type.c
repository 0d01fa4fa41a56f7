// SPDX-License-Identifier: GPL-2.0-only
/* Core types, and scaling what was learned at one maximum frequency to another. */
#include "unit.h"
#include "core_type.h"
#include "learn.h"

struct core {
	u32 capacity;
	u32 khz;
	u8 core_type;
};

static void check_distinct(const struct core *cores, u32 nr)
{
	struct gchint_core_types k = {};

	for (u32 round = 0; round < 2; round++) {
		for (u32 i = 0; i < nr; i++) {
			u8 core_type = gchint_core_type_find(&k, cores[i].capacity, cores[i].khz);

			if (core_type != cores[i].core_type)
				fail_msg("core %u (%u, %u kHz) is of core type %u, want %u", i,
					 cores[i].capacity, cores[i].khz, core_type,
					 cores[i].core_type);
		}
	}
}

/* Favoured cores of one chip; then efficient ones, without capacities. */
static void test_favoured_cores_share_a_type(void **state)
{
	static const struct core cores[] = {
		{ 1024, 5500000, 0 }, { 1024, 5600000, 0 }, { 1024, 5800000, 0 },
		{ 1024, 4300000, 1 }, { 1024, 4400000, 1 }, { 1024, 5700000, 0 },
	};

	(void)state;
	check_distinct(cores, ARRAY_SIZE(cores));
}

/* Little, middle and big cores at nearly the same clock, and the same core at two clocks. */
static void test_capacity_distinguishes_core_types(void **state)
{
	static const struct core cores[] = {
		{ 160, 1803000, 0 }, { 498, 2253000, 1 },  { 1024, 2802000, 2 },
		{ 485, 2253000, 1 }, { 1024, 2802000, 2 }, { 160, 1803000, 0 },
	};
	static const struct core same_clock[] = {
		{ 381, 1800000, 0 },
		{ 1024, 1800000, 1 },
		{ 381, 1800000, 0 },
	};

	(void)state;
	check_distinct(cores, ARRAY_SIZE(cores));
	check_distinct(same_clock, ARRAY_SIZE(same_clock));
}

static void test_excess_type_maps_to_the_nearest(void **state)
{
	struct gchint_core_types k = {};

	(void)state;
	for (u32 i = 0; i < GCHINT_CORE_TYPES; i++)
		assert_int_equal(gchint_core_type_find(&k, 200 * (i + 1), 2000000), i);
	assert_int_equal(gchint_core_type_find(&k, 1000, 2000000), GCHINT_CORE_TYPES - 1);
	assert_int_equal(gchint_core_type_find(&k, 330, 2000000), 1);
	assert_int_equal(gchint_core_type_find(&k, 100, 2000000), 0);
	assert_int_equal(k.nr, GCHINT_CORE_TYPES);
	assert_true(GCHINT_CORE_TYPES >= 4);
	/* Without capacities the frequencies distinguish them. */
	for (u32 i = 0; i < GCHINT_CORE_TYPES; i++)
		k.core_type[i] = (struct gchint_core_type){ GCHINT_ONE, 2000000 + i * 1000000 };
	assert_int_equal(gchint_core_type_find(&k, GCHINT_ONE, 2500000), 1);
	assert_int_equal(gchint_core_type_find(&k, GCHINT_ONE, 9000000), GCHINT_CORE_TYPES - 1);
	/* Absurd values are types of their own. */
	assert_int_equal(gchint_core_type_find(&k, 1, 1), 0);
	gchint_core_type_find(&k, GCHINT_ONE, U32_MAX);
}

/* A phase of memory fraction @mem at @ref_khz, whose unit takes 100 ns there. */
static struct gchint_sample at(u32 khz, u32 ref_khz, double mem)
{
	double stretch = mem + (1 - mem) * ref_khz / khz;

	return (struct gchint_sample){
		.valid = true,
		.phase = GCHINT_PHASE_MARK,
		.class = GCHINT_CLASS_CONCURRENT,
		.khz = khz,
		.work = 100000,
		.ran_ns = (u64)(10 * (double)MS * stretch),
	};
}

/*
 * Boost is switched off: what was learned relative to 5.8 GHz is read relative to 3 GHz, and back.
 */
static void test_line_is_scaled_to_another_maximum(void **state)
{
	static const u32 khz[] = { 5800000, 3000000 };

	(void)state;
	for (u32 unit = 0; unit < 2; unit++) {
		for (double mem = 0; mem <= 0.9; mem += 0.15) {
			struct gchint_learn l = {};
			struct gchint_fit own, fit;
			double there;

			for (u32 i = 0; i < 40; i++) {
				struct gchint_sample s =
					at(i & 1 ? 5800000 : 1500000, 5800000, mem);

				assert_true(gchint_learn_add(&l, &s, khz[unit]));
			}
			gchint_learn_fit(&l, GCHINT_PHASE_MARK, 0, &own);
			assert_true(own.known);
			for (u32 to = 0; to < 2; to++) {
				fit = own;
				gchint_learn_fit_at(&fit, khz[unit], khz[to]);
				/* a / (a + b / f) */
				there = mem / (mem + (1 - mem) * 5800000 / khz[to]);
				assert_near((double)fit.mem / GCHINT_ONE, there, 0.02);
				assert_near((double)(fit.a_ps + fit.b_ps) / 1000,
					    100 * (mem + (1 - mem) * 5800000 / khz[to]), 2.5);
				assert_true(fit.known);
			}
		}
	}
}

static void test_own_unit_changes_nothing(void **state)
{
	struct gchint_fit fit = { .known = true,
				  .mem = 300,
				  .error = 20,
				  .samples = 9,
				  .a_ps = 1ULL << 50,
				  .b_ps = 1ULL << 52 };
	struct gchint_fit same = fit;

	(void)state;
	gchint_learn_fit_at(&fit, 0, 2000000);
	assert_memory_equal(&fit, &same, sizeof(fit));
	gchint_learn_fit_at(&fit, 2000000, 2000000);
	assert_memory_equal(&fit, &same, sizeof(fit));
	/* An unwritten line stays unknown, and the error scales with the slope. */
	gchint_learn_fit_at(&fit, 4000000, 2000000);
	assert_cmp(fit.error, <, 20);
	assert_cmp(fit.mem, <, 300);
	fit = same;
	gchint_learn_fit_at(&fit, 1000000, 2000000);
	assert_cmp(fit.error, >, 20);
	assert_cmp(fit.mem, >, 300);
	assert_cmp(fit.b_ps, ==, 1ULL << 51);
	fit = same;
	fit.error = GCHINT_ONE * 14 / 100;
	gchint_learn_fit_at(&fit, 1000000, 2000000);
	assert_false(fit.known);
	memset(&fit, 0, sizeof(fit));
	gchint_learn_fit_at(&fit, 1000000, 2000000);
	assert_int_equal(fit.mem, 0);
}

/* To the ps, or to a billionth where that does not fit. */
static void test_compute_time_is_scaled(void **state)
{
	static const u64 ps[] = { 1,
				  3,
				  1000,
				  1000003,
				  1ULL << 30,
				  (1ULL << 40) - 1,
				  (1ULL << 40) + 1000,
				  1ULL << 52,
				  (1ULL << 60) - 1 };

	(void)state;
	for (u32 i = 0; i < sizeof(ps) / sizeof(ps[0]); i++) {
		struct gchint_fit fit = { .known = true, .samples = 9, .b_ps = ps[i] };

		gchint_learn_fit_at(&fit, 1000000, 2000000);
		if (ps[i] < 1ULL << 40)
			assert_cmp(fit.b_ps, ==, ps[i] / 2);
		else
			assert_near(fit.b_ps, (double)ps[i] / 2, (double)ps[i] * 1e-9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_favoured_cores_share_a_type),
		cmocka_unit_test(test_capacity_distinguishes_core_types),
		cmocka_unit_test(test_excess_type_maps_to_the_nearest),
		cmocka_unit_test(test_line_is_scaled_to_another_maximum),
		cmocka_unit_test(test_own_unit_changes_nothing),
		cmocka_unit_test(test_compute_time_is_scaled),
	};

	return run_tap(tests);
}
