// SPDX-License-Identifier: GPL-2.0-only
/* An unprivileged hint switches no more often in the long run than load may. */
#include "deciding.h"

#define EVERY (10 * MS)

/* At most the permitted rate over any time, plus a few at once. */
static void test_bucket_limits_the_rate(void **state)
{
	u64 seed = 5;

	(void)state;
	for (u32 pace = 1; pace < 64; pace++) {
		struct gchint_bucket b = {};
		u64 start = 50 * S, now = start;
		u32 done = 0;

		while (now < start + 10 * S) {
			if (!gchint_bucket_is_empty(&b, EVERY, now)) {
				gchint_bucket_take(&b, EVERY, now);
				done++;
			}
			assert_cmp(done, <=, GCHINT_BUCKET_BURST + (now - start) / EVERY);
			now += rnd_in(&seed, 1, pace * 1000) * US;
		}
		/* And not much less, if that many were requested. */
		if (pace < 8)
			assert_cmp(done, >=, GCHINT_BUCKET_BURST + 9 * S / EVERY);
	}
}

static void test_bucket_refills_to_its_capacity(void **state)
{
	struct gchint_bucket b = {};
	u64 now = 50 * S;

	(void)state;
	for (u32 round = 0; round < 3; round++) {
		for (u32 i = 0; i < GCHINT_BUCKET_BURST; i++) {
			assert_false(gchint_bucket_is_empty(&b, EVERY, now));
			gchint_bucket_take(&b, EVERY, now);
		}
		assert_true(gchint_bucket_is_empty(&b, EVERY, now));
		/* One more after a while, and only one. */
		now += EVERY;
		assert_false(gchint_bucket_is_empty(&b, EVERY, now));
		gchint_bucket_take(&b, EVERY, now);
		assert_true(gchint_bucket_is_empty(&b, EVERY, now));
		now += 1000 * S;
	}
	/* A mandatory switch is charged in advance. */
	for (u32 i = 0; i < 2 * GCHINT_BUCKET_BURST; i++)
		gchint_bucket_take(&b, EVERY, now);
	assert_true(gchint_bucket_is_empty(&b, EVERY, now + GCHINT_BUCKET_BURST * EVERY));
	assert_false(gchint_bucket_is_empty(&b, EVERY, now + (GCHINT_BUCKET_BURST + 1) * EVERY));
	/* Without a rate everything is permitted. */
	b.paid_ns = 0;
	for (u32 i = 0; i < 100; i++) {
		assert_false(gchint_bucket_is_empty(&b, 0, now));
		gchint_bucket_take(&b, 0, now);
	}
}

struct count {
	u32 toggles;
	u32 changes;
	u32 caps;
};

/* A phase begins and ends every @us on a CPU whose load requests the maximum. */
static struct count toggle(struct fixture *x, u64 us, u64 length, bool may_raise)
{
	struct count n = {};
	struct gchint_demand d;
	u64 end = x->now + length;

	while (x->now < end) {
		bool on = n.toggles++ & 1;

		x->now += us * US;
		plan_is(x, GCHINT_CLASS_CONCURRENT, 1113600, GCHINT_REASON_TABLE, may_raise);
		d = cpu(x, GCHINT_ONE, on);
		policy(x, &d);
		n.changes += x->out.change;
		n.caps += on && x->out.khz == 1113600;
		/* Outside of phases it gets what load requests. */
		if (!on)
			assert_cmp(x->out.khz, ==, x->rules.max_khz);
		/* A phase is not slower than it requested. */
		assert_cmp(x->out.khz, >=, 1113600);
	}
	return n;
}

static void test_toggled_hints_are_rate_limited(void **state)
{
	struct fixture x;
	struct count n;

	(void)state;
	init(&x, krait_static);
	x.tun.min_latencies = 0;
	x.rules.meter_us = 2000;
	n = toggle(&x, 500, 10 * S, false);
	assert_cmp(n.toggles, ==, 20000);
	/* hold_us is longer: 1000 in 10 s, plus the saved ones. */
	assert_cmp(n.changes, <=, 1000 + GCHINT_BUCKET_BURST + 2);
	assert_cmp(n.changes, >=, 900);
	/* The driver's latency is longer. */
	x.tun.hold_us = 0;
	x.rules.meter_us = 20000;
	x.now += S;
	n = toggle(&x, 500, 10 * S, false);
	assert_cmp(n.changes, <=, 500 + GCHINT_BUCKET_BURST + 2);
	assert_cmp(n.changes, >=, 450);
	/* A privileged session is not limited. */
	n = toggle(&x, 500, S, true);
	assert_cmp(n.changes, >=, 1998);
	/* Nor is any session if the administrator lets all of them raise. */
	x.tun.boost_unprivileged = 1;
	n = toggle(&x, 500, S, false);
	assert_cmp(n.changes, >=, 1998);
}

/*
 * Every @us a thread between phases starts or stops waiting for a late collection, or its load
 * changes.
 */
static u32 toggle_neutral(struct fixture *x, u64 us, u64 length, bool yields, bool may_raise)
{
	u64 end = x->now + length;
	u32 round = 0, changes = 0;

	while (x->now < end) {
		bool on = round++ & 1;
		struct gchint_hint h = {
			.may_raise = may_raise,
			.slowdown = yields && on ? 64 * GCHINT_ONE : 0,
		};
		struct gchint_demand d;

		x->now += us * US;
		gchint_decide_cpu(&d, &x->rules, 3, yields || on ? GCHINT_ONE : 50, &h, NULL);
		policy(x, &d);
		changes += x->out.change;
	}
	return changes;
}

static void test_toggled_waiting_is_rate_limited(void **state)
{
	struct fixture x;
	u32 n;

	(void)state;
	init(&x, krait_static);
	/* A floor, and no ceiling by the delay cost. */
	x.rules.delay_cost = GCHINT_DELAY_COST_MAX;
	gchint_rules_set_mutators(&x.rules);
	x.rules.delay_cost = 0;
	x.tun.min_latencies = 0;
	x.tun.hold_us = 0;
	x.rules.meter_us = 20000;
	n = toggle_neutral(&x, 500, 10 * S, true, false);
	assert_cmp(n, <=, 500 + GCHINT_BUCKET_BURST + 2);
	assert_cmp(n, >=, 450);
	/* A privileged session may switch as often as it likes. */
	assert_cmp(toggle_neutral(&x, 500, S, true, true), >=, 1998);
	/* What load requests between phases is not attributed to a hint. */
	assert_cmp(toggle_neutral(&x, 500, S, false, false), >=, 1998);
}

/*
 * Under another governor limits are set and removed, here without a change of frequency and only
 * for the hinting thread. Removal is never refused.
 */
static void test_toggled_limits_are_rate_limited(void **state)
{
	struct fixture x;
	u32 changes = 0, caps = 0;

	(void)state;
	init(&x, krait_static);
	x.rules.limits_only = true;
	x.tun.min_latencies = 0;
	x.tun.hold_us = 0;
	x.rules.meter_us = 20000;
	plan_is(&x, GCHINT_CLASS_CONCURRENT, 300000, GCHINT_REASON_TABLE, false);
	for (u32 round = 0; round < 20000; round++) {
		struct gchint_demand d = cpu(&x, 0, round & 1);

		x.now += 500 * US;
		d.khz = 300000;
		assert_cmp(policy(&x, &d), ==, 300000);
		changes += x.out.change;
		if (round & 1)
			caps += x.state.bounds.cap_khz == 300000;
		else
			assert_int_equal(x.state.bounds.cap_khz, 0);
		assert_int_equal(x.state.bounds.floor_khz, 0);
	}
	assert_cmp(changes, <=, 500 + GCHINT_BUCKET_BURST + 2);
	assert_cmp(changes, >=, 450);
	assert_cmp(2 * caps, ==, changes);
	/* New rules do not bypass the limit. */
	x.rules.epoch++;
	for (u32 round = 0; round < 100; round++) {
		struct gchint_demand d = cpu(&x, 0, round & 1);

		x.rules.epoch++;
		policy(&x, &d);
		changes += x.out.change;
	}
	assert_cmp(changes, <=, 500 + GCHINT_BUCKET_BURST + 4);
}

/* An honest collector with 20 phases a second is never refused. */
static void test_collector_is_not_rate_limited(void **state)
{
	struct fixture x;
	struct count n;

	(void)state;
	init(&x, krait_static);
	x.rules.meter_us = 10000;
	n = toggle(&x, 25000, 20 * S, false);
	assert_int_equal(n.caps, n.toggles / 2);
	assert_cmp(n.changes, >=, n.toggles - 1);
}

/*
 * One user's thread begins and ends a phase twice a millisecond on one CPU of the policy; twenty
 * times a second that of another user collects there.
 */
static void test_flood_does_not_throttle_another_user(void **state)
{
	u32 round, asked = 0, capped = 0, flood = 0;
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.tun.min_latencies = 0;
	x.rules.meter_us = 10000;
	for (round = 0; round < 20000; round++) {
		bool other = round % 100 == 99;
		struct gchint_demand d;

		x.now += 500 * US;
		plan_is(&x, GCHINT_CLASS_CONCURRENT, other ? 1113600 : 960000, GCHINT_REASON_TABLE,
			false);
		x.hint.bucket = other ? 1 : 2;
		d = cpu(&x, GCHINT_ONE, other || round & 1);
		policy(&x, &d);
		asked += other;
		capped += other && x.out.khz == 1113600;
		flood += !other && x.out.khz == 960000;
		/* Its thread leaves. */
		d = cpu(&x, GCHINT_ONE, false);
		if (other)
			assert_cmp(policy(&x, &d), ==, x.rules.max_khz);
	}
	assert_int_equal(capped, asked);
	/* Which is limited, as if it were alone: two switches a phase. */
	assert_cmp(flood, <=, 500 + GCHINT_BUCKET_BURST);
}

/* Changed limits do not wait for the rate limit. */
static void test_limits_are_not_rate_limited(void **state)
{
	struct gchint_demand d;
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.tun.min_latencies = 0;
	x.rules.meter_us = 100000;
	toggle(&x, 500, S, false);
	plan_is(&x, GCHINT_CLASS_CONCURRENT, 1113600, GCHINT_REASON_TABLE, false);
	d = cpu(&x, GCHINT_ONE, true);
	assert_cmp(policy(&x, &d), ==, x.rules.max_khz);
	assert_int_equal(x.out.reason, GCHINT_REASON_HOLD);
	x.rules.max_khz = 1500000;
	x.rules.epoch++;
	assert_cmp(policy(&x, &d), <=, 1500000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bucket_limits_the_rate),
		cmocka_unit_test(test_bucket_refills_to_its_capacity),
		cmocka_unit_test(test_toggled_hints_are_rate_limited),
		cmocka_unit_test(test_toggled_waiting_is_rate_limited),
		cmocka_unit_test(test_toggled_limits_are_rate_limited),
		cmocka_unit_test(test_collector_is_not_rate_limited),
		cmocka_unit_test(test_flood_does_not_throttle_another_user),
		cmocka_unit_test(test_limits_are_not_rate_limited),
	};

	return run_tap(tests);
}
