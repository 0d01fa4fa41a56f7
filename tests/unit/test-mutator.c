// SPDX-License-Identifier: GPL-2.0-only
/* How memory-bound the program itself is: from its own work to its frequency. */
#include "deciding.h"
#include "lease.h"

#define REF 2000000

/* -- Samples -- */

static void test_own_work_is_a_sample(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	lease_poll(&l);
	run(&l, 30 * MS, 960000);
	l.slot.own_work = 700;
	assert_false(gchint_phase_due(&l.track, &l.slot, l.now, TTL));
	run(&l, 20 * MS, 960000);
	assert_true(gchint_phase_due(&l.track, &l.slot, l.now, TTL));
	assert_int_equal(lease_poll(&l), 0);
	assert_true(l.sample.valid);
	assert_false(l.sample.ended);
	assert_int_equal(l.sample.phase, GCHINT_PHASE_NONE);
	assert_int_equal(l.sample.core_type, 1);
	assert_cmp(l.sample.work, ==, 700);
	assert_cmp(l.sample.ran_ns, ==, 50 * MS);
	assert_int_equal(l.sample.khz, 960000);
	/* Time asleep counts for no sample; the next one starts anew. */
	l.now += 10 * S;
	run(&l, 60 * MS, 960000);
	l.slot.own_work = 1000;
	lease_poll(&l);
	assert_cmp(l.sample.work, ==, 300);
	assert_cmp(l.sample.ran_ns, ==, 60 * MS);
}

/* Mutators of a small heap never run long between two collections. */
static void test_work_before_a_phase_is_a_sample(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	lease_poll(&l);
	run(&l, 5 * MS, 960000);
	l.slot.own_work = 100;
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_STW);
	assert_int_equal(lease_poll(&l), GCHINT_SAW_BEGIN);
	assert_true(l.sample.valid);
	assert_int_equal(l.sample.phase, GCHINT_PHASE_NONE);
	assert_cmp(l.sample.work, ==, 100);
	assert_cmp(l.sample.ran_ns, ==, 5 * MS);
	/* Collecting is excluded, both its time and its work. */
	run(&l, 7 * MS, 960000);
	l.slot.work_done = 55;
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	lease_poll(&l);
	assert_int_equal(l.sample.phase, GCHINT_PHASE_MARK);
	assert_cmp(l.sample.work, ==, 55);
	assert_cmp(l.sample.ran_ns, ==, 7 * MS);
	run(&l, 5 * MS, 960000);
	l.slot.own_work = 160;
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_STW);
	lease_poll(&l);
	assert_cmp(l.sample.work, ==, 60);
	assert_cmp(l.sample.ran_ns, ==, 5 * MS);
	/* So is work that was not observed. */
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	lease_poll(&l);
	run(&l, 5 * MS, 960000);
	l.slot.own_work = 200;
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_STW);
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_STW);
	assert_int_equal(lease_poll(&l), GCHINT_SAW_BEGIN);
	assert_false(l.sample.valid);
}

static void test_interval_without_information_is_no_sample(void **state)
{
	struct lease l;

	(void)state;
	/* No thread counts. */
	lease_init(&l);
	lease_poll(&l);
	run(&l, 60 * MS, 960000);
	assert_false(gchint_phase_due(&l.track, &l.slot, l.now, TTL));
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_STW);
	lease_poll(&l);
	assert_false(l.sample.valid);
	/* Two frequencies, half of the time each. */
	lease_init(&l);
	lease_poll(&l);
	run(&l, 30 * MS, 960000);
	run(&l, 30 * MS, 400000);
	l.slot.own_work = 700;
	lease_poll(&l);
	assert_false(l.sample.valid);
	/* A counter that runs backwards is counted, and sampling continues. */
	run(&l, 60 * MS, 960000);
	l.slot.own_work = 600;
	lease_poll(&l);
	assert_false(l.sample.valid);
	assert_true(l.snap.ignored & BIT(GCHINT_IGNORED_BACKWARD));
	run(&l, 60 * MS, 960000);
	l.slot.own_work = 650;
	lease_poll(&l);
	assert_cmp(l.sample.work, ==, 50);
	/* A leader's slot has the leader's work. */
	run(&l, 60 * MS, 960000);
	l.slot.own_work = 9000;
	lease_poll_slot(&l, &l.slot, true);
	assert_false(l.sample.valid);
	run(&l, 60 * MS, 960000);
	l.slot.own_work = 9900;
	lease_poll_slot(&l, &l.slot, true);
	assert_false(l.sample.valid);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_STW);
	assert_int_equal(lease_poll_slot(&l, &l.slot, true), GCHINT_SAW_BEGIN);
	assert_false(l.sample.valid);
}

/* -- What is learned -- */

static void feed(struct gchint_learn *l, u8 phase, double mem, u32 rounds)
{
	for (u32 n = 0; n < rounds; n++) {
		u32 khz = REF / (1 + n % 2);
		struct gchint_sample s = {
			.valid = true,
			.phase = phase,
			.khz = khz,
			.work = 1000000,
			.ran_ns = (u64)(20 * (double)MS * (mem + (1 - mem) * REF / khz)),
		};

		gchint_learn_add(l, &s, REF);
	}
}

static void test_program_is_learned_to_a_tenth(void **state)
{
	(void)state;
	for (u32 pct = 0; pct <= 100; pct += 5) {
		struct gchint_learn l = {};
		double mem = pct / 100.0;
		u8 mutator;

		assert_int_equal(gchint_learn_mutator(&l, 0, 0), 0);
		/* What limits its collector does not apply to the program. */
		feed(&l, GCHINT_PHASE_MARK, 1 - mem, 20);
		assert_int_equal(gchint_learn_mutator(&l, 0, 0), 0);
		feed(&l, GCHINT_PHASE_NONE, mem, 20);
		mutator = gchint_learn_mutator(&l, 0, 0);
		assert_cmp(mutator, >, 0);
		assert_cmp(mutator, <, GCHINT_MUTATORS);
		assert_near(gchint_mutator_mem(mutator) / 1024.0, fmin(mem, .7), .06);
		/* Nothing was observed on other core types. */
		assert_int_equal(gchint_learn_mutator(&l, 1, 0), 0);
	}
	assert_int_equal(gchint_mutator_mem(0), gchint_mutator_mem(GCHINT_MUTATOR_UNKNOWN));
}

static void test_small_change_is_the_same_program(void **state)
{
	struct gchint_learn l = {}, m = {}, n = {};

	(void)state;
	feed(&l, GCHINT_PHASE_NONE, .26, 20);
	feed(&m, GCHINT_PHASE_NONE, .24, 20);
	feed(&n, GCHINT_PHASE_NONE, .1, 20);
	assert_int_equal(gchint_learn_mutator(&l, 0, 0), 4);
	assert_int_equal(gchint_learn_mutator(&m, 0, 0), 3);
	assert_int_equal(gchint_learn_mutator(&m, 0, 4), 4);
	assert_int_equal(gchint_learn_mutator(&l, 0, 3), 3);
	assert_int_equal(gchint_learn_mutator(&n, 0, 4), 2);
	/* A forgotten value reverts to the default. */
	memset(&l, 0, sizeof(l));
	assert_int_equal(gchint_learn_mutator(&l, 0, 3), 3);
}

/* -- Resulting frequency -- */

/* The board's own values, by the definition. */
static u32 least(const struct fixture *x, double mem, double awake)
{
	double best = 1e300;
	u32 at = 0;

	for (u32 i = 0; i < x->opps.nr; i++) {
		const struct gchint_opp *o = &x->opps.opp[i];
		double cost = (o->power + awake * x->opps.opp[x->opps.nr - 1].power) *
			      (mem + (1 - mem) * x->opps.ref_khz / o->khz);

		if (cost < best) {
			best = cost;
			at = i;
		}
	}
	return x->opps.opp[at].khz;
}

static void test_memory_bound_program_gets_a_lower_frequency(void **state)
{
	u32 floors = 0, caps = 0;

	(void)state;
	for (u32 b = 0; b < nr_boards; b++) {
		struct fixture x;

		init(&x, boards[b].fill);
		x.tun.awake_pct = 25;
		x.rules.delay_cost = 25;
		gchint_rules_set_mutators(&x.rules);
		for (u8 i = 1; i < GCHINT_MUTATORS; i++) {
			const struct gchint_mutator_bounds *m = &x.rules.mutator[i];

			/* Among nearly equal costs the fastest. */
			assert_cmp(m->floor_khz, >=, least(&x, (i - 1) / 10.0, .25));
			if (i == 1)
				continue;
			assert_cmp(m->floor_khz, <=, m[-1].floor_khz);
			floors += m->floor_khz < m[-1].floor_khz;
			assert_cmp(m->cap_khz ?: x.rules.max_khz, <=,
				   m[-1].cap_khz ?: x.rules.max_khz);
			caps += (m->cap_khz ?: x.rules.max_khz) <
				(m[-1].cap_khz ?: x.rules.max_khz);
		}
		assert_memory_equal(&x.rules.mutator[0], &x.rules.mutator[GCHINT_MUTATOR_UNKNOWN],
				    sizeof(x.rules.mutator[0]));
	}
	assert_cmp(floors, >, nr_boards);
	assert_cmp(caps, >, nr_boards);
}

/* Each program has its own frequency on the same policy. */
static void test_programs_are_learned_separately(void **state)
{
	struct gchint_hint counts = { .may_raise = true, .mutator = 1 };
	struct gchint_hint waits = { .may_raise = true, .mutator = GCHINT_MUTATORS - 1 };
	struct gchint_demand a, b;
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.tun.awake_pct = 25;
	x.rules.delay_cost = 10;
	gchint_rules_set_mutators(&x.rules);
	gchint_decide_cpu(&a, &x.rules, 3, 1, &counts, NULL);
	gchint_decide_cpu(&b, &x.rules, 3, 1, &waits, NULL);
	assert_cmp(a.khz, ==, x.rules.mutator[1].floor_khz);
	assert_cmp(b.khz, ==, x.rules.mutator[GCHINT_MUTATORS - 1].floor_khz);
	assert_cmp(b.khz, <, a.khz);
	gchint_decide_cpu(&a, &x.rules, 3, 1024, &counts, NULL);
	gchint_decide_cpu(&b, &x.rules, 3, 1024, &waits, NULL);
	assert_cmp(b.khz, ==, x.rules.mutator[GCHINT_MUTATORS - 1].cap_khz);
	assert_cmp(b.khz, <, a.khz);
}

/* A memory-bound program is slowed less by the same clock. */
static void test_memory_bound_program_slows_further(void **state)
{
	u32 slowdown = 3 * GCHINT_ONE / 2, before = U32_MAX, different = 0;
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.rules.delay_cost = 0;
	gchint_rules_set_mutators(&x.rules);
	for (u8 i = 1; i < GCHINT_MUTATORS; i++) {
		u32 khz = gchint_plan_mutator_khz(&x.rules, slowdown, i);
		u32 at = gchint_opp_at_least(&x.opps, khz);

		assert_cmp(khz, <=, before);
		assert_cmp(khz, >=, x.rules.mutator[i].floor_khz);
		assert_cmp(gchint_opp_stretch(&x.opps.opp[at], gchint_mutator_mem(i)), <=,
			   slowdown);
		different += khz != before;
		before = khz;
	}
	assert_cmp(different, >, 2);
}

/* Where the limits slow mutators more than the bound, a hint does not slow them at all. */
static void test_limits_leave_nothing_to_slow(void **state)
{
	u32 slowdown = 9 * GCHINT_ONE / 8, limited = 0, free = 0;
	struct gchint_hint h = { .may_raise = true, .slowdown = slowdown };
	struct gchint_demand d;
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.rules.delay_cost = 0;
	for (u32 last = 1; last < x.opps.nr; last++) {
		x.rules.max_khz = x.opps.opp[last].khz;
		gchint_rules_set_mutators(&x.rules);
		for (u8 i = 1; i < GCHINT_MUTATORS; i++) {
			u32 khz = gchint_plan_mutator_khz(&x.rules, slowdown, i);
			u32 mem = gchint_mutator_mem(i);

			assert_cmp(khz, <, x.rules.max_khz);
			if (gchint_opp_stretch(&x.opps.opp[last], mem) > slowdown)
				assert_cmp(khz, ==, 0);
			limited += !khz;
			free += khz != 0;
			h.mutator = i;
			gchint_decide_cpu(&d, &x.rules, 3, 1024, &h, NULL);
			assert_int_equal(d.hinted, khz || x.rules.mutator[i].cap_khz);
		}
	}
	assert_cmp(limited, >, 10);
	assert_cmp(free, >, 10);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_work_is_a_sample),
		cmocka_unit_test(test_work_before_a_phase_is_a_sample),
		cmocka_unit_test(test_interval_without_information_is_no_sample),
		cmocka_unit_test(test_program_is_learned_to_a_tenth),
		cmocka_unit_test(test_small_change_is_the_same_program),
		cmocka_unit_test(test_memory_bound_program_gets_a_lower_frequency),
		cmocka_unit_test(test_programs_are_learned_separately),
		cmocka_unit_test(test_memory_bound_program_slows_further),
		cmocka_unit_test(test_limits_leave_nothing_to_slow),
	};

	return run_tap(tests);
}
