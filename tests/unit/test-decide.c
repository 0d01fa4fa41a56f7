// SPDX-License-Identifier: GPL-2.0
/* Demands of CPUs, and what becomes of them in a policy. */
#include "unit.h"
#include "boards.h"
#include "decide.h"

#define NOW (100 * S)

struct fixture {
	struct gchint_opps opps;
	struct gchint_tunables tun;
	struct gchint_rules rules;
	struct gchint_state state;
	struct gchint_plan plan;
	struct gchint_hint hint;
	struct gchint_decision out;
	u64 now;
};

static void init(struct fixture *x)
{
	memset(x, 0, sizeof(*x));
	krait_static(&x->opps);
	gchint_tunables_init(&x->tun);
	x->rules.opps = &x->opps;
	x->rules.tun = &x->tun;
	x->rules.min_khz = 300000;
	x->rules.max_khz = 2150400;
	x->rules.latency_ns = 50000;
	x->rules.epoch = 1;
	x->now = NOW;
}

static void plan_is(struct fixture *x, u8 class, u32 khz, u8 reason, bool may_raise)
{
	memset(&x->hint, 0, sizeof(x->hint));
	memset(&x->plan, 0, sizeof(x->plan));
	x->hint.class = class;
	x->hint.phase = GCHINT_PHASE_MARK;
	x->hint.may_raise = may_raise;
	x->plan.khz = khz;
	x->plan.reason = reason;
	x->plan.class = class;
	x->plan.made = true;
}

static struct gchint_demand cpu(struct fixture *x, u32 load, bool hinted)
{
	struct gchint_demand d;

	gchint_decide_cpu(&d, &x->rules, 3, load, load, hinted ? &x->hint : NULL,
			  hinted ? &x->plan : NULL);
	return d;
}

static u32 policy(struct fixture *x, const struct gchint_demand *d)
{
	gchint_decide_policy(&x->out, &x->rules, &x->state, d, x->now);
	return x->out.khz;
}

static u32 load(struct fixture *x, u32 load)
{
	struct gchint_demand d = cpu(x, load, false);

	return policy(x, &d);
}

static void test_load_asks_with_headroom(void **state)
{
	struct fixture x;

	(void)state;
	init(&x);
	assert_near(cpu(&x, 512, false).khz, 1.25 * 2150400 / 2, 10);
	assert_near(cpu(&x, 1024, false).khz, 1.25 * 2150400, 10);
	assert_int_equal(cpu(&x, 512, false).reason, GCHINT_REASON_LOAD);
	assert_false(cpu(&x, 512, false).hinted);
	x.tun.headroom_pct = 0;
	assert_near(cpu(&x, 512, false).khz, 2150400 / 2, 10);
	/* Idle asks for the lowest. */
	assert_cmp(load(&x, 0), ==, 300000);
}

static void test_off_hears_no_hint(void **state)
{
	struct fixture x;

	(void)state;
	init(&x);
	x.tun.mode = GCHINT_MODE_OFF;
	plan_is(&x, GCHINT_CLASS_STW, 2150400, GCHINT_REASON_STW, true);
	assert_cmp(cpu(&x, 100, true).khz, ==, cpu(&x, 100, false).khz);
	assert_int_equal(cpu(&x, 100, true).reason, GCHINT_REASON_LOAD);
}

static void test_neutral_is_as_if_there_were_none(void **state)
{
	struct fixture x;

	(void)state;
	init(&x);
	plan_is(&x, GCHINT_CLASS_NEUTRAL, 900000, GCHINT_REASON_MODEL, true);
	assert_cmp(cpu(&x, 700, true).khz, ==, cpu(&x, 700, false).khz);
	assert_false(cpu(&x, 700, true).hinted);
}

static void test_boost_needs_the_right_to_raise(void **state)
{
	struct fixture x;

	(void)state;
	init(&x);
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

static void test_boost_never_lowers_unless_known_useless(void **state)
{
	struct fixture x;

	(void)state;
	init(&x);
	plan_is(&x, GCHINT_CLASS_STW, 1000000, GCHINT_REASON_STW, true);
	assert_cmp(cpu(&x, 900, true).khz, ==, cpu(&x, 900, false).khz);
	x.plan.lower = true;
	assert_cmp(cpu(&x, 900, true).khz, ==, 1000000);
}

static void test_cap_lowers_and_raises_only_with_the_right(void **state)
{
	struct fixture x;

	(void)state;
	init(&x);
	plan_is(&x, GCHINT_CLASS_CONCURRENT, 960000, GCHINT_REASON_MODEL, false);
	assert_cmp(cpu(&x, 1024, true).khz, ==, 960000);
	assert_int_equal(cpu(&x, 1024, true).reason, GCHINT_REASON_MODEL);
	assert_cmp(cpu(&x, 50, true).khz, ==, cpu(&x, 50, false).khz);
	assert_int_equal(cpu(&x, 50, true).reason, GCHINT_REASON_LOAD);
	assert_true(cpu(&x, 50, true).hinted);
	x.hint.may_raise = true;
	assert_cmp(cpu(&x, 50, true).khz, ==, 960000);
}

static void test_highest_of_the_cpus_decides(void **state)
{
	struct gchint_demand best = {}, d;
	struct fixture x;

	(void)state;
	init(&x);
	plan_is(&x, GCHINT_CLASS_CONCURRENT, 652800, GCHINT_REASON_MODEL, true);
	gchint_decide_cpu(&d, &x.rules, 0, 1024, 1024, &x.hint, &x.plan);
	gchint_decide_join(&best, &d);
	assert_cmp(policy(&x, &best), ==, 652800);
	assert_int_equal(x.out.cpu, 0);
	/* A busy neighbour without a hint. */
	gchint_decide_cpu(&d, &x.rules, 1, 700, 700, NULL, NULL);
	gchint_decide_join(&best, &d);
	x.now += S;
	assert_cmp(policy(&x, &best), >=, 1.25 * 700 / 1024 * 2150400);
	assert_int_equal(x.out.cpu, 1);
	assert_int_equal(x.out.reason, GCHINT_REASON_LOAD);
	assert_int_equal(x.out.class, GCHINT_CLASS_NEUTRAL);
	/* An idle one changes nothing. */
	gchint_decide_cpu(&d, &x.rules, 2, 0, 0, NULL, NULL);
	gchint_decide_join(&best, &d);
	assert_int_equal(best.cpu, 1);
}

static void limits(struct fixture *x, u32 min_khz, u32 max_khz)
{
	x->rules.min_khz = min_khz;
	x->rules.max_khz = max_khz;
	x->rules.epoch++;
}

static void test_limits_decide(void **state)
{
	struct fixture x;

	(void)state;
	init(&x);
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
	/* A thermal limit is not to wait for anything. */
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

static void test_new_hardware_maximum_is_followed(void **state)
{
	struct fixture x;

	(void)state;
	init(&x);
	/* The firmware withdraws the upper half: another table, another reference. */
	gchint_opps_init(&x.opps, 1113600);
	for (u32 khz = 300000; khz <= 1113600; khz += 101700)
		gchint_opps_add(&x.opps, khz, khz / 1000, 0);
	gchint_opps_finish(&x.opps);
	limits(&x, 300000, 1113600);
	assert_near(cpu(&x, 512, false).khz, 1.25 * x.opps.ref_khz / 2, 10);
	assert_cmp(load(&x, 1024), <=, 1113600);
	assert_int_equal(x.out.reason, GCHINT_REASON_LOAD);
}

/* Load switches no more often than schedutil does by its rate limit. */
static void test_load_raises_at_once_but_not_often(void **state)
{
	struct fixture x;
	u32 avoided = 0;

	(void)state;
	init(&x);
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

/* Between its phases a thread that hints runs no slower than is cheapest. */
static void test_mutator_is_not_below_the_floor(void **state)
{
	struct gchint_hint none = { .may_raise = true };
	struct gchint_demand d;
	struct fixture x;

	(void)state;
	init(&x);
	x.rules.floor_khz = gchint_plan_floor(&x.rules);
	assert_cmp(x.rules.floor_khz, >, x.rules.min_khz);
	assert_cmp(x.rules.floor_khz, <, x.rules.max_khz);
	gchint_decide_cpu(&d, &x.rules, 3, 50, 50, &none, NULL);
	assert_cmp(d.khz, ==, x.rules.floor_khz);
	assert_int_equal(d.reason, GCHINT_REASON_MODEL);
	assert_false(d.hinted);
	gchint_decide_cpu(&d, &x.rules, 3, 1000, 1000, &none, NULL);
	assert_cmp(d.khz, ==, cpu(&x, 1000, false).khz);
	/* Others are what load says; so is one that may not raise. */
	assert_cmp(cpu(&x, 50, false).khz, <, x.rules.floor_khz);
	none.may_raise = false;
	gchint_decide_cpu(&d, &x.rules, 3, 50, 50, &none, NULL);
	assert_cmp(d.khz, ==, cpu(&x, 50, false).khz);
	none.may_raise = true;
	x.tun.mode = GCHINT_MODE_TABLE;
	gchint_decide_cpu(&d, &x.rules, 3, 50, 50, &none, NULL);
	assert_cmp(d.khz, ==, cpu(&x, 50, false).khz);
	/* It is within the limits, and needs figures of power. */
	x.rules.max_khz = 400000;
	assert_cmp(gchint_plan_floor(&x.rules), <=, 400000);
	x.opps.powered = false;
	assert_int_equal(gchint_plan_floor(&x.rules), 0);
}

/* A CPU that idles will not ask again: nothing is kept for it. */
static void test_idle_policy_is_lowered_at_once(void **state)
{
	struct gchint_demand d, best = {};
	struct fixture x;

	(void)state;
	init(&x);
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

static void test_boost_waits_for_nothing(void **state)
{
	struct gchint_demand d;
	struct fixture x;

	(void)state;
	init(&x);
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
	init(&x);
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
			gchint_decide_cpu(&d, &x.rules, 3, 100, 100, &none, NULL);
			assert_true(d.between);
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
	init(&x);
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
	init(&x);
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
	init(&x);
	x.tun.hysteresis_pct = 10;
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
	init(&x);
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
	init(&x);
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
	init(&x);
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
	init(&x);
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
	init(&x);
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
	init(&x);
	x.rules.latency_ns = 0;
	assert_cmp(gchint_decide_delay_ns(&x.rules), ==, x.tun.window_us * 3 / 4 * US);
	x.rules.latency_ns = 200000;
	assert_cmp(gchint_decide_delay_ns(&x.rules), ==, 4 * MS);
	x.tun.window_us = 100000;
	assert_cmp(gchint_decide_delay_ns(&x.rules), ==, 10 * MS);
	x.rules.latency_ns = U32_MAX;
	assert_cmp(gchint_decide_delay_ns(&x.rules), ==, 10 * MS);
	x.tun.rate_limit_us = 77;
	assert_cmp(gchint_decide_delay_ns(&x.rules), ==, 77 * US);
}

struct row {
	const char *name;
	size_t offset;
	u32 def, lo, hi;
};

#define ROW(field, def, lo, hi) { #field, offsetof(struct gchint_tunables, field), def, lo, hi },
#define CAP_ROW(name, phase, def, lo, hi)                                                          \
	{ #name, offsetof(struct gchint_tunables, cap_pct[GCHINT_PHASE_##phase]), def, lo, hi },

static void test_defaults_are_within_bounds(void **state)
{
	static const struct row rows[] = { GCHINT_TUNABLES(ROW) };
	static const struct row caps[] = { GCHINT_TUNABLE_CAPS(CAP_ROW) };
	struct gchint_tunables t;

	(void)state;
	memset(&t, 0xff, sizeof(t));
	gchint_tunables_init(&t);
	assert_int_equal(t.mode, GCHINT_MODE_MODEL);
	for (u32 i = 0; i < ARRAY_SIZE(rows) + ARRAY_SIZE(caps); i++) {
		const struct row *r = i < ARRAY_SIZE(rows) ? &rows[i] : &caps[i - ARRAY_SIZE(rows)];
		u32 value;

		memcpy(&value, (char *)&t + r->offset, sizeof(value));
		if (value != r->def || value < r->lo || value > r->hi)
			fail_msg("%s is %u, not in %u..%u", r->name, value, r->lo, r->hi);
		if (i && i < ARRAY_SIZE(rows))
			assert_true(strcmp(rows[i - 1].name, r->name) < 0);
	}
	/* None is forgotten: mode, the rows, the caps of all phases but none. */
	assert_int_equal(sizeof(t), (1 + ARRAY_SIZE(rows) + GCHINT_PHASE_NR) * sizeof(u32));
	assert_int_equal(ARRAY_SIZE(caps), GCHINT_PHASE_NR - 1);
	assert_int_equal(t.cap_pct[GCHINT_PHASE_NONE], 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load_asks_with_headroom),
		cmocka_unit_test(test_off_hears_no_hint),
		cmocka_unit_test(test_neutral_is_as_if_there_were_none),
		cmocka_unit_test(test_boost_needs_the_right_to_raise),
		cmocka_unit_test(test_boost_never_lowers_unless_known_useless),
		cmocka_unit_test(test_cap_lowers_and_raises_only_with_the_right),
		cmocka_unit_test(test_highest_of_the_cpus_decides),
		cmocka_unit_test(test_limits_decide),
		cmocka_unit_test(test_new_hardware_maximum_is_followed),
		cmocka_unit_test(test_load_raises_at_once_but_not_often),
		cmocka_unit_test(test_mutator_is_not_below_the_floor),
		cmocka_unit_test(test_idle_policy_is_lowered_at_once),
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
		cmocka_unit_test(test_defaults_are_within_bounds),
	};

	return run_tap(tests);
}
