// SPDX-License-Identifier: GPL-2.0-only
/*
 * Load from idle time, compared with a floating-point model of PELT and with schedutil's I/O boost.
 */
#include "cpu.h"

static void test_idle_is_zero_load(void **state)
{
	struct cpu c;

	(void)state;
	cpu_init(&c);
	for (int i = 0; i < 100; i++) {
		step(&c, 1000, false, 1);
		account(&c, 1, false);
	}
	assert_int_equal(gchint_load_all(&c.load), 0);
	assert_int_equal(gchint_load_base(&c.load), 0);
}

static void test_burst_counts_as_in_pelt(void **state)
{
	(void)state;
	for (double scale = 0.1; scale <= 1; scale += 0.1) {
		struct cpu c;

		cpu_init(&c);
		for (u32 ms = 0; ms < 100; ms++) {
			step(&c, 1000, true, scale);
			account(&c, scale, false);
			assert_near(all(&c), c.pelt.util, 0.012);
		}
	}
}

static void test_long_idle_is_noticed(void **state)
{
	struct cpu c;

	(void)state;
	cpu_init(&c);
	for (u32 ms = 0; ms < 400; ms++) {
		step(&c, 1000, true, 1);
		account(&c, 1, false);
	}
	assert_false(gchint_load_idle(&c.load, TICK));
	step(&c, 3000, false, 1);
	account(&c, 1, false);
	assert_false(gchint_load_idle(&c.load, TICK));
	step(&c, 2000, false, 1);
	account(&c, 1, false);
	assert_true(gchint_load_idle(&c.load, TICK));
	assert_true(all(&c) > 0.8);
	step(&c, 100, true, 1);
	account(&c, 1, false);
	assert_false(gchint_load_idle(&c.load, TICK));
}

static void test_steady_share_is_found(void **state)
{
	(void)state;
	for (u64 busy = 100; busy <= 1000; busy += 100) {
		struct cpu c;

		cpu_init(&c);
		for (int i = 0; i < 500; i++) {
			step(&c, busy, true, 1);
			step(&c, 1000 - busy, false, 1);
			account(&c, 1, false);
		}
		assert_near(all(&c), (double)busy / 1000, 0.02);
	}
}

/* How much half a window can move a mean. */
static double half_window(void)
{
	return 1 - pelt_decay((double)window / 2e9);
}

/*
 * For the same trace at the same frequency the result equals PELT except for the order within a
 * window, and is neither above nor below it overall: either would cost something.
 */
static void test_load_follows_pelt_overall(void **state)
{
	static const u64 windows[] = { 1 * MS, 4 * MS, 8 * MS, 20 * MS };
	double off[ARRAY_SIZE(windows)] = {};
	u32 reads[ARRAY_SIZE(windows)] = {};
	u64 seed = 42;

	(void)state;
	for (u32 run = 0; run < 400; run++) {
		double scale = 0.15 + 0.85 * rnd_in(&seed, 0, 1000) / 1000;
		u32 longest = 1U << rnd_in(&seed, 2, 17);
		u32 w = run % ARRAY_SIZE(windows);
		struct cpu c;
		bool busy = false;
		u64 next_tick = 0;
		u32 left = 0;

		window = windows[w];
		cpu_init(&c);
		for (u32 us = 0; us < 1000000; us += 100) {
			if (!left) {
				busy = !busy;
				left = rnd_in(&seed, 1, longest / 100 + 1);
				/* Wakeups and sleeps call the hook. */
				account(&c, scale, false);
			} else if (us >= next_tick && busy) {
				account(&c, scale, false);
				next_tick = us + TICK / US;
			}
			step(&c, 100, busy, scale);
			left--;
			if (c.now % MS == 0) {
				/* The hook's own read, at any time. */
				struct cpu look = c;

				account(&look, scale, false);
				off[w] += all(&look) - c.pelt.util;
				reads[w]++;
				if (fabs(all(&look) - c.pelt.util) > half_window() + 0.025)
					fail_msg("run %u, %u us: %.3f, PELT says %.3f", run, us,
						 all(&look), c.pelt.util);
			}
		}
	}
	window = 4 * MS;
	for (u32 w = 0; w < ARRAY_SIZE(windows); w++)
		assert_near(off[w] / reads[w], 0, 0.002 + (double)windows[w] / (4. * S));
}

/* The current window does not justify a spike. */
static void test_running_mean_equals_pelt(void **state)
{
	struct cpu c;

	(void)state;
	window = 100 * MS;
	cpu_init(&c);
	for (u32 us = 1000; us < 100000; us += 1000) {
		step(&c, 1000, true, 1);
		account(&c, 1, false);
		assert_near(all(&c), c.pelt.util, 0.015);
	}
	window = 4 * MS;
}

/* A CPU that a limit kept slow gets full speed once the limit is lifted. */
static void test_busy_under_a_limit_saturates(void **state)
{
	struct cpu c;

	(void)state;
	cpu_init(&c);
	for (int i = 0; i < 400; i++) {
		step(&c, 1000, true, 0.3);
		account(&c, 0.3, false);
		assert_true(all(&c) >= c.pelt.util - 0.025);
	}
	assert_true(all(&c) > 0.9);
}

/* The spike that a lifted clamp causes in schedutil does not happen. */
static void test_hinted_time_leaves_no_trace_in_base(void **state)
{
	struct cpu c;
	double before;

	(void)state;
	cpu_init(&c);
	for (int i = 0; i < 200; i++) {
		step(&c, 300, true, 1);
		step(&c, 700, false, 1);
		account(&c, 1, false);
	}
	before = base(&c);
	for (int i = 0; i < 300; i++) {
		step(&c, 1000, true, 0.4);
		account(&c, 0.4, true);
		assert_near(base(&c), before, 0.03);
	}
	assert_true(c.pelt.util > 0.9);
	assert_true(all(&c) > 0.9);
	/* And after it both models agree again. */
	for (int i = 0; i < 400; i++) {
		step(&c, 300, true, 1);
		step(&c, 700, false, 1);
		account(&c, 1, false);
		assert_near(base(&c), before, 0.05);
	}
	assert_int_equal(gchint_load_all(&c.load), gchint_load_base(&c.load));
}

/* Time under a cap is dropped as a whole, not left to decay. */
static void test_hinted_time_decays_completely(void **state)
{
	struct cpu c;

	(void)state;
	cpu_init(&c);
	for (int i = 0; i < 300; i++) {
		step(&c, 1000, true, 1);
		account(&c, 1, true);
	}
	assert_int_equal(gchint_load_base(&c.load), 0);
	step(&c, 250000, false, 1);
	account(&c, 1, false);
	assert_cmp(gchint_load_all(&c.load), >, 0);
	step(&c, 7000, false, 1);
	account(&c, 1, false);
	assert_int_equal(gchint_load_all(&c.load), 0);
}

/* A cap on an idle CPU slowed no thread: nothing is set apart. */
static void test_idle_under_a_cap_is_not_hinted_time(void **state)
{
	struct cpu c;

	(void)state;
	cpu_init(&c);
	step(&c, 8000, true, 1);
	account(&c, 1, false);
	step(&c, 8000, false, 1);
	account(&c, 1, true);
	assert_cmp(c.load.split_ns, ==, 0);
	step(&c, 8000, true, 1);
	account(&c, 1, true);
	assert_cmp(c.load.split_ns, ==, c.load.last_ns);
	assert_cmp(gchint_load_base(&c.load), <, gchint_load_all(&c.load));
}

static void test_neighbours_count_in_base(void **state)
{
	struct cpu c;

	(void)state;
	cpu_init(&c);
	/* A hinted and an unhinted thread alternate: base is the load of the unhinted one. */
	for (int i = 0; i < 200; i++) {
		step(&c, 1000, true, 0.4);
		account(&c, 0.4, true);
		step(&c, 1000, true, 0.8);
		account(&c, 0.8, false);
	}
	assert_true(base(&c) >= 0.79);
	assert_true(all(&c) >= base(&c));
}

static void test_broken_idle_counters_are_survived(void **state)
{
	u64 seed = 3;
	struct cpu c;

	(void)state;
	cpu_init(&c);
	for (u32 n = 0; n < 200000; n++) {
		u64 jump = rnd(&seed) % 8 ? rnd_in(&seed, 0, 20000000) : (u64)rnd(&seed) << 20;

		c.now = rnd(&seed) % 16 ? c.now + jump : c.now - min_t(u64, jump, c.now);
		c.idle_us = rnd(&seed) % 2 ? c.idle_us + rnd_in(&seed, 0, 5000) :
					     (u64)rnd(&seed) << rnd_in(&seed, 0, 31);
		gchint_load_account(&c.load, c.now, c.idle_us, rnd_in(&seed, 0, 3000),
				    rnd(&seed) & 1, WINDOW);
		assert_cmp(gchint_load_all(&c.load), <=, GCHINT_ONE);
		assert_cmp(gchint_load_base(&c.load), <=, gchint_load_all(&c.load));
	}
}

static void test_decay_has_pelts_half_life(void **state)
{
	struct cpu c;

	(void)state;
	cpu_init(&c);
	for (int i = 0; i < 512; i++) {
		step(&c, 1000, true, 1);
		account(&c, 1, false);
	}
	for (int i = 1; i <= 8; i++) {
		step(&c, 33554, false, 1);
		account(&c, 1, false);
		assert_near(all(&c), pow(0.5, i), 0.005);
	}
}

/* The kernel's governor, as far as I/O wait is concerned. */
struct reference {
	u32 boost;
	bool pending;
	u64 last;
};

static u32 reference_io(struct reference *r, u64 now, bool woken)
{
	u64 delta = now - r->last;
	u32 util;

	if (r->boost && delta > TICK) {
		r->boost = woken ? 128 : 0;
		r->pending = woken;
	} else if (woken && !r->pending) {
		r->pending = true;
		r->boost = r->boost ? (r->boost * 2 < 1024 ? r->boost * 2 : 1024) : 128;
	}
	r->last = now;
	if (!r->boost)
		return 0;
	if (!r->pending) {
		r->boost >>= 1;
		if (r->boost < 128)
			r->boost = 0;
	}
	r->pending = false;
	util = r->boost;
	return util;
}

/* Three updates with one timestamp: idle time that the second sees is not lost to the third. */
static void test_no_idle_time_is_lost_between_equal_timestamps(void **state)
{
	struct gchint_load l;

	(void)state;
	gchint_load_init(&l, NULL, 0, 5 * S, 0);
	gchint_load_account(&l, 6 * S, 0, GCHINT_ONE, false, WINDOW);
	assert_int_equal(gchint_load_all(&l), GCHINT_ONE);
	gchint_load_account(&l, 6 * S, 900000, GCHINT_ONE, false, WINDOW);
	gchint_load_account(&l, 7 * S, 900000, GCHINT_ONE, false, WINDOW);
	assert_cmp(gchint_load_all(&l), <, GCHINT_ONE);
	assert_cmp(l.all.mean, <, GCHINT_ONE << 10);
}

/* Each microsecond counts, not every other one. */
static void test_a_microsecond_decays(void **state)
{
	u32 before = UINT32_MAX;

	(void)state;
	for (u32 us = 2000; us < 2100; us++) {
		struct gchint_load l;

		gchint_load_init(&l, NULL, 0, 5 * S, 0);
		gchint_load_account(&l, 6 * S, 0, GCHINT_ONE, false, 1);
		gchint_load_account(&l, 6 * S + us * US, us, GCHINT_ONE, false, 1);
		assert_cmp(l.all.mean, <, before);
		before = l.all.mean;
	}
}

static void test_io_boost_is_no_worse_than_in_schedutil(void **state)
{
	struct reference r = {};
	struct gchint_load l;
	u64 seed = 11, now = S;

	(void)state;
	gchint_load_init(&l, NULL, 0, now, 0);
	for (u32 n = 0; n < 100000; n++) {
		bool woken = rnd(&seed) % 3;
		u32 ours;

		now += rnd(&seed) % 50 ? rnd_in(&seed, 10, 2000) * US : rnd_in(&seed, 1, 20) * MS;
		gchint_load_iowait(&l, now, woken, TICK);
		ours = gchint_load_boost(&l);
		assert_cmp(ours, >=, reference_io(&r, now, woken));
		assert_cmp(ours, <=, GCHINT_ONE);
	}
}

static void test_io_boost_doubles_and_decays(void **state)
{
	struct gchint_load l;
	u64 now = S;
	u32 want = GCHINT_ONE / 8;

	(void)state;
	gchint_load_init(&l, NULL, 0, now, 0);
	for (int i = 0; i < 6; i++) {
		gchint_load_iowait(&l, now += MS, true, TICK);
		assert_int_equal(gchint_load_boost(&l), want);
		want = min_t(u32, want * 2, GCHINT_ONE);
	}
	for (want = GCHINT_ONE / 2; want >= GCHINT_ONE / 8; want /= 2) {
		gchint_load_iowait(&l, now += MS, false, TICK);
		assert_int_equal(gchint_load_boost(&l), want);
	}
	assert_int_equal(gchint_load_boost(&l), 0);
	/* A single wakeup now and then is not I/O. */
	gchint_load_iowait(&l, now += MS, true, TICK);
	assert_int_equal(gchint_load_boost(&l), GCHINT_ONE / 8);
	gchint_load_iowait(&l, now += 100 * MS, true, TICK);
	assert_int_equal(gchint_load_boost(&l), GCHINT_ONE / 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_is_zero_load),
		cmocka_unit_test(test_burst_counts_as_in_pelt),
		cmocka_unit_test(test_long_idle_is_noticed),
		cmocka_unit_test(test_steady_share_is_found),
		cmocka_unit_test(test_load_follows_pelt_overall),
		cmocka_unit_test(test_running_mean_equals_pelt),
		cmocka_unit_test(test_busy_under_a_limit_saturates),
		cmocka_unit_test(test_hinted_time_leaves_no_trace_in_base),
		cmocka_unit_test(test_hinted_time_decays_completely),
		cmocka_unit_test(test_idle_under_a_cap_is_not_hinted_time),
		cmocka_unit_test(test_neighbours_count_in_base),
		cmocka_unit_test(test_broken_idle_counters_are_survived),
		cmocka_unit_test(test_decay_has_pelts_half_life),
		cmocka_unit_test(test_no_idle_time_is_lost_between_equal_timestamps),
		cmocka_unit_test(test_a_microsecond_decays),
		cmocka_unit_test(test_io_boost_is_no_worse_than_in_schedutil),
		cmocka_unit_test(test_io_boost_doubles_and_decays),
	};

	return run_tap(tests);
}
