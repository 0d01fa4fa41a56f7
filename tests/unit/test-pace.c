// SPDX-License-Identifier: GPL-2.0-only
/* How slow a phase may be and still end before mutators stall. */
#include "unit.h"
#include "pace.h"

#define REF 2000000
#define NOW (100 * S)
#define PCT 25

static struct gchint_hint hint(u64 in_ns, u64 done, u64 left)
{
	struct gchint_hint h = {
		.class = GCHINT_CLASS_CONCURRENT,
		.phase = GCHINT_PHASE_MARK,
		.stall_ns = in_ns ? NOW + in_ns : 0,
		.begin_ns = NOW,
		.mark_ns = NOW,
		.work_done = done,
		.work_left = left,
	};

	return h;
}

/* 10 ns a unit at the highest frequency. */
static struct gchint_fit fit(double mem)
{
	struct gchint_fit f = {
		.known = true,
		.mem = (u32)(mem * GCHINT_ONE),
		.samples = 20,
		.a_ps = (u64)(mem * 10000),
		.b_ps = (u64)((1 - mem) * 10000),
	};

	return f;
}

static u32 pace_stretch(const struct gchint_hint *hint, const struct gchint_fit *fit, u32 ref_khz,
			u32 margin_pct, u32 latency_ns, u32 slowdown, u64 now_ns)
{
	struct gchint_hint h = *hint;

	h.slowdown = slowdown;
	return gchint_pace_stretch(
		&(struct gchint_pace){ &h, fit, ref_khz, margin_pct, latency_ns, now_ns });
}

static u32 pace_length(const struct gchint_hint *h, u64 left_ns, u32 margin_pct, u32 latency_ns)
{
	return gchint_pace_length(
		&(struct gchint_pace){ h, NULL, REF, margin_pct, latency_ns, NOW }, left_ns);
}

static u32 pace_slowdown(const struct gchint_hint *hint, const struct gchint_fit *fit, u32 ref_khz,
			 u32 margin_pct, u32 slowdown)
{
	struct gchint_hint h = *hint;

	h.slowdown = slowdown;
	return gchint_pace_slowdown(&(struct gchint_pace){ &h, fit, ref_khz, margin_pct, 0, NOW });
}

static double stretch(const struct gchint_hint *h, const struct gchint_fit *f)
{
	return (double)pace_stretch(h, f, REF, PCT, 0, 0, NOW) / GCHINT_ONE;
}

static void test_without_stall_instant_there_is_no_bound(void **state)
{
	struct gchint_hint h = hint(0, 0, 1000);
	struct gchint_fit f = fit(.5);

	(void)state;
	assert_cmp(pace_stretch(&h, &f, REF, PCT, 0, 0, NOW), ==, U32_MAX);
}

static void test_without_rate_there_is_no_bound(void **state)
{
	struct gchint_hint h = hint(10 * MS, 0, 1000);
	struct gchint_fit f = {};

	(void)state;
	assert_cmp(pace_stretch(&h, &f, REF, PCT, 0, 0, NOW), ==, U32_MAX);
	/* Nor without knowing the remaining work. */
	h.work_left = 0;
	f = fit(.5);
	assert_cmp(pace_stretch(&h, &f, REF, PCT, 0, 0, NOW), ==, U32_MAX);
}

static void test_learned_rate_counts_at_the_beginning(void **state)
{
	struct gchint_fit f = fit(.5);
	/* A million units are 10 ms; there are 25 ms, of which 20 are usable. */
	struct gchint_hint h = hint(25 * MS, 0, 1000000);

	(void)state;
	assert_near(stretch(&h, &f), 2.0, 0.01);
}

static void test_own_rate_counts_later(void **state)
{
	struct gchint_fit f = fit(.5);
	struct gchint_hint h = hint(25 * MS, 500000, 500000);

	(void)state;
	/* It took 20 ms for half at the highest frequency: four times the learned time. */
	h.mark_ns = NOW - 20 * MS;
	h.ran_ns = 20 * MS;
	h.work_ran_ns = 20 * MS;
	h.work_cycles = h.ran_ns * REF;
	assert_near(stretch(&h, &f), 1.0, 0.01);
	/* The same at half the frequency would have taken 20 / 1.5. */
	h.work_cycles = h.ran_ns * (REF / 2);
	assert_near(stretch(&h, &f), 1.5, 0.01);
	/* Of an unknown phase half is assumed to wait for memory. */
	memset(&f, 0, sizeof(f));
	assert_near(stretch(&h, &f), 1.5, 0.01);
}

/* A clock that was read as nearly zero counts as 1/64 of the highest. */
static void test_own_rate_at_a_tiny_frequency(void **state)
{
	struct gchint_fit f = fit(.5);
	struct gchint_hint h = hint(40 * MS, 1000, 1000);
	u32 least;

	(void)state;
	h.work_ran_ns = 10 * MS;
	h.work_cycles = h.work_ran_ns * (REF / 64);
	least = pace_stretch(&h, &f, REF, 0, 0, 0, NOW);
	assert_near((double)least / GCHINT_ONE, 4 * (.5 + .5 * 64), .1);
	h.work_cycles = h.work_ran_ns * (REF / 65);
	assert_cmp(pace_stretch(&h, &f, REF, 0, 0, 0, NOW), ==, least);
	h.work_cycles = 0;
	assert_cmp(pace_stretch(&h, &f, REF, 0, 0, 0, NOW), ==, least);
	h.work_cycles = h.work_ran_ns * (REF / 60);
	assert_cmp(pace_stretch(&h, &f, REF, 0, 0, 0, NOW), <, least);
}

/* Down to one unit of two. */
static void test_own_rate_of_one_unit(void **state)
{
	struct gchint_fit f = fit(.5);
	struct gchint_hint h = hint(40 * MS, 1, 1);

	(void)state;
	h.work_ran_ns = 10 * MS;
	h.work_cycles = h.work_ran_ns * REF;
	assert_cmp(pace_stretch(&h, &f, REF, 0, 0, 0, NOW), ==, 4 * GCHINT_ONE);
}

static void test_part_of_a_cpu_takes_longer(void **state)
{
	struct gchint_fit f = fit(.5);
	struct gchint_hint h = hint(50 * MS, 1, 1000000);

	(void)state;
	h.mark_ns = NOW - 40 * MS;
	h.ran_ns = 40 * MS;
	assert_near(stretch(&h, &f), 4.0, 0.02);
	h.ran_ns = 20 * MS;
	assert_near(stretch(&h, &f), 2.0, 0.02);
}

/* Such a short run gives neither the share of a CPU nor the rate. */
static void test_a_rate_needs_a_millisecond(void **state)
{
	struct gchint_fit f = fit(.5);
	struct gchint_hint h = hint(50 * MS, 1, 1000000);

	(void)state;
	h.mark_ns = NOW - 2 * MS;
	h.ran_ns = MS - 1;
	assert_near(stretch(&h, &f), 4.0, 0.02);
	h.ran_ns = MS;
	assert_near(stretch(&h, &f), 2.0, 0.02);
	/* A clock that stops or goes back gives no share. */
	h.mark_ns = NOW;
	assert_near(stretch(&h, &f), 4.0, 0.02);
	h.mark_ns = NOW + 1;
	assert_near(stretch(&h, &f), 4.0, 0.02);

	/* Half of it took a millisecond: so does the rest, whatever was learned. */
	h = hint(5 * MS, 500000, 500000);
	h.work_ran_ns = MS - 1;
	h.work_cycles = h.work_ran_ns * REF;
	assert_cmp(pace_stretch(&h, &f, REF, PCT, 0, 0, NOW), ==, 0);
	h.work_ran_ns = MS;
	h.work_cycles = h.work_ran_ns * REF;
	assert_near(stretch(&h, &f), 4.0, 0.01);

	/* The rest takes at least a nanosecond. */
	h = hint(3, BIT_ULL(20), 1);
	h.work_ran_ns = MS;
	h.work_cycles = h.work_ran_ns * REF;
	assert_cmp(pace_stretch(&h, &f, REF, 0, 0, 0, NOW), ==, 3 * GCHINT_ONE);
}

static void test_overdue_runs_at_full_speed(void **state)
{
	struct gchint_fit f = fit(.5);
	struct gchint_hint h = hint(11 * MS, 0, 1000000);

	(void)state;
	/* 11 ms for 10 ms of work leave no margin. */
	assert_cmp(pace_stretch(&h, &f, REF, PCT, 0, 0, NOW), ==, 0);
	h = hint(100 * US, 0, 10);
	assert_cmp(pace_stretch(&h, &f, REF, PCT, 140 * US, 0, NOW), ==, 0);
	h = hint(0, 0, 10);
	h.overdue = true;
	assert_cmp(pace_stretch(&h, &f, REF, PCT, 0, 0, NOW), ==, 0);
}

static void test_shrinking_headroom_tightens(void **state)
{
	struct gchint_fit f = fit(.7);
	u32 before = U32_MAX;

	(void)state;
	for (u64 us = 100000; us; us -= 100) {
		struct gchint_hint h = hint(us * US, 0, 1000000);
		u32 now = pace_stretch(&h, &f, REF, PCT, 0, 0, NOW);

		assert_cmp(now, <=, before);
		before = now;
	}
	assert_cmp(before, ==, 0);
}

/*
 * Mutators that are slowed for a late collection allocate more slowly, which defers the instant.
 * The collection must not slow down for that, or both end up slow.
 */
static void test_time_that_mutators_lose_is_no_slack(void **state)
{
	struct gchint_fit f = fit(.5);
	struct gchint_hint h = hint(20 * MS, 0, 1000000);
	u32 all, yielding;

	(void)state;
	all = pace_stretch(&h, &f, REF, PCT, 0, GCHINT_ONE, NOW);
	assert_cmp(all, ==, pace_stretch(&h, &f, REF, PCT, 0, 0, NOW));
	assert_near(all / (double)GCHINT_ONE, 20 / (10 * 1.25), 0.01);
	yielding = pace_stretch(&h, &f, REF, PCT, 0, GCHINT_ONE * 3 / 2, NOW);
	assert_near(yielding / (double)GCHINT_ONE, 20 / 1.5 / (10 * 1.25), 0.01);
	assert_cmp(pace_stretch(&h, &f, REF, PCT, 0, 2 * GCHINT_ONE, NOW), ==, 0);
}

static double slowdown(const struct gchint_hint *h, const struct gchint_fit *f, u32 given)
{
	return (double)pace_slowdown(h, f, REF, PCT, given) / GCHINT_ONE;
}

/* A million units are 10 ms; with a quarter more time it probably suffices. */
static void test_mutators_slow_for_a_late_collection(void **state)
{
	struct gchint_fit f = fit(.5);
	struct gchint_hint h = hint(4 * MS, 0, 1000000);

	(void)state;
	assert_near(slowdown(&h, &f, GCHINT_ONE), 2.0, 0.01);
	assert_near(slowdown(&h, &f, 0), 2.0, 0.01);
	/* The slowdown in force has already moved the instant. */
	h = hint(8 * MS, 0, 1000000);
	assert_near(slowdown(&h, &f, 2 * GCHINT_ONE), 2.0, 0.01);
	/* In time: all threads wait for the collection. */
	h = hint(9 * MS, 0, 1000000);
	assert_near(slowdown(&h, &f, GCHINT_ONE), 1.0, 0);
	/* A collector that gets half of a CPU takes twice as long. */
	h.mark_ns = NOW - 40 * MS;
	h.ran_ns = 20 * MS;
	assert_near(slowdown(&h, &f, GCHINT_ONE), 20 / (9 * 1.25), 0.02);
}

static void test_mutators_slow_while_a_thread_waits(void **state)
{
	struct gchint_fit f = fit(.5), none = {};
	struct gchint_hint h = hint(S, 0, 10);

	(void)state;
	h.class = GCHINT_CLASS_URGENT;
	assert_cmp(pace_slowdown(&h, &f, REF, PCT, 0), ==, U32_MAX);
	h.class = GCHINT_CLASS_CONCURRENT;
	h.overdue = true;
	assert_cmp(pace_slowdown(&h, &f, REF, PCT, 0), ==, U32_MAX);
	/* And none where nothing is known. */
	h = hint(0, 0, 1000000);
	assert_cmp(pace_slowdown(&h, &f, REF, PCT, 0), ==, GCHINT_ONE);
	h = hint(MS, 0, 1000000);
	assert_cmp(pace_slowdown(&h, &none, REF, PCT, 0), ==, GCHINT_ONE);
}

/* Work that takes less than a nanosecond at the learned rate takes one, and no more. */
static void test_least_need_is_one_nanosecond(void **state)
{
	struct gchint_fit f = { .known = true, .samples = 20, .b_ps = 1 };
	struct gchint_hint h = hint(3, 0, 1);

	(void)state;
	assert_cmp(pace_stretch(&h, &f, REF, 0, 0, 0, NOW), ==, 3 * GCHINT_ONE);
}

/* The switch latency is not working time. */
static void test_switch_latency_is_subtracted(void **state)
{
	struct gchint_fit f = fit(.5);
	struct gchint_hint h = hint(25 * MS, 0, 1000000);

	(void)state;
	assert_cmp(pace_stretch(&h, &f, REF, 0, 5 * MS, 0, NOW), ==, 2 * GCHINT_ONE);
	assert_cmp(pace_stretch(&h, &f, REF, 0, 15 * MS, 0, NOW), ==, GCHINT_ONE);
	assert_cmp(pace_length(&h, 10 * MS, 0, 5 * MS), ==, 2 * GCHINT_ONE);
}

/* By a known length, down to the nanosecond; with none left the minimum. */
static void test_length_is_exact_to_the_nanosecond(void **state)
{
	struct gchint_hint h = hint(3, 0, 0);

	(void)state;
	assert_cmp(pace_length(&h, 3, 0, 0), ==, GCHINT_ONE);
	assert_cmp(pace_length(&h, 4, 0, 0), ==, 0);
	assert_cmp(pace_length(&h, 1, 0, 0), ==, 3 * GCHINT_ONE);
	assert_cmp(pace_length(&h, 0, 0, 0), ==, 3 * GCHINT_ONE);
	assert_cmp(pace_length(&h, 1, 0, 3), ==, 0);
	assert_cmp(pace_length(&h, U64_MAX, 0, 0), ==, 0);
}

static void test_extremes_do_not_overflow(void **state)
{
	u64 seed = 13;

	(void)state;
	for (u32 n = 0; n < 300000; n++) {
		struct gchint_fit f = fit((double)rnd_in(&seed, 0, 1000) / 1000);
		struct gchint_hint h = hint(((u64)rnd(&seed) << 32) >> rnd_in(&seed, 24, 63),
					    ((u64)rnd(&seed) << 24) >> rnd_in(&seed, 0, 55),
					    ((u64)rnd(&seed) << 24) >> rnd_in(&seed, 0, 55));
		u32 got;

		f.a_ps = ((u64)rnd(&seed) << 32) >> rnd_in(&seed, 0, 63);
		f.b_ps = ((u64)rnd(&seed) << 31) >> rnd_in(&seed, 0, 62);
		h.ran_ns = ((u64)rnd(&seed) << 7) >> rnd_in(&seed, 0, 38);
		h.mark_ns = NOW - min_t(u64, h.ran_ns * rnd_in(&seed, 1, 9), NOW);
		h.work_ran_ns = h.ran_ns / rnd_in(&seed, 1, 9);
		h.work_cycles = h.work_ran_ns * rnd_in(&seed, 0, 5000000);
		got = pace_stretch(&h, &f, rnd_in(&seed, 1, 5000000), rnd_in(&seed, 0, 500),
				   rnd(&seed), rnd(&seed) >> rnd_in(&seed, 0, 31), NOW);
		assert_true(got == 0 || got >= GCHINT_ONE);
		if (h.stall_ns && got && got != U32_MAX)
			assert_cmp(h.stall_ns, >, NOW);
		got = pace_slowdown(&h, &f, rnd_in(&seed, 1, 5000000), rnd_in(&seed, 0, 500),
				    rnd(&seed) >> rnd_in(&seed, 0, 31));
		assert_cmp(got, >=, GCHINT_ONE);
	}
}

/* No phase lasts 18 minutes: a longer one is clamped to that. */
static void test_longest_run_that_counts(void **state)
{
	struct gchint_fit f = fit(.5);
	struct gchint_hint h = hint(BIT_ULL(40), 1000, 1000);

	(void)state;
	h.work_ran_ns = BIT_ULL(42);
	h.work_cycles = h.work_ran_ns * REF;
	assert_cmp(pace_stretch(&h, &f, REF, 0, 0, 0, NOW), ==, GCHINT_ONE);
	assert_cmp(pace_slowdown(&h, &f, REF, 0, 0), ==, GCHINT_ONE);
}

/* Nor does its share of a CPU, which is whole for a thread that always ran. */
static void test_share_of_a_long_run(void **state)
{
	const u64 now = BIT_ULL(43);
	struct gchint_fit f = fit(.5);
	struct gchint_hint h = hint(0, 1, 1000000);

	(void)state;
	h.stall_ns = now + 60 * MS;
	h.ran_ns = BIT_ULL(40);
	h.mark_ns = now - h.ran_ns;
	assert_cmp(pace_stretch(&h, &f, REF, 0, 0, 0, now), ==, 6 * GCHINT_ONE);
	h.ran_ns = BIT_ULL(42);
	h.mark_ns = now - h.ran_ns;
	assert_cmp(pace_stretch(&h, &f, REF, 0, 0, 0, now), ==, 6 * GCHINT_ONE / 4);
}

/* As many units done as are left, in numbers that overflow the product. */
static void test_large_counts_keep_their_ratio(void **state)
{
	struct gchint_fit f = fit(.5);

	(void)state;
	for (u32 shift = 0; shift < 40; shift++) {
		struct gchint_hint h = hint(40 * MS, 500000ull << shift, 1000000ull << shift);

		h.work_ran_ns = 10 * MS;
		h.work_cycles = h.work_ran_ns * REF;
		assert_cmp(pace_stretch(&h, &f, REF, 0, 0, 0, NOW), ==, 2 * GCHINT_ONE);
	}
}

static void test_longer_than_a_day_is_unbounded(void **state)
{
	struct gchint_fit f = fit(.5);
	struct gchint_hint h = hint(10 * MS, 0, BIT_ULL(40));

	(void)state;
	f.a_ps = BIT_ULL(40);
	assert_cmp(pace_stretch(&h, &f, REF, 0, 0, 0, NOW), ==, 0);
	/* 2^47 ns of work in 10 ms: more than a run can hold */
	assert_cmp(pace_slowdown(&h, &f, REF, 0, 0), ==, U32_MAX - 1);
}

static void test_stall_now_slows_mutators_fully(void **state)
{
	struct gchint_fit f = fit(.5);
	struct gchint_hint h = hint(1, 0, 1);

	(void)state;
	h.stall_ns = NOW;
	assert_cmp(pace_slowdown(&h, &f, REF, PCT, 0), ==, U32_MAX);
	h.stall_ns = NOW - 1;
	assert_cmp(pace_slowdown(&h, &f, REF, PCT, 0), ==, U32_MAX);
	/* 10 ns are needed, and 100 are available. */
	h.stall_ns = NOW + 100;
	assert_cmp(pace_slowdown(&h, &f, REF, PCT, 0), ==, GCHINT_ONE);
}

/* Exactly the available time is needed, in numbers that overflow one product. */
static void test_large_needs_are_exact(void **state)
{
	struct gchint_fit f = fit(.5);

	(void)state;
	for (u32 shift = 20; shift <= 36; shift++) {
		struct gchint_hint h = hint(10ull << shift, 0, 1ull << shift);

		assert_cmp(pace_stretch(&h, &f, REF, 0, 0, 0, NOW), ==, GCHINT_ONE);
	}
	f.b_ps = 0;
	for (u32 shift = 24; shift <= 40; shift++) {
		struct gchint_hint h = hint(1ull << shift, 0, 1000);

		f.a_ps = 1ull << shift;
		assert_cmp(pace_stretch(&h, &f, REF, 0, 0, 0, NOW), ==, GCHINT_ONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_stall_instant_there_is_no_bound),
		cmocka_unit_test(test_without_rate_there_is_no_bound),
		cmocka_unit_test(test_learned_rate_counts_at_the_beginning),
		cmocka_unit_test(test_own_rate_counts_later),
		cmocka_unit_test(test_own_rate_at_a_tiny_frequency),
		cmocka_unit_test(test_own_rate_of_one_unit),
		cmocka_unit_test(test_part_of_a_cpu_takes_longer),
		cmocka_unit_test(test_a_rate_needs_a_millisecond),
		cmocka_unit_test(test_overdue_runs_at_full_speed),
		cmocka_unit_test(test_shrinking_headroom_tightens),
		cmocka_unit_test(test_time_that_mutators_lose_is_no_slack),
		cmocka_unit_test(test_mutators_slow_for_a_late_collection),
		cmocka_unit_test(test_mutators_slow_while_a_thread_waits),
		cmocka_unit_test(test_least_need_is_one_nanosecond),
		cmocka_unit_test(test_switch_latency_is_subtracted),
		cmocka_unit_test(test_length_is_exact_to_the_nanosecond),
		cmocka_unit_test(test_extremes_do_not_overflow),
		cmocka_unit_test(test_longest_run_that_counts),
		cmocka_unit_test(test_share_of_a_long_run),
		cmocka_unit_test(test_large_counts_keep_their_ratio),
		cmocka_unit_test(test_longer_than_a_day_is_unbounded),
		cmocka_unit_test(test_stall_now_slows_mutators_fully),
		cmocka_unit_test(test_large_needs_are_exact),
	};

	return run_tap(tests);
}
