// SPDX-License-Identifier: GPL-2.0-only
/* The delay cost: how much power the time of a waiting thread is worth. */
#include "deciding.h"

static u32 ceiling_at(struct fixture *x, u32 cost)
{
	x->rules.delay_cost = cost;
	gchint_rules_set_mutators(&x->rules);
	return x->rules.mutator[0].cap_khz ? x->rules.mutator[0].cap_khz : x->rules.max_khz;
}

/* Cost of a unit of work: its energy and its weighted time. */
static double paid(const struct fixture *x, u32 i, double mem, double price)
{
	const struct gchint_opp *o = &x->opps.opp[i];
	double top = x->opps.opp[x->opps.nr - 1].power;

	return (o->power + top * price) * (mem + (1 - mem) * x->opps.ref_khz / o->khz);
}

static void test_ceiling_is_the_highest_opp_that_pays_off(void **state)
{
	(void)state;
	for (u32 b = 0; b < nr_boards; b++) {
		for (u32 cost = 0; cost < GCHINT_DELAY_COST_MAX; cost += 7) {
			double least = 1e300, price = cost / 50.0;
			struct fixture x;
			u32 at;

			init(&x, boards[b].fill);
			at = gchint_opp_at_least(&x.opps, ceiling_at(&x, cost));
			for (u32 i = 0; i < x.opps.nr; i++)
				least = fmin(least, paid(&x, i, .3, price));
			/* Fixed point: a few thousandths. */
			assert_true(paid(&x, at, .3, price) <= least * 1.004);
			assert_true(at + 1 == x.opps.nr ||
				    paid(&x, at + 1, .3, price) > least * .996);
		}
	}
}

static void test_higher_cost_is_never_slower(void **state)
{
	(void)state;
	for (u32 b = 0; b < nr_boards; b++) {
		u32 before = 0, different = 0;
		struct fixture x;

		init(&x, boards[b].fill);
		for (u32 cost = 0; cost <= GCHINT_DELAY_COST_MAX; cost++) {
			u32 khz = ceiling_at(&x, cost);

			assert_cmp(khz, >=, before);
			different += khz != before;
			before = khz;
		}
		assert_cmp(different, >, 2);
		assert_cmp(before, ==, x.rules.max_khz);
		assert_cmp(x.rules.mutator[0].cap_khz, ==, 0);
	}
}

/* A floor at the cheapest frequency is not lowered by any delay cost. */
static void test_ceiling_is_at_least_the_floor(void **state)
{
	(void)state;
	for (u32 b = 0; b < nr_boards; b++) {
		struct fixture x;

		init(&x, boards[b].fill);
		x.tun.awake_pct = 25;
		assert_cmp(ceiling_at(&x, 0), ==, floor_of(&x));
		x.rules.max_khz = x.opps.opp[x.opps.nr / 2].khz;
		assert_cmp(ceiling_at(&x, 0), >=, floor_of(&x));
		assert_cmp(ceiling_at(&x, 90), <=, x.rules.max_khz);
	}
}

/* The last OPP costs a thousand times the power and saves a tenth of the time. */
static void cliff(struct gchint_opps *t)
{
	gchint_opps_init(t, 1100000);
	gchint_opps_add(t, 500000, 60, 0);
	gchint_opps_add(t, 1000000, 100, 0);
	gchint_opps_add(t, 1100000, 100000, 0);
	gchint_opps_finish(t);
}

static void test_highest_cost_has_no_ceiling(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, cliff);
	assert_cmp(ceiling_at(&x, GCHINT_DELAY_COST_MAX - 1), ==, 1000000);
	ceiling_at(&x, GCHINT_DELAY_COST_MAX);
	assert_cmp(x.rules.mutator[0].cap_khz, ==, 0);
}

/* A limit is not a ceiling: load below the limit is not attributed to the hint. */
static void test_no_ceiling_under_limits_or_unknown_power(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, exynos_a15);
	x.rules.max_khz = 800000;
	ceiling_at(&x, GCHINT_DELAY_COST_MAX);
	assert_cmp(x.rules.mutator[0].cap_khz, ==, 0);
	init(&x, exynos_a15);
	x.opps.powered = false;
	ceiling_at(&x, 0);
	assert_cmp(x.rules.mutator[0].cap_khz, ==, 0);
	/* Without an OPP between the limits there is no choice. */
	for (u32 i = 1; i < 3; i++) {
		init(&x, exynos_a15);
		x.rules.min_khz = x.opps.opp[i - 1].khz + 1;
		x.rules.max_khz = x.opps.opp[i].khz - 1;
		assert_cmp(floor_of(&x), ==, 0);
		assert_cmp(x.rules.mutator[0].cap_khz, ==, 0);
	}
	init(&x, exynos_a15);
	x.rules.min_khz = x.rules.max_khz = x.opps.opp[x.opps.nr - 1].khz + 1;
	assert_cmp(floor_of(&x), ==, 0);
}

static void test_ceiling_only_for_hinting_mutators(void **state)
{
	struct gchint_demand d;
	struct fixture x;
	u32 ceiling;

	(void)state;
	init(&x, exynos_a15);
	ceiling = ceiling_at(&x, 20);
	assert_cmp(ceiling, <, x.rules.max_khz);
	plan_is(&x, GCHINT_CLASS_NEUTRAL, GCHINT_PLAN_LOAD, 0, true);
	d = cpu(&x, 1024, true);
	assert_cmp(d.khz, ==, ceiling);
	assert_int_equal(d.reason, GCHINT_REASON_MODEL);
	assert_true(d.hinted);
	assert_false(d.metered);
	assert_cmp(cpu(&x, 1024, false).khz, >, x.rules.max_khz);
	/* Below the ceiling the load decides and is trusted. */
	d = cpu(&x, 200, true);
	assert_cmp(d.khz, ==, cpu(&x, 200, false).khz);
	assert_false(d.hinted);
	/* Lowering needs no privilege, but is rate-limited without it. */
	x.hint.may_raise = false;
	d = cpu(&x, 1024, true);
	assert_cmp(d.khz, ==, ceiling);
	assert_true(d.metered);
	x.tun.mode = GCHINT_MODE_TABLE;
	assert_cmp(cpu(&x, 1024, true).khz, >, x.rules.max_khz);
}

static void test_pauses_are_worth_what_mutators_are(void **state)
{
	static const u8 classes[] = { GCHINT_CLASS_STW, GCHINT_CLASS_FOREGROUND,
				      GCHINT_CLASS_URGENT };

	(void)state;
	for (u32 b = 0; b < nr_boards; b++) {
		for (u32 c = 0; c < ARRAY_SIZE(classes); c++) {
			for (u32 cost = 0; cost < GCHINT_DELAY_COST_MAX; cost += 20) {
				double least = 1e300, price = cost / 50.0;
				struct fixture x;
				u32 at;

				init(&x, boards[b].fill);
				x.rules.delay_cost = cost;
				x.hint.class = classes[c];
				at = gchint_opp_at_least(&x.opps, plan(&x));
				for (u32 i = 0; i < x.opps.nr; i++)
					least = fmin(least, paid(&x, i, 0, price));
				assert_true(paid(&x, at, 0, price) <= least * 1.004);
				assert_int_equal(x.plan.lower, at + 1 < x.opps.nr);
				x.rules.delay_cost = GCHINT_DELAY_COST_MAX;
				assert_cmp(plan(&x), ==, x.rules.max_khz);
				assert_false(x.plan.lower);
			}
		}
	}
}

/*
 * Requests wait for the pauses of a session whose mutators rest between them, and
 * alongside another governor it is not known what was slowed by a hint.
 */
static void test_pauses_of_servers_and_under_limits_are_never_cheap(void **state)
{
	(void)state;
	for (u32 b = 0; b < 2 * nr_boards; b++) {
		struct fixture x;
		u32 khz, at_most;

		init(&x, boards[b / 2].fill);
		x.hint.class = GCHINT_CLASS_STW;
		x.rules.delay_cost = 0;
		at_most = plan(&x);
		x.rules.delay_cost = 40;
		x.plan.made = false;
		khz = plan(&x);
		assert_cmp(khz, >=, at_most);
		x.hint.rests = b % 2;
		x.rules.limits_only = !x.hint.rests;
		for (x.rules.delay_cost = 0; x.rules.delay_cost <= 40; x.rules.delay_cost += 10) {
			x.plan.made = false;
			assert_cmp(plan(&x), ==, khz);
		}
		x.rules.delay_cost = GCHINT_DELAY_COST_MAX;
		x.plan.made = false;
		assert_cmp(plan(&x), ==, x.rules.max_khz);
	}
}

/* A late collection is accelerated only as far as its time is worth. */
static void test_cost_limits_the_speed_of_late_collections(void **state)
{
	struct fixture x;
	u32 at;

	(void)state;
	init(&x, exynos_a15);
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .3, 50 * MS);
	x.hint.work_left = 1000000;
	x.hint.stall_ns = NOW + 2 * MS;
	assert_cmp(plan(&x), ==, x.rules.max_khz);
	x.rules.delay_cost = 10;
	x.plan.made = false;
	at = gchint_opp_at_least(&x.opps, plan(&x));
	assert_int_equal(x.plan.reason, GCHINT_REASON_PACE);
	assert_cmp(at + 1, <, x.opps.nr);
	assert_true(paid(&x, at, .3, .4) <= paid(&x, at + 1, .3, .4) * 1.035);
	/* A collection in time is not affected. */
	x.hint.stall_ns = NOW + S;
	x.plan.made = false;
	plan(&x);
	at = x.plan.khz;
	x.rules.delay_cost = GCHINT_DELAY_COST_MAX;
	x.plan.made = false;
	assert_cmp(plan(&x), ==, at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ceiling_is_the_highest_opp_that_pays_off),
		cmocka_unit_test(test_higher_cost_is_never_slower),
		cmocka_unit_test(test_ceiling_is_at_least_the_floor),
		cmocka_unit_test(test_highest_cost_has_no_ceiling),
		cmocka_unit_test(test_no_ceiling_under_limits_or_unknown_power),
		cmocka_unit_test(test_ceiling_only_for_hinting_mutators),
		cmocka_unit_test(test_pauses_are_worth_what_mutators_are),
		cmocka_unit_test(test_pauses_of_servers_and_under_limits_are_never_cheap),
		cmocka_unit_test(test_cost_limits_the_speed_of_late_collections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
