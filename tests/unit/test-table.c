// SPDX-License-Identifier: GPL-2.0-only
/*
 * On a machine with more CPUs than the information page holds every CPU still has an entry: what
 * the kernel publishes, and what the library reads from it.
 */
#define _GNU_SOURCE
#include "unit.h"
#include "../../kmod/session/table.c"
#include "../../libgchint/doorbell.c"

#define CPUS 1024

/** struct published - a kernel's table, and what user space has mapped of it */
struct published {
	struct gchint_table t;
	struct gchint_info info;
	struct gchint_info_cpu draft[CPUS], cpu[CPUS];
};

static int begin(void **state)
{
	struct published *k = calloc(1, sizeof(*k));

	k->t.nr_cpus = CPUS;
	k->t.cpu = k->draft;
	k->info.nr_cpus = CPUS;
	k->info.cpu_size = sizeof(k->cpu[0]);
	gchint_table_begin(&k->t);
	*state = k;
	return 0;
}

static int end(void **state)
{
	free(*state);
	return 0;
}

/* One policy per @width CPUs; hints act on all of them, or on every other one. */
static void fill(struct published *k, u32 width, bool all)
{
	struct gchint_info_policy p = { .governor = "gchint" };

	gchint_table_begin(&k->t);
	for (u32 cpu = 0; cpu < CPUS; cpu++) {
		u32 n = cpu / width;

		p.flags = GCHINT_POLICY_PRESENT | (all || n & 1 ? GCHINT_POLICY_GCHINT : 0);
		p.max_khz = 1000000 + n;
		gchint_table_set_cpu(&k->t, cpu, n * width, &p);
	}
	gchint_table_publish(&k->t, &k->info, k->cpu);
}

/* The mapping distinguishes all CPUs, however many the page holds. */
static void test_each_cpu_has_an_entry(void **state)
{
	struct published *k = *state;

	for (u32 width = 1; width <= CPUS; width *= 2) {
		fill(k, width, false);
		for (u32 cpu = 0; cpu < CPUS; cpu++) {
			u32 n = cpu / width;

			assert_int_equal(k->cpu[cpu].policy_cpu, n * width);
			assert_int_equal(k->cpu[cpu].policy.max_khz, 1000000 + n);
			assert_string_equal(k->cpu[cpu].policy.governor, "gchint");
			assert_int_equal(doorbell_governed(&k->info, k->cpu, (int)cpu), n & 1);
		}
	}
	assert_true(doorbell_governed(&k->info, k->cpu, CPUS));
	assert_true(doorbell_governed(&k->info, k->cpu, -1));
}

/* A library that knows only the page. */
static void test_page_covers_every_cpu(void **state)
{
	struct published *k = *state;

	for (u32 width = 1; width <= CPUS; width *= 2) {
		u32 listed =
			CPUS / width < GCHINT_INFO_POLICIES ? CPUS / width : GCHINT_INFO_POLICIES;

		k->t.nr = 0;
		fill(k, width, false);
		assert_int_equal(k->t.nr, listed);
		assert_int_equal(k->info.nr_policies, listed);
		for (u32 cpu = 0; cpu < CPUS; cpu++) {
			u32 n = cpu / width;
			bool published = cpu < GCHINT_INFO_CPUS && n < listed;
			bool heard = doorbell_governed(&k->info, NULL, (int)cpu);

			if (heard != (published ? n & 1 : 1))
				fail_msg("%u CPUs a policy: CPU %u %s", width, cpu,
					 heard ? "heard" : "unheard");
		}
	}
}

static void test_cpu_without_a_policy_has_no_doorbell(void **state)
{
	const struct gchint_info_policy p = { .flags = GCHINT_POLICY_PRESENT |
						       GCHINT_POLICY_GCHINT };
	struct published *k = *state;

	gchint_table_set_cpu(&k->t, 3, 3, &p);
	assert_true(gchint_table_has(&k->t, 3));
	assert_false(gchint_table_has(&k->t, 4));
	gchint_table_publish(&k->t, &k->info, k->cpu);
	for (int cpu = 0; cpu < CPUS; cpu++) {
		assert_int_equal(doorbell_governed(&k->info, k->cpu, cpu), cpu == 3);
		if (cpu < GCHINT_INFO_CPUS)
			assert_int_equal(doorbell_governed(&k->info, NULL, cpu), cpu == 3);
	}
	assert_true(doorbell_governed(&k->info, NULL, GCHINT_INFO_CPUS));
}

/* A waiter for changes is woken by any change, and by nothing else. */
static void test_unchanged_table_is_not_published(void **state)
{
	struct gchint_info_policy p = { .flags = GCHINT_POLICY_PRESENT };
	struct published *k = *state;

	fill(k, 1, true);
	assert_true(gchint_table_is_published(&k->t, &k->info, k->cpu));
	k->cpu[CPUS - 1].policy.cur_khz = 4711;
	k->info.policy[0].cur_khz = 4711;
	assert_true(gchint_table_is_published(&k->t, &k->info, k->cpu));
	gchint_table_publish(&k->t, &k->info, k->cpu);
	assert_int_equal(k->cpu[CPUS - 1].policy.cur_khz, 4711);
	assert_int_equal(k->info.policy[0].cur_khz, 4711);
	gchint_table_set_cpu(&k->t, CPUS - 1, CPUS - 1, &p);
	assert_false(gchint_table_is_published(&k->t, &k->info, k->cpu));
	gchint_table_publish(&k->t, &k->info, k->cpu);
	assert_true(gchint_table_is_published(&k->t, &k->info, k->cpu));
	assert_false(doorbell_governed(&k->info, k->cpu, CPUS - 1));
	/* It moved to another policy with equal values. */
	gchint_table_set_cpu(&k->t, CPUS - 1, CPUS - 2, &p);
	assert_false(gchint_table_is_published(&k->t, &k->info, k->cpu));
	gchint_table_begin(&k->t);
	assert_false(gchint_table_is_published(&k->t, &k->info, k->cpu));
}

/* Programs that map the page identify a policy by its entry, whatever changes around it. */
static void test_entries_stay_with_their_policies(void **state)
{
	struct gchint_info_policy p = { .flags = GCHINT_POLICY_PRESENT };
	struct published *k = *state;

	fill(k, 2, true);
	assert_int_equal(k->t.of_cpu[100], 50);
	assert_int_equal(k->t.of_cpu[2 * GCHINT_INFO_POLICIES], GCHINT_INFO_UNLISTED);
	gchint_table_begin(&k->t);
	assert_int_equal(k->t.of_cpu[100], GCHINT_INFO_NO_POLICY);
	gchint_table_set_cpu(&k->t, 100, 100, &p);
	assert_int_equal(k->t.of_cpu[100], 50);
	gchint_table_set_cpu(&k->t, 1, 0, &p);
	assert_int_equal(k->t.of_cpu[1], 0);
	assert_true(GCHINT_INFO_POLICIES <= GCHINT_INFO_UNLISTED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

/* Never below the value, less than an eighth above it, and the maximum is exact. */
static void test_frequencies_are_rounded(void **state)
{
	(void)state;
	for (u32 max = 792000; max < 6000000; max += 123457) {
		u32 before = 0, values = 0;

		for (u32 khz = 1; khz <= max; khz += 997) {
			u32 rough = gchint_table_round_khz(khz, max);

			assert_cmp(rough + 1, >=, khz);
			assert_cmp(rough, <=, khz + max / 8);
			assert_cmp(rough, >=, before);
			values += rough != before;
			before = rough;
		}
		assert_cmp(values, ==, 8);
		assert_cmp(gchint_table_round_khz(max, max), ==, max);
	}
	assert_cmp(gchint_table_round_khz(0, 1000), ==, 0);
	assert_cmp(gchint_table_round_khz(1000, 0), ==, 0);
	assert_cmp(gchint_table_round_khz(U32_MAX, U32_MAX), ==, U32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_cpu_has_an_entry),
		TEST(test_page_covers_every_cpu),
		TEST(test_cpu_without_a_policy_has_no_doorbell),
		TEST(test_unchanged_table_is_not_published),
		TEST(test_entries_stay_with_their_policies),
		cmocka_unit_test(test_frequencies_are_rounded),
	};

	return run_tap(tests);
}
