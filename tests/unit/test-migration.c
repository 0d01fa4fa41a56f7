// SPDX-License-Identifier: GPL-2.0-only
/*
 * What threads bring along to a CPU's load, and take along when they go.
 */
#include "cpu.h"
#include "task.h"

/* Two CPUs that tell each other of threads that go. */
static void pair_init(struct cpu *c, struct gchint_load_migrations *migrations)
{
	for (u32 i = 0; i < 2; i++) {
		cpu_init(&c[i]);
		gchint_load_init(&c[i].load, migrations, 5 + i, c[i].now, 0);
	}
}

/* What a thread brings along counts while it runs, and no longer. */
static void test_thread_brings_its_own_use_along(void **state)
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

/* A newcomer adds to what the others are, once. */
static void test_newcomer_is_added_to_the_mean(void **state)
{
	struct cpu c;
	u32 before;

	(void)state;
	cpu_init(&c);
	for (u32 who = 1; who <= 3; who++)
		task(&c.load, who, 300, 300);
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

/* What it is known to use when it wakes counts while it runs, and what it used of late stays. */
static void test_estimate_is_not_left_behind(void **state)
{
	struct cpu c;

	(void)state;
	cpu_init(&c);
	task(&c.load, 1, 700, 200);
	assert_int_equal(gchint_load_all(&c.load), 700);
	step(&c, 100, false, 1);
	account(&c, 1, false);
	assert_near(gchint_load_all(&c.load), 200, 2);
	/* Nor more than it is said to use here and now. */
	task(&c.load, 2, 100, 300);
	assert_near(gchint_load_all(&c.load), 300, 2);
}

/* A thread's part of the mean goes where it goes. */
static void test_guest_takes_its_part_along(void **state)
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
	/* Once, however often it is looked at. */
	step(&c[0], 100, false, 1);
	account(&c[0], 1, false);
	assert_near(gchint_load_all(&c[0].load), 250, 3);
	/* And back again, as what it is by now; it ran there last, and is new here. */
	task(&c[0].load, 7, 400, 400);
	step(&c[1], 100, false, 1);
	account(&c[1], 1, false);
	assert_near(gchint_load_all(&c[0].load), 650, 3);
	assert_int_equal(gchint_load_all(&c[1].load), 0);
	/* What others do elsewhere, also at its place, takes nothing from here. */
	others = gchint_load_all(&c[0].load);
	for (u32 who = 1000; who < 3000; who++)
		task(&c[1].load, who, 100, 100);
	account(&c[0], 1, false);
	assert_near(gchint_load_all(&c[0].load), others, 1);
	/* Found late, it is taken away as it has faded: both are half of what they were. */
	task(&c[1].load, 8, 200, 200);
	step(&c[0], 33554, false, 1);
	account(&c[0], 1, false);
	assert_near(gchint_load_all(&c[0].load), (others - 200) / 2, 12);
}

/* One that goes and comes back with nobody between is not taken for one that stayed. */
static void test_guest_alone_goes_to_and_fro(void **state)
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

/* One that ran here unseen is in the mean already; of what it is taken for, the rest is added. */
static void test_what_it_ran_here_is_not_counted_twice(void **state)
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
		/* The scheduler takes a new one for busier than its time says. */
		assert_true(gchint_load_set_task(&c.load, 8, 1000));
		gchint_load_attach_task(&c.load, 8, 1000, runs[r] * MS);
		assert_near(gchint_load_all(&c.load), 1000, 2);
	}
}

/* Each has a place of its own to tell where it went. */
static void test_guests_that_go_together_are_told_apart(void **state)
{
	struct gchint_load_migrations migrations = {};
	struct cpu c[2];

	(void)state;
	pair_init(c, &migrations);
	for (u32 who = 700; who < 703; who++)
		task(&c[0].load, who, 200, 200);
	assert_near(gchint_load_all(&c[0].load), 600, 2);
	for (u32 who = 700; who < 703; who++)
		task(&c[1].load, who, 200, 200);
	for (u32 i = 0; i < 2; i++) {
		step(&c[i], 100, false, 1);
		account(&c[i], 1, false);
	}
	assert_near(gchint_load_all(&c[0].load), 0, 2);
	assert_near(gchint_load_all(&c[1].load), 600, 4);
}

/* Whose place somebody left is nobody's: the thread of the first number is a newcomer. */
static void test_place_that_was_left_is_free(void **state)
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
		cmocka_unit_test(test_thread_brings_its_own_use_along),
		cmocka_unit_test(test_newcomer_is_added_to_the_mean),
		cmocka_unit_test(test_estimate_is_not_left_behind),
		cmocka_unit_test(test_guest_takes_its_part_along),
		cmocka_unit_test(test_guest_alone_goes_to_and_fro),
		cmocka_unit_test(test_what_it_ran_here_is_not_counted_twice),
		cmocka_unit_test(test_guests_that_go_together_are_told_apart),
		cmocka_unit_test(test_place_that_was_left_is_free),
	};

	return run_tap(tests);
}
