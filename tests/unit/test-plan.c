// SPDX-License-Identifier: GPL-2.0
/* The frequency that suits a phase, load aside. */
#include "unit.h"
#include "boards.h"
#include "plan.h"

#define NOW (100 * S)

struct fixture {
	struct gchint_opps opps;
	struct gchint_tunables tun;
	struct gchint_rules rules;
	struct gchint_learn learn;
	struct gchint_plan plan;
	struct gchint_hint hint;
};

static void init(struct fixture *x, void (*fill)(struct gchint_opps *))
{
	memset(x, 0, sizeof(*x));
	fill(&x->opps);
	gchint_tunables_init(&x->tun);
	x->tun.probe_every = 0;
	x->tun.awake_pct = 0;
	x->rules.opps = &x->opps;
	x->rules.tun = &x->tun;
	x->rules.min_khz = x->opps.opp[0].khz;
	x->rules.max_khz = x->opps.opp[x->opps.nr - 1].khz;
	x->rules.latency_ns = 50000;
	x->rules.epoch = 1;
	x->hint.class = GCHINT_CLASS_CONCURRENT;
	x->hint.phase = GCHINT_PHASE_MARK;
	x->hint.begin_ns = NOW;
	x->hint.instance = 1;
}

/* Let the learner know a phase that takes 20 ms at the highest frequency. */
static void teach(struct fixture *x, u8 phase, u8 class, double mem, u64 wall_ns)
{
	for (u32 n = 0; n < 20; n++) {
		u32 khz = x->opps.ref_khz / (1 + n % 2);
		double t = mem + (1 - mem) * x->opps.ref_khz / khz;
		struct gchint_sample s = {
			.valid = true,
			.ended = true,
			.phase = phase,
			.class = class,
			.khz = khz,
			.work = 1000000,
			.ran_ns = (u64)(20 * (double)MS * t),
			.wall_ns = wall_ns,
		};

		gchint_learn_add(&x->learn, &s, x->opps.ref_khz);
	}
}

static u32 plan(struct fixture *x)
{
	gchint_plan_make(&x->plan, &x->hint, &x->rules, &x->learn, 0, NOW);
	return x->plan.khz;
}

static void test_table_mode_is_a_fixed_part(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.tun.mode = GCHINT_MODE_TABLE;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .9, 50 * MS);
	for (u8 phase = GCHINT_PHASE_COLLECT; phase < GCHINT_PHASE_NR; phase++) {
		x.hint.phase = phase;
		assert_cmp(plan(&x), ==, gchint_percent(2150400, x.tun.cap_pct[phase]));
		assert_int_equal(x.plan.reason, GCHINT_REASON_TABLE);
	}
}

static void test_unlearned_model_is_the_table_above_the_floor(void **state)
{
	struct fixture x;
	u32 floor;

	(void)state;
	init(&x, krait_static);
	assert_cmp(plan(&x), ==, 1113600);
	assert_int_equal(x.plan.reason, GCHINT_REASON_TABLE);
	/* No line whatever would go below this. */
	x.tun.awake_pct = 400;
	x.tun.cap_pct[GCHINT_PHASE_MARK] = 10;
	floor = gchint_opps_floor(&x.opps, GCHINT_ONE, gchint_opps_awake(&x.opps, 400));
	assert_cmp(x.opps.opp[floor].khz, >=, 300000);
	assert_cmp(plan(&x), >=, x.opps.opp[floor].khz);
}

/* Interior optima: the driver's static term, by memory fraction. */
static void test_krait_optimum(void **state)
{
	static const struct {
		double m;
		u32 khz;
	} want[] = { { 0, 1113600 }, { .7, 652800 } };
	struct fixture x;

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(want); i++) {
		init(&x, krait_static);
		x.tun.slowdown_pct = 1000;
		teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, want[i].m, 50 * MS);
		plan(&x);
		/* The learned fraction is one in a thousand off, the optimum is flat. */
		assert_near(x.plan.khz, want[i].khz, 80000);
		assert_int_equal(x.plan.reason, GCHINT_REASON_MODEL);
	}
}

static void test_never_below_the_energy_optimum(void **state)
{
	(void)state;
	for (u32 b = 0; b < nr_boards; b++) {
		for (u32 pct = 0; pct <= 100; pct += 25) {
			for (double m = 0; m <= 1; m += 0.125) {
				struct fixture x;
				u32 awake, i;

				init(&x, boards[b].fill);
				x.tun.slowdown_pct = 1000;
				x.tun.awake_pct = pct;
				teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, m, 50 * MS);
				plan(&x);
				awake = gchint_opps_awake(&x.opps, pct);
				i = gchint_opps_floor(&x.opps, x.plan.mem, awake);
				assert_cmp(x.plan.khz, >=, x.opps.opp[i].khz);
			}
		}
	}
}

static void test_slowdown_is_bounded(void **state)
{
	static const u32 bound[] = { 0, 10, 30, 50, 100 };

	(void)state;
	for (u32 b = 0; b < nr_boards; b++) {
		for (u32 i = 0; i < ARRAY_SIZE(bound); i++) {
			for (double m = 0; m <= 0.95; m += 0.19) {
				struct fixture x;
				double slow;

				init(&x, boards[b].fill);
				x.tun.slowdown_pct = bound[i];
				teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, m, 50 * MS);
				slow = m + (1 - m) * x.opps.ref_khz / plan(&x);
				assert_true(slow <= 1.01 + bound[i] / 100.0);
			}
		}
	}
}

static void test_background_may_be_slower(void **state)
{
	struct fixture x;
	u32 concurrent;

	(void)state;
	init(&x, exynos_a15);
	x.tun.slowdown_pct = 20;
	teach(&x, GCHINT_PHASE_SWEEP, GCHINT_CLASS_CONCURRENT, .3, 50 * MS);
	x.hint.phase = GCHINT_PHASE_SWEEP;
	concurrent = plan(&x);
	x.hint.class = GCHINT_CLASS_BACKGROUND;
	assert_cmp(plan(&x), <, concurrent);
}

static void test_pauses_are_boosted(void **state)
{
	static const struct {
		u8 class, reason;
	} want[] = {
		{ GCHINT_CLASS_FOREGROUND, GCHINT_REASON_FOREGROUND },
		{ GCHINT_CLASS_STW, GCHINT_REASON_STW },
		{ GCHINT_CLASS_URGENT, GCHINT_REASON_URGENT },
	};

	(void)state;
	for (u32 mode = GCHINT_MODE_TABLE; mode <= GCHINT_MODE_MODEL; mode++) {
		for (u32 i = 0; i < ARRAY_SIZE(want); i++) {
			struct fixture x;

			init(&x, krait_static);
			x.tun.mode = mode;
			x.hint.class = want[i].class;
			assert_cmp(plan(&x), ==, 2150400);
			assert_int_equal(x.plan.reason, want[i].reason);
			assert_false(x.plan.lower);
			x.tun.boost_pct = 80;
			assert_cmp(plan(&x), ==, 2150400 / 100 * 80);
		}
	}
}

/* A pause that frequency does not shorten needs no frequency. */
static void test_memory_bound_pause_is_not_boosted_for_nothing(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.hint.class = GCHINT_CLASS_STW;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_STW, .99, 50 * MS);
	x.tun.pause_stretch_pct = 5;
	assert_cmp(plan(&x), <, 2150400);
	assert_true(x.plan.lower);
	assert_true(.99 + .01 * 2150400 / x.plan.khz <= 1.05);
	/* Computing is. */
	init(&x, krait_static);
	x.hint.class = GCHINT_CLASS_STW;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_STW, .3, 50 * MS);
	assert_cmp(plan(&x), >=, 2112000);
	/* Urgent is no time for savings. */
	init(&x, krait_static);
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_STW, .99, 50 * MS);
	x.hint.class = GCHINT_CLASS_URGENT;
	assert_cmp(plan(&x), ==, 2150400);
}

static void test_limits_bound_every_plan(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .7, 50 * MS);
	x.rules.min_khz = 1190400;
	assert_cmp(plan(&x), >=, 1190400);
	x.rules.min_khz = 300000;
	x.rules.max_khz = 500000;
	x.tun.slowdown_pct = 0;
	assert_cmp(plan(&x), ==, 499200);
	x.hint.class = GCHINT_CLASS_STW;
	assert_cmp(plan(&x), <=, 500000);
}

static void test_one_opp_is_the_plan(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	gchint_opps_init(&x.opps, 800000);
	gchint_opps_add(&x.opps, 800000, 100, 0);
	gchint_opps_finish(&x.opps);
	x.rules.min_khz = 800000;
	x.rules.max_khz = 800000;
	x.tun.probe_every = 1;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .5, 50 * MS);
	for (u32 n = 0; n < 5; n++) {
		x.hint.instance++;
		assert_cmp(plan(&x), ==, 800000);
	}
}

static void test_no_table_at_all(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	gchint_opps_init(&x.opps, 3000000);
	gchint_opps_finish(&x.opps);
	x.rules.min_khz = 800000;
	x.rules.max_khz = 3000000;
	assert_cmp(plan(&x), ==, 1500000);
	x.hint.class = GCHINT_CLASS_STW;
	assert_cmp(plan(&x), ==, 3000000);
	x.hint.class = GCHINT_CLASS_CONCURRENT;
	x.hint.overdue = true;
	assert_cmp(plan(&x), ==, 3000000);
	assert_int_equal(x.plan.reason, GCHINT_REASON_PACE);
}

static void test_inefficient_opps_are_not_planned(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	for (u32 i = 0; i < x.opps.nr; i++) {
		if (x.opps.opp[i].khz != 1497600 && x.opps.opp[i].khz != 2150400)
			x.opps.opp[i].flags |= GCHINT_OPP_INEFFICIENT;
	}
	assert_cmp(plan(&x), ==, 1497600);
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .7, 50 * MS);
	assert_cmp(plan(&x), ==, 1497600);
	x.hint.stall_ns = NOW + 30 * MS;
	x.hint.work_left = 1000000;
	assert_true(plan(&x) == 1497600 || plan(&x) == 2150400);
}

static void test_boost_opps_only_within_limits(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, rk3399_a72);
	x.opps.opp[x.opps.nr - 1].flags |= GCHINT_OPP_BOOST;
	x.hint.class = GCHINT_CLASS_STW;
	/* Boost off: the core lowers policy->max. */
	x.rules.max_khz = 1608000;
	assert_cmp(plan(&x), ==, 1608000);
	x.rules.max_khz = 1800000;
	assert_cmp(plan(&x), ==, 1800000);
}

static void test_pacing_raises_to_what_ends_in_time(void **state)
{
	struct fixture x;
	u32 easy, before = 0;

	(void)state;
	init(&x, krait_static);
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .3, 50 * MS);
	x.tun.slowdown_pct = 200;
	x.hint.work_left = 1000000;
	x.hint.stall_ns = NOW + S;
	easy = plan(&x);
	assert_int_equal(x.plan.reason, GCHINT_REASON_MODEL);
	for (u64 ms = 100; ms; ms--) {
		double takes;

		x.hint.stall_ns = NOW + ms * MS;
		plan(&x);
		assert_cmp(x.plan.khz, >=, easy);
		assert_cmp(x.plan.khz, >=, before);
		before = x.plan.khz;
		takes = 20 * (.3 + .7 * 2150400 / x.plan.khz);
		if (ms > 26)
			assert_true(takes <= (double)ms);
		if (x.plan.khz > easy)
			assert_int_equal(x.plan.reason, GCHINT_REASON_PACE);
		/* Time passes by itself: look again soon. */
		assert_cmp(x.plan.until_ns, <=, NOW + 2 * MS);
	}
	assert_cmp(before, ==, 2150400);
	x.hint.stall_ns = NOW + 30 * MS;
	x.hint.overdue = true;
	assert_cmp(plan(&x), ==, 2150400);
}

/* Between two figures of work the hurry is not forgotten. */
static void test_pace_outlives_a_gap_in_figures(void **state)
{
	struct fixture x;
	u32 khz;

	(void)state;
	init(&x, krait_static);
	x.hint.stall_ns = NOW + 30 * MS;
	x.hint.work_done = 1000;
	x.hint.work_left = 1000;
	x.hint.mark_ns = NOW - 20 * MS;
	x.hint.ran_ns = 20 * MS;
	x.hint.work_ran_ns = 20 * MS;
	x.hint.work_cycles = 20 * MS * 2150400;
	khz = plan(&x);
	assert_int_equal(x.plan.reason, GCHINT_REASON_PACE);
	x.hint.work_done = 0;
	x.hint.work_ran_ns = 0;
	x.hint.revision++;
	assert_cmp(plan(&x), ==, khz);
	assert_int_equal(x.plan.reason, GCHINT_REASON_PACE);
	/* Another phase knows nothing of it. */
	x.hint.instance++;
	assert_cmp(plan(&x), <, khz);
}

static void test_phase_too_short_for_a_switch(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.rules.latency_ns = 300000;
	x.hint.instance++;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .7, MS);
	assert_cmp(plan(&x), ==, GCHINT_PLAN_LOAD);
	assert_true(x.plan.avoided);
	assert_cmp(x.plan.expected_us, ==, 1000);
	/* Four latencies: not short. */
	x.hint.instance++;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .7, 3 * MS);
	assert_cmp(plan(&x), !=, GCHINT_PLAN_LOAD);
	/* A boost is worth one, but not less. */
	x.hint.class = GCHINT_CLASS_STW;
	x.hint.instance++;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_STW, .7, 400 * US);
	assert_cmp(plan(&x), !=, GCHINT_PLAN_LOAD);
	x.hint.instance++;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_STW, .7, 100 * US);
	assert_cmp(plan(&x), ==, GCHINT_PLAN_LOAD);
}

/* CPUFREQ_ETERNAL is not four seconds but "nobody knows". */
static void test_unknown_latency_is_a_millisecond(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.rules.latency_ns = U32_MAX;
	x.hint.instance++;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .7, 3 * MS);
	assert_cmp(plan(&x), ==, GCHINT_PLAN_LOAD);
	x.hint.instance++;
	teach(&x, GCHINT_PHASE_MARK, GCHINT_CLASS_CONCURRENT, .7, 6 * MS);
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
	assert_false(gchint_plan_valid(&x.plan, &x.hint, &x.rules, NOW + 2 * MS));
	gchint_plan_make(&x.plan, &x.hint, &x.rules, &x.learn, 0, NOW + 2 * MS);
	assert_cmp(x.plan.khz, !=, GCHINT_PLAN_LOAD);
}

/* Near its end a capped phase is not given up for being short now. */
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

/* What is learned during a phase moves its plan only if that pays. */
static void test_plan_under_way_moves_only_for_enough(void **state)
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

static void test_plan_holds_until_something_changes(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	assert_false(gchint_plan_valid(&x.plan, &x.hint, &x.rules, NOW));
	plan(&x);
	assert_cmp(x.plan.expected_us, ==, U32_MAX);
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
	x.tun.probe_pct = 20;
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
		assert_cmp(x.plan.khz, <=, best + best / 5);
		assert_cmp(x.plan.khz, >=, best - best / 5);
		if (x.plan.khz > best)
			up++;
		else
			down++;
		/* It stays for the whole phase. */
		x.hint.revision++;
		plan(&x);
		assert_int_equal(x.plan.reason, GCHINT_REASON_PROBE);
	}
	assert_int_equal(up + down, 40);
	assert_int_equal(up, down);

	x.hint.stall_ns = NOW + 10 * S;
	x.hint.work_left = 1000000;
	for (u32 n = 0; n < 100; n++) {
		x.hint.instance++;
		plan(&x);
		assert_int_not_equal(x.plan.reason, GCHINT_REASON_PROBE);
	}
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

/* What cannot be learned is not probed at each phase for ever. */
static void test_probing_gives_up_slowly(void **state)
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
	/* Nor where there are no figures at all. */
	x.hint.work_left = 0;
	x.hint.instance++;
	plan(&x);
	assert_false(x.plan.probe);
}

static void test_role_needs_no_learner(void **state)
{
	struct fixture x;

	(void)state;
	init(&x, krait_static);
	x.hint.role = true;
	x.hint.phase = GCHINT_PHASE_COLLECT;
	x.hint.begin_ns = 0;
	x.tun.probe_every = 1;
	gchint_plan_make(&x.plan, &x.hint, &x.rules, NULL, 0, NOW);
	assert_cmp(x.plan.khz, ==, 1344000);
	assert_false(x.plan.probe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_mode_is_a_fixed_part),
		cmocka_unit_test(test_unlearned_model_is_the_table_above_the_floor),
		cmocka_unit_test(test_krait_optimum),
		cmocka_unit_test(test_never_below_the_energy_optimum),
		cmocka_unit_test(test_slowdown_is_bounded),
		cmocka_unit_test(test_background_may_be_slower),
		cmocka_unit_test(test_pauses_are_boosted),
		cmocka_unit_test(test_memory_bound_pause_is_not_boosted_for_nothing),
		cmocka_unit_test(test_limits_bound_every_plan),
		cmocka_unit_test(test_one_opp_is_the_plan),
		cmocka_unit_test(test_no_table_at_all),
		cmocka_unit_test(test_inefficient_opps_are_not_planned),
		cmocka_unit_test(test_boost_opps_only_within_limits),
		cmocka_unit_test(test_pacing_raises_to_what_ends_in_time),
		cmocka_unit_test(test_pace_outlives_a_gap_in_figures),
		cmocka_unit_test(test_phase_too_short_for_a_switch),
		cmocka_unit_test(test_unknown_latency_is_a_millisecond),
		cmocka_unit_test(test_short_phase_that_turns_out_long_is_capped),
		cmocka_unit_test(test_cap_is_kept_to_the_end),
		cmocka_unit_test(test_plan_under_way_moves_only_for_enough),
		cmocka_unit_test(test_plan_holds_until_something_changes),
		cmocka_unit_test(test_probing_is_bounded),
		cmocka_unit_test(test_probing_gives_up_slowly),
		cmocka_unit_test(test_role_needs_no_learner),
	};

	return run_tap(tests);
}
