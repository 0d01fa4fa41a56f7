// SPDX-License-Identifier: MIT
/* Every workload, small, without a collector, under the sanitizers. */
#include "unit.h"

#include "run/run.h"
#include "workloads/registry.h"
#include "workloads/workload.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *name;
	const char *setting[6];
} small[] = {
	{ "app",
	  { "alloc=4", "live=1", "objects=0.06", "live-objects=0.01", "threads=3", "active=2" } },
	{ "frames", { "frames=6", "hz=100", "alloc=8K", "lasting=32K", "work=1000", "threads=2" } },
	{ "gcbench", { "stretch=10", "long=8", "max=8", "array=1000", "threads=2", NULL } },
	{ "gcw", { "total=4M", "bucket=256K", "iterations=2", "threads=2", "check=1", NULL } },
	{ "hashtable", { "entries=1000", "changes=3000", "threads=2", NULL, NULL, NULL } },
	{ "jbb", { "orders=30", "customers=20", "items=50", "requests=2000", "threads=2", NULL } },
	{ "methods",
	  { "calls=800", "objects=3", "live=40", "native=64", "names=none", "bytecodes=20" } },
	{ "quads", { "depth=4", "trees=20", "threads=2", NULL, NULL, NULL } },
	{ "serve",
	  { "entries=300", "requests=300", "rate=5000", "reads=4", "work=100", "threads=2" } },
	{ "splay", { "nodes=300", "changes=1000", "depth=0", "threads=2", NULL, NULL } },
};

#define SMALL (sizeof(small) / sizeof(*small))

static int run_small(size_t i, const char *options, struct run_result *r)
{
	struct run_request q = {
		.workload = small[i].name,
		.setting = small[i].setting,
		.options = options,
	};

	while (q.settings < 6 && small[i].setting[q.settings])
		q.settings++;
	return run_here(&q, r);
}

static size_t workload_number(const char *name)
{
	size_t i = 0;

	while (strcmp(small[i].name, name))
		i++;
	return i;
}

static void all_are_listed_in_order(void **state)
{
	size_t n = 0;

	(void)state;
	for (; registry_at(n); n++) {
		assert_ptr_equal(registry_find(registry_at(n)->name), registry_at(n));
		if (n)
			assert_true(strcmp(registry_at(n - 1)->name, registry_at(n)->name) < 0);
		for (int k = 1; registry_at(n)->settings[k].key; k++)
			assert_true(strcmp(registry_at(n)->settings[k - 1].key,
					   registry_at(n)->settings[k].key) < 0);
	}
	assert_int_equal(n, SMALL);
	assert_null(registry_find("nothing"));
}

static void each_is_deterministic(void **state)
{
	(void)state;
	for (size_t i = 0; i < SMALL; i++) {
		struct run_result a, b;

		if (run_small(i, NULL, &a))
			fail_msg("%s: %s", small[i].name, a.error);
		assert_int_equal(run_small(i, "pretouch=1", &b), 0);
		assert_true(a.allocated_objects > 1000 && a.allocated_bytes > 10000);
		assert_true(a.allocated_objects == b.allocated_objects);
		assert_true(a.allocated_bytes == b.allocated_bytes);
		assert_true(a.checksum && a.checksum == b.checksum);
		assert_true(a.score_ms > 0 && a.cpu_ms > 0);
		assert_int_equal(a.collections, 0);
	}
}

static void a_full_heap_is_an_error(void **state)
{
	(void)state;
	for (size_t i = 0; i < SMALL; i++) {
		struct run_result r;

		/* The least the heap takes is a chunk a thread; each workload here asks more. */
		if (strcmp(small[i].name, "gcw") && strcmp(small[i].name, "app"))
			continue;
		assert_int_equal(run_small(i, "max=4M", &r), -ENOMEM);
		assert_non_null(strstr(r.error, "heap is too small"));
	}
}

static void wrong_calls_are_refused(void **state)
{
	static const char *const bad[][2] = {
		{ "depht=3", "depht" },
		{ "depth", "KEY=VALUE" },
		{ "depth=99", "depth" },
		{ "threads=999", "threads" },
	};
	struct run_request q = { .workload = "quads", .settings = 1 };
	struct run_result r;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		q.setting = bad[i];
		assert_true(run_here(&q, &r) < 0);
		assert_non_null(strstr(r.error, bad[i][1]));
	}
	q.settings = 0;
	q.workload = "nothing";
	assert_int_equal(run_here(&q, &r), -ENOENT);
	q.workload = "quads";
	q.options = "mxa=3";
	assert_true(run_here(&q, &r) < 0);
	assert_non_null(strstr(r.error, "mxa"));
	q.options = NULL;
	q.profile = "/no/such.profile";
	assert_int_equal(run_here(&q, &r), -ENOENT);
}

static void latencies_of_requests(void **state)
{
	struct run_result r;

	(void)state;
	assert_int_equal(run_small(workload_number("jbb"), NULL, &r), 0);
	assert_int_equal(r.simple.count, 4000);
	assert_true(r.simple.p50 > 0 && r.simple.p50 <= r.simple.max);
	assert_true(r.metered_full.max >= r.simple.max);
	assert_false(r.has_deadline);
	assert_int_equal(run_small(workload_number("quads"), NULL, &r), 0);
	assert_true(isnan(r.simple.max));
}

static int run_with(const char *workload, const char *const *setting, struct run_result *r)
{
	struct run_request q = { .workload = workload, .setting = setting };

	while (q.settings < 5 && setting[q.settings])
		q.settings++;
	return run_here(&q, r);
}

/* What is bounded here is bounded from below: a busy machine changes nothing. */
static void arrivals_are_open_loop(void **state)
{
	static const char *const crowd[] = { "rate=1000000", "requests=400", "work=200000",
					     "threads=1", "entries=100" };
	static const char *const calm[] = { "rate=2000", "requests=400", "work=0", "threads=2",
					    "entries=100" };
	static const char *const closed[] = { "rate=0", "requests=400", "work=1000", "threads=2",
					      "entries=100" };
	struct run_result r;

	(void)state;
	/* All come at once: each waits for those before it, and latency counts that. */
	assert_int_equal(run_with("serve", crowd, &r), 0);
	assert_int_equal(r.simple.count, 400);
	assert_true(r.simple.max > r.score_ms / 2 && r.simple.p50 > r.score_ms / 8);
	/* 400 at 2000 a second need 200 ms, by chance 20 more or less twice in three. */
	assert_int_equal(run_with("serve", calm, &r), 0);
	assert_true(r.score_ms > 120);
	assert_int_equal(run_with("serve", closed, &r), 0);
	assert_int_equal(r.simple.count, 400);
}

static void late_frames_are_missed(void **state)
{
	static const char *const slow[] = { "hz=1000", "frames=5", "work=20000000", "swing=0",
					    "lasting=4K" };
	static const char *const idle[] = { "hz=50", "frames=10", "work=0", "swing=0",
					    "lasting=4K" };
	struct run_result r;

	(void)state;
	assert_int_equal(run_with("frames", slow, &r), 0);
	assert_true(r.has_deadline);
	assert_int_equal(r.missed, 5);
	/* Each began when the one before it was over. */
	assert_true(r.simple.total <= r.score_ms);
	assert_int_equal(run_with("frames", idle, &r), 0);
	assert_true(r.score_ms >= 10 * 20);
	assert_int_equal(r.simple.count, 10);
}

static void a_child_that_hangs_or_dies(void **state)
{
	static const char *const forever[] = { "idle-gaps=1000", "idle-ms=60000" };
	struct run_request q = {
		.workload = "app",
		.setting = forever,
		.settings = 2,
		.timeout_s = 1,
	};
	struct run_result r;

	(void)state;
	assert_int_equal(run_isolated(&q, &r), -ECHILD);
	assert_non_null(strstr(r.error, "1 s"));
	assert_true(isnan(r.score_ms));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_listed_in_order),
		cmocka_unit_test(each_is_deterministic),
		cmocka_unit_test(a_full_heap_is_an_error),
		cmocka_unit_test(wrong_calls_are_refused),
		cmocka_unit_test(latencies_of_requests),
		cmocka_unit_test(arrivals_are_open_loop),
		cmocka_unit_test(late_frames_are_missed),
		cmocka_unit_test(a_child_that_hangs_or_dies),
	};

	return run_tap(tests);
}
