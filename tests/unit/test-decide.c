// SPDX-License-Identifier: GPL-2.0-only
/* Requests of CPUs and the resulting decisions of a policy. */
#include "deciding.h"

static void test_load_asks_with_headroom(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	assert_near(cpu(&x, 512, false).khz, 1.25 * 2150400 / 2, 10);
	assert_near(cpu(&x, 1024, false).khz, 1.25 * 2150400, 10);
	assert_int_equal(cpu(&x, 512, false).reason, GCHINT_REASON_LOAD);
	assert_false(cpu(&x, 512, false).hinted);
	x.tun.headroom_pct = 0;
	assert_near(cpu(&x, 512, false).khz, 2150400 / 2, 10);
	/* An idle CPU requests the minimum. */
	assert_cmp(load(&x, 0), ==, 300000);
}

static void test_off_ignores_hints(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.tun.mode = GCHINT_MODE_OFF;
	plan_is(&x, GCHINT_CLASS_STW, 2150400, GCHINT_REASON_STW, true);
	assert_cmp(cpu(&x, 100, true).khz, ==, cpu(&x, 100, false).khz);
	assert_int_equal(cpu(&x, 100, true).reason, GCHINT_REASON_LOAD);
}

static void test_neutral_equals_no_hint(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	plan_is(&x, GCHINT_CLASS_NEUTRAL, 900000, GCHINT_REASON_MODEL, true);
	assert_cmp(cpu(&x, 700, true).khz, ==, cpu(&x, 700, false).khz);
	assert_false(cpu(&x, 700, true).hinted);
}

static void test_boost_needs_the_right_to_raise(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	plan_is(&x, GCHINT_CLASS_STW, 2150400, GCHINT_REASON_STW, false);
	assert_cmp(cpu(&x, 100, true).khz, ==, cpu(&x, 100, false).khz);
	assert_int_equal(cpu(&x, 100, true).reason, GCHINT_REASON_LOAD);
	assert_false(cpu(&x, 100, true).hinted);
	x.tun.boost_unprivileged = 1;
	assert_cmp(cpu(&x, 100, true).khz, ==, 2150400);
	x.tun.boost_unprivileged = 0;
	x.hint.may_raise = true;
	assert_cmp(cpu(&x, 100, true).khz, ==, 2150400);
	assert_int_equal(cpu(&x, 100, true).reason, GCHINT_REASON_STW);
	assert_true(cpu(&x, 100, true).hinted);
}

/* A boost for waiting threads is reported as a boost, however high the load is. */
static void test_boost_is_reported_as_boost(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	plan_is(&x, GCHINT_CLASS_STW, 2150400, GCHINT_REASON_STW, true);
	assert_cmp(cpu(&x, 1024, false).khz, >, 2150400);
	assert_int_equal(cpu(&x, 1024, true).reason, GCHINT_REASON_STW);
	assert_cmp(cpu(&x, 1024, true).khz, ==, 2150400);
	/* A CPU that is capped does not decide. */
	x.plan.khz = 1958400;
	assert_int_equal(cpu(&x, 1024, true).reason, GCHINT_REASON_LOAD);
}

static void test_boost_never_lowers_unless_known_useless(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	plan_is(&x, GCHINT_CLASS_STW, 1000000, GCHINT_REASON_STW, true);
	assert_cmp(cpu(&x, 900, true).khz, ==, cpu(&x, 900, false).khz);
	x.plan.lower = true;
	assert_cmp(cpu(&x, 900, true).khz, ==, 1000000);
}

static void test_cap_lowers_and_raises_only_with_the_right(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	plan_is(&x, GCHINT_CLASS_CONCURRENT, 960000, GCHINT_REASON_MODEL, false);
	assert_cmp(cpu(&x, 1024, true).khz, ==, 960000);
	assert_int_equal(cpu(&x, 1024, true).reason, GCHINT_REASON_MODEL);
	assert_cmp(cpu(&x, 50, true).khz, ==, cpu(&x, 50, false).khz);
	assert_int_equal(cpu(&x, 50, true).reason, GCHINT_REASON_LOAD);
	assert_true(cpu(&x, 50, true).hinted);
	x.hint.may_raise = true;
	assert_cmp(cpu(&x, 50, true).khz, ==, 960000);
}

static void test_highest_cpu_decides(void **state)
{
	struct gchint_demand best = {}, d;
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	plan_is(&x, GCHINT_CLASS_CONCURRENT, 652800, GCHINT_REASON_MODEL, true);
	gchint_decide_cpu(&d, &x.rules, 0, 1024, &x.hint, &x.plan);
	gchint_decide_join(&best, &d);
	assert_cmp(policy(&x, &best), ==, 652800);
	assert_int_equal(x.out.cpu, 0);
	assert_int_equal(x.out.class, GCHINT_CLASS_CONCURRENT);
	assert_int_equal(x.out.phase, GCHINT_PHASE_MARK);
	assert_int_equal(x.out.load, 1024);
	assert_cmp(x.out.raw_khz, ==, 652800);
	/* A busy neighbour without a hint. */
	gchint_decide_cpu(&d, &x.rules, 1, 700, NULL, NULL);
	gchint_decide_join(&best, &d);
	x.now += S;
	assert_cmp(policy(&x, &best), >=, 1.25 * 700 / 1024 * 2150400);
	assert_int_equal(x.out.cpu, 1);
	assert_int_equal(x.out.reason, GCHINT_REASON_LOAD);
	assert_int_equal(x.out.class, GCHINT_CLASS_NEUTRAL);
	assert_int_equal(x.out.phase, GCHINT_PHASE_NONE);
	assert_int_equal(x.out.load, 700);
	/* An idle neighbour changes nothing. */
	gchint_decide_cpu(&d, &x.rules, 2, 0, NULL, NULL);
	gchint_decide_join(&best, &d);
	assert_int_equal(best.cpu, 1);
}

static void limits(struct fixture *x, u32 min_khz, u32 max_khz)
{
	x->rules.min_khz = min_khz;
	x->rules.max_khz = max_khz;
	x->rules.epoch++;
}

/*
 * The driver clips a request to a limit that is lifted before the request completes: the requested
 * frequency is not in force, and the module is not notified. So it is requested once more.
 */
static void test_changed_rules_cause_a_request(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	load(&x, 1024);
	x.now += S;
	load(&x, 1024);
	assert_false(x.out.change);
	limits(&x, 300000, 2150400);
	assert_cmp(load(&x, 1024), ==, 2150400);
	assert_true(x.out.change);
	assert_cmp(load(&x, 1024), ==, 2150400);
	assert_false(x.out.change);
	/* The module's own limits are merged by cpufreq, independent of the frequency. */
	x.rules.limits_only = true;
	limits(&x, 300000, 2150400);
	load(&x, 1024);
	assert_false(x.out.change);
}

static void test_limits_decide(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	assert_cmp(load(&x, 1024), ==, 2150400);
	assert_int_equal(x.out.reason, GCHINT_REASON_LOAD);
	limits(&x, 300000, 1500000); /* thermal */
	assert_cmp(load(&x, 1024), ==, 1497600);
	assert_int_equal(x.out.reason, GCHINT_REASON_LIMITS);
	assert_true(x.out.change);
	limits(&x, 1000000, 1500000); /* user */
	x.now += S;
	assert_cmp(load(&x, 0), ==, 1036800);
	assert_int_equal(x.out.reason, GCHINT_REASON_LIMITS);
	/* A thermal limit is applied at once. */
	limits(&x, 300000, 1500000);
	assert_cmp(load(&x, 1024), ==, 1497600);
	limits(&x, 300000, 700000);
	assert_cmp(load(&x, 1024), ==, 652800);
	plan_is(&x, GCHINT_CLASS_STW, 2150400, GCHINT_REASON_STW, true);
	{
		struct gchint_demand d = cpu(&x, 0, true);

		assert_cmp(policy(&x, &d), ==, 652800);
		assert_int_equal(x.out.reason, GCHINT_REASON_LIMITS);
	}
	limits(&x, 300000, 2150400);
	assert_cmp(load(&x, 1024), ==, 2150400);
}

/* The hardware's range is not a limit: load requested its ends. */
static void test_table_ends_are_not_limits(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.tun.hold_us = 0;
	assert_cmp(load(&x, 0), ==, x.opps.opp[0].khz);
	assert_int_equal(x.out.reason, GCHINT_REASON_LOAD);
	x.now += S;
	assert_cmp(load(&x, GCHINT_ONE), ==, x.opps.ref_khz);
	assert_int_equal(x.out.reason, GCHINT_REASON_LOAD);
	/* One OPP narrower, on either side, is a limit. */
	limits(&x, x.opps.opp[1].khz, x.opps.opp[x.opps.nr - 2].khz);
	x.now += S;
	assert_cmp(load(&x, 0), ==, x.opps.opp[1].khz);
	assert_int_equal(x.out.reason, GCHINT_REASON_LIMITS);
	x.now += S;
	assert_cmp(load(&x, GCHINT_ONE), ==, x.opps.opp[x.opps.nr - 2].khz);
	assert_int_equal(x.out.reason, GCHINT_REASON_LIMITS);
	/* Without a table the hardware's range is unknown. */
	x.opps.nr = 0;
	x.now += S;
	load(&x, 0);
	assert_int_equal(x.out.reason, GCHINT_REASON_LOAD);
}

static void test_new_hardware_maximum_is_followed(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	/* The firmware withdraws the upper half: a new table and a new reference. */
	gchint_opps_init(&x.opps, 1113600);
	for (u32 khz = 300000; khz <= 1113600; khz += 101700)
		gchint_opps_add(&x.opps, khz, khz / 1000, 0);
	gchint_opps_finish(&x.opps);
	limits(&x, 300000, 1113600);
	assert_near(cpu(&x, 512, false).khz, 1.25 * x.opps.ref_khz / 2, 10);
	assert_cmp(load(&x, 1024), <=, 1113600);
	assert_int_equal(x.out.reason, GCHINT_REASON_LOAD);
}

/* Load switches no more often than schedutil's rate limit permits. */
static void test_load_raises_at_once_but_rate_limited(void **state)
{
	struct fixture x;
	u32 avoided = 0;

	(void)state;
	init(&x, krait_static);
	load(&x, 100);
	x.now += S;
	assert_cmp(load(&x, 300), ==, 806400);
	assert_true(x.out.change);
	for (u32 ms = 1; ms < 10; ms++) {
		x.now += MS;
		assert_cmp(load(&x, 800), ==, 806400);
		assert_int_equal(x.out.reason, GCHINT_REASON_HOLD);
		avoided += x.out.avoided;
	}
	assert_int_equal(avoided, 1);
	x.now += MS;
	assert_cmp(load(&x, 800), ==, 2112000);
}

/* Between its phases a hinting thread runs at least at its cheapest frequency. */
static void test_mutator_is_not_below_the_floor(void **state)
{
	struct gchint_hint none = { .may_raise = true };
	struct gchint_demand d;
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	gchint_rules_set_mutators(&x.rules);
	assert_cmp(x.rules.mutator[0].floor_khz, >, x.rules.min_khz);
	assert_cmp(x.rules.mutator[0].floor_khz, <, x.rules.max_khz);
	gchint_decide_cpu(&d, &x.rules, 3, 50, &none, NULL);
	assert_cmp(d.khz, ==, x.rules.mutator[0].floor_khz);
	assert_int_equal(d.reason, GCHINT_REASON_MODEL);
	assert_false(d.hinted);
	gchint_decide_cpu(&d, &x.rules, 3, 1000, &none, NULL);
	assert_cmp(d.khz, ==, cpu(&x, 1000, false).khz);
	/* Other threads follow load; so does a session without the privilege to raise. */
	assert_cmp(cpu(&x, 50, false).khz, <, x.rules.mutator[0].floor_khz);
	none.may_raise = false;
	gchint_decide_cpu(&d, &x.rules, 3, 50, &none, NULL);
	assert_cmp(d.khz, ==, cpu(&x, 50, false).khz);
	none.may_raise = true;
	x.tun.mode = GCHINT_MODE_TABLE;
	gchint_decide_cpu(&d, &x.rules, 3, 50, &none, NULL);
	assert_cmp(d.khz, ==, cpu(&x, 50, false).khz);
	/* The floor stays within the limits and needs power values. */
	x.rules.max_khz = 400000;
	assert_cmp(floor_of(&x), <=, 400000);
	x.opps.powered = false;
	assert_int_equal(floor_of(&x), 0);
}

/* While the collection is late, a mutator runs no faster than is useful. */
static void test_mutator_slows_for_a_late_collection(void **state)
{
	struct gchint_hint h = { .may_raise = true, .slowdown = 64 * GCHINT_ONE };
	struct gchint_demand d;
	struct fixture x;
	u32 before;

	(void)state;
	init(&x, krait_static);
	gchint_rules_set_mutators(&x.rules);
	/* At the highest delay cost; at any other not at all. */
	x.rules.delay_cost = GCHINT_DELAY_COST_MAX;
	gchint_decide_cpu(&d, &x.rules, 3, 1024, &h, NULL);
	assert_false(d.hinted);
	/* A part of it is paid for as delay, so that less is slowed where delay costs more. */
	for (x.rules.delay_cost = 90, before = U32_MAX; x.rules.delay_cost;
	     x.rules.delay_cost -= 10) {
		gchint_rules_set_mutators(&x.rules);
		gchint_decide_cpu(&d, &x.rules, 3, 1024, &h, NULL);
		assert_cmp(d.khz, >=, x.rules.mutator[0].slow_khz);
		assert_cmp(x.rules.mutator[0].slow_khz, >=, x.rules.mutator[0].floor_khz);
		assert_cmp(x.rules.mutator[0].slow_khz, <=, before);
		before = x.rules.mutator[0].slow_khz;
	}
	gchint_rules_set_mutators(&x.rules);
	assert_cmp(x.rules.mutator[0].slow_khz, ==, x.rules.mutator[0].floor_khz);
	gchint_decide_cpu(&d, &x.rules, 3, 1024, &h, NULL);
	assert_cmp(d.khz, ==, x.rules.mutator[0].floor_khz);
	assert_int_equal(d.reason, GCHINT_REASON_PACE);
	/* So that load forgets how busy the CPU looked meanwhile. */
	assert_true(gchint_demand_capped(&d));
	/* Only to lower: without the privilege to raise it is not below load either. */
	h.may_raise = false;
	gchint_decide_cpu(&d, &x.rules, 3, 50, &h, NULL);
	assert_cmp(d.khz, ==, cpu(&x, 50, false).khz);
	/* Slightly late means slightly slower. */
	x.rules.delay_cost = 60;
	gchint_rules_set_mutators(&x.rules);
	before = 0;
	for (u32 slowdown = 2 * GCHINT_ONE; slowdown > GCHINT_ONE; slowdown -= 16) {
		h.slowdown = slowdown;
		gchint_decide_cpu(&d, &x.rules, 3, 1024, &h, NULL);
		assert_cmp(d.khz, >=, before);
		before = d.khz;
	}
	assert_cmp(before, >, x.rules.max_khz - x.rules.max_khz / 32);
	/* The administrator sets how much, and whether. */
	h.slowdown = 64 * GCHINT_ONE;
	x.rules.delay_cost = GCHINT_DELAY_COST_MAX - 10;
	gchint_rules_set_mutators(&x.rules);
	gchint_decide_cpu(&d, &x.rules, 3, 1024, &h, NULL);
	assert_cmp(d.khz, >, x.rules.mutator[0].floor_khz);
	x.rules.delay_cost = GCHINT_DELAY_COST_MAX;
	gchint_rules_set_mutators(&x.rules);
	gchint_decide_cpu(&d, &x.rules, 3, 1024, &h, NULL);
	assert_cmp(d.khz, ==, cpu(&x, 1024, false).khz);
	assert_false(d.hinted);
	/* Without power values no saving is known. */
	x.rules.delay_cost = 0;
	x.rules.mutator[0].floor_khz = 0;
	x.rules.mutator[0].slow_khz = 0;
	gchint_decide_cpu(&d, &x.rules, 3, 1024, &h, NULL);
	assert_cmp(d.khz, ==, cpu(&x, 1024, false).khz);
}

/* Whatever is requested: one frequency, requested once, and no switch to avoid. */
static void test_one_opp_is_requested_once(void **state)
{
	static const u8 classes[] = { GCHINT_CLASS_NEUTRAL,    GCHINT_CLASS_BACKGROUND,
				      GCHINT_CLASS_CONCURRENT, GCHINT_CLASS_FOREGROUND,
				      GCHINT_CLASS_STW,	       GCHINT_CLASS_URGENT };
	static const u32 requests[] = { GCHINT_PLAN_LOAD, 1, 500000, 960000, 2150400, U32_MAX };
	u32 changes = 0, avoided = 0;
	struct gchint_demand d;
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	gchint_opps_init(&x.opps, 960000);
	gchint_opps_add(&x.opps, 960000, 500000, 0);
	gchint_opps_finish(&x.opps);
	limits(&x, 960000, 960000);
	gchint_rules_set_mutators(&x.rules);
	assert_int_equal(x.rules.mutator[0].floor_khz, 960000);
	for (u32 c = 0; c < ARRAY_SIZE(classes); c++) {
		for (u32 w = 0; w < ARRAY_SIZE(requests); w++) {
			for (u32 load = 0; load <= GCHINT_ONE; load += 128) {
				plan_is(&x, classes[c], requests[w], GCHINT_REASON_MODEL, w & 1);
				x.plan.lower = load & 128;
				x.hint.slowdown = w * GCHINT_ONE;
				x.now += 700 * US;
				d = cpu(&x, load, c != w);
				assert_cmp(policy(&x, &d), ==, 960000);
				changes += x.out.change;
				avoided += x.out.avoided;
			}
		}
	}
	assert_int_equal(changes, 1);
	assert_int_equal(avoided, 0);
	/* If the driver is at another frequency, limits correct it. */
	gchint_decide_refused(&x.state, 800000);
	d = cpu(&x, 0, false);
	assert_cmp(policy(&x, &d), ==, 960000);
	assert_true(x.out.change);
}

struct row {
	const char *name;
	size_t offset;
	u32 def, lo, hi;
};

#define ROW(field, def, lo, hi) { #field, offsetof(struct gchint_tunables, field), def, lo, hi },

static void test_defaults_are_within_bounds(void **state)
{
	static const struct row rows[] = { GCHINT_TUNABLES(ROW) };
	struct gchint_tunables t;

	(void)state;
	memset(&t, 0xff, sizeof(t));
	gchint_tunables_init(&t);
	assert_int_equal(t.mode, GCHINT_MODE_MODEL);
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		u32 value;

		memcpy(&value, (char *)&t + r->offset, sizeof(value));
		if (value != r->def || value < r->lo || value > r->hi)
			fail_msg("%s is %u, not in %u..%u", r->name, value, r->lo, r->hi);
		if (i)
			assert_true(strcmp(rows[i - 1].name, r->name) < 0);
	}
	/* All rules are compared: mode, the table rows, and five without a file. */
	assert_int_equal(sizeof(t), (1 + ARRAY_SIZE(rows) + 5) * sizeof(u32));
}

/* The request equals the limit: the limit did not decide. */
static void test_request_at_the_limit_is_not_limited(void **state)
{
	struct gchint_demand d;
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	limits(&x, 652800, 1497600);
	plan_is(&x, GCHINT_CLASS_STW, 1497600, GCHINT_REASON_STW, true);
	d = cpu(&x, 0, true);
	assert_cmp(policy(&x, &d), ==, 1497600);
	assert_int_equal(x.out.reason, GCHINT_REASON_STW);
	assert_int_equal(x.out.class, GCHINT_CLASS_STW);
	assert_false(x.out.steady);
	load(&x, GCHINT_ONE);
	assert_true(x.out.steady);
	x.now += S;
	plan_is(&x, GCHINT_CLASS_CONCURRENT, 652800, GCHINT_REASON_MODEL, true);
	d = cpu(&x, GCHINT_ONE, true);
	assert_cmp(policy(&x, &d), ==, 652800);
	assert_int_equal(x.out.reason, GCHINT_REASON_MODEL);
	assert_int_equal(x.out.class, GCHINT_CLASS_CONCURRENT);
}

/* As virt-cpufreq reports them in a guest without a table: from 1, without a unit. */
static void levels(struct gchint_opps *t)
{
	gchint_opps_init(t, 1024);
	gchint_opps_fill_range(t, 1);
	gchint_opps_finish(t);
}

static void test_levels_are_frequencies(void **state)
{
	struct fixture x;
	u32 khz;

	(void)state;
	init(&x, levels);
	assert_cmp(x.rules.min_khz, ==, 1);
	assert_cmp(x.rules.max_khz, ==, 1024);
	x.tun.mode = GCHINT_MODE_TABLE;
	assert_cmp(plan(&x), ==, 1024 * x.tun.cap_pct / 100);
	x.hint.class = GCHINT_CLASS_STW;
	assert_cmp(plan(&x), ==, 1024);
	/* An unknown OPP gets the same percentage, at a defined level. */
	x.tun.mode = GCHINT_MODE_MODEL;
	x.rules.epoch++;
	x.hint.class = GCHINT_CLASS_CONCURRENT;
	khz = plan(&x);
	assert_cmp(khz, >=, 512);
	assert_cmp(khz, <=, 512 + 1024 / 23);
	/* Load may request any value in between. */
	assert_cmp(load(&x, GCHINT_ONE / 2), ==, 640);
}

/* Whatever the memory contained before. */
static void test_demand_is_filled_completely(void **state)
{
	struct gchint_demand d;
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	memset(&d, 0xff, sizeof(d));
	gchint_decide_cpu(&d, &x.rules, 3, 0, NULL, NULL);
	assert_int_equal(d.cpu, 3);
	assert_int_equal(d.load, 0);
	assert_int_equal(d.reason, GCHINT_REASON_LOAD);
	assert_int_equal(d.class, GCHINT_CLASS_NEUTRAL);
	assert_int_equal(d.phase, GCHINT_PHASE_NONE);
	assert_false(d.hinted);
	assert_false(d.metered);
	assert_false(d.steady);
	assert_false(d.avoided);
	assert_false(d.idle);
	assert_false(d.between_phases);
}

/* A CPU that read the clock just before another switched is no reason to switch again. */
static void test_time_that_goes_back_is_no_time(void **state)
{
	struct fixture x;
	u32 khz;

	(void)state;
	init(&x, krait_static);
	khz = load(&x, 300);
	x.now += S;
	khz = load(&x, 600);
	x.now -= 200;
	assert_cmp(load(&x, 1000), ==, khz);
	assert_false(x.out.change);
	assert_false(gchint_decide_may_raise(&x.rules, &x.state, x.now));
	x.now += S;
	assert_cmp(load(&x, 1000), >, khz);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time_that_goes_back_is_no_time),
		cmocka_unit_test(test_load_asks_with_headroom),
		cmocka_unit_test(test_off_ignores_hints),
		cmocka_unit_test(test_neutral_equals_no_hint),
		cmocka_unit_test(test_boost_needs_the_right_to_raise),
		cmocka_unit_test(test_boost_is_reported_as_boost),
		cmocka_unit_test(test_boost_never_lowers_unless_known_useless),
		cmocka_unit_test(test_cap_lowers_and_raises_only_with_the_right),
		cmocka_unit_test(test_highest_cpu_decides),
		cmocka_unit_test(test_limits_decide),
		cmocka_unit_test(test_changed_rules_cause_a_request),
		cmocka_unit_test(test_table_ends_are_not_limits),
		cmocka_unit_test(test_new_hardware_maximum_is_followed),
		cmocka_unit_test(test_load_raises_at_once_but_rate_limited),
		cmocka_unit_test(test_mutator_is_not_below_the_floor),
		cmocka_unit_test(test_mutator_slows_for_a_late_collection),
		cmocka_unit_test(test_one_opp_is_requested_once),
		cmocka_unit_test(test_defaults_are_within_bounds),
		cmocka_unit_test(test_request_at_the_limit_is_not_limited),
		cmocka_unit_test(test_levels_are_frequencies),
		cmocka_unit_test(test_demand_is_filled_completely),
	};

	return run_tap(tests);
}
