// SPDX-License-Identifier: GPL-2.0-only
/* When a policy switches at once, and when a frequency lingers. */
#include "deciding.h"

/* An idle CPU will not request again: nothing lingers for it. */
static void test_idle_policy_is_lowered_at_once(void **state)
{
	struct gchint_demand d, best = {};
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	load(&x, 1024);
	x.now += 100 * US;
	d = cpu(&x, 100, false);
	d.idle = true;
	gchint_decide_join(&best, &d);
	gchint_decide_join(&best, &d);
	assert_true(best.idle);
	assert_cmp(policy(&x, &best), <, 2150400);
	/* What a cap lowered is restored for a running thread only. */
	x.now += S;
	plan_is(&x, GCHINT_CLASS_CONCURRENT, 960000, GCHINT_REASON_MODEL, true);
	d = cpu(&x, 1024, true);
	assert_cmp(policy(&x, &d), ==, 960000);
	x.now += 100 * MS;
	d = cpu(&x, 1024, false);
	d.idle = true;
	assert_cmp(policy(&x, &d), ==, 960000);
	d.idle = false;
	assert_cmp(policy(&x, &d), ==, 2150400);
	d = cpu(&x, 100, false);
	d.idle = true;
	memset(&best, 0, sizeof(best));
	/* Not if another CPU of the policy runs. */
	x.now += S;
	load(&x, 100);
	x.now += S;
	load(&x, 1024);
	memset(&best, 0, sizeof(best));
	gchint_decide_join(&best, &d);
	d.idle = false;
	gchint_decide_join(&best, &d);
	assert_false(best.idle);
	assert_cmp(policy(&x, &best), ==, 2150400);
}

/*
 * Under another governor a decision is a limit. A limit for a phase that has ended restricts no
 * other thread, whether the CPU is idle or not, whatever the rate limit.
 */
static void test_no_limit_lingers_under_another_governor(void **state)
{
	static const u32 loads[] = { 0, 1024 };
	struct gchint_demand d;
	struct fixture x;
	unsigned int i, idle;

	(void)state;
	for (i = 0; i < 2; i++) {
		for (idle = 0; idle < 2; idle++) {
			init(&x, krait_static);
			x.rules.limits_only = true;
			load(&x, 1024);
			plan_is(&x, GCHINT_CLASS_CONCURRENT, 960000, GCHINT_REASON_MODEL, false);
			/* As often as permitted, and more often. */
			for (unsigned int n = 0; n < 64; n++) {
				x.now += 10 * US;
				d = cpu(&x, 1024, true);
				d.metered = true;
				policy(&x, &d);
				x.now += 10 * US;
				d = cpu(&x, loads[i], false);
				d.metered = true;
				d.idle = idle;
				policy(&x, &d);
				assert_int_equal(x.state.bounds.cap_khz, 0);
				assert_false(x.state.hinted);
				assert_false(x.state.delayed);
			}
		}
	}
	/* A thread that continues may begin its next phase at once. */
	init(&x, krait_static);
	x.rules.limits_only = true;
	load(&x, 100);
	x.now += S;
	plan_is(&x, GCHINT_CLASS_URGENT, 2150400, GCHINT_REASON_URGENT, true);
	d = cpu(&x, 100, true);
	assert_cmp(policy(&x, &d), ==, 2150400);
	assert_int_equal(x.state.bounds.floor_khz, 2150400);
	assert_false(gchint_decide_must_lift(&x.rules, &x.state));
	x.now += 10 * US;
	d = cpu(&x, 100, false);
	d.between_phases = true;
	assert_cmp(policy(&x, &d), ==, 2150400);
	assert_int_equal(x.state.bounds.floor_khz, 2150400);
	assert_true(x.state.delayed);
	assert_true(gchint_decide_must_lift(&x.rules, &x.state));
	x.rules.limits_only = false;
	assert_false(gchint_decide_must_lift(&x.rules, &x.state));
}

/* A CPU was lowered because it was idle: a waking thread does not wait for hold_us. */
static void test_waking_does_not_linger(void **state)
{
	struct gchint_demand d;
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	load(&x, 1024);
	x.now += S;
	d = cpu(&x, 0, false);
	d.idle = true;
	assert_cmp(policy(&x, &d), ==, 300000);
	x.now += MS;
	assert_cmp(load(&x, 1024), ==, 2150400);
	assert_true(x.out.change);
	/* Load alone still waits: it has not been idle since. */
	x.now += S;
	load(&x, 300);
	x.now += MS;
	assert_cmp(load(&x, 1024), <, 2150400);
	assert_int_equal(x.out.reason, GCHINT_REASON_HOLD);
}

static void test_boost_is_immediate(void **state)
{
	struct gchint_demand d;
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.rules.latency_ns = 1000000;
	load(&x, 100);
	x.now += 10 * US;
	plan_is(&x, GCHINT_CLASS_STW, 1574400, GCHINT_REASON_STW, true);
	d = cpu(&x, 100, true);
	assert_cmp(policy(&x, &d), ==, 1574400);
	x.now += 10 * US;
	plan_is(&x, GCHINT_CLASS_URGENT, 2150400, GCHINT_REASON_URGENT, true);
	d = cpu(&x, 100, true);
	assert_cmp(policy(&x, &d), ==, 2150400);
}

/* Consecutive pauses of one cycle cost one switch up and one down. */
static void test_boost_bridges_the_gap_to_the_next_phase(void **state)
{
	struct gchint_hint none = {};
	struct gchint_demand d;
	struct fixture x;
	u32 switches = 0, avoided = 0;

	(void)state;
	init(&x, krait_static);
	x.rules.latency_ns = 50000;
	load(&x, 100);
	x.now += S;
	for (u32 n = 0; n < 10; n++) {
		plan_is(&x, GCHINT_CLASS_STW, 2150400, GCHINT_REASON_STW, true);
		d = cpu(&x, 100, true);
		policy(&x, &d);
		switches += x.out.change;
		x.now += 2 * MS;
		for (u32 i = 0; i < 4; i++) {
			gchint_decide_cpu(&d, &x.rules, 3, 100, &none, NULL);
			assert_true(d.between_phases);
			policy(&x, &d);
			switches += x.out.change;
			avoided += x.out.avoided;
			x.now += 80 * US;
		}
	}
	assert_int_equal(switches, 1);
	assert_int_equal(avoided, 10);
	/* It expires in the end, */
	x.now += MS;
	policy(&x, &d);
	assert_true(x.out.change);
	/* and at once when the thread leaves its CPU. */
	plan_is(&x, GCHINT_CLASS_STW, 2150400, GCHINT_REASON_STW, true);
	d = cpu(&x, 100, true);
	policy(&x, &d);
	x.now += 2 * MS;
	d = cpu(&x, 100, false);
	assert_cmp(policy(&x, &d), <, 2150400);
}

static void test_lowering_lingers_and_is_counted_once(void **state)
{
	struct fixture x;
	u32 avoided = 0;

	(void)state;
	init(&x, krait_static);
	load(&x, 1024);
	for (u32 us = 0; us < 9900; us += 100) {
		assert_cmp(load(&x, 300), ==, 2150400);
		assert_int_equal(x.out.reason, GCHINT_REASON_HOLD);
		assert_false(x.out.change);
		avoided += x.out.avoided;
		x.now += 100 * US;
	}
	assert_int_equal(avoided, 1);
	x.now += 100 * US;
	assert_cmp(load(&x, 300), <, 2150400);
	assert_true(x.out.change);
}

static void test_unknown_latency_lingers_a_few_ms_at_most(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.rules.latency_ns = U32_MAX;
	load(&x, 1024);
	x.now += 10 * MS;
	assert_cmp(load(&x, 300), <, 2150400);
}

static void test_small_steps_down_are_skipped(void **state)
{
	struct fixture x;
	u32 before;

	(void)state;
	init(&x, krait_static);
	before = load(&x, 640);
	x.now += S;
	/* The next lower OPP is 5 % away. */
	assert_cmp(load(&x, 610), ==, before);
	assert_int_equal(x.out.reason, GCHINT_REASON_HOLD);
	assert_cmp(load(&x, 500), <, before);
	assert_true(x.out.change);
}

static void test_hint_acts_at_once_and_is_undone(void **state)
{
	struct gchint_demand d;
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.tun.hold_us = 1000000;
	load(&x, 1024);
	x.now += MS;
	plan_is(&x, GCHINT_CLASS_CONCURRENT, 960000, GCHINT_REASON_MODEL, true);
	d = cpu(&x, 1024, true);
	assert_cmp(policy(&x, &d), ==, 960000);
	assert_true(x.out.change);
	assert_cmp(load(&x, 1024), ==, 2150400);
	/* A boost on a nearly idle CPU lingers too. */
	x.now += 2 * S;
	load(&x, 0);
	x.now += MS;
	plan_is(&x, GCHINT_CLASS_STW, 2150400, GCHINT_REASON_STW, true);
	d = cpu(&x, 0, true);
	assert_cmp(policy(&x, &d), ==, 2150400);
	x.now += MS;
	assert_cmp(load(&x, 0), ==, 300000);
}

/* Alternating threads do not make a slow regulator switch back and forth. */
static void test_slices_shorter_than_switches_linger(void **state)
{
	struct fixture x;
	u32 switches = 0;

	(void)state;
	init(&x, krait_static);
	x.rules.latency_ns = 1000000;
	plan_is(&x, GCHINT_CLASS_CONCURRENT, 960000, GCHINT_REASON_MODEL, true);
	for (u32 n = 0; n < 1000; n++) {
		struct gchint_demand d = cpu(&x, 1024, n & 1);

		policy(&x, &d);
		switches += x.out.change;
		x.now += MS;
	}
	assert_cmp(switches, <=, 500);
}

static void test_phase_too_short_is_counted_once(void **state)
{
	struct gchint_demand d;
	struct fixture x;
	u32 avoided = 0;

	(void)state;
	init(&x, krait_static);
	plan_is(&x, GCHINT_CLASS_CONCURRENT, GCHINT_PLAN_LOAD, GCHINT_REASON_HOLD, true);
	x.plan.avoided = true;
	for (u32 n = 0; n < 5; n++) {
		d = cpu(&x, 800, true);
		assert_cmp(d.khz, ==, cpu(&x, 800, false).khz);
		policy(&x, &d);
		avoided += x.out.avoided;
	}
	assert_int_equal(avoided, 1);
	load(&x, 800);
	d = cpu(&x, 800, true);
	policy(&x, &d);
	assert_true(x.out.avoided);
}

static void test_no_change_makes_no_request(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	load(&x, 500);
	assert_true(x.out.change);
	for (u32 n = 0; n < 10; n++) {
		x.now += 10 * MS;
		load(&x, 500);
		assert_false(x.out.change);
	}
}

static void test_refused_request_is_repeated(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	load(&x, 100);
	x.now += S;
	load(&x, 1024);
	assert_true(x.out.change);
	gchint_decide_refused(&x.state, 345600); /* the driver was busy */
	load(&x, 1024);
	assert_true(x.out.change);
}

static void test_rate_limit_follows_the_latency(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.rules.latency_ns = 0;
	assert_cmp(gchint_decide_delay_ns(&x.rules), ==, x.tun.window_us * 3 / 4 * US);
	x.rules.latency_ns = 200000;
	assert_cmp(gchint_decide_delay_ns(&x.rules), ==, 4 * MS);
	x.tun.window_us = 100000;
	assert_cmp(gchint_decide_delay_ns(&x.rules), ==, 10 * MS);
	x.rules.latency_ns = U32_MAX;
	assert_cmp(gchint_decide_delay_ns(&x.rules), ==, 10 * MS);
}

/* A role has no phase length, and without a learner no length is known. */
static void test_lengths_cover_phases_only(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .5, 50 * US);
	plan(&x);
	assert_int_equal(x.plan.reason, GCHINT_REASON_HOLD);
	x.plan.made = false;
	x.hint.role = true;
	plan(&x);
	assert_int_equal(x.plan.reason, GCHINT_REASON_MODEL);
	x.plan.made = false;
	x.hint.role = false;
	gchint_plan_make(&x.plan, &x.hint, &x.rules, NULL, 0, NOW);
	assert_int_equal(x.plan.reason, GCHINT_REASON_TABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_policy_is_lowered_at_once),
		cmocka_unit_test(test_no_limit_lingers_under_another_governor),
		cmocka_unit_test(test_waking_does_not_linger),
		cmocka_unit_test(test_boost_is_immediate),
		cmocka_unit_test(test_boost_bridges_the_gap_to_the_next_phase),
		cmocka_unit_test(test_lowering_lingers_and_is_counted_once),
		cmocka_unit_test(test_unknown_latency_lingers_a_few_ms_at_most),
		cmocka_unit_test(test_small_steps_down_are_skipped),
		cmocka_unit_test(test_hint_acts_at_once_and_is_undone),
		cmocka_unit_test(test_slices_shorter_than_switches_linger),
		cmocka_unit_test(test_phase_too_short_is_counted_once),
		cmocka_unit_test(test_no_change_makes_no_request),
		cmocka_unit_test(test_refused_request_is_repeated),
		cmocka_unit_test(test_rate_limit_follows_the_latency),
		cmocka_unit_test(test_lengths_cover_phases_only),
	};

	return run_tap(tests);
}
