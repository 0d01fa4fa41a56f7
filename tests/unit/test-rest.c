// SPDX-License-Identifier: GPL-2.0-only
/* A mutator that works on requests, or on one long computation. */
#include "deciding.h"
#include "rest.h"

/* It works for @work, and then sleeps until @end; @stopped: because of a collection. */
static void rest_after(struct gchint_rest *r, u64 work, u64 end, bool stopped)
{
	gchint_rest_leave(r, !stopped, ((u64)r->ended << GCHINT_REST_SHIFT) + work);
	gchint_rest_enter(r, stopped, end);
}

/* It sleeps @times times after a request, the last time until @end. */
static void rest(struct gchint_rest *r, u32 times, u64 end, bool stopped)
{
	while (times--)
		rest_after(r, 100 * US, end - times * 200 * US, stopped);
}

static bool is_behind(const struct gchint_rest *r, u64 now)
{
	return gchint_rest_keeping(r, now) == GCHINT_KEEPING_BEHIND;
}

static void test_only_what_rests_can_be_behind(void **state)
{
	struct gchint_rest r = {};

	(void)state;
	for (u64 now = 0; now < 10 * S; now += MS)
		assert_false(is_behind(&r, now));
	rest(&r, 20, S, false);
	assert_int_equal(gchint_rest_keeping(&r, S + 2 * MS), GCHINT_KEEPING_UP);
	assert_true(is_behind(&r, S + 6 * MS));
	assert_true(is_behind(&r, S + 500 * MS));
	/* After that it is a program that rests seldom. */
	assert_int_equal(gchint_rest_keeping(&r, S + 1050 * MS), GCHINT_KEEPING_UNKNOWN);
	rest(&r, 20, 3 * S, false);
	assert_false(is_behind(&r, 3 * S + 2 * MS));
	assert_true(is_behind(&r, 3 * S + 20 * MS));
}

/* It computes, and its threads wait for each other's locks. */
static void test_waiting_for_locks_is_no_rest(void **state)
{
	struct gchint_rest r = {};

	(void)state;
	for (u64 now = S; now < 10 * S; now += 20 * MS) {
		rest_after(&r, 19 * MS, now, false);
		assert_int_equal(gchint_rest_keeping(&r, now + MS), GCHINT_KEEPING_UNKNOWN);
		assert_int_equal(gchint_rest_keeping(&r, now + 10 * MS), GCHINT_KEEPING_UNKNOWN);
	}
	/* A server whose queue does not empty for a while remains one. */
	rest(&r, 20, 11 * S, false);
	assert_true(is_behind(&r, 11 * S + 10 * MS));
	for (u64 now = 11 * S + 20 * MS; now < 11 * S + 900 * MS; now += 20 * MS) {
		rest_after(&r, 19 * MS, now, false);
		assert_int_equal(gchint_rest_keeping(&r, now + MS), GCHINT_KEEPING_UP);
		assert_true(is_behind(&r, now + 10 * MS));
	}
	rest_after(&r, 19 * MS, 12 * S + 80 * MS, false);
	assert_int_equal(gchint_rest_keeping(&r, 12 * S + 90 * MS), GCHINT_KEEPING_UNKNOWN);
}

/* A lock or a page that it waits for now and then. */
static void test_few_rests_are_none(void **state)
{
	struct gchint_rest r = {};

	(void)state;
	rest(&r, 15, S, false);
	assert_false(is_behind(&r, S + 20 * MS));
	for (u64 now = 2 * S; now < 60 * S; now += 80 * MS) {
		rest(&r, 1, now, false);
		assert_false(is_behind(&r, now + 20 * MS));
	}
	/* Frames, 24 of them a second, that take little. */
	for (u64 now = 60 * S; now < 61 * S; now += 41 * MS)
		rest_after(&r, 2 * MS, now, false);
	assert_true(is_behind(&r, 61 * S + 20 * MS));
	/* Nor do those of long ago count. */
	rest(&r, 1, 70 * S, false);
	assert_false(is_behind(&r, 70 * S + 20 * MS));
}

static void test_collecting_and_preemption_are_no_rest(void **state)
{
	struct gchint_rest r = {};

	(void)state;
	rest(&r, 100, S, true);
	assert_false(is_behind(&r, S + 100 * MS));
	for (u32 i = 0; i < 100; i++)
		gchint_rest_enter(&r, false, S + i * MS);
	assert_false(is_behind(&r, S + 200 * MS));
	/* Neither ends the time since the last rest. */
	rest(&r, 16, 2 * S, false);
	rest(&r, 1, 2 * S + 5 * MS, true);
	gchint_rest_enter(&r, false, 2 * S + 10 * MS);
	assert_true(is_behind(&r, 2 * S + 10 * MS));
}

/* Of 45,000 requests a second a board with a capped clock serves 40,000. */
static void test_behind_lifts_the_cap_and_nothing_else(void **state)
{
	struct gchint_hint h = { .may_raise = true };
	struct gchint_demand d;
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.rules.delay_cost = 10;
	gchint_rules_set_mutators(&x.rules);
	assert_cmp(x.rules.mutator[0].cap_khz, <, x.rules.max_khz);
	gchint_decide_cpu(&d, &x.rules, 3, 1024, &h, NULL);
	assert_cmp(d.khz, ==, x.rules.mutator[0].cap_khz);
	assert_true(gchint_demand_capped(&d));
	h.keeping = GCHINT_KEEPING_BEHIND;
	gchint_decide_cpu(&d, &x.rules, 3, 1024, &h, NULL);
	assert_cmp(d.khz, ==, cpu(&x, 1024, false).khz);
	assert_int_equal(d.reason, GCHINT_REASON_LOAD);
	assert_false(d.hinted);
	/* Load decides: it is no boost. */
	gchint_decide_cpu(&d, &x.rules, 3, 700, &h, NULL);
	assert_cmp(d.khz, ==, cpu(&x, 700, false).khz);
	/* A late collection is no reason to let the queue grow. */
	h.slowdown = 64 * GCHINT_ONE;
	gchint_decide_cpu(&d, &x.rules, 3, 1024, &h, NULL);
	assert_int_equal(d.reason, GCHINT_REASON_LOAD);
	h.keeping = GCHINT_KEEPING_UP;
	gchint_decide_cpu(&d, &x.rules, 3, 1024, &h, NULL);
	assert_int_equal(d.reason, GCHINT_REASON_PACE);
}

/* A slower thread that rests takes from its rests: the machine is awake no longer for it. */
static void test_spare_time_lowers_the_cap(void **state)
{
	struct gchint_hint h = { .may_raise = true, .keeping = GCHINT_KEEPING_UP };
	const struct gchint_mutator_bounds *m;
	struct gchint_demand d;
	struct fixture x;
	bool lower = false;
	u32 khz;

	(void)state;
	init(&x, exynos_a15);
	m = &x.rules.mutator[0];
	x.tun.awake_pct = 25;
	for (x.rules.delay_cost = 40; x.rules.delay_cost < GCHINT_DELAY_COST_MAX;
	     x.rules.delay_cost++) {
		gchint_rules_set_mutators(&x.rules);
		if (!m->spare_khz) {
			assert_int_equal(m->cap_khz, 0);
			continue;
		}
		assert_cmp(m->spare_khz, >=, m->floor_khz);
		assert_cmp(m->spare_khz, <=, m->cap_khz ? m->cap_khz : x.rules.max_khz);
		lower |= m->spare_khz < m->cap_khz;
		gchint_decide_cpu(&d, &x.rules, 3, 1024, &h, NULL);
		assert_cmp(d.khz, ==, m->spare_khz);
	}
	assert_true(lower);
	/* Its latency is worth as much as that, however low the delay cost. */
	x.rules.delay_cost = 40;
	gchint_rules_set_mutators(&x.rules);
	khz = m->spare_khz;
	for (x.rules.delay_cost = 0; x.rules.delay_cost < 40; x.rules.delay_cost++) {
		gchint_rules_set_mutators(&x.rules);
		assert_cmp(m->spare_khz, ==, khz);
	}
	x.rules.delay_cost = GCHINT_DELAY_COST_MAX;
	gchint_rules_set_mutators(&x.rules);
	assert_int_equal(m->spare_khz, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_only_what_rests_can_be_behind),
		cmocka_unit_test(test_waiting_for_locks_is_no_rest),
		cmocka_unit_test(test_few_rests_are_none),
		cmocka_unit_test(test_collecting_and_preemption_are_no_rest),
		cmocka_unit_test(test_behind_lifts_the_cap_and_nothing_else),
		cmocka_unit_test(test_spare_time_lowers_the_cap),
	};

	return run_tap(tests);
}
