// SPDX-License-Identifier: GPL-2.0-only
/* The OPP table: order, efficiency, limits, and the cost of work. */
#include "unit.h"
#include "boards.h"

static u32 find(const struct gchint_opps *t, u32 khz)
{
	for (u32 i = 0; i < t->nr; i++) {
		if (t->opp[i].khz == khz)
			return i;
	}
	fail_msg("no OPP of %u kHz", khz);
	return 0;
}

static u32 mem_of(double m)
{
	return (u32)lround(m * GCHINT_ONE);
}

static void test_table_is_sorted_and_without_duplicates(void **state)
{
	struct gchint_opps t;

	(void)state;
	gchint_opps_init(&t, 1000);
	assert_int_equal(gchint_opps_add(&t, 800, 3, 0), 0);
	assert_int_equal(gchint_opps_add(&t, 1000, 9, 0), 0);
	assert_int_equal(gchint_opps_add(&t, 600, 2, 0), 0);
	assert_int_equal(gchint_opps_add(&t, 800, 5, GCHINT_OPP_BOOST), 0);
	assert_int_equal(gchint_opps_add(&t, 0, 5, 0), -EINVAL);
	gchint_opps_finish(&t);
	assert_int_equal(t.nr, 3);
	assert_int_equal(t.opp[0].khz, 600);
	assert_int_equal(t.opp[1].khz, 800);
	assert_int_equal(t.opp[1].power, 3);
	assert_true(t.opp[1].flags & GCHINT_OPP_BOOST);
	assert_int_equal(t.opp[2].khz, 1000);
	assert_true(t.powered);
}

/* Each OPP keeps its flags, wherever it is sorted to. */
static void test_flags_stay_with_their_opp(void **state)
{
	struct gchint_opps t;

	(void)state;
	gchint_opps_init(&t, 1000);
	gchint_opps_add(&t, 1000, 9, GCHINT_OPP_BOOST);
	gchint_opps_add(&t, 600, 2, 0);
	gchint_opps_add(&t, 800, 5, 0);
	gchint_opps_finish(&t);
	assert_int_equal(t.opp[0].flags, 0);
	assert_int_equal(t.opp[1].flags, 0);
	assert_int_equal(t.opp[2].flags, GCHINT_OPP_BOOST);
}

static void test_one_unknown_power_makes_the_table_unpowered(void **state)
{
	struct gchint_opps t;

	(void)state;
	gchint_opps_init(&t, 1000);
	gchint_opps_add(&t, 500, 3, 0);
	gchint_opps_add(&t, 1000, 0, 0);
	gchint_opps_finish(&t);
	assert_false(t.powered);
	assert_int_equal(gchint_opps_awake(&t, 100), 0);
	gchint_opps_init(&t, 1000);
	gchint_opps_add(&t, 500, 0, 0);
	gchint_opps_add(&t, 1000, 90, 0);
	gchint_opps_finish(&t);
	assert_false(t.powered);
	assert_int_equal(gchint_opps_awake(&t, 100), 0);
}

static void test_full_table_drops_the_least_distinct_opp(void **state)
{
	struct gchint_opps t;

	(void)state;
	gchint_opps_init(&t, 100000);
	for (u32 i = 1; i <= 100; i++)
		gchint_opps_add(&t, i * 1000, i, 0);
	gchint_opps_finish(&t);
	assert_int_equal(t.nr, GCHINT_OPPS_MAX);
	assert_int_equal(t.opp[0].khz, 1000);
	assert_int_equal(t.opp[t.nr - 1].khz, 100000);
	for (u32 i = 1; i < t.nr; i++)
		assert_cmp(t.opp[i].khz - t.opp[i - 1].khz, <=, 4000);
}

static void test_at_least_finds_every_opp(void **state)
{
	struct gchint_opps t;

	(void)state;
	for (u32 nr = 1; nr <= GCHINT_OPPS_MAX; nr++) {
		gchint_opps_init(&t, nr * 1000);
		for (u32 i = 1; i <= nr; i++)
			gchint_opps_add(&t, i * 1000, i, 0);
		gchint_opps_finish(&t);
		for (u32 i = 0; i < nr; i++) {
			assert_int_equal(gchint_opp_at_least(&t, t.opp[i].khz), i);
			assert_int_equal(gchint_opp_at_least(&t, t.opp[i].khz - 1), i);
		}
		assert_int_equal(gchint_opp_at_least(&t, U32_MAX), nr - 1);
	}
}

static void test_slower_opps_that_save_no_power_are_inefficient(void **state)
{
	struct gchint_opps t;

	(void)state;
	gchint_opps_init(&t, 1000);
	gchint_opps_add(&t, 200, 50, 0);
	gchint_opps_add(&t, 400, 120, 0);
	gchint_opps_add(&t, 600, 120, 0);
	gchint_opps_add(&t, 800, 110, 0);
	gchint_opps_add(&t, 1000, 300, 0);
	gchint_opps_finish(&t);
	assert_false(t.opp[0].flags & GCHINT_OPP_INEFFICIENT);
	assert_true(t.opp[1].flags & GCHINT_OPP_INEFFICIENT);
	assert_true(t.opp[2].flags & GCHINT_OPP_INEFFICIENT);
	assert_false(t.opp[3].flags & GCHINT_OPP_INEFFICIENT);
	assert_false(t.opp[4].flags & GCHINT_OPP_INEFFICIENT);

	assert_int_equal(gchint_opps_resolve(&t, 350, 200, 1000), 800);
	/* The limits leave no other OPP. */
	assert_int_equal(gchint_opps_resolve(&t, 350, 200, 600), 400);
	assert_int_equal(gchint_opps_resolve(&t, 350, 400, 400), 400);
	/* A limit that equals an OPP includes it. */
	assert_int_equal(gchint_opps_resolve(&t, 350, 200, 800), 800);

	/* The same power at a lower speed is inefficient too. */
	gchint_opps_init(&t, 400);
	gchint_opps_add(&t, 200, 50, 0);
	gchint_opps_add(&t, 400, 50, 0);
	gchint_opps_finish(&t);
	assert_true(t.opp[0].flags & GCHINT_OPP_INEFFICIENT);
	assert_false(t.opp[1].flags & GCHINT_OPP_INEFFICIENT);
}

static void test_resolve_stays_within_limits(void **state)
{
	struct gchint_opps t;
	u64 seed = 1;

	(void)state;
	exynos_a15(&t);
	for (u32 n = 0; n < 100000; n++) {
		u32 lo = rnd_in(&seed, 100000, 2100000);
		u32 hi = rnd_in(&seed, lo, 2200000);
		u32 khz = rnd_in(&seed, 0, 2500000);
		u32 got = gchint_opps_resolve(&t, khz, lo, hi);
		u32 request = clamp_t(u32, khz, lo, hi);
		u32 inside = 0;

		for (u32 i = 0; i < t.nr; i++) {
			u32 f = t.opp[i].khz;

			if (f < lo || f > hi)
				continue;
			inside++;
			/* No lower OPP would have sufficed. */
			if (f >= request && !(t.opp[i].flags & GCHINT_OPP_INEFFICIENT))
				assert_cmp(got, <=, f);
		}
		find(&t, got);
		if (inside) {
			assert_cmp(got, >=, lo);
			assert_cmp(got, <=, hi);
		} else {
			assert_true(got <= hi || got == t.opp[0].khz);
		}
	}
}

static void test_resolve_without_a_table_clamps(void **state)
{
	struct gchint_opps t;

	(void)state;
	gchint_opps_init(&t, 3000000);
	gchint_opps_finish(&t);
	assert_int_equal(gchint_opps_resolve(&t, 1234567, 800000, 3000000), 1234567);
	assert_int_equal(gchint_opps_resolve(&t, 1, 800000, 3000000), 800000);
	assert_int_equal(gchint_opps_resolve(&t, U32_MAX, 800000, 3000000), 3000000);
	assert_false(t.powered);
}

static void test_one_opp(void **state)
{
	struct gchint_opps t;

	(void)state;
	gchint_opps_init(&t, 1000);
	gchint_opps_add(&t, 1000, 7, 0);
	gchint_opps_finish(&t);
	assert_int_equal(gchint_opps_resolve(&t, 1, 1000, 1000), 1000);
	assert_int_equal(gchint_opps_resolve(&t, U32_MAX, 1000, 1000), 1000);
	assert_int_equal(cheapest_opp(&t, 0, 0), 0);
}

static void test_opp_above_cpuinfo_max_becomes_the_reference(void **state)
{
	struct gchint_opps t;

	(void)state;
	gchint_opps_init(&t, 1000);
	gchint_opps_add(&t, 1000, 7, 0);
	gchint_opps_add(&t, 1200, 9, GCHINT_OPP_BOOST);
	gchint_opps_finish(&t);
	assert_int_equal(t.ref_khz, 1200);
	assert_int_equal(t.opp[1].slow, GCHINT_ONE);
}

/* Time and dynamic energy relative to 2150 MHz, by memory fraction. */
static void test_krait_ratios(void **state)
{
	static const struct {
		u32 khz;
		double m, time, energy;
	} want[] = {
		{ 960000, 0, 2.24, 0.67 },   { 960000, .5, 1.62, 0.48 },
		{ 960000, .7, 1.37, 0.41 },  { 960000, .85, 1.19, 0.35 },
		{ 960000, .95, 1.06, 0.32 }, { 1497600, .5, 1.22, 0.67 },
		{ 1497600, .7, 1.13, 0.62 }, { 1497600, .95, 1.02, 0.56 },
	};
	struct gchint_opps t;

	(void)state;
	krait_dynamic(&t);
	for (u32 i = 0; i < ARRAY_SIZE(want); i++) {
		const struct gchint_opp *o = &t.opp[find(&t, want[i].khz)];
		const struct gchint_opp *top = &t.opp[t.nr - 1];
		u32 mem = mem_of(want[i].m);

		assert_near((double)gchint_opp_stretch(o, mem) / gchint_opp_stretch(top, mem),
			    want[i].time, 0.006);
		assert_near((double)gchint_opp_energy(o, mem, 0) / gchint_opp_energy(top, mem, 0),
			    want[i].energy, 0.011);
	}
}

/* With the driver's static term racing below the floor loses. */
static void test_krait_floor_is_interior(void **state)
{
	struct gchint_opps t;
	u32 before = U32_MAX;

	(void)state;
	krait_static(&t);
	assert_int_equal(t.opp[cheapest_opp(&t, mem_of(0), 0)].khz, 1113600);
	assert_int_equal(t.opp[cheapest_opp(&t, mem_of(.7), 0)].khz, 652800);
	/* A higher memory fraction has a lower floor. */
	for (u32 mem = 0; mem <= GCHINT_ONE; mem += 32) {
		u32 i = cheapest_opp(&t, mem, 0);

		assert_cmp(i, <=, before);
		before = i;
	}
	/* Without the static term the lowest OPP is the cheapest. */
	krait_dynamic(&t);
	assert_int_equal(cheapest_opp(&t, mem_of(.7), 0), 0);
}

static void test_floor_is_that_of_exhaustive_search(void **state)
{
	(void)state;
	for (u32 b = 0; b < nr_boards; b++) {
		struct gchint_opps t;

		boards[b].fill(&t);
		for (u32 pct = 0; pct <= 100; pct += 10) {
			u32 awake = gchint_opps_awake(&t, pct);

			for (double m = 0; m <= 1; m += 0.1) {
				u32 got = cheapest_opp(&t, mem_of(m), awake);
				double least = INFINITY, mine = 0;

				for (u32 i = 0; i < t.nr; i++) {
					double f = t.opp[i].khz, top = t.ref_khz;
					double e = (t.opp[i].power + (double)awake) *
						   (m + (1 - m) * top / f);

					if (e < least)
						least = e;
					if (i == got)
						mine = e;
				}
				assert_near(mine / least, 1, 0.005);
			}
		}
	}
}

static void test_awake_power_raises_the_floor(void **state)
{
	(void)state;
	for (u32 b = 0; b < nr_boards; b++) {
		struct gchint_opps t;
		u32 before = 0;

		boards[b].fill(&t);
		for (u32 pct = 0; pct <= 400; pct += 20) {
			u32 i = cheapest_opp(&t, mem_of(.3), gchint_opps_awake(&t, pct));

			assert_cmp(i, >=, before);
			before = i;
		}
		assert_cmp(before, >, 0);
	}
}

/* Boost is turned off and on again: times per OPP stay with their frequencies. */
static void test_sums_move_with_their_frequencies(void **state)
{
	u64 sums[GCHINT_OPPS_MAX] = { 1, 2, 4, 8 };
	struct gchint_opps all, some, none;

	(void)state;
	gchint_opps_init(&all, 4000);
	gchint_opps_init(&some, 3000);
	gchint_opps_init(&none, 4000);
	for (u32 khz = 1000; khz <= 4000; khz += 1000) {
		gchint_opps_add(&all, khz, khz, 0);
		if (khz != 2000 && khz <= 3000)
			gchint_opps_add(&some, khz, khz, 0);
	}
	gchint_opps_finish(&all);
	gchint_opps_finish(&some);
	gchint_opps_finish(&none);
	gchint_opps_move_sums(&some, &all, sums);
	assert_cmp(sums[0], ==, 1);
	assert_cmp(sums[1], ==, 14);
	assert_cmp(sums[2] | sums[3], ==, 0);
	gchint_opps_move_sums(&all, &some, sums);
	assert_cmp(sums[0], ==, 1);
	assert_cmp(sums[2], ==, 14);
	gchint_opps_move_sums(&none, &all, sums);
	assert_cmp(sums[0], ==, 15);
	gchint_opps_move_sums(&all, &none, sums);
	assert_cmp(sums[0], ==, 15);
}

/* Evenly from end to end; power grows faster than frequency, and every OPP is efficient. */
static void test_filled_range_represents_a_table(void **state)
{
	u32 least = 400000, most = 5000000;
	struct gchint_opps t;

	(void)state;
	gchint_opps_init(&t, most);
	gchint_opps_fill_range(&t, least);
	gchint_opps_finish(&t);
	assert_cmp(t.nr, ==, GCHINT_OPPS_POINTS);
	assert_cmp(t.opp[0].khz, ==, least);
	assert_cmp(t.opp[t.nr - 1].khz, ==, most);
	assert_true(t.powered);
	for (u32 i = 1; i < t.nr; i++) {
		const struct gchint_opp *o = &t.opp[i];

		assert_in_range(o->khz - o[-1].khz, 199999, 200001);
		assert_cmp((u64)o->power * o[-1].khz, >, (u64)o[-1].power * o->khz);
		assert_cmp(o->flags, ==, 0);
	}
	/* At two fifths of the clock: .4 * .73^2 = .213, i.MX6Q and RK3399 in between. */
	assert_in_range(t.opp[8].power * 1000ULL / t.opp[t.nr - 1].power, 205, 221);
	/* What load requests is not rounded: the driver accepts it. */
	assert_cmp(gchint_opps_resolve(&t, 1234567, least, most), ==, 1234567);
	assert_cmp(gchint_opps_resolve(&t, 100, least, most), ==, least);
	assert_cmp(gchint_opps_resolve(&t, most, least, 2345678), ==, 2345678);
}

static void test_filled_range_is_narrow_or_empty(void **state)
{
	struct gchint_opps t;

	(void)state;
	gchint_opps_init(&t, 1000);
	gchint_opps_fill_range(&t, 0);
	gchint_opps_finish(&t);
	assert_cmp(t.nr, ==, 0);
	assert_false(t.powered);
	gchint_opps_init(&t, 1000);
	gchint_opps_fill_range(&t, 1000);
	gchint_opps_finish(&t);
	assert_cmp(t.nr, ==, 1);
	gchint_opps_init(&t, 1000);
	gchint_opps_fill_range(&t, 995);
	gchint_opps_finish(&t);
	assert_cmp(t.nr, ==, 6);
	assert_cmp(t.opp[5].khz, ==, 1000);
}

static void test_missing_reference_defaults_to_one(void **state)
{
	struct gchint_opps t;

	(void)state;
	gchint_opps_init(&t, 0);
	assert_int_equal(t.ref_khz, 1);
	gchint_opps_init(&t, 1);
	assert_int_equal(t.ref_khz, 1);
	gchint_opps_init(&t, 2);
	assert_int_equal(t.ref_khz, 2);
}

/* A full table drops the OPP that is nearest to the one below it, never an end. */
static void test_opp_nearest_to_its_lower_neighbour_is_dropped(void **state)
{
	(void)state;
	for (u32 close = 1; close + 1 < GCHINT_OPPS_MAX; close++) {
		struct gchint_opps t;

		gchint_opps_init(&t, GCHINT_OPPS_MAX * 1000);
		for (u32 i = 0; i < GCHINT_OPPS_MAX; i++)
			gchint_opps_add(&t, (i + 1) * 1000 - (i == close), i + 1, 0);
		gchint_opps_add(&t, (GCHINT_OPPS_MAX + 1) * 1000, 99, 0);
		assert_int_equal(t.nr, GCHINT_OPPS_MAX);
		for (u32 i = 0; i < GCHINT_OPPS_MAX; i++)
			assert_int_equal(t.opp[i].khz, (i + 1 + (i >= close)) * 1000);
	}
}

static void test_least_known_power_counts(void **state)
{
	struct gchint_opps t;

	(void)state;
	gchint_opps_init(&t, 1000);
	gchint_opps_add(&t, 800, 0, 0);
	gchint_opps_add(&t, 800, 5, 0);
	assert_int_equal(t.opp[0].power, 5);
	gchint_opps_add(&t, 800, 3, 0);
	assert_int_equal(t.opp[0].power, 3);
	gchint_opps_add(&t, 800, 4, 0);
	gchint_opps_add(&t, 800, 0, 0);
	assert_int_equal(t.opp[0].power, 3);
	/* A later OPP inherits nothing from the dropped one. */
	gchint_opps_finish(&t);
	gchint_opps_add(&t, 600, 2, 0);
	assert_int_equal(t.opp[0].khz, 600);
	assert_int_equal(t.opp[0].slow, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_is_sorted_and_without_duplicates),
		cmocka_unit_test(test_flags_stay_with_their_opp),
		cmocka_unit_test(test_one_unknown_power_makes_the_table_unpowered),
		cmocka_unit_test(test_full_table_drops_the_least_distinct_opp),
		cmocka_unit_test(test_at_least_finds_every_opp),
		cmocka_unit_test(test_slower_opps_that_save_no_power_are_inefficient),
		cmocka_unit_test(test_resolve_stays_within_limits),
		cmocka_unit_test(test_resolve_without_a_table_clamps),
		cmocka_unit_test(test_one_opp),
		cmocka_unit_test(test_opp_above_cpuinfo_max_becomes_the_reference),
		cmocka_unit_test(test_krait_ratios),
		cmocka_unit_test(test_krait_floor_is_interior),
		cmocka_unit_test(test_floor_is_that_of_exhaustive_search),
		cmocka_unit_test(test_awake_power_raises_the_floor),
		cmocka_unit_test(test_sums_move_with_their_frequencies),
		cmocka_unit_test(test_filled_range_represents_a_table),
		cmocka_unit_test(test_filled_range_is_narrow_or_empty),
		cmocka_unit_test(test_missing_reference_defaults_to_one),
		cmocka_unit_test(test_opp_nearest_to_its_lower_neighbour_is_dropped),
		cmocka_unit_test(test_least_known_power_counts),
	};

	return run_tap(tests);
}
