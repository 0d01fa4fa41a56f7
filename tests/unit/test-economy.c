// SPDX-License-Identifier: GPL-2.0-only
/* Plans and the cost of a switch: short phases, running plans, probing. */
#include "fixture.h"

static void test_phase_too_short_for_a_switch_is_not_planned(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.rules.latency_ns = 300000;
	x.hint.instance++;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .7, 2 * MS);
	assert_cmp(plan(&x), ==, GCHINT_PLAN_LOAD);
	assert_true(x.plan.avoided);
	assert_false(x.plan.lower);
	assert_false(x.plan.probe);
	assert_int_equal(x.plan.step, 0);
	assert_int_equal(x.plan.reason, GCHINT_REASON_HOLD);
	assert_near(gchint_learn_left_ns(&x.learn, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, 0),
		    2 * MS, 50 * US);
	/* Eight latencies are not short. */
	x.hint.instance++;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .7, 3 * MS);
	assert_cmp(plan(&x), !=, GCHINT_PLAN_LOAD);
	assert_false(x.plan.avoided);
	/* A boost must be worth the switch up and back, but no more. */
	x.hint.class = GCHINT_CLASS_STW;
	x.hint.instance++;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_STW, .7, 700 * US);
	assert_cmp(plan(&x), !=, GCHINT_PLAN_LOAD);
	x.plan.made = false;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_STW, .7, 500 * US);
	assert_cmp(plan(&x), ==, GCHINT_PLAN_LOAD);
}

/* CPUFREQ_ETERNAL means unknown, not four seconds. */
static void test_unknown_latency_is_one_millisecond(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.rules.latency_ns = U32_MAX;
	x.hint.instance++;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .7, 6 * MS);
	assert_cmp(plan(&x), ==, GCHINT_PLAN_LOAD);
	x.hint.instance++;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .7, 10 * MS);
	assert_cmp(plan(&x), !=, GCHINT_PLAN_LOAD);
}

static void test_short_phase_that_turns_out_long_is_capped(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.rules.latency_ns = 300000;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .7, MS);
	assert_cmp(plan(&x), ==, GCHINT_PLAN_LOAD);
	assert_false(gchint_plan_valid(&x.plan, &x.hint, &x.rules, NOW + 7 * MS));
	gchint_plan_make(&x.plan, &x.hint, &x.rules, &x.learn, 0, NOW + 7 * MS);
	assert_cmp(x.plan.khz, !=, GCHINT_PLAN_LOAD);
}

/* A plan is not given up for a short phase that follows directly. */
static void test_short_phase_keeps_the_previous_plan(void **state)
{
	struct fixture x;
	u32 khz;

	(void)state;
	init(&x, krait_static);
	x.rules.latency_ns = 50000;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .7, 20 * MS);
	teach(&x, GCHINT_PHASE_REFS, GCHINT_CLASS_CONCURRENT, .2, 200 * US);
	khz = plan(&x);
	assert_cmp(khz, !=, GCHINT_PLAN_LOAD);
	x.hint.phase = GCHINT_PHASE_REFS;
	x.hint.instance++;
	x.hint.begin_ns = NOW + 5 * MS;
	gchint_plan_make(&x.plan, &x.hint, &x.rules, &x.learn, 0, NOW + 5 * MS);
	assert_cmp(x.plan.khz, ==, khz);
	assert_int_equal(x.plan.reason, GCHINT_REASON_HOLD);
	assert_true(x.plan.avoided);
	/* After a long gap it has its own plan. */
	x.hint.phase = GCHINT_PHASE_MARK;
	x.hint.instance++;
	plan(&x);
	x.hint.phase = GCHINT_PHASE_REFS;
	x.hint.instance++;
	x.hint.begin_ns = NOW + S;
	gchint_plan_make(&x.plan, &x.hint, &x.rules, &x.learn, 0, NOW + S);
	assert_cmp(x.plan.khz, ==, GCHINT_PLAN_LOAD);
	assert_true(x.plan.avoided);
}

/* A role counts without a phase, but not in the gap between two phases. */
static void test_role_waits_for_the_next_phase(void **state)
{
	struct gchint_hint phase;
	struct fixture x;
	u32 khz;

	(void)state;
	init(&x, krait_static);
	x.rules.latency_ns = 50000;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .7, 20 * MS);
	phase = x.hint;
	khz = plan(&x);
	memset(&x.hint, 0, sizeof(x.hint));
	x.hint.class = GCHINT_CLASS_CONCURRENT;
	x.hint.phase = GCHINT_PHASE_COLLECT;
	x.hint.role = true;
	gchint_plan_make(&x.plan, &x.hint, &x.rules, &x.learn, 0, NOW + 20 * MS);
	assert_cmp(x.plan.khz, ==, khz);
	assert_int_equal(x.plan.reason, GCHINT_REASON_HOLD);
	assert_true(gchint_plan_valid(&x.plan, &x.hint, &x.rules, NOW + 20 * MS + 300 * US));
	assert_false(gchint_plan_valid(&x.plan, &x.hint, &x.rules, NOW + 21 * MS));
	gchint_plan_make(&x.plan, &x.hint, &x.rules, &x.learn, 0, NOW + 21 * MS);
	assert_int_equal(x.plan.reason, GCHINT_REASON_TABLE);
	/* The same after a pause; a role alone counts from the beginning. */
	x.hint = phase;
	x.hint.class = GCHINT_CLASS_STW;
	x.hint.instance++;
	khz = plan(&x);
	assert_cmp(khz, !=, GCHINT_PLAN_LOAD);
	memset(&x.hint, 0, sizeof(x.hint));
	x.hint.class = GCHINT_CLASS_CONCURRENT;
	x.hint.phase = GCHINT_PHASE_COLLECT;
	x.hint.role = true;
	assert_cmp(plan(&x), ==, khz);
	x.plan.made = false;
	plan(&x);
	assert_int_equal(x.plan.reason, GCHINT_REASON_TABLE);
}

/* A capped phase near its end is not dropped for being short now. */
static void test_cap_is_kept_to_the_end(void **state)
{
	struct fixture x;
	u32 khz;

	(void)state;
	init(&x, krait_static);
	x.rules.latency_ns = 300000;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .7, 20 * MS);
	khz = plan(&x);
	assert_cmp(khz, !=, GCHINT_PLAN_LOAD);
	x.hint.revision++;
	gchint_plan_make(&x.plan, &x.hint, &x.rules, &x.learn, 0, NOW + 19 * MS + 900 * US);
	assert_cmp(x.plan.khz, ==, khz);
	assert_false(x.plan.avoided);
}

/* What is learned during a phase changes its plan only if that pays off. */
static void test_running_plan_changes_only_for_enough_gain(void **state)
{
	u32 moved = 0, differs = 0;
	u64 seed = 3;

	(void)state;
	for (u32 n = 0; n < 300; n++) {
		double m = (double)rnd_in(&seed, 0, 900) / 1000;
		struct fixture x;
		u32 khz, fresh;

		init(&x, krait_static);
		x.tun.slowdown_pct = 300;
		teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, m, 20 * MS);
		khz = plan(&x);
		teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, m * 0.9, 20 * MS);
		x.hint.revision++;
		moved += plan(&x) != khz;
		x.hint.instance++;
		fresh = plan(&x);
		differs += fresh != khz;
	}
	assert_cmp(differs, >, 30);
	assert_cmp(moved * 4, <, differs);
}

static void test_plan_stays_until_an_input_changes(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	assert_false(gchint_plan_valid(&x.plan, &x.hint, &x.rules, NOW));
	plan(&x);
	assert_true(gchint_learn_left_ns(&x.learn, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, 0) ==
		    U64_MAX);
	assert_true(gchint_plan_valid(&x.plan, &x.hint, &x.rules, NOW + MS));
	assert_false(gchint_plan_valid(&x.plan, &x.hint, &x.rules, NOW + S));
	x.hint.revision++;
	assert_false(gchint_plan_valid(&x.plan, &x.hint, &x.rules, NOW));
	plan(&x);
	x.hint.instance++;
	assert_false(gchint_plan_valid(&x.plan, &x.hint, &x.rules, NOW));
	plan(&x);
	x.rules.epoch++;
	assert_false(gchint_plan_valid(&x.plan, &x.hint, &x.rules, NOW));
}

/* Bounded probing: how often, how far, and where never. */
static void test_probing_is_bounded(void **state)
{
	struct fixture x;
	u32 best, up = 0, down = 0;

	(void)state;
	init(&x, krait_static);
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .5, 50 * MS);
	best = plan(&x);
	x.tun.probe_every = 10;
	x.tun.slowdown_pct = 200;
	best = plan(&x);
	for (u32 n = 0; n < 400; n++) {
		x.hint.instance++;
		plan(&x);
		if (x.plan.reason != GCHINT_REASON_PROBE) {
			assert_cmp(x.plan.khz, ==, best);
			continue;
		}
		assert_true(x.plan.probe);
		assert_cmp(x.plan.khz, !=, best);
		assert_cmp(x.plan.khz, <=, best + best / 4);
		assert_cmp(x.plan.khz, >=, best - best / 4);
		if (x.plan.khz > best)
			up++;
		else
			down++;
		/* A probe lasts for the whole phase. */
		x.hint.revision++;
		plan(&x);
		assert_int_equal(x.plan.reason, GCHINT_REASON_PROBE);
	}
	assert_int_equal(up + down, 40);
	assert_int_equal(up, down);

	/* With a distant stall no thread will wait for it; with a near one pacing decides. */
	x.hint.work_left = 1000000;
	up = down = 0;
	for (u32 n = 0; n < 200; n++) {
		x.hint.stall_ns = NOW + (n < 100 ? 10 * S : 10 * MS);
		x.hint.instance++;
		plan(&x);
		if (x.plan.reason != GCHINT_REASON_PROBE)
			continue;
		assert_cmp(n, <, 100);
		up++;
	}
	assert_int_equal(up, 10);
	x.hint.stall_ns = 0;
	for (u8 class = GCHINT_CLASS_FOREGROUND; class < GCHINT_CLASS_NR; class ++) {
		x.hint.class = class;
		for (u32 n = 0; n < 100; n++) {
			x.hint.instance++;
			plan(&x);
			assert_int_not_equal(x.plan.reason, GCHINT_REASON_PROBE);
		}
	}
	x.hint.class = GCHINT_CLASS_CONCURRENT;
	x.tun.probe_every = 0;
	for (u32 n = 0; n < 100; n++) {
		x.hint.instance++;
		plan(&x);
		assert_int_not_equal(x.plan.reason, GCHINT_REASON_PROBE);
	}
}

/* As slow as permitted, to the end: alternating down and up. */
static void test_probing_uses_the_whole_allowance(void **state)
{
	struct fixture x;
	u32 down;

	(void)state;
	init(&x, krait_static);
	gchint_opps_init(&x.opps, 2000000);
	gchint_opps_add(&x.opps, 1000000, 900, 0);
	gchint_opps_add(&x.opps, 1200000, 1000, 0);
	gchint_opps_add(&x.opps, 2000000, 5000, 0);
	gchint_opps_finish(&x.opps);
	x.rules.min_khz = 1000000;
	x.rules.max_khz = 2000000;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, 0, 50 * MS);
	x.tun.slowdown_pct = 100;
	assert_cmp(plan(&x), ==, 1200000);
	assert_cmp(x.plan.mem, ==, 0);
	x.tun.probe_every = 1;
	for (u32 pct = 100; pct >= 99; pct--) {
		x.tun.slowdown_pct = pct;
		down = 0;
		for (u32 n = 0; n < 100; n++) {
			x.hint.instance++;
			down += plan(&x) == 1000000;
		}
		assert_int_equal(down, pct == 100 ? 50 : 0);
	}
}

/* What cannot be learned is not probed forever. */
static void test_probing_backs_off_slowly(void **state)
{
	u32 early = 0, late = 0;
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.tun.probe_every = 16;
	x.hint.work_left = 1000;
	for (u32 n = 0; n < 32; n++) {
		x.hint.instance++;
		plan(&x);
		early += x.plan.probe;
	}
	for (u32 n = 0; n < 100; n++) {
		x.hint.instance++;
		plan(&x);
		late += x.plan.probe;
	}
	assert_int_equal(early, 32);
	assert_int_equal(late, 25);
	/* Nor without any work counts. */
	x.hint.work_left = 0;
	x.hint.instance++;
	plan(&x);
	assert_false(x.plan.probe);
}

/* Alternating down and up; only up where down would be too slow or impossible. */
static void test_probes_stay_within_the_allowance(void **state)
{
	static const u32 slowdown[] = { 0, 5, 20, 1000, 1000 };
	struct fixture x;

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(slowdown); i++) {
		u32 down = 0, up = 0;

		init(&x, krait_static);
		x.tun.slowdown_pct = slowdown[i];
		x.tun.probe_every = 1;
		teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .7, 50 * MS);
		/* The best is the lowest permitted OPP. */
		if (i & 1)
			x.rules.min_khz = 1497600;
		for (u32 n = 0; n < 20; n++) {
			double slow;

			x.hint.instance++;
			slow = .7 + .3 * x.opps.ref_khz / plan(&x);
			assert_true(slow <= 1.01 + slowdown[i] / 100.0);
			down += x.plan.step < 0;
			up += x.plan.step > 0;
		}
		assert_int_equal(down, i == 4 ? 10 : 0);
		assert_int_equal(down + up, slowdown[i] ? 20 : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probes_stay_within_the_allowance),
		cmocka_unit_test(test_phase_too_short_for_a_switch_is_not_planned),
		cmocka_unit_test(test_unknown_latency_is_one_millisecond),
		cmocka_unit_test(test_short_phase_that_turns_out_long_is_capped),
		cmocka_unit_test(test_short_phase_keeps_the_previous_plan),
		cmocka_unit_test(test_role_waits_for_the_next_phase),
		cmocka_unit_test(test_cap_is_kept_to_the_end),
		cmocka_unit_test(test_running_plan_changes_only_for_enough_gain),
		cmocka_unit_test(test_plan_stays_until_an_input_changes),
		cmocka_unit_test(test_probing_is_bounded),
		cmocka_unit_test(test_probing_uses_the_whole_allowance),
		cmocka_unit_test(test_probing_backs_off_slowly),
	};

	return run_tap(tests);
}
