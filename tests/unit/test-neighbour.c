// SPDX-License-Identifier: GPL-2.0-only
/* A cap on limits waits for those who do not hint, and does not come and go with them. */
#include "deciding.h"
#include "neighbour.h"

#define LATENCY (100 * (u32)US)
#define BACK	(20 * (u64)LATENCY)

struct seat {
	struct gchint_neighbour n;
	u32 latency;
	u64 now;
};

static struct seat *seat_new(void)
{
	static struct seat s;

	memset(&s, 0, sizeof(s));
	s.latency = LATENCY;
	s.now = 50 * S;
	return &s;
}

/* Somebody's turn, for so long; a leased thread's is of a phase. */
static void turn(struct seat *s, u8 turn, u64 ns)
{
	gchint_neighbour_begin_slice(&s->n, turn, true, s->latency, s->now);
	s->now += ns;
}

static bool minds(const struct seat *s)
{
	return gchint_neighbour_blocks_cap(&s->n, s->latency, s->now);
}

static void test_nobody_minds_where_nobody_is(void **state)
{
	struct seat *s = seat_new();

	(void)state;
	assert_false(minds(s));
	turn(s, GCHINT_SLICE_IDLE, S);
	assert_false(minds(s));
	turn(s, GCHINT_SLICE_LEASED, S);
	assert_false(minds(s));
	turn(s, GCHINT_SLICE_IDLE, 0);
	assert_false(minds(s));
}

static void test_program_minds_at_once_and_for_a_while(void **state)
{
	struct seat *s = seat_new();

	(void)state;
	turn(s, GCHINT_SLICE_LEASED, MS);
	turn(s, GCHINT_SLICE_PROGRAM, 0);
	assert_true(minds(s));
	s->now += S;
	assert_true(minds(s));
	turn(s, GCHINT_SLICE_LEASED, BACK - 1);
	assert_true(minds(s));
	s->now++;
	assert_false(minds(s));
	/* It takes as long as it takes to go and come. */
	turn(s, GCHINT_SLICE_PROGRAM, 1);
	s->latency = 5 * LATENCY;
	turn(s, GCHINT_SLICE_IDLE, 5 * BACK - 1);
	assert_true(minds(s));
	s->now++;
	assert_false(minds(s));
	/* Up to a point. */
	turn(s, GCHINT_SLICE_PROGRAM, 1);
	s->latency = S;
	turn(s, GCHINT_SLICE_IDLE, 100 * MS - 1);
	assert_true(minds(s));
	s->now++;
	assert_false(minds(s));
}

/* A leased thread between its phases is as good as any program. */
static void test_leased_thread_in_no_phase_is_a_program(void **state)
{
	struct seat *s = seat_new();

	(void)state;
	turn(s, GCHINT_SLICE_LEASED, MS);
	gchint_neighbour_begin_slice(&s->n, GCHINT_SLICE_LEASED, false, s->latency, s->now);
	assert_true(minds(s));
	s->now += BACK;
	assert_false(minds(s));
}

/* However fast two take turns, no cap comes in between. */
static void test_turns_do_not_flap(void **state)
{
	u32 lengths[] = { 20 * US, 200 * US, 1900 * US };

	(void)state;
	for (u32 i = 0; i < 3; i++) {
		struct seat *s = seat_new();
		u32 changes = 0;
		bool was = minds(s);

		for (u32 t = 0; t < 1000; t++) {
			turn(s, t & 1 ? GCHINT_SLICE_LEASED : GCHINT_SLICE_PROGRAM, lengths[i]);
			changes += minds(s) != was;
			was = minds(s);
		}
		assert_cmp(changes, ==, 1);
	}
}

static void test_kernel_thread_in_passing_is_nobody(void **state)
{
	struct seat *s = seat_new();

	(void)state;
	for (u32 t = 0; t < 1000; t++) {
		turn(s, GCHINT_SLICE_LEASED, 900 * US);
		turn(s, GCHINT_SLICE_KERNEL, 100 * US);
		assert_false(minds(s));
	}
	/* Nor one that takes as long as a request does on a slow driver. */
	s = seat_new();
	s->latency = 5 * MS;
	turn(s, GCHINT_SLICE_KERNEL, 2 * MS);
	turn(s, GCHINT_SLICE_KERNEL, 3 * MS);
	assert_false(minds(s));
	/* Nor who carries our request out, however long that takes. */
	turn(s, GCHINT_SLICE_ACTUATOR, S);
	assert_false(minds(s));
	turn(s, GCHINT_SLICE_LEASED, 0);
	assert_false(minds(s));
}

static void test_kernel_thread_that_stays_minds(void **state)
{
	struct seat *s = seat_new();

	(void)state;
	turn(s, GCHINT_SLICE_KERNEL, MS);
	assert_false(minds(s));
	s->now += 10 * US;
	assert_true(minds(s));
	s->now += 100 * S;
	assert_true(minds(s));
	/* It is not held against those who come after it. */
	turn(s, GCHINT_SLICE_LEASED, BACK - 1);
	assert_true(minds(s));
	s->now += 1;
	assert_false(minds(s));
}

/* In many pieces, too: a quarter of the CPU is no passing. */
static void test_kernel_threads_share_counts(void **state)
{
	struct seat *s = seat_new();
	u32 minded = 0;

	(void)state;
	for (u32 t = 0; t < 1000; t++) {
		turn(s, GCHINT_SLICE_IDLE, 300 * US);
		turn(s, GCHINT_SLICE_KERNEL, 100 * US);
		minded += minds(s);
	}
	assert_cmp(minded, >, 900);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_minds_where_nobody_is),
		cmocka_unit_test(test_program_minds_at_once_and_for_a_while),
		cmocka_unit_test(test_leased_thread_in_no_phase_is_a_program),
		cmocka_unit_test(test_turns_do_not_flap),
		cmocka_unit_test(test_kernel_thread_in_passing_is_nobody),
		cmocka_unit_test(test_kernel_thread_that_stays_minds),
		cmocka_unit_test(test_kernel_threads_share_counts),
	};

	return run_tap(tests);
}
