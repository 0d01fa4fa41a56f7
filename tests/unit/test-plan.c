// SPDX-License-Identifier: GPL-2.0-only
/* The frequency for a phase, apart from load. */
#include "fixture.h"

static void test_table_mode_is_a_fixed_part(void **state)
{
	static const u32 of[GCHINT_PHASE_NR] = {
		[GCHINT_PHASE_COLLECT] = 61, [GCHINT_PHASE_SAFEPOINT] = 100,
		[GCHINT_PHASE_ROOTS] = 61,   [GCHINT_PHASE_MARK] = 61,
		[GCHINT_PHASE_REMARK] = 61,  [GCHINT_PHASE_REFS] = 61,
		[GCHINT_PHASE_SWEEP] = 61,   [GCHINT_PHASE_COPY] = 61,
		[GCHINT_PHASE_COMPACT] = 61, [GCHINT_PHASE_TRIM] = 61,
		[GCHINT_PHASE_WAIT] = 100,   [GCHINT_PHASE_WORK] = 61,
	};
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.tun.mode = GCHINT_MODE_TABLE;
	x.tun.cap_pct = 61;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .9, 50 * MS);
	for (u8 phase = GCHINT_PHASE_COLLECT; phase < GCHINT_PHASE_NR; phase++) {
		x.hint.phase = phase;
		x.plan.mem = 7;
		assert_cmp(plan(&x), ==, gchint_percent(2150400, of[phase]));
		assert_int_equal(x.plan.reason, GCHINT_REASON_TABLE);
		/* What was learned is not reported as the reason. */
		assert_int_equal(x.plan.mem, 0);
	}
}

static void test_unlearned_model_is_the_table_above_the_floor(void **state)
{
	struct fixture x;
	u32 floor;

	(void)state;
	init(&x, krait_static);
	assert_cmp(plan(&x), ==, 1113600);
	assert_int_equal(x.plan.reason, GCHINT_REASON_TABLE);
	/* No line would go below this. */
	x.tun.awake_pct = 400;
	x.tun.cap_pct = 10;
	floor = cheapest_opp(&x.opps, GCHINT_ONE, gchint_opps_awake(&x.opps, 400));
	assert_cmp(x.opps.opp[floor].khz, >=, 300000);
	assert_cmp(plan(&x), >=, x.opps.opp[floor].khz);
}

/* A core type is learned at its own maximum frequency, which may not be this policy's. */
static void test_model_of_a_core_type_is_scaled_to_the_maximum(void **state)
{
	struct gchint_fit fit;
	struct fixture x;
	u32 own;

	(void)state;
	init(&x, krait_static);
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .5, 50 * MS);
	plan(&x);
	own = x.plan.mem;
	x.rules.core_type_khz = x.opps.ref_khz / 2;
	gchint_learn_fit(&x.learn, GCHINT_PHASE_MARK, 0, &fit);
	gchint_learn_fit_at(&fit, x.rules.core_type_khz, x.opps.ref_khz);
	plan(&x);
	assert_int_equal(x.plan.mem, fit.mem);
	assert_cmp(x.plan.mem, >, own);
}

/* Interior optima: the driver's static term, by memory fraction. */
static void test_krait_optimum(void **state)
{
	static const struct {
		double m;
		u32 khz;
	} want[] = { { 0, 1113600 }, { .7, 652800 } };
	struct fixture x;
	u32 best;

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(want); i++) {
		init(&x, krait_static);
		x.tun.slowdown_pct = 1000;
		teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, want[i].m, 50 * MS);
		best = gchint_opp_at_least(&x.opps, want[i].khz);
		assert_cmp(cheapest_opp(&x.opps, (u32)(want[i].m * GCHINT_ONE), 0), ==, best);
		assert_cmp(plan(&x), ==, x.opps.opp[cheapest_opp(&x.opps, x.plan.mem, 0)].khz);
		assert_int_equal(x.plan.reason, GCHINT_REASON_MODEL);
	}
}

static void test_never_below_the_energy_optimum(void **state)
{
	(void)state;
	for (u32 b = 0; b < nr_boards; b++) {
		for (u32 pct = 0; pct <= 100; pct += 25) {
			for (double m = 0; m <= 1; m += 0.125) {
				struct fixture x;
				u32 awake, i;

				init(&x, boards[b].fill);
				x.tun.slowdown_pct = 1000;
				x.tun.awake_pct = pct;
				teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, m, 50 * MS);
				plan(&x);
				awake = gchint_opps_awake(&x.opps, pct);
				i = cheapest_opp(&x.opps, x.plan.mem, awake);
				assert_cmp(x.plan.khz, >=, x.opps.opp[i].khz);
			}
		}
	}
}

static void test_slowdown_is_bounded(void **state)
{
	static const u32 bound[] = { 0, 10, 30, 50, 100 };

	(void)state;
	for (u32 b = 0; b < nr_boards; b++) {
		for (u32 i = 0; i < ARRAY_SIZE(bound); i++) {
			for (double m = 0; m <= 0.95; m += 0.19) {
				struct fixture x;
				double slow;

				init(&x, boards[b].fill);
				x.tun.slowdown_pct = bound[i];
				teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, m, 50 * MS);
				slow = m + (1 - m) * x.opps.ref_khz / plan(&x);
				assert_true(slow <= 1.01 + bound[i] / 100.0);
			}
		}
	}
}

static void test_background_may_be_slower(void **state)
{
	struct fixture x;
	u32 concurrent;

	(void)state;
	init(&x, exynos_a15);
	x.tun.slowdown_pct = 20;
	teach(&x, GCHINT_PHASE_SWEEP, GCHINT_CLASS_CONCURRENT, .3, 50 * MS);
	x.hint.phase = GCHINT_PHASE_SWEEP;
	concurrent = plan(&x);
	x.hint.class = GCHINT_CLASS_BACKGROUND;
	assert_cmp(plan(&x), <, concurrent);
}

static void test_pauses_are_boosted(void **state)
{
	static const struct {
		u8 class, reason;
	} want[] = {
		{ GCHINT_CLASS_FOREGROUND, GCHINT_REASON_FOREGROUND },
		{ GCHINT_CLASS_STW, GCHINT_REASON_STW },
		{ GCHINT_CLASS_URGENT, GCHINT_REASON_URGENT },
	};

	(void)state;
	for (u32 mode = GCHINT_MODE_TABLE; mode <= GCHINT_MODE_MODEL; mode++) {
		for (u32 i = 0; i < ARRAY_SIZE(want); i++) {
			struct fixture x;

			init(&x, krait_static);
			x.tun.mode = mode;
			x.hint.class = want[i].class;
			assert_cmp(plan(&x), ==, 2150400);
			assert_int_equal(x.plan.reason, want[i].reason);
			assert_false(x.plan.lower);
		}
	}
}

/* A pause that frequency does not shorten needs no boost. */
static void test_memory_bound_pause_is_not_boosted_in_vain(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.hint.class = GCHINT_CLASS_STW;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_STW, .99, 50 * MS);
	x.tun.pause_stretch_pct = 5;
	assert_cmp(plan(&x), <, 2150400);
	assert_true(x.plan.lower);
	assert_true(.99 + .01 * 2150400 / x.plan.khz <= 1.05);
	/* Computing is. */
	init(&x, krait_static);
	x.hint.class = GCHINT_CLASS_STW;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_STW, .3, 50 * MS);
	assert_cmp(plan(&x), >=, 2112000);
	/* An urgent phase is no time to save on its memory waits. */
	init(&x, krait_static);
	x.rules.delay_cost = GCHINT_DELAY_COST_MAX;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_STW, .99, 50 * MS);
	x.hint.class = GCHINT_CLASS_URGENT;
	assert_cmp(plan(&x), ==, 2150400);
}

/* What a pause gives up is known: until then it computes. */
static void test_pause_ignores_uncertain_estimates(void **state)
{
	struct gchint_learn_line *n;
	struct gchint_fit fit;
	struct fixture x;
	bool lowered = false;

	(void)state;
	for (u32 noise = 10; noise <= 150; noise += 10) {
		init(&x, krait_static);
		x.tun.pause_stretch_pct = 20;
		x.hint.class = GCHINT_CLASS_STW;
		teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_STW, .9, 50 * MS);
		n = &x.learn.line[GCHINT_PHASE_MARK][0];
		n->noise = noise;
		gchint_learn_fit(&x.learn, GCHINT_PHASE_MARK, 0, &fit);
		plan(&x);
		if (!fit.known) {
			assert_false(x.plan.lower);
			continue;
		}
		if (x.plan.lower)
			assert_int_equal(x.plan.mem, fit.mem);
		lowered |= x.plan.lower && fit.error > GCHINT_ONE / 50;
	}
	assert_true(lowered);
}

static void test_limits_bound_every_plan(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .7, 50 * MS);
	x.rules.min_khz = 1190400;
	assert_cmp(plan(&x), >=, 1190400);
	x.rules.min_khz = 300000;
	x.rules.max_khz = 500000;
	x.tun.slowdown_pct = 0;
	assert_cmp(plan(&x), ==, 499200);
	x.hint.class = GCHINT_CLASS_STW;
	assert_cmp(plan(&x), <=, 500000);
}

static void test_single_opp_is_the_plan(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	gchint_opps_init(&x.opps, 800000);
	gchint_opps_add(&x.opps, 800000, 100, 0);
	gchint_opps_finish(&x.opps);
	x.rules.min_khz = 800000;
	x.rules.max_khz = 800000;
	x.tun.probe_every = 1;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .5, 50 * MS);
	for (u32 n = 0; n < 5; n++) {
		x.hint.instance++;
		assert_cmp(plan(&x), ==, 800000);
	}
}

static void test_plan_without_a_table(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	gchint_opps_init(&x.opps, 3000000);
	gchint_opps_finish(&x.opps);
	x.rules.min_khz = 800000;
	x.rules.max_khz = 3000000;
	x.plan.mem = 7;
	assert_cmp(plan(&x), ==, 1500000);
	/* What was assumed for an earlier table is no reason here. */
	assert_int_equal(x.plan.mem, 0);
	x.hint.class = GCHINT_CLASS_STW;
	x.plan.mem = 7;
	assert_cmp(plan(&x), ==, 3000000);
	assert_int_equal(x.plan.mem, 0);
	x.hint.class = GCHINT_CLASS_CONCURRENT;
	x.hint.overdue = true;
	assert_cmp(plan(&x), ==, 3000000);
	assert_int_equal(x.plan.reason, GCHINT_REASON_PACE);
}

static void test_inefficient_opps_are_not_planned(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	for (u32 i = 0; i < x.opps.nr; i++) {
		if (x.opps.opp[i].khz != 1497600 && x.opps.opp[i].khz != 2150400)
			x.opps.opp[i].flags |= GCHINT_OPP_INEFFICIENT;
	}
	assert_cmp(plan(&x), ==, 1497600);
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .7, 50 * MS);
	assert_cmp(plan(&x), ==, 1497600);
	x.hint.stall_ns = NOW + 30 * MS;
	x.hint.work_left = 1000000;
	assert_true(plan(&x) == 1497600 || plan(&x) == 2150400);
}

static void test_boost_opps_only_within_limits(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, rk3399_a72);
	x.opps.opp[x.opps.nr - 1].flags |= GCHINT_OPP_BOOST;
	x.hint.class = GCHINT_CLASS_STW;
	/* Boost off: the core lowers policy->max. */
	x.rules.max_khz = 1608000;
	assert_cmp(plan(&x), ==, 1608000);
	x.rules.max_khz = 1800000;
	assert_cmp(plan(&x), ==, 1800000);
}

static void test_pacing_raises_to_end_in_time(void **state)
{
	struct fixture x;
	u32 easy, before = 0;

	(void)state;
	init(&x, krait_static);
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .3, 50 * MS);
	x.tun.slowdown_pct = 200;
	x.hint.work_left = 1000000;
	x.hint.stall_ns = NOW + S;
	easy = plan(&x);
	assert_int_equal(x.plan.reason, GCHINT_REASON_MODEL);
	for (u64 ms = 100; ms; ms--) {
		double takes;

		x.hint.stall_ns = NOW + ms * MS;
		plan(&x);
		assert_cmp(x.plan.khz, >=, easy);
		assert_cmp(x.plan.khz, >=, before);
		before = x.plan.khz;
		takes = 20 * (.3 + .7 * 2150400 / x.plan.khz);
		if (ms > 26)
			assert_true(takes <= (double)ms);
		if (x.plan.khz > easy)
			assert_int_equal(x.plan.reason, GCHINT_REASON_PACE);
		/* Time passes by itself: evaluate again soon. */
		assert_cmp(x.plan.until_ns, <=, NOW + 2 * MS);
	}
	assert_cmp(before, ==, 2150400);
	x.hint.stall_ns = NOW + 30 * MS;
	x.hint.overdue = true;
	assert_cmp(plan(&x), ==, 2150400);
}

/* Urgency lasts from one work count to the next. */
static void test_pace_survives_a_gap_in_progress(void **state)
{
	struct fixture x;
	u32 khz;

	(void)state;
	init(&x, krait_static);
	x.hint.stall_ns = NOW + 30 * MS;
	x.hint.work_done = 1000;
	x.hint.work_left = 1000;
	x.hint.mark_ns = NOW - 20 * MS;
	x.hint.ran_ns = 20 * MS;
	x.hint.work_ran_ns = 20 * MS;
	x.hint.work_cycles = 20 * MS * 2150400;
	khz = plan(&x);
	assert_int_equal(x.plan.reason, GCHINT_REASON_PACE);
	x.hint.work_done = 0;
	x.hint.work_ran_ns = 0;
	x.hint.revision++;
	assert_cmp(plan(&x), ==, khz);
	assert_int_equal(x.plan.reason, GCHINT_REASON_PACE);
	/* It does not apply to another phase: without a rate a phase is late until one is known. */
	x.hint.instance++;
	assert_cmp(plan(&x), ==, x.rules.max_khz);
	assert_int_equal(x.plan.reason, GCHINT_REASON_PACE);
	/* Without an instant a phase cannot be late. */
	x.hint.stall_ns = 0;
	x.hint.instance++;
	assert_cmp(plan(&x), <, khz);
}

static void last(struct fixture *x, u8 phase, u8 class, u64 wall_ns)
{
	struct gchint_sample s = {
		.valid = true, .ended = true, .phase = phase, .class = class, .wall_ns = wall_ns
	};

	for (int i = 0; i < 8; i++)
		gchint_learn_add(&x->learn, &s, x->opps.ref_khz);
}

/* Without work counts there is no rate; it is late only if phases of its type took too long. */
static void test_without_work_the_length_is_used(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.hint.phase = GCHINT_PHASE_COLLECT;
	x.hint.stall_ns = NOW + 75 * MS;
	assert_cmp(plan(&x), ==, x.rules.max_khz);
	assert_int_equal(x.plan.reason, GCHINT_REASON_PACE);
	last(&x, GCHINT_PHASE_COLLECT, GCHINT_CLASS_CONCURRENT, 10 * MS);
	x.hint.instance++;
	assert_cmp(plan(&x), <, x.rules.max_khz);
	assert_int_not_equal(x.plan.reason, GCHINT_REASON_PACE);
	/* In time, but not with the whole permitted slowdown. */
	x.hint.stall_ns = NOW + 13 * MS;
	x.hint.instance++;
	assert_cmp(plan(&x), <, x.rules.max_khz);
	assert_int_equal(x.plan.reason, GCHINT_REASON_PACE);
	x.hint.stall_ns = NOW + 9 * MS;
	x.hint.instance++;
	assert_cmp(plan(&x), ==, x.rules.max_khz);
	/* Of the half that has passed nothing is left to do. */
	x.hint.begin_ns = NOW - 5 * MS;
	x.hint.instance++;
	assert_cmp(plan(&x), <, x.rules.max_khz);
	/* Older than any so far, it may last as long again. */
	x.hint.begin_ns = NOW - 40 * MS;
	x.hint.instance++;
	assert_cmp(plan(&x), ==, x.rules.max_khz);
	x.hint.begin_ns = NOW;
	x.hint.stall_ns = NOW + 75 * MS;
	x.hint.overdue = true;
	x.hint.instance++;
	assert_cmp(plan(&x), ==, x.rules.max_khz);
}

/* Mutators are slowed by what the plan states, no more. */
static void test_late_collection_slows_its_mutators(void **state)
{
	struct fixture x;
	u32 floor;

	(void)state;
	init(&x, krait_static);
	x.tun.awake_pct = 25;
	x.rules.delay_cost = 0;
	gchint_rules_set_mutators(&x.rules);
	floor = gchint_opp_at_least(&x.opps, x.rules.mutator[0].floor_khz);
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .3, 50 * MS);
	x.hint.work_left = 1000000;
	x.hint.stall_ns = NOW + S;
	plan(&x);
	assert_cmp(x.plan.slowdown, ==, GCHINT_ONE);
	/* That it costs no time is a prediction, which is not relied on where time is expensive. */
	x.rules.delay_cost = GCHINT_DELAY_COST_MAX;
	x.rules.epoch++;
	x.hint.stall_ns = NOW + 2 * MS;
	plan(&x);
	assert_cmp(x.plan.slowdown, ==, GCHINT_ONE);
	x.rules.delay_cost = 0;
	x.rules.epoch++;
	plan(&x);
	assert_cmp(x.plan.slowdown, >, GCHINT_ONE);
	assert_cmp(x.plan.slowdown, <=, gchint_opp_stretch(&x.opps.opp[floor], 0));
	assert_cmp(gchint_plan_mutator_khz(&x.rules, x.plan.slowdown, 0), ==,
		   x.rules.mutator[0].floor_khz);
	/* Slowed mutators allocate more slowly, which is no reason to stop. */
	x.hint.slowdown = x.plan.slowdown;
	x.hint.stall_ns = NOW + 4 * MS;
	plan(&x);
	assert_cmp(x.plan.slowdown, ==, x.hint.slowdown);
	/* In a stopped world, and in other modes, no mutator is slowed. */
	x.hint.class = GCHINT_CLASS_STW;
	plan(&x);
	assert_cmp(x.plan.slowdown, ==, GCHINT_ONE);
	x.hint.class = GCHINT_CLASS_CONCURRENT;
	x.tun.mode = GCHINT_MODE_TABLE;
	plan(&x);
	assert_cmp(x.plan.slowdown, ==, GCHINT_ONE);
}

static void test_role_needs_no_learner(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.hint.role = true;
	x.hint.phase = GCHINT_PHASE_COLLECT;
	x.hint.begin_ns = 0;
	x.tun.probe_every = 1;
	gchint_plan_make(&x.plan, &x.hint, &x.rules, NULL, 0, NOW);
	assert_cmp(x.plan.khz, ==, 1113600);
	assert_false(x.plan.probe);
}

/* A pause that only computes is not lowered from the top beyond the tolerated stretch. */
static void test_highest_opp_is_not_lowered(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.hint.class = GCHINT_CLASS_STW;
	x.hint.flags = GCHINT_F_STW;
	x.tun.pause_stretch_pct = 0;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_STW, 0, 20 * MS);
	assert_cmp(plan(&x), ==, x.rules.max_khz);
	assert_false(x.plan.lower);
	assert_int_equal(x.plan.reason, GCHINT_REASON_STW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_mode_is_a_fixed_part),
		cmocka_unit_test(test_unlearned_model_is_the_table_above_the_floor),
		cmocka_unit_test(test_model_of_a_core_type_is_scaled_to_the_maximum),
		cmocka_unit_test(test_krait_optimum),
		cmocka_unit_test(test_never_below_the_energy_optimum),
		cmocka_unit_test(test_slowdown_is_bounded),
		cmocka_unit_test(test_background_may_be_slower),
		cmocka_unit_test(test_pauses_are_boosted),
		cmocka_unit_test(test_memory_bound_pause_is_not_boosted_in_vain),
		cmocka_unit_test(test_pause_ignores_uncertain_estimates),
		cmocka_unit_test(test_limits_bound_every_plan),
		cmocka_unit_test(test_single_opp_is_the_plan),
		cmocka_unit_test(test_plan_without_a_table),
		cmocka_unit_test(test_inefficient_opps_are_not_planned),
		cmocka_unit_test(test_boost_opps_only_within_limits),
		cmocka_unit_test(test_pacing_raises_to_end_in_time),
		cmocka_unit_test(test_pace_survives_a_gap_in_progress),
		cmocka_unit_test(test_without_work_the_length_is_used),
		cmocka_unit_test(test_late_collection_slows_its_mutators),
		cmocka_unit_test(test_role_needs_no_learner),
		cmocka_unit_test(test_highest_opp_is_not_lowered),
	};

	return run_tap(tests);
}
