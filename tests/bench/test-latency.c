// SPDX-License-Identifier: MIT
#include "unit.h"

#include "lib/hiccup.h"
#include "lib/histogram.h"
#include "lib/latency.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct histogram h, g;

static void histogram_is_exact_enough(void **state)
{
	static uint64_t value[5000];

	(void)state;
	memset(&h, 0, sizeof(h));
	for (int i = 0; i < 5000; i++)
		value[i] = (uint64_t)i * (uint64_t)i * 977;
	for (int i = 0; i < 5000; i++)
		histogram_add(&h, value[(i * 37) % 5000]);
	assert_int_equal(h.count, 5000);
	for (int i = 1; i <= 100; i++) {
		double want = (double)value[i * 50 - 1];

		assert_near((double)histogram_quantile(&h, i / 100.0), want, want / 1000 + 1);
	}
	assert_true(histogram_quantile(&h, 1) == value[4999]);
	assert_near(histogram_mean(&h), 977.0 * 4999 * 9999 / 6, 1e-3);
}

static void histogram_ends(void **state)
{
	(void)state;
	memset(&h, 0, sizeof(h));
	assert_true(isnan(histogram_mean(&h)));
	assert_int_equal(histogram_quantile(&h, 0.5), 0);
	histogram_add(&h, 0);
	histogram_add(&h, UINT64_MAX);
	assert_int_equal(histogram_quantile(&h, 0.5), 0);
	assert_true(histogram_quantile(&h, 1) <= h.max);
	memset(&g, 0, sizeof(g));
	histogram_add(&g, 5);
	histogram_merge(&h, &g);
	assert_int_equal(h.count, 3);
	assert_int_equal(histogram_quantile(&h, 0.5), 5);
}

static void missed_samples_are_added(void **state)
{
	/* A sampler that meant to look each 10 and was held up for 95. */
	(void)state;
	memset(&h, 0, sizeof(h));
	histogram_add_corrected(&h, 95, 10);
	assert_int_equal(h.count, 9);
	for (int i = 0; i < 9; i++)
		assert_int_equal(h.slot[15 + 10 * i], 1);
	memset(&h, 0, sizeof(h));
	histogram_add_corrected(&h, 9, 10);
	histogram_add_corrected(&h, 19, 10);
	assert_int_equal(h.count, 2);
}

/* A program whose threads are all held up for 30 ms once: hiccups must see it. */
static atomic_int held;

static void hold_up(void *arg)
{
	struct timespec t = { 0, 30000000 };

	if (atomic_fetch_add((atomic_int *)arg, 1) == 20)
		nanosleep(&t, NULL);
}

static void hiccups_record_a_stop(void **state)
{
	struct hiccup_hooks hooks = { .after = hold_up, .arg = &held };
	struct timespec t = { 0, 5000000 };
	struct hiccup_control *control = hiccup_control_start(1000000);
	struct hiccup *meter = hiccup_start(1000000, &hooks);

	(void)state;
	assert_non_null(control);
	assert_non_null(meter);
	while (atomic_load(&held) < 25)
		nanosleep(&t, NULL);
	hiccup_stop(meter, &h);
	hiccup_control_stop(control, &g);
	assert_true(h.max >= 29000000);
	/* About 29 samples were missed; all of them are counted. */
	assert_true(h.count >= (uint64_t)atomic_load(&held) + 25);
	assert_true(g.count >= 1);
}

static void latencies_recorded(void **state)
{
	/* Ten requests a unit apart, each done at once, but the fifth takes 4 units. */
	struct request r[10];
	int64_t simple[10], metered[10];
	int64_t at = 0;

	(void)state;
	for (int i = 0; i < 10; i++) {
		r[i].start = at;
		at += i == 4 ? 400 : 50;
		r[i].end = at;
		if (i != 4)
			at += 50;
	}
	latency_simple(r, 10, simple);
	assert_int_equal(simple[4], 400);
	assert_int_equal(simple[5], 50);
	assert_int_equal(latency_metered(r, 10, 0, metered), 0);
	for (int i = 0; i < 10; i++)
		assert_true(metered[i] >= simple[i]);
	/* The one behind the slow one was held up by it. */
	assert_true(metered[5] > 150);
	assert_int_equal(latency_quantile(simple, 10, 0.5), 50);
	assert_int_equal(latency_quantile(simple, 10, 1), 400);
	assert_int_equal(latency_quantile(simple, 0, 1), 0);
}

static void even_arrivals_are_unchanged(void **state)
{
	enum {
		N = 500
	};
	struct request r[N];
	int64_t out[N];

	(void)state;
	for (int i = 0; i < N; i++)
		r[i] = (struct request){ i * 1000, i * 1000 + 300 };
	for (int64_t window = 0; window < 60000; window += 20000) {
		assert_int_equal(latency_metered(r, N, window, out), 0);
		for (int i = 0; i < N; i++)
			assert_in_range(out[i], 299, 302);
	}
}

static void short_windows_attribute_less_delay(void **state)
{
	/* One long stop in the middle: a wide window blames it on more requests. */
	enum {
		N = 400
	};
	struct request r[N];
	int64_t full[N], narrow[N], tiny[N], at = 0;
	int64_t sum_full = 0, sum_narrow = 0, sum_tiny = 0;

	(void)state;
	for (int i = 0; i < N; i++) {
		r[i].start = at;
		at += i == 200 ? 100000 : 1000;
		r[i].end = at;
	}
	assert_int_equal(latency_metered(r, N, 0, full), 0);
	assert_int_equal(latency_metered(r, N, 50000, narrow), 0);
	assert_int_equal(latency_metered(r, N, 10, tiny), 0);
	for (int i = 0; i < N; i++) {
		assert_true(full[i] >= r[i].end - r[i].start);
		assert_true(narrow[i] >= r[i].end - r[i].start);
		sum_full += full[i];
		sum_narrow += narrow[i];
		sum_tiny += tiny[i] - (r[i].end - r[i].start);
	}
	assert_true(sum_full > sum_narrow);
	assert_true(sum_tiny <= 6 * N);
	r[1].start = -1;
	assert_int_equal(latency_metered(r, N, 10, tiny), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(histogram_is_exact_enough),
		cmocka_unit_test(histogram_ends),
		cmocka_unit_test(missed_samples_are_added),
		cmocka_unit_test(hiccups_record_a_stop),
		cmocka_unit_test(latencies_recorded),
		cmocka_unit_test(even_arrivals_are_unchanged),
		cmocka_unit_test(short_windows_attribute_less_delay),
	};

	return run_tap(tests);
}
