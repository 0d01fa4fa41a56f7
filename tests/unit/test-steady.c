// SPDX-License-Identifier: GPL-2.0-only
/* How long a decision stays valid: what only an edge can change is not evaluated again. */
#include "deciding.h"

/* The plan of a known, lasting phase in a policy of one CPU. */
static struct gchint_demand planned(struct fixture *x, u8 class, bool may_raise, u32 load)
{
	x->hint.class = class;
	x->hint.may_raise = may_raise;
	plan(x);
	return cpu(x, load, true);
}

static u64 wait_after(struct fixture *x, const struct gchint_demand *d)
{
	x->now += S;
	policy(x, d);
	return gchint_decide_wait_ns(&x->rules, &x->out, 3 * MS);
}

static void known(struct fixture *x)
{
	init(x, krait_static);
	teach(x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .4, 400 * MS);
}

static void test_steady_plan_is_not_evaluated_often(void **state)
{
	struct gchint_demand d;
	struct fixture x;

	(void)state;
	known(&x);
	d = planned(&x, GCHINT_CLASS_CONCURRENT, true, 500);
	assert_true(d.hinted);
	assert_cmp(wait_after(&x, &d), ==, 10 * MS);
	x.tun.hold_us = 5000;
	assert_cmp(wait_after(&x, &d), ==, 5 * MS);
	x.tun.hold_us = 0;
	assert_cmp(wait_after(&x, &d), ==, 3 * MS);
	/* Any load gives the same frequency. */
	x.tun.hold_us = 10000;
	for (u32 load = 0; load <= GCHINT_ONE; load += 64) {
		struct gchint_demand e = cpu(&x, load, true);

		assert_cmp(e.khz, ==, d.khz);
		assert_cmp(wait_after(&x, &e), ==, 10 * MS);
	}
}

/* Load matters: it bounds a session without the privilege to raise, but not a boost to the top. */
static void test_deciding_load_is_evaluated_often(void **state)
{
	struct gchint_demand d;
	struct fixture x;

	(void)state;
	known(&x);
	d = planned(&x, GCHINT_CLASS_CONCURRENT, false, GCHINT_ONE);
	assert_true(d.hinted);
	assert_cmp(wait_after(&x, &d), ==, 3 * MS);
	known(&x);
	d = planned(&x, GCHINT_CLASS_URGENT, true, 100);
	assert_cmp(d.khz, ==, x.rules.max_khz);
	assert_cmp(wait_after(&x, &d), ==, 10 * MS);
}

/* A stall instant approaches by itself, and a short phase soon becomes a long one. */
static void test_time_dependent_plan_is_evaluated_often(void **state)
{
	struct gchint_demand d;
	struct fixture x;

	(void)state;
	known(&x);
	x.hint.stall_ns = NOW + 300 * MS;
	d = planned(&x, GCHINT_CLASS_CONCURRENT, true, 500);
	assert_true(d.hinted);
	assert_cmp(wait_after(&x, &d), ==, 3 * MS);
	init(&x, krait_static);
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .4, MS / 5);
	d = planned(&x, GCHINT_CLASS_CONCURRENT, true, 500);
	assert_cmp(wait_after(&x, &d), ==, 3 * MS);
}

/* Other CPUs of the policy, and threads that wake on an idle CPU, count as before. */
static void test_neighbour_is_evaluated_often(void **state)
{
	struct gchint_demand d, other, best = {};
	struct fixture x;

	(void)state;
	known(&x);
	d = planned(&x, GCHINT_CLASS_CONCURRENT, true, 500);
	other = cpu(&x, 10, false);
	assert_cmp(other.khz, <, d.khz);
	gchint_decide_join(&best, &d);
	gchint_decide_join(&best, &other);
	assert_cmp(best.khz, ==, d.khz);
	assert_cmp(wait_after(&x, &best), ==, 3 * MS);
	memset(&best, 0, sizeof(best));
	gchint_decide_join(&best, &other);
	gchint_decide_join(&best, &d);
	assert_cmp(wait_after(&x, &best), ==, 3 * MS);
	memset(&best, 0, sizeof(best));
	gchint_decide_join(&best, &d);
	gchint_decide_join(&best, &d);
	assert_cmp(wait_after(&x, &best), ==, 10 * MS);
	d.idle = true;
	assert_cmp(wait_after(&x, &d), ==, 3 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steady_plan_is_not_evaluated_often),
		cmocka_unit_test(test_deciding_load_is_evaluated_often),
		cmocka_unit_test(test_time_dependent_plan_is_evaluated_often),
		cmocka_unit_test(test_neighbour_is_evaluated_often),
	};

	return run_tap(tests);
}
