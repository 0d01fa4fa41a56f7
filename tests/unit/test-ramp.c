// SPDX-License-Identifier: GPL-2.0-only
/*
 * Code without hints, compared with schedutil. One CPU each runs the same program: a thread that
 * runs and sleeps, the scheduler's accounting of it (PELT with the kernel's invariance, and the
 * estimate that survives a sleep), a decision at each tick while it runs, when it wakes and when it
 * sleeps, a rate limit of 10 ms. The duration of work follows each one's own frequency.
 */
#include "unit.h"
#include "boards.h"
#include "decide.h"
#include "load.h"
#include "task.h"

#define TICK	 (4 * MS)
#define STEP	 (100 * US)
#define RATE	 (10 * MS)
#define HALFLIFE (32 * 1.048576e-3)

/* One thread on one CPU, and the governor of that CPU. */
struct side {
	bool ours;
	struct gchint_opps opps;
	struct gchint_tunables tun;
	struct gchint_rules rules;
	struct gchint_state state;
	struct gchint_load load;
	u64 now;
	u64 idle_us;
	u64 tick;
	u64 next;
	u64 changed;
	u32 khz;
	u32 switches;
	double util; /* of the thread; with @blocked, of the CPU */
	double estimate;
	double lag;
	double blocked; /* of others that sleep on the CPU */
	u32 thread;
	double energy;
};

static double scale(const struct side *s)
{
	return (double)s->khz / s->opps.ref_khz;
}

static void start(struct side *s, bool ours, double util)
{
	memset(s, 0, sizeof(*s));
	s->ours = ours;
	krait_static(&s->opps);
	gchint_tunables_init(&s->tun);
	s->tun.mode = GCHINT_MODE_OFF;
	s->rules.opps = &s->opps;
	s->rules.tun = &s->tun;
	s->rules.min_khz = s->opps.opp[0].khz;
	s->rules.max_khz = s->opps.ref_khz;
	s->rules.latency_ns = 50000;
	s->rules.epoch = 1;
	s->now = 100 * S;
	s->thread = 1;
	s->khz = s->rules.min_khz;
	s->state.khz = s->khz;
	s->state.epoch = 1;
	s->util = util;
	s->estimate = util;
	gchint_load_init(&s->load, NULL, 0, s->now, 0);
}

static void switch_to(struct side *s, u32 khz)
{
	s->switches += khz != s->khz;
	s->khz = khz;
}

/* get_next_freq() and the rate limit of schedutil. */
static void reference(struct side *s, bool runs)
{
	double util = fmin(fmax(s->util + s->blocked, runs ? s->estimate : 0), 1);
	u32 khz = (u32)fmin(1.25 * s->opps.ref_khz * util, s->opps.ref_khz);

	if (s->changed && s->now - s->changed < RATE)
		return;
	khz = gchint_opps_resolve(&s->opps, khz, s->rules.min_khz, s->rules.max_khz);
	if (khz != s->khz)
		s->changed = s->now;
	switch_to(s, khz);
}

/* What cpufreq/policy.c does around the model. */
static struct gchint_demand demand(struct side *s, bool runs)
{
	struct gchint_demand d, best = {};
	u32 util = (u32)(fmax(s->util, s->estimate) * GCHINT_ONE);

	gchint_load_account(&s->load, s->now, s->idle_us, gchint_scale(s->khz, s->opps.ref_khz),
			    false, s->tun.window_us * US);
	task(&s->load, s->thread, runs ? util : 0, (u32)(s->util * GCHINT_ONE));
	gchint_decide_cpu(&d, &s->rules, 0, gchint_load_base(&s->load), NULL, NULL);
	gchint_decide_join(&best, &d);
	return best;
}

static void decide(struct side *s, const struct gchint_demand *best)
{
	struct gchint_decision out;

	gchint_decide_policy(&out, &s->rules, &s->state, best, s->now);
	s->next =
		s->now + gchint_decide_wait_ns(&s->rules, &out, gchint_decide_delay_ns(&s->rules));
	switch_to(s, out.khz);
}

static void hook(struct side *s, bool runs)
{
	struct gchint_demand best;

	if (!s->ours) {
		reference(s, runs);
		return;
	}
	if (s->now < s->next)
		return;
	best = demand(s, runs);
	decide(s, &best);
}

/* gchint_policy_wake(): a thread wakes on an idle CPU, or is new */
static void wake(struct side *s)
{
	struct gchint_demand best;

	if (!s->ours) {
		reference(s, true);
		return;
	}
	if (!gchint_decide_may_raise(&s->rules, &s->state, s->now))
		return;
	best = demand(s, true);
	if (best.khz > s->state.khz)
		decide(s, &best);
}

static void burn(struct side *s, u64 ns)
{
	u32 i = gchint_opp_at_least(&s->opps, s->khz);

	s->energy += (double)s->opps.opp[i].power * (double)ns;
}

/* Run for a step. */
static void step(struct side *s)
{
	double f = scale(s);
	double d = pow(0.5, (double)STEP * 1e-9 * f / HALFLIFE);

	s->util = s->util * d + 1 - d;
	s->blocked *= d;
	s->lag += (double)STEP * 1e-9 * (1 - f);
	burn(s, STEP);
	s->now += STEP;
	if (s->now - s->tick >= TICK) {
		s->tick = s->now - s->now % TICK;
		hook(s, true);
	}
}

/* Run until that much work is done, in ns at the highest frequency. */
static void run(struct side *s, double work)
{
	wake(s);
	while (work > 0) {
		work -= (double)STEP * scale(s);
		step(s);
	}
	hook(s, true);
	s->estimate = s->util > s->estimate ? s->util : s->estimate * 3 / 4 + s->util / 4;
}

static void sleep_for(struct side *s, u64 ns)
{
	if (s->util < (47742.0 - 1024) / 47742)
		s->util *= pow(0.5, s->lag / HALFLIFE);
	s->lag = 0;
	s->util *= pow(0.5, (double)ns * 1e-9 / HALFLIFE);
	s->blocked *= pow(0.5, (double)ns * 1e-9 / HALFLIFE);
	s->now += ns;
	s->idle_us += ns / US;
	s->tick = s->now - s->now % TICK;
}

/* When it reaches the highest OPP, in ns; continues as long as the other. */
static u64 ramp(struct side *s, u64 ns, u64 phase)
{
	u64 begin, top = U64_MAX;

	sleep_for(s, 200 * MS + phase);
	s->util = s->estimate;
	begin = s->now;
	wake(s);
	while (s->now < begin + ns) {
		step(s);
		if (s->khz == s->opps.ref_khz && top == U64_MAX)
			top = s->now - begin;
	}
	return top;
}

/* A new thread (half of the free capacity), one that woke, one without history. */
static void test_load_step_takes_no_longer_and_no_more_switches(void **state)
{
	static const double utils[] = { 0, .02, .1, .25, .5, .7, .95 };

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(utils); i++) {
		u64 later = 0, sum[2] = {};
		u32 switches[2] = {};

		for (u64 phase = 0; phase < TICK; phase += 300 * US) {
			struct side side[2];
			u64 top[2];

			for (u32 ours = 0; ours < 2; ours++) {
				start(&side[ours], ours, utils[i]);
				top[ours] = ramp(&side[ours], 800 * MS, phase);
				assert_true(top[ours] != U64_MAX);
				switches[ours] += side[ours].switches;
				sum[ours] += top[ours];
			}
			/*
			 * A tick and the rate limit: at the edge of an OPP one of two equal models
			 * steps first.
			 */
			assert_cmp(top[1], <=, top[0] + TICK + RATE);
			later = top[1] > top[0] + later ? top[1] - top[0] : later;
		}
		printf("# from %.2f: %.1f ms in %.1f switches, schedutil %.1f ms in %.1f\n",
		       utils[i], (double)sum[1] / 14e6, switches[1] / 14., (double)sum[0] / 14e6,
		       switches[0] / 14.);
		assert_cmp(sum[1], <=, sum[0] + 14 * MS);
		/* Less than half a switch on average is the phase of the tick. */
		assert_cmp(switches[1], <=, switches[0] + 7);
	}
}

/* A shell starts a program: it inherits its parent's load from the start. */
static void test_new_program_starts_no_slower(void **state)
{
	u64 sum[2] = {};
	u32 switches[2] = {};

	(void)state;
	for (u64 phase = 0; phase < TICK; phase += 300 * US) {
		for (u32 ours = 0; ours < 2; ours++) {
			struct side s;
			u64 begin;

			start(&s, ours, .3);
			sleep_for(&s, 100 * MS + phase);
			run(&s, 6 * (double)MS);
			s.blocked = s.util;
			s.thread++;
			s.estimate = 0;
			begin = s.now;
			hook(&s, true);
			while (s.khz < s.opps.ref_khz)
				step(&s);
			sum[ours] += s.now - begin;
			switches[ours] += s.switches;
		}
	}
	printf("# new program: %.1f ms, %.1f switches, schedutil %.1f ms, %.1f\n",
	       (double)sum[1] / 14e6, switches[1] / 14., (double)sum[0] / 14e6, switches[0] / 14.);
	assert_cmp(sum[1], <=, sum[0] + 14 * TICK);
	assert_cmp(switches[1], <=, switches[0] + 14);
}

/*
 * A quiet thread starts another, whose utilisation is assumed to be half of the CPU's, and a
 * decision has just been made for the first. The new one sleeps at once: only its start is seen.
 */
static void test_new_thread_counts_from_its_start(void **state)
{
	(void)state;
	for (u64 phase = 0; phase < TICK; phase += 300 * US) {
		struct side side[2];

		for (u32 ours = 0; ours < 2; ours++) {
			struct side *s = &side[ours];

			start(s, ours, .05);
			sleep_for(s, 500 * MS + phase);
			s->estimate = s->util;
			wake(s);
			hook(s, true);
			step(s);
			assert_int_equal(s->khz, s->rules.min_khz);
			s->thread++;
			s->util = .5;
			s->estimate = 0;
			wake(s);
			hook(s, true);
		}
		assert_cmp(side[1].khz, >=, side[0].khz);
		assert_cmp(side[1].khz, >, side[1].rules.min_khz);
	}
}

/* Programs that run and sleep: same speed, energy and number of switches. */
static void test_duty_cycles_cost_the_same(void **state)
{
	static const u64 works[] = { 500, 2000, 5000, 12000, 40000 };
	static const u64 sleeps[] = { 1000, 4000, 15000, 60000 };

	(void)state;
	for (u32 w = 0; w < ARRAY_SIZE(works); w++) {
		for (u32 z = 0; z < ARRAY_SIZE(sleeps); z++) {
			struct side side[2];
			double took[2];

			for (u32 ours = 0; ours < 2; ours++) {
				u64 seed = 5, begin;

				start(&side[ours], ours, .5);
				begin = side[ours].now;
				for (u32 n = 0; n < 300; n++) {
					run(&side[ours],
					    (double)(works[w] * rnd_in(&seed, 500, 1500)));
					sleep_for(&side[ours],
						  sleeps[z] * rnd_in(&seed, 500, 1500));
				}
				took[ours] = (double)(side[ours].now - begin);
			}
			if (took[1] > took[0] * 1.03 || side[1].energy > side[0].energy * 1.05 ||
			    side[1].switches > side[0].switches * 1.1 + 30)
				fail_msg("%u us of work, %u us of sleep: time %.3f, energy %.3f, "
					 "%u switches for %u",
					 (u32)works[w], (u32)sleeps[z], took[1] / took[0],
					 side[1].energy / side[0].energy, side[1].switches,
					 side[0].switches);
		}
	}
}

#define WAKEUPS 60
#define READS	4

static int compare_khz(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Frequencies at four times after each wakeup of a thread that runs for @work, by time. */
static void wakeups(struct side *s, u64 sleep, u64 work, u32 khz[READS][WAKEUPS])
{
	static const u64 at[READS] = { 200 * US, MS, 2 * MS, 5 * MS };
	u64 seed = 7;

	for (u32 n = 0; n < WAKEUPS; n++) {
		u64 begin;
		u32 i = 0;

		sleep_for(s, sleep + rnd_in(&seed, 0, 40) * 100 * US);
		begin = s->now;
		wake(s);
		while (s->now < begin + work) {
			step(s);
			if (i < READS && s->now >= begin + at[i])
				khz[i++][n] = s->khz;
		}
		while (i < READS)
			khz[i++][n] = 0;
		hook(s, true);
		s->estimate = s->util > s->estimate ? s->util : s->estimate * 3 / 4 + s->util / 4;
	}
	for (u32 i = 0; i < READS; i++)
		qsort(khz[i], WAKEUPS, sizeof(khz[i][0]), compare_khz);
}

/* After a sleep the frequency is as high as schedutil's at each quantile, within an OPP. */
static void test_wakeups_ramp_no_slower_at_any_quantile(void **state)
{
	static const u64 sleeps[] = { 4, 20, 60, 500 }, works[] = { 3, 10, 30, 60 };
	u32 switches[2] = {};

	(void)state;
	for (u32 z = 0; z < ARRAY_SIZE(sleeps); z++) {
		for (u32 w = 0; w < ARRAY_SIZE(works); w++) {
			static u32 khz[2][READS][WAKEUPS];
			u64 sum[2] = {};

			for (u32 ours = 0; ours < 2; ours++) {
				struct side s;

				start(&s, ours, .1);
				wakeups(&s, sleeps[z] * MS, works[w] * MS, khz[ours]);
				switches[ours] += s.switches;
			}
			/* At the edge of an OPP one of two equal models steps first. */
			for (u32 i = 0; i < READS * WAKEUPS; i++) {
				u32 read = i / WAKEUPS, n = i % WAKEUPS;

				sum[0] += khz[0][read][n];
				sum[1] += khz[1][read][n];
				if (khz[1][read][n] < gchint_percent(khz[0][read][n], 96))
					fail_msg("%u ms of sleep, %u of work, read %u, place %u: "
						 "%u kHz, schedutil %u",
						 (u32)sleeps[z], (u32)works[w], read, n,
						 khz[1][read][n], khz[0][read][n]);
			}
			assert_cmp(sum[1] * 1000, >=, sum[0] * 998);
		}
	}
	printf("# %u switches, schedutil %u\n", switches[1], switches[0]);
	assert_cmp(switches[1] * 10, <=, switches[0] * 11);
}

/* The scheduler's hook computes a thread's share only when it may have changed. */
static void test_continuously_running_thread_causes_no_requests(void **state)
{
	struct gchint_load l;

	(void)state;
	gchint_load_init(&l, NULL, 0, 1, 0);
	assert_true(gchint_load_set_task(&l, 1, 300));
	gchint_load_attach_task(&l, 1, 300, 0);
	assert_false(gchint_load_set_task(&l, 1, 400));
	assert_int_equal(l.task, 400);
	assert_false(gchint_load_set_task(&l, 2, GCHINT_ONE / 32 - 1));
	assert_true(gchint_load_set_task(&l, 2, GCHINT_ONE / 32));
	gchint_load_attach_task(&l, 2, GCHINT_ONE / 32, 0);
	assert_true(gchint_load_set_task(&l, 1, 300));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load_step_takes_no_longer_and_no_more_switches),
		cmocka_unit_test(test_new_program_starts_no_slower),
		cmocka_unit_test(test_new_thread_counts_from_its_start),
		cmocka_unit_test(test_duty_cycles_cost_the_same),
		cmocka_unit_test(test_wakeups_ramp_no_slower_at_any_quantile),
		cmocka_unit_test(test_continuously_running_thread_causes_no_requests),
	};

	return run_tap(tests);
}
