// SPDX-License-Identifier: GPL-2.0-only
/* What threads add to a CPU's load, and what leaves with them. */
#include "cpu.h"
#include "task.h"

/* Two CPUs that exchange what leaving threads take along. */
static void pair_init(struct cpu *c, struct gchint_load_migrations *migrations)
{
	for (u32 i = 0; i < 2; i++) {
		cpu_init(&c[i]);
		gchint_load_init(&c[i].load, migrations, 5 + i, c[i].now, 0);
	}
}

/* A thread's utilisation counts while it runs, and no longer. */
static void test_thread_carries_its_utilisation(void **state)
{
	struct cpu c;

	(void)state;
	cpu_init(&c);
	step(&c, 50000, false, 1);
	account(&c, 1, false);
	task(&c.load, 1, 700, 700);
	assert_int_equal(gchint_load_all(&c.load), 700);
	assert_int_equal(gchint_load_base(&c.load), 700);
	step(&c, 4000, true, 1);
	account(&c, 1, false);
	assert_int_equal(c.load.task, 700);
	assert_true(all(&c) > .7);
	task(&c.load, 1, 5000, 5000);
	assert_int_equal(gchint_load_all(&c.load), GCHINT_ONE);
	step(&c, 1000, true, 1);
	step(&c, 100, false, 1);
	account(&c, 1, false);
	assert_near(all(&c), .72, .05);
	assert_int_equal(c.load.task, 0);
}

/* An arriving thread is added to the others' mean once. */
static void test_arriving_thread_is_added_to_the_mean(void **state)
{
	struct cpu c;
	u32 before;

	(void)state;
	cpu_init(&c);
	for (u32 id = 1; id <= 3; id++)
		task(&c.load, id, 300, 300);
	assert_near(gchint_load_all(&c.load), 900, 1);
	before = gchint_load_all(&c.load);
	for (u32 n = 0; n < 100; n++) {
		task(&c.load, 1 + n % 3, 300, 300);
		task(&c.load, 1000 + n, GCHINT_ONE / 32 - 1, GCHINT_ONE / 32 - 1);
	}
	assert_int_equal(gchint_load_all(&c.load), before);
	task(&c.load, 4, 300, 300);
	assert_int_equal(gchint_load_all(&c.load), GCHINT_ONE);
}

/* Its known utilisation at wakeup counts while it runs, and what it used recently stays. */
static void test_estimate_moves_with_the_thread(void **state)
{
	struct cpu c;

	(void)state;
	cpu_init(&c);
	task(&c.load, 1, 700, 200);
	assert_int_equal(gchint_load_all(&c.load), 700);
	step(&c, 100, false, 1);
	account(&c, 1, false);
	assert_near(gchint_load_all(&c.load), 200, 2);
	/* Nor more than its utilisation on this CPU now. */
	task(&c.load, 2, 100, 300);
	assert_near(gchint_load_all(&c.load), 300, 2);
}

/* A thread's part of the mean moves with it. */
static void test_leaving_thread_takes_its_share(void **state)
{
	struct gchint_load_migrations migrations = {};
	struct cpu c[2];
	u32 others;

	(void)state;
	pair_init(c, &migrations);
	task(&c[0].load, 7, 300, 300);
	task(&c[0].load, 8, 200, 200);
	task(&c[1].load, 9, 100, 100);
	task(&c[1].load, 7, 250, 250);
	for (u32 i = 0; i < 2; i++) {
		step(&c[i], 100, false, 1);
		account(&c[i], 1, false);
	}
	assert_near(gchint_load_all(&c[0].load), 250, 2);
	assert_near(gchint_load_base(&c[0].load), 250, 2);
	assert_near(gchint_load_all(&c[1].load), 350, 2);
	/* Once, however often the load is read. */
	step(&c[0], 100, false, 1);
	account(&c[0], 1, false);
	assert_near(gchint_load_all(&c[0].load), 250, 3);
	/* And back again, with its present share; it ran there last and is new here. */
	task(&c[0].load, 7, 400, 400);
	step(&c[1], 100, false, 1);
	account(&c[1], 1, false);
	assert_near(gchint_load_all(&c[0].load), 650, 3);
	assert_int_equal(gchint_load_all(&c[1].load), 0);
	/* What other threads do elsewhere, even in the same slot, subtracts nothing here. */
	others = gchint_load_all(&c[0].load);
	for (u32 id = 1000; id < 3000; id++)
		task(&c[1].load, id, 100, 100);
	account(&c[0], 1, false);
	assert_near(gchint_load_all(&c[0].load), others, 1);
	/* If found late, the decayed share is subtracted: both are half of what they were. */
	task(&c[1].load, 8, 200, 200);
	step(&c[0], 33554, false, 1);
	account(&c[0], 1, false);
	assert_near(gchint_load_all(&c[0].load), (others - 200) / 2, 12);
}

/* A thread that leaves and returns without another in between did not stay. */
static void test_single_thread_migrates_back_and_forth(void **state)
{
	struct gchint_load_migrations migrations = {};
	struct cpu c[2];

	(void)state;
	pair_init(c, &migrations);
	for (u32 n = 0; n < 6; n++) {
		task(&c[n % 2].load, 7, 400, 400);
		for (u32 i = 0; i < 2; i++) {
			step(&c[i], 100, false, 1);
			account(&c[i], 1, false);
		}
		assert_near(gchint_load_all(&c[n % 2].load), 400, 8);
		assert_near(gchint_load_all(&c[1 - n % 2].load), 0, 8);
	}
}

/* A thread that ran here unseen is in the mean already; only the rest is added. */
static void test_time_on_this_cpu_is_not_counted_twice(void **state)
{
	static const u64 runs[] = { 5, 20, 100 }; /* ms */

	(void)state;
	for (u32 r = 0; r < ARRAY_SIZE(runs); r++) {
		struct cpu c;
		u32 used;

		cpu_init(&c);
		for (u32 ms = 0; ms < runs[r]; ms++) {
			step(&c, 1000, true, 1);
			account(&c, 1, false);
		}
		used = gchint_load_all(&c.load);
		assert_true(gchint_load_set_task(&c.load, 7, used));
		gchint_load_attach_task(&c.load, 7, used, runs[r] * MS);
		assert_near(gchint_load_all(&c.load), used, 2);
		/* The scheduler's estimate of a new thread exceeds its runtime. */
		assert_true(gchint_load_set_task(&c.load, 8, 1000));
		gchint_load_attach_task(&c.load, 8, 1000, runs[r] * MS);
		assert_near(gchint_load_all(&c.load), 1000, 2);
	}
}

/* Each thread has a slot of its own for its destination. */
static void test_threads_that_leave_together_are_distinguished(void **state)
{
	struct gchint_load_migrations migrations = {};
	struct cpu c[2];

	(void)state;
	pair_init(c, &migrations);
	for (u32 id = 700; id < 703; id++)
		task(&c[0].load, id, 200, 200);
	assert_near(gchint_load_all(&c[0].load), 600, 2);
	for (u32 id = 700; id < 703; id++)
		task(&c[1].load, id, 200, 200);
	for (u32 i = 0; i < 2; i++) {
		step(&c[i], 100, false, 1);
		account(&c[i], 1, false);
	}
	assert_near(gchint_load_all(&c[0].load), 0, 2);
	assert_near(gchint_load_all(&c[1].load), 600, 4);
}

/* A released slot belongs to no thread: the thread with the first number is new again. */
static void test_slot_of_a_leaving_thread_is_reused(void **state)
{
	struct gchint_load_migrations migrations = {};
	struct cpu c[2];

	(void)state;
	pair_init(c, &migrations);
	for (u32 i = 0; i < 2; i++)
		task(&c[i].load, 7, 400, 400);
	step(&c[0], 100, false, 1);
	account(&c[0], 1, false);
	assert_near(gchint_load_all(&c[0].load), 0, 2);
	task(&c[0].load, 1, 300, 300);
	step(&c[0], 100, false, 1);
	account(&c[0], 1, false);
	assert_near(gchint_load_all(&c[0].load), 300, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_thread_carries_its_utilisation),
		cmocka_unit_test(test_arriving_thread_is_added_to_the_mean),
		cmocka_unit_test(test_estimate_moves_with_the_thread),
		cmocka_unit_test(test_leaving_thread_takes_its_share),
		cmocka_unit_test(test_single_thread_migrates_back_and_forth),
		cmocka_unit_test(test_time_on_this_cpu_is_not_counted_twice),
		cmocka_unit_test(test_threads_that_leave_together_are_distinguished),
		cmocka_unit_test(test_slot_of_a_leaving_thread_is_reused),
	};

	return run_tap(tests);
}
