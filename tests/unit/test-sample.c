// SPDX-License-Identifier: GPL-2.0-only
/* The samples of time and work that learning is based on. */
#include "lease.h"

static void test_whole_phase_is_a_sample(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	begin(&l, 1000);
	run(&l, 3 * MS, 960000);
	run(&l, 2 * MS, 960000);
	l.slot.work_done = 1000;
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	lease_poll(&l);
	assert_true(l.sample.valid && l.sample.ended);
	assert_cmp(l.sample.work, ==, 1000);
	assert_cmp(l.sample.ran_ns, ==, 5 * MS);
	assert_int_equal(l.sample.khz, 960000);
	assert_int_equal(l.sample.core_type, 1);
	assert_int_equal(l.sample.class, GCHINT_CLASS_CONCURRENT);
}

/* Each phase is counted from zero, whatever preceded it. */
static void test_next_phase_is_a_separate_sample(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	begin(&l, 1000);
	run(&l, 20 * MS, 600000);
	run(&l, 2 * MS, 960000);
	gchint_phase_account_time(&l.track, MS, 600000, 0);
	l.now += MS;
	l.slot.work_done = 1000;
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	lease_poll(&l);
	assert_cmp(l.sample.work, ==, 0);
	begin(&l, 500);
	run(&l, 3 * MS, 960000);
	l.slot.work_done = 500;
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	lease_poll(&l);
	assert_true(l.sample.valid && l.sample.ended);
	assert_cmp(l.sample.work, ==, 500);
	assert_cmp(l.sample.ran_ns, ==, 3 * MS);
	assert_cmp(l.sample.wall_ns, ==, 3 * MS);
	assert_int_equal(l.sample.khz, 960000);
}

/* A writer that clears its counts at the end, or has none for the last part. */
static void test_time_after_the_last_count_is_ignored(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	begin(&l, 1000);
	run(&l, 3 * MS, 960000);
	work(&l.slot, 600, 1000);
	lease_poll(&l);
	run(&l, 2 * MS, 960000);
	l.slot.work_done = 0;
	l.slot.work_total = 0;
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	lease_poll(&l);
	assert_true(l.sample.valid && l.sample.ended);
	assert_cmp(l.sample.work, ==, 600);
	assert_cmp(l.sample.ran_ns, ==, 3 * MS);
	assert_cmp(l.sample.wall_ns, ==, 5 * MS);
	assert_int_equal(l.sample.khz, 960000);

	/* Nor when another phase replaces it. */
	lease_init(&l);
	begin(&l, 1000);
	run(&l, 3 * MS, 960000);
	work(&l.slot, 600, 1000);
	lease_poll(&l);
	run(&l, 2 * MS, 480000);
	l.slot.work_done = 7;
	edge(&l.slot, GCHINT_PHASE_REFS, GCHINT_F_STW);
	lease_poll(&l);
	assert_cmp(l.sample.work, ==, 600);
	assert_cmp(l.sample.ran_ns, ==, 3 * MS);
	assert_int_equal(l.sample.khz, 960000);
	assert_cmp(l.track.work_done, ==, 7);
}

static void test_long_progress_is_a_separate_sample(void **state)
{
	u64 total = 0;
	struct lease l;
	u32 samples = 0;

	(void)state;
	lease_init(&l);
	begin(&l, 100000);
	for (u64 n = 1; n <= 320; n++) {
		run(&l, MS, 600000);
		work(&l.slot, n * 100, 100000);
		lease_poll(&l);
		if (l.sample.valid) {
			assert_false(l.sample.ended);
			samples++;
			total += l.sample.work;
			assert_cmp(l.sample.work, ==, l.sample.ran_ns / MS * 100);
		}
	}
	assert_cmp(samples, >=, 5);
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	lease_poll(&l);
	assert_cmp(total + l.sample.work, ==, 32000);
}

static void test_two_frequencies_are_no_sample(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	begin(&l, 0);
	run(&l, 2 * MS, 600000);
	run(&l, 2 * MS, 1200000);
	l.slot.work_done = 500;
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	lease_poll(&l);
	assert_true(l.sample.valid && l.sample.ended);
	assert_cmp(l.sample.work, ==, 0);

	/* Two frequencies that are close enough are one, above or below. */
	for (u32 up = 0; up < 2; up++) {
		lease_init(&l);
		begin(&l, 0);
		run(&l, 3 * MS, up ? 590000 : 610000);
		run(&l, 2 * MS, up ? 610000 : 590000);
		l.slot.work_done = 500;
		edge(&l.slot, GCHINT_PHASE_NONE, 0);
		lease_poll(&l);
		assert_cmp(l.sample.work, ==, 500);
		assert_near(l.sample.khz, 600000, 5000);
	}

	/* Most of the time at one frequency counts as one. */
	lease_init(&l);
	begin(&l, 0);
	run(&l, 200 * US, 1200000);
	run(&l, 5 * MS, 600000);
	l.slot.work_done = 500;
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	lease_poll(&l);
	assert_cmp(l.sample.work, ==, 500);
	assert_near(l.sample.khz, 600000, 600000 * 0.05);
}

static void test_unknown_frequency_or_two_core_types_are_no_sample(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	begin(&l, 0);
	run(&l, 2 * MS, 600000);
	run(&l, MS, 0);
	l.slot.work_done = 500;
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	lease_poll(&l);
	assert_cmp(l.sample.work, ==, 0);

	lease_init(&l);
	begin(&l, 0);
	run(&l, 2 * MS, 600000);
	gchint_phase_account_time(&l.track, 2 * MS, 600000, 0);
	l.now += 2 * MS;
	l.slot.work_done = 500;
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	lease_poll(&l);
	assert_cmp(l.sample.work, ==, 0);
}

/* When a count that was unreadable at first was reached is unknown. */
static void test_counts_read_late_are_no_sample(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	begin(&l, 1000);
	run(&l, 3 * MS, 600000);
	l.slot.work_done = 1000;
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	lease_poll(&l);
	assert_cmp(l.sample.work, ==, 1000);
	l.slot.work_done = 0;
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	l.slot.state |= GCHINT_STATE_WRITING;
	lease_poll(&l);
	run(&l, 3 * MS, 600000);
	l.slot.work_done = 500;
	l.slot.state &= ~GCHINT_STATE_WRITING;
	lease_poll(&l);
	assert_cmp(l.track.work_done, ==, 500);
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	lease_poll(&l);
	assert_true(l.sample.valid && l.sample.ended);
	assert_cmp(l.sample.work, ==, 0);
}

/* A coordinator sleeps while its workers advance the counter. */
static void test_work_of_other_threads_is_no_sample(void **state)
{
	struct gchint_slot leader = {};
	struct lease l;

	(void)state;
	lease_init(&l);
	begin(&l, 0);
	run(&l, MS, 600000);
	l.now += 50 * MS;
	l.slot.work_done = 500000;
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	lease_poll(&l);
	assert_cmp(l.sample.work, ==, 0);

	/* A worker that always ran gives a sample, a preempted one does not. */
	for (u32 off = 0; off <= 4; off += 4) {
		lease_init(&l);
		lease_poll_slot(&l, &leader, true);
		leader.work_done = 0;
		edge(&leader, GCHINT_PHASE_MARK, GCHINT_F_STW);
		lease_poll_slot(&l, &leader, true);
		run(&l, 8 * MS, 600000);
		l.now += off * MS;
		leader.work_done = 800;
		edge(&leader, GCHINT_PHASE_NONE, 0);
		lease_poll_slot(&l, &leader, true);
		assert_cmp(l.sample.work, ==, off ? 0 : 800);
	}
}

static void test_backward_counter_is_ignored_and_reported(void **state)
{
	struct gchint_hint h;
	struct lease l;

	(void)state;
	lease_init(&l);
	begin(&l, 1000);
	run(&l, MS, 600000);
	work(&l.slot, 400, 1000);
	lease_poll(&l);
	/* A counter that does not move has not gone back. */
	work(&l.slot, 400, 1000);
	lease_poll(&l);
	assert_int_equal(l.snap.ignored, 0);
	work(&l.slot, 300, 1000);
	lease_poll(&l);
	assert_int_equal(l.snap.ignored, BIT(GCHINT_IGNORED_BACKWARD));
	assert_cmp(l.track.work_done, ==, 400);
	gchint_phase_hint(&h, &l.track, GCHINT_ROLE_NONE, false);
	assert_cmp(h.work_left, ==, 600);
	assert_cmp(h.work_done, ==, 400);
	assert_cmp(h.work_ran_ns, ==, MS);
	assert_cmp(h.work_cycles, ==, MS * 600000);
	assert_cmp(h.ran_ns, ==, MS);
	/* Two unseen edges may have been an end and another beginning. */
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	work(&l.slot, 100, 1000);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	assert_int_equal(lease_poll(&l), GCHINT_SAW_END | GCHINT_SAW_BEGIN);
	assert_int_equal(l.snap.ignored, 0);
	assert_cmp(l.track.work_done, ==, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_phase_is_a_sample),
		cmocka_unit_test(test_next_phase_is_a_separate_sample),
		cmocka_unit_test(test_time_after_the_last_count_is_ignored),
		cmocka_unit_test(test_long_progress_is_a_separate_sample),
		cmocka_unit_test(test_two_frequencies_are_no_sample),
		cmocka_unit_test(test_unknown_frequency_or_two_core_types_are_no_sample),
		cmocka_unit_test(test_counts_read_late_are_no_sample),
		cmocka_unit_test(test_work_of_other_threads_is_no_sample),
		cmocka_unit_test(test_backward_counter_is_ignored_and_reported),
	};

	return run_tap(tests);
}
