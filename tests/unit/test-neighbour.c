// SPDX-License-Identifier: GPL-2.0-only
/* A cap by limits waits for threads that do not hint, without toggling with them. */
#include "deciding.h"
#include "neighbour.h"

#define LATENCY (100 * (u32)US)
#define BACK	(20 * (u64)LATENCY)

struct cpu_history {
	struct gchint_neighbour n;
	u32 latency;
	u64 now;
};

static struct cpu_history *cpu_history_new(void)
{
	static struct cpu_history s;

	memset(&s, 0, sizeof(s));
	s.latency = LATENCY;
	s.now = 50 * S;
	return &s;
}

/* One thread's time slice of a given length; a leased thread's is in a phase. */
static void run_slice(struct cpu_history *s, u8 slice, u64 ns)
{
	gchint_neighbour_begin_slice(&s->n, slice, true, s->latency, s->now);
	s->now += ns;
}

static bool blocks_cap(const struct cpu_history *s)
{
	return gchint_neighbour_blocks_cap(&s->n, s->latency, s->now);
}

static void test_no_neighbour_on_an_idle_cpu(void **state)
{
	struct cpu_history *s = cpu_history_new();

	(void)state;
	assert_false(blocks_cap(s));
	run_slice(s, GCHINT_SLICE_IDLE, S);
	assert_false(blocks_cap(s));
	run_slice(s, GCHINT_SLICE_LEASED, S);
	assert_false(blocks_cap(s));
	run_slice(s, GCHINT_SLICE_IDLE, 0);
	assert_false(blocks_cap(s));
}

static void test_program_counts_at_once_and_for_a_while(void **state)
{
	struct cpu_history *s = cpu_history_new();

	(void)state;
	run_slice(s, GCHINT_SLICE_LEASED, MS);
	run_slice(s, GCHINT_SLICE_PROGRAM, 0);
	assert_true(blocks_cap(s));
	s->now += S;
	assert_true(blocks_cap(s));
	run_slice(s, GCHINT_SLICE_LEASED, BACK - 1);
	assert_true(blocks_cap(s));
	s->now++;
	assert_false(blocks_cap(s));
	/* The period is as long as the switch down and back. */
	run_slice(s, GCHINT_SLICE_PROGRAM, 1);
	s->latency = 5 * LATENCY;
	run_slice(s, GCHINT_SLICE_IDLE, 5 * BACK - 1);
	assert_true(blocks_cap(s));
	s->now++;
	assert_false(blocks_cap(s));
	/* Up to a maximum. */
	run_slice(s, GCHINT_SLICE_PROGRAM, 1);
	s->latency = S;
	run_slice(s, GCHINT_SLICE_IDLE, 100 * MS - 1);
	assert_true(blocks_cap(s));
	s->now++;
	assert_false(blocks_cap(s));
}

/* A leased thread between its phases counts as any program. */
static void test_leased_thread_in_no_phase_is_a_program(void **state)
{
	struct cpu_history *s = cpu_history_new();

	(void)state;
	run_slice(s, GCHINT_SLICE_LEASED, MS);
	gchint_neighbour_begin_slice(&s->n, GCHINT_SLICE_LEASED, false, s->latency, s->now);
	assert_true(blocks_cap(s));
	s->now += BACK;
	assert_false(blocks_cap(s));
}

/* However fast two threads alternate, no cap is set in between. */
static void test_alternating_slices_do_not_flap(void **state)
{
	u32 lengths[] = { 20 * US, 200 * US, 1900 * US };

	(void)state;
	for (u32 i = 0; i < 3; i++) {
		struct cpu_history *s = cpu_history_new();
		u32 changes = 0;
		bool was = blocks_cap(s);

		for (u32 t = 0; t < 1000; t++) {
			run_slice(s, t & 1 ? GCHINT_SLICE_LEASED : GCHINT_SLICE_PROGRAM,
				  lengths[i]);
			changes += blocks_cap(s) != was;
			was = blocks_cap(s);
		}
		assert_cmp(changes, ==, 1);
	}
}

static void test_short_kernel_thread_is_no_neighbour(void **state)
{
	struct cpu_history *s = cpu_history_new();

	(void)state;
	for (u32 t = 0; t < 1000; t++) {
		run_slice(s, GCHINT_SLICE_LEASED, 900 * US);
		run_slice(s, GCHINT_SLICE_KERNEL, 100 * US);
		assert_false(blocks_cap(s));
	}
	/* A kernel thread that takes as long as a request on a slow driver does not count. */
	s = cpu_history_new();
	s->latency = 5 * MS;
	run_slice(s, GCHINT_SLICE_KERNEL, 2 * MS);
	run_slice(s, GCHINT_SLICE_KERNEL, 3 * MS);
	assert_false(blocks_cap(s));
	/* Nor the thread that executes our request, however long that takes. */
	run_slice(s, GCHINT_SLICE_ACTUATOR, S);
	assert_false(blocks_cap(s));
	run_slice(s, GCHINT_SLICE_LEASED, 0);
	assert_false(blocks_cap(s));
}

static void test_lasting_kernel_thread_is_a_neighbour(void **state)
{
	struct cpu_history *s = cpu_history_new();

	(void)state;
	run_slice(s, GCHINT_SLICE_KERNEL, MS);
	assert_false(blocks_cap(s));
	s->now += 10 * US;
	assert_true(blocks_cap(s));
	s->now += 100 * S;
	assert_true(blocks_cap(s));
	/* It does not count against those that follow. */
	run_slice(s, GCHINT_SLICE_LEASED, BACK - 1);
	assert_true(blocks_cap(s));
	s->now += 1;
	assert_false(blocks_cap(s));
}

/* Nor in many pieces: a quarter of the CPU is no short visit. */
static void test_share_of_kernel_threads_is_counted(void **state)
{
	struct cpu_history *s = cpu_history_new();
	u32 minded = 0;

	(void)state;
	for (u32 t = 0; t < 1000; t++) {
		run_slice(s, GCHINT_SLICE_IDLE, 300 * US);
		run_slice(s, GCHINT_SLICE_KERNEL, 100 * US);
		minded += blocks_cap(s);
	}
	assert_cmp(minded, >, 900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_neighbour_on_an_idle_cpu),
		cmocka_unit_test(test_program_counts_at_once_and_for_a_while),
		cmocka_unit_test(test_leased_thread_in_no_phase_is_a_program),
		cmocka_unit_test(test_alternating_slices_do_not_flap),
		cmocka_unit_test(test_short_kernel_thread_is_no_neighbour),
		cmocka_unit_test(test_lasting_kernel_thread_is_a_neighbour),
		cmocka_unit_test(test_share_of_kernel_threads_is_counted),
	};

	return run_tap(tests);
}
