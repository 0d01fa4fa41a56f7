// SPDX-License-Identifier: GPL-2.0-only
/* The histogram of latencies: every time falls into one narrow bucket. */
#include "unit.h"
#include "latency.h"

static void test_buckets_are_contiguous(void **state)
{
	(void)state;
	assert_int_equal(gchint_latency_bucket(0), 0);
	for (u32 i = 0; i < GCHINT_LATENCY_BUCKETS - 1; i++) {
		u64 end = gchint_latency_bound(i);

		assert_int_equal(gchint_latency_bucket(end - 1), i);
		assert_int_equal(gchint_latency_bucket(end), i + 1);
	}
	assert_int_equal(gchint_latency_bucket(U64_MAX), GCHINT_LATENCY_BUCKETS - 1);
}

static void test_buckets_are_narrow(void **state)
{
	(void)state;
	for (u32 i = 1; i < GCHINT_LATENCY_BUCKETS - 1; i++) {
		double from = (double)gchint_latency_bound(i - 1);
		double to = (double)gchint_latency_bound(i);

		assert_true(to / from <= 1.251);
	}
	/* The targets lie within a bucket. */
	assert_cmp(gchint_latency_bound(0), <, 50 * US);
	assert_cmp(gchint_latency_bound(GCHINT_LATENCY_BUCKETS - 1), >, 500 * US);
}

static void test_quantile_is_not_below_the_true_value(void **state)
{
	static u64 counts[GCHINT_LATENCY_BUCKETS];
	u64 seed = 9, all = 0;

	(void)state;
	assert_int_equal(gchint_latency_quantile(counts, 50), GCHINT_LATENCY_BUCKETS);
	/* 98 of 100 at 30 us, two at 5 ms. */
	for (u32 i = 0; i < 1000; i++)
		counts[gchint_latency_bucket(i % 50 ? 30 * US : 5 * MS)]++;
	assert_int_equal(gchint_latency_quantile(counts, 50), gchint_latency_bucket(30 * US));
	assert_int_equal(gchint_latency_quantile(counts, 98), gchint_latency_bucket(30 * US));
	assert_int_equal(gchint_latency_quantile(counts, 99), gchint_latency_bucket(5 * MS));
	assert_int_equal(gchint_latency_quantile(counts, 100), gchint_latency_bucket(5 * MS));
	for (u32 i = 0; i < 1000; i++) {
		counts[rnd_in(&seed, 0, GCHINT_LATENCY_BUCKETS - 1)] += rnd_in(&seed, 0, 100);
		all = 0;
		for (u32 b = 0; b < GCHINT_LATENCY_BUCKETS; b++)
			all += counts[b];
		for (u32 percent = 1; percent <= 100; percent += 33) {
			u32 at = gchint_latency_quantile(counts, percent);
			u64 below = 0;

			for (u32 b = 0; b < at; b++)
				below += counts[b];
			assert_cmp(below * 100, <, all * percent);
			assert_cmp((below + counts[at]) * 100, >=, all * percent);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets_are_contiguous),
		cmocka_unit_test(test_buckets_are_narrow),
		cmocka_unit_test(test_quantile_is_not_below_the_true_value),
	};

	return run_tap(tests);
}
