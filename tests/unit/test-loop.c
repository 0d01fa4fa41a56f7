// SPDX-License-Identifier: GPL-2.0-only
/* The model files together, in virtual time. */
#include "unit.h"
#include "boards.h"
#include "sim.h"

static void start(struct sim *s, void (*fill)(struct gchint_opps *), u32 latency_ns)
{
	memset(s, 0, sizeof(*s));
	fill(&s->opps);
	sim_init(s, latency_ns);
}

/* A marking phase of 15 ms at the highest frequency. */
static struct sim_work mark(double mem)
{
	struct sim_work w = {
		.phase = GCHINT_PHASE_MARK,
		.flags = GCHINT_F_CONCURRENT,
		.units = 300000,
		.a_ns = 50 * mem,
		.b_ns = 50 * (1 - mem),
	};

	return w;
}

/* What an exhaustive search in floating point would choose. */
static u32 oracle(const struct sim *s, double mem)
{
	double awake = gchint_opps_awake(&s->opps, s->tun.awake_pct);
	double bound = 1 + s->tun.slowdown_pct / 100.0;
	double least = INFINITY;
	u32 khz = 0;

	for (u32 i = 0; i < s->opps.nr; i++) {
		const struct gchint_opp *o = &s->opps.opp[i];
		double t = mem + (1 - mem) * s->opps.ref_khz / o->khz;
		double e = (o->power + awake) * t;

		if (t > bound + 1e-9 || (o->flags & GCHINT_OPP_INEFFICIENT))
			continue;
		if (e < least) {
			least = e;
			khz = o->khz;
		}
	}
	return khz;
}

static double energy_at(const struct sim *s, u32 khz, double mem)
{
	const struct gchint_opp *o = &s->opps.opp[gchint_opp_at_least(&s->opps, khz)];

	return (o->power + (double)gchint_opps_awake(&s->opps, s->tun.awake_pct)) *
	       (mem + (1 - mem) * s->opps.ref_khz / o->khz);
}

/* The model starts empty, probes, learns, and settles at the cheapest OPP. */
static void test_settles_at_the_cheapest_opp(void **state)
{
	static const double mem[] = { .2, .5, .7, .85 };

	(void)state;
	for (u32 b = 0; b < nr_boards; b++) {
		for (u32 i = 0; i < ARRAY_SIZE(mem); i++) {
			struct sim_work w = mark(mem[i]);
			struct gchint_fit fit;
			u32 at = 0, phases = 0;
			struct sim s;
			double least;

			start(&s, boards[b].fill, 140000);
			s.noise = 0.02;
			for (u32 n = 0; n < 20; n++) {
				sim_idle(&s, 50 * MS);
				sim_phase(&s, &w);
			}
			gchint_learn_fit(&s.learn, w.phase, 0, &fit);
			assert_true(fit.known);
			assert_near((double)fit.b_ps / 1000 / w.b_ns, 1, 0.1);
			for (u32 n = 0; n < 32; n++) {
				sim_idle(&s, 50 * MS);
				sim_edge(&s, w.phase, w.flags);
				if (s.last.reason == GCHINT_REASON_MODEL) {
					phases++;
					/* At the slowdown bound a few hundredths decide. */
					least = fmax(
						energy_at(&s, oracle(&s, mem[i]), mem[i]),
						energy_at(&s, oracle(&s, mem[i] - 0.04), mem[i]));
					at += energy_at(&s, s.khz, mem[i]) < least * 1.05;
				}
				sim_edge(&s, GCHINT_PHASE_NONE, 0);
				sim_phase(&s, &w);
			}
			if (phases < 20 || at * 10 < phases * 8)
				fail_msg("%s, m %.2f: %u of %u phases near the oracle's %u kHz, "
					 "last %u kHz, learned m %.3f",
					 boards[b].name, mem[i], at, phases, oracle(&s, mem[i]),
					 s.khz, fit.mem / 1024.0);
		}
	}
}

static void test_follows_a_change_of_the_program(void **state)
{
	struct sim_work w = mark(.8);
	struct gchint_fit fit;
	struct sim s;

	(void)state;
	start(&s, krait_static, 100000);
	s.noise = 0.02;
	for (u32 n = 0; n < 40; n++) {
		sim_idle(&s, 50 * MS);
		sim_phase(&s, &w);
	}
	w = mark(.2);
	for (u32 n = 0; n < 20; n++) {
		sim_idle(&s, 50 * MS);
		sim_phase(&s, &w);
	}
	gchint_learn_fit(&s.learn, w.phase, 0, &fit);
	printf("# after the change: m %.3f, error %.3f\n", fit.mem / 1024.0, fit.error / 1024.0);
	assert_true(fit.known);
	assert_near((double)fit.b_ps / 1000 / w.b_ns, 1, 0.1);
}

/* The same from progress alone. */
static void test_learns_from_progress_alone(void **state)
{
	struct sim_work w = mark(.6);
	struct gchint_fit fit;
	struct sim s;

	(void)state;
	start(&s, krait_static, 100000);
	s.noise = 0.02;
	s.progress = true;
	s.wipe = true;
	for (u32 n = 0; n < 20; n++) {
		sim_idle(&s, 50 * MS);
		sim_phase(&s, &w);
	}
	gchint_learn_fit(&s.learn, w.phase, 0, &fit);
	assert_true(fit.known);
	assert_near((double)fit.b_ps / 1000 / w.b_ns, 1, 0.1);
	assert_near((double)fit.a_ps / 1000 / w.a_ns, 1, 0.1);
}

static void test_less_energy_and_delay_than_load_alone(void **state)
{
	static const double mem[] = { .3, .5, .7, .85 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(mem); i++) {
		struct sim_work w = mark(mem[i]);
		double energy[2];
		u64 took[2];

		for (u32 mode = 0; mode < 2; mode++) {
			struct sim s;

			start(&s, krait_static, 100000);
			s.noise = 0.03;
			s.tun.mode = mode ? GCHINT_MODE_MODEL : GCHINT_MODE_OFF;
			took[mode] = 0;
			for (u32 n = 0; n < 100; n++) {
				sim_idle(&s, 50 * MS);
				took[mode] += sim_phase(&s, &w);
			}
			energy[mode] = s.phase_energy;
		}
		printf("# m %.2f: energy %.2f, time %.2f of load alone\n", mem[i],
		       energy[1] / energy[0], (double)took[1] / (double)took[0]);
		assert_true(energy[1] < energy[0] * 0.98);
		assert_true(energy[1] * (double)took[1] < energy[0] * (double)took[0] * 0.95);
	}
}

/* Mutators get the frequency that load had requested back at once. */
static void test_restores_the_load_frequency_after_a_phase(void **state)
{
	struct sim s;
	u32 before;

	(void)state;
	start(&s, krait_static, 100000);
	sim_run(&s, 200 * MS);
	before = s.khz;
	assert_int_equal(before, 2150400);
	for (u32 n = 0; n < 10; n++) {
		sim_edge(&s, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		sim_run(&s, 40 * MS);
		assert_cmp(s.khz, <, before);
		sim_edge(&s, GCHINT_PHASE_NONE, 0);
		assert_int_equal(s.khz, before);
		sim_run(&s, 40 * MS);
		assert_int_equal(s.khz, before);
	}
}

/* An idle CPU collects at a low frequency and is idle again: no spike. */
static void test_no_spike_when_a_cap_lifts(void **state)
{
	struct sim s;

	(void)state;
	start(&s, krait_static, 100000);
	for (u32 n = 0; n < 10; n++) {
		sim_idle(&s, 100 * MS);
		sim_edge(&s, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		sim_run(&s, 200 * MS);
		sim_edge(&s, GCHINT_PHASE_NONE, 0);
		sim_run(&s, 2 * MS);
		assert_cmp(s.khz, <=, 1113600);
	}
}

static void test_pause_is_at_full_speed_from_its_first_edge(void **state)
{
	struct sim_work w = mark(.3);
	struct sim s;

	(void)state;
	start(&s, krait_static, 100000);
	w.flags = GCHINT_F_STW;
	for (u32 n = 0; n < 30; n++) {
		sim_idle(&s, 100 * MS);
		sim_phase(&s, &w);
		sim_idle(&s, 100 * MS);
		sim_edge(&s, w.phase, w.flags);
		assert_int_equal(s.khz, 2150400);
		assert_int_equal(s.last.reason, GCHINT_REASON_STW);
		sim_edge(&s, GCHINT_PHASE_NONE, 0);
	}
}

/* Phases shorter than a few switches are not planned, and counted. */
static void test_short_phases_cause_no_switch(void **state)
{
	struct sim_work w = mark(.5);
	struct sim s;
	u32 before;

	(void)state;
	start(&s, krait_static, 300000);
	w.units = 8000; /* 400 us */
	s.tun.probe_every = 0;
	for (u32 n = 0; n < 10; n++) {
		sim_run(&s, 20 * MS);
		sim_phase(&s, &w);
	}
	before = s.switches;
	assert_int_equal(s.khz, 2150400);
	for (u32 n = 0; n < 20; n++) {
		sim_run(&s, 20 * MS);
		sim_phase(&s, &w);
	}
	assert_int_equal(s.switches, before);
	assert_cmp(s.avoided, >=, 20);
}

/* A phase that keeps reporting costs two switches, whatever is learned meanwhile. */
static void test_long_phase_costs_two_switches(void **state)
{
	struct sim_work w = mark(.6);
	struct sim s;
	u32 before;

	(void)state;
	start(&s, krait_static, 100000);
	s.noise = 0.02;
	s.progress = true;
	w.units = 3000000; /* 150 ms */
	sim_run(&s, S);
	for (u32 n = 0; n < 40; n++) {
		sim_run(&s, 100 * MS);
		assert_int_equal(s.khz, 2150400);
		sim_phase(&s, &w);
	}
	before = s.switches;
	for (u32 n = 0; n < 40; n++) {
		sim_run(&s, 100 * MS);
		sim_phase(&s, &w);
	}
	printf("# %u switches in 40 phases\n", s.switches - before);
	assert_cmp(s.switches - before, <=, 40 * 2 + 8);
	assert_cmp(s.switches - before, >=, 40 * 2 - 1);
}

static void test_ends_before_mutators_stall(void **state)
{
	static const double mem[] = { .2, .5, .8 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(mem); i++) {
		struct sim_work w = mark(mem[i]);
		u32 late = 0, slow = 0;
		struct sim s;

		start(&s, krait_static, 100000);
		s.noise = 0.05;
		s.progress = true;
		for (u32 n = 0; n < 30; n++) {
			sim_idle(&s, 50 * MS);
			sim_phase(&s, &w);
		}
		for (u32 n = 0; n < 50; n++) {
			u64 took;

			/* From a third more than its shortest time to three times that. */
			w.stall_ns = (u64)((20 + n % 25) * (double)MS);
			sim_idle(&s, 50 * MS);
			took = sim_phase(&s, &w);
			late += took > w.stall_ns;
			slow += took > 17 * MS;
		}
		printf("# m %.1f: %u of 50 late, %u slowed down\n", mem[i], late, slow);
		assert_int_equal(late, 0);
		assert_cmp(slow, >=, 15);
	}
}

static void test_dead_runtime_leaves_load_decisions(void **state)
{
	struct sim s;

	(void)state;
	start(&s, krait_static, 100000);
	sim_run(&s, 200 * MS);
	sim_edge(&s, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	assert_cmp(s.khz, <, 2150400);
	/* The writer has exited; the thread continues. The TTL ends the phase. */
	sim_run(&s, 1100 * MS);
	assert_int_equal(s.khz, 2150400);
	assert_int_equal(s.last.reason, GCHINT_REASON_LOAD);
}

/* Without work counts nothing is learned and nothing is probed. */
static void test_collector_without_progress_gets_the_table(void **state)
{
	struct sim_work w = mark(.5);
	struct sim s;

	(void)state;
	start(&s, krait_static, 100000);
	w.silent = true;
	for (u32 n = 0; n < 30; n++) {
		sim_idle(&s, 50 * MS);
		sim_phase(&s, &w);
		assert_int_equal(s.learn.line[w.phase][0].samples, 0);
		assert_int_equal(s.plan.reason, GCHINT_REASON_TABLE);
		assert_int_equal(s.plan.khz, 1113600);
	}
}

/* Threads that alternate on a CPU each get their own frequency. */
static void test_hostile_hints_only_slow_themselves(void **state)
{
	struct sim s;
	u64 seed = 21;

	(void)state;
	start(&s, krait_static, 20000);
	sim_run(&s, 200 * MS);
	s.may_raise = false;
	for (u32 n = 0; n < 300; n++) {
		for (u32 i = 0; i < 16; i++)
			((u32 *)&s.slot)[i] = rnd(&seed) >> rnd_in(&seed, 0, 24);
		sim_run(&s, 10 * MS);
		/* The neighbour runs. */
		s.slot.state = GCHINT_STATE(s.slot.state + GCHINT_STATE_EDGE, GCHINT_PHASE_NONE, 0);
		sim_run(&s, 10 * MS);
		assert_int_equal(s.khz, 2150400);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settles_at_the_cheapest_opp),
		cmocka_unit_test(test_follows_a_change_of_the_program),
		cmocka_unit_test(test_learns_from_progress_alone),
		cmocka_unit_test(test_less_energy_and_delay_than_load_alone),
		cmocka_unit_test(test_restores_the_load_frequency_after_a_phase),
		cmocka_unit_test(test_no_spike_when_a_cap_lifts),
		cmocka_unit_test(test_pause_is_at_full_speed_from_its_first_edge),
		cmocka_unit_test(test_short_phases_cause_no_switch),
		cmocka_unit_test(test_long_phase_costs_two_switches),
		cmocka_unit_test(test_ends_before_mutators_stall),
		cmocka_unit_test(test_dead_runtime_leaves_load_decisions),
		cmocka_unit_test(test_collector_without_progress_gets_the_table),
		cmocka_unit_test(test_hostile_hints_only_slow_themselves),
	};

	return run_tap(tests);
}
