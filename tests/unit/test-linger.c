// SPDX-License-Identifier: GPL-2.0-only
/* When a policy switches at once, and when it waits. */
#include "deciding.h"

/* A CPU that idles will not ask again: nothing is kept for it. */
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
	/* What a cap kept down is given back to who runs, not to nobody. */
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
 * Beside another governor a decision is a limit. One for a phase that is over holds
 * nobody back any more, whoever may come there, idle or not, whatever was spent.
 */
static void test_beside_another_governor_no_limit_is_kept(void **state)
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
			/* As often as it may, and more often. */
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
	/* But who goes on there may begin the next phase at once. */
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

/* A CPU was lowered because it idled: whoever wakes there does not wait for hold_us. */
static void test_waking_is_not_held(void **state)
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
	/* Load alone still does: it has not idled since. */
	x.now += S;
	load(&x, 300);
	x.now += MS;
	assert_cmp(load(&x, 1024), <, 2150400);
	assert_int_equal(x.out.reason, GCHINT_REASON_HOLD);
}

static void test_boost_waits_for_nothing(void **state)
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

/* Back-to-back pauses of one cycle cost one switch up and one down. */
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
			x.now += 200 * US;
		}
	}
	assert_int_equal(switches, 1);
	assert_int_equal(avoided, 10);
	/* It is over in the end, */
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

static void test_lowering_is_held_and_counted_once(void **state)
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

static void test_unknown_latency_holds_no_longer_than_a_few_ms(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.rules.latency_ns = U32_MAX;
	load(&x, 1024);
	x.now += 10 * MS;
	assert_cmp(load(&x, 300), <, 2150400);
}

static void test_small_steps_down_are_not_taken(void **state)
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

static void test_hint_is_not_held_back_and_is_given_back(void **state)
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
	/* A boost on a nearly idle CPU, too. */
	x.now += 2 * S;
	load(&x, 0);
	x.now += MS;
	plan_is(&x, GCHINT_CLASS_STW, 2150400, GCHINT_REASON_STW, true);
	d = cpu(&x, 0, true);
	assert_cmp(policy(&x, &d), ==, 2150400);
	x.now += MS;
	assert_cmp(load(&x, 0), ==, 300000);
}

/* Threads that take turns do not make a slow regulator dance. */
static void test_turns_shorter_than_switches_are_held(void **state)
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

static void test_nothing_changes_nothing_is_requested(void **state)
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

static void test_refused_request_is_made_again(void **state)
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

/* How long phases last says nothing of a role, and without a learner nothing is known. */
static void test_lengths_are_of_phases_alone(void **state)
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
		cmocka_unit_test(test_beside_another_governor_no_limit_is_kept),
		cmocka_unit_test(test_waking_is_not_held),
		cmocka_unit_test(test_boost_waits_for_nothing),
		cmocka_unit_test(test_boost_bridges_the_gap_to_the_next_phase),
		cmocka_unit_test(test_lowering_is_held_and_counted_once),
		cmocka_unit_test(test_unknown_latency_holds_no_longer_than_a_few_ms),
		cmocka_unit_test(test_small_steps_down_are_not_taken),
		cmocka_unit_test(test_hint_is_not_held_back_and_is_given_back),
		cmocka_unit_test(test_turns_shorter_than_switches_are_held),
		cmocka_unit_test(test_phase_too_short_is_counted_once),
		cmocka_unit_test(test_nothing_changes_nothing_is_requested),
		cmocka_unit_test(test_refused_request_is_made_again),
		cmocka_unit_test(test_rate_limit_follows_the_latency),
		cmocka_unit_test(test_lengths_are_of_phases_alone),
	};

	return run_tap(tests);
}
