// SPDX-License-Identifier: GPL-2.0
/* Edges, staleness, roles, classes, and the samples that learning rests on. */
#include "unit.h"
#include "phase.h"

#define TTL (1000 * MS)

struct lease {
	struct gchint_slot slot;
	struct gchint_track track;
	struct gchint_snapshot snap;
	struct gchint_sample sample;
	u64 now;
};

static void lease_init(struct lease *l)
{
	memset(l, 0, sizeof(*l));
	l->now = 10 * S;
}

/* A plain edge: one store. */
static void edge(struct gchint_slot *slot, u32 phase, u32 flags)
{
	slot->state = GCHINT_STATE((slot->state & GCHINT_STATE_SEQ_MASK) + GCHINT_STATE_EDGE, phase,
				   flags);
}

static void work(struct gchint_slot *slot, u64 done, u64 total)
{
	slot->work_done = done;
	slot->work_total = total;
	edge(slot, slot->state & 0xff, (slot->state >> 8) & 0xff);
}

static u32 look_at(struct lease *l, const struct gchint_slot *slot, bool lead)
{
	gchint_snapshot_take(&l->snap, slot, l->now);
	l->snap.lead = lead;
	return gchint_phase_update(&l->track, &l->snap, &l->sample, l->now, TTL);
}

static u32 look(struct lease *l)
{
	return look_at(l, &l->slot, false);
}

static void run(struct lease *l, u64 ns, u32 khz)
{
	l->now += ns;
	gchint_phase_ran(&l->track, ns, khz, 1);
}

static u8 class_now(struct lease *l, u32 role)
{
	struct gchint_hint h;

	gchint_phase_hint(&h, &l->track, role, false);
	return h.class;
}

static void test_first_of_the_flags_decides(void **state)
{
	(void)state;
	for (u32 flags = 0; flags <= GCHINT_F_ALL; flags++) {
		u8 class = gchint_phase_class(GCHINT_PHASE_MARK, (u8)flags);

		if (flags & GCHINT_F_URGENT)
			assert_int_equal(class, GCHINT_CLASS_URGENT);
		else if (flags & GCHINT_F_STW)
			assert_int_equal(class, GCHINT_CLASS_STW);
		else if (flags & GCHINT_F_FOREGROUND)
			assert_int_equal(class, GCHINT_CLASS_FOREGROUND);
		else if (flags & GCHINT_F_CONCURRENT)
			assert_int_equal(class, GCHINT_CLASS_CONCURRENT);
		else
			assert_int_equal(class, GCHINT_CLASS_NEUTRAL);
		assert_int_equal(gchint_phase_class(GCHINT_PHASE_NONE, (u8)flags),
				 GCHINT_CLASS_NEUTRAL);
	}
}

static void test_trim_and_lazy_sweep_are_background(void **state)
{
	(void)state;
	assert_int_equal(gchint_phase_class(GCHINT_PHASE_TRIM, GCHINT_F_CONCURRENT),
			 GCHINT_CLASS_BACKGROUND);
	assert_int_equal(gchint_phase_class(GCHINT_PHASE_SWEEP, GCHINT_F_CONCURRENT),
			 GCHINT_CLASS_BACKGROUND);
	assert_int_equal(gchint_phase_class(GCHINT_PHASE_SWEEP, GCHINT_F_STW), GCHINT_CLASS_STW);
	/* A hint without flags changes nothing. */
	assert_int_equal(gchint_phase_class(GCHINT_PHASE_TRIM, 0), GCHINT_CLASS_NEUTRAL);
}

static void test_begin_and_end_are_seen(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	assert_true(gchint_phase_due(&l.track, &l.slot, l.now, TTL));
	assert_int_equal(look(&l), 0);
	assert_false(gchint_phase_due(&l.track, &l.slot, l.now, TTL));
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	assert_true(gchint_phase_due(&l.track, &l.slot, l.now, TTL));
	assert_int_equal(look(&l), GCHINT_SAW_BEGIN);
	assert_int_equal(class_now(&l, GCHINT_ROLE_NONE), GCHINT_CLASS_CONCURRENT);
	assert_int_equal(look(&l), 0);
	l.now += 5 * MS;
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	assert_int_equal(look(&l), GCHINT_SAW_END);
	assert_true(l.sample.valid && l.sample.ended);
	assert_cmp(l.sample.wall_ns, ==, 5 * MS);
	assert_int_equal(l.sample.phase, GCHINT_PHASE_MARK);
	assert_int_equal(class_now(&l, GCHINT_ROLE_NONE), GCHINT_CLASS_NEUTRAL);
}

static void test_nested_phase_replaces(void **state)
{
	struct gchint_hint h;
	struct lease l;
	u32 outer;

	(void)state;
	lease_init(&l);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	look(&l);
	outer = l.track.instance;
	edge(&l.slot, GCHINT_PHASE_REMARK, GCHINT_F_STW);
	assert_int_equal(look(&l), GCHINT_SAW_END | GCHINT_SAW_BEGIN);
	gchint_phase_hint(&h, &l.track, GCHINT_ROLE_NONE, true);
	assert_int_equal(h.class, GCHINT_CLASS_STW);
	assert_int_equal(h.phase, GCHINT_PHASE_REMARK);
	assert_true(h.may_raise);
	assert_int_not_equal(h.instance, outer);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	assert_int_equal(look(&l), GCHINT_SAW_END | GCHINT_SAW_BEGIN);
}

static void test_becoming_urgent_is_the_same_phase(void **state)
{
	struct lease l;
	u32 instance, revision;

	(void)state;
	lease_init(&l);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	look(&l);
	instance = l.track.instance;
	revision = l.track.revision;
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT | GCHINT_F_URGENT);
	assert_int_equal(look(&l), GCHINT_SAW_PROGRESS);
	assert_int_equal(l.track.instance, instance);
	assert_int_not_equal(l.track.revision, revision);
	assert_int_equal(class_now(&l, GCHINT_ROLE_NONE), GCHINT_CLASS_URGENT);
	/* While a concurrent phase that stops the world is another one. */
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_STW);
	assert_int_equal(look(&l), GCHINT_SAW_END | GCHINT_SAW_BEGIN);
}

static void test_end_without_a_start_is_harmless(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	look(&l);
	for (int i = 0; i < 3; i++) {
		edge(&l.slot, GCHINT_PHASE_NONE, 0);
		assert_int_equal(look(&l), 0);
		assert_false(l.sample.valid);
	}
}

static void test_phase_that_stands_still_goes_stale_and_revives(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_STW);
	look(&l);
	l.now += TTL;
	assert_false(gchint_phase_due(&l.track, &l.slot, l.now, TTL));
	assert_int_equal(look(&l), 0);
	l.now += 1;
	assert_true(gchint_phase_due(&l.track, &l.slot, l.now, TTL));
	assert_int_equal(look(&l), GCHINT_SAW_END | GCHINT_SAW_STALE);
	assert_false(l.sample.valid);
	assert_true(l.track.stale);
	assert_int_equal(class_now(&l, GCHINT_ROLE_NONE), GCHINT_CLASS_NEUTRAL);
	/* A role needs no progress. */
	assert_int_equal(class_now(&l, GCHINT_ROLE_CONCURRENT), GCHINT_CLASS_CONCURRENT);
	l.now += 10 * TTL;
	assert_int_equal(look(&l), 0);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_STW);
	assert_int_equal(look(&l), GCHINT_SAW_FRESH | GCHINT_SAW_BEGIN);
	assert_false(l.track.stale);
	assert_int_equal(class_now(&l, GCHINT_ROLE_NONE), GCHINT_CLASS_STW);
}

static void test_progress_keeps_a_phase_alive(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	look(&l);
	for (u64 n = 1; n < 20; n++) {
		l.now += TTL - MS;
		work(&l.slot, n, 100);
		assert_int_equal(look(&l), GCHINT_SAW_PROGRESS);
		assert_false(l.track.stale);
	}
	/* A writer that died with its pen down makes none. */
	l.slot.state |= GCHINT_STATE_WRITING;
	l.now += TTL + 1;
	assert_int_equal(look(&l) & GCHINT_SAW_STALE, GCHINT_SAW_STALE);
}

static void test_phase_goes_before_role(void **state)
{
	static const struct {
		u32 role;
		u8 class;
	} bare[] = {
		{ GCHINT_ROLE_NONE, GCHINT_CLASS_NEUTRAL },
		{ GCHINT_ROLE_CONCURRENT, GCHINT_CLASS_CONCURRENT },
		{ GCHINT_ROLE_STW, GCHINT_CLASS_STW },
		{ GCHINT_ROLE_BACKGROUND, GCHINT_CLASS_BACKGROUND },
		{ GCHINT_ROLE_FOLLOW, GCHINT_CLASS_NEUTRAL },
		{ GCHINT_ROLE_NR, GCHINT_CLASS_NEUTRAL },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(bare); i++) {
		struct gchint_hint h;
		struct lease l;

		lease_init(&l);
		look(&l);
		gchint_phase_hint(&h, &l.track, bare[i].role, false);
		assert_int_equal(h.class, bare[i].class);
		assert_int_equal(h.role, bare[i].class != GCHINT_CLASS_NEUTRAL);
		edge(&l.slot, GCHINT_PHASE_ROOTS, GCHINT_F_FOREGROUND);
		look(&l);
		gchint_phase_hint(&h, &l.track, bare[i].role, false);
		assert_int_equal(h.class, GCHINT_CLASS_FOREGROUND);
		assert_false(h.role);
	}
}

static void test_follower_counts_by_its_leader(void **state)
{
	struct gchint_slot leader = {};
	struct lease l;

	(void)state;
	lease_init(&l);
	look_at(&l, &leader, true);
	edge(&leader, GCHINT_PHASE_MARK, GCHINT_F_STW);
	assert_int_equal(look_at(&l, &leader, true), GCHINT_SAW_BEGIN);
	assert_int_equal(class_now(&l, GCHINT_ROLE_FOLLOW), GCHINT_CLASS_STW);
	/* Its own phase comes first, and the leader's counts again after. */
	edge(&l.slot, GCHINT_PHASE_SWEEP, GCHINT_F_CONCURRENT);
	assert_int_equal(look(&l), GCHINT_SAW_END | GCHINT_SAW_BEGIN);
	assert_int_equal(class_now(&l, GCHINT_ROLE_FOLLOW), GCHINT_CLASS_BACKGROUND);
	assert_int_equal(look_at(&l, &leader, true), GCHINT_SAW_END | GCHINT_SAW_BEGIN);
	assert_int_equal(class_now(&l, GCHINT_ROLE_FOLLOW), GCHINT_CLASS_STW);
	edge(&leader, GCHINT_PHASE_NONE, 0);
	assert_int_equal(look_at(&l, &leader, true), GCHINT_SAW_END);
	assert_int_equal(class_now(&l, GCHINT_ROLE_FOLLOW), GCHINT_CLASS_NEUTRAL);
}

static void begin(struct lease *l, u64 total)
{
	look(l);
	l->slot.work_done = 0;
	l->slot.work_total = total;
	edge(&l->slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	look(l);
}

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
	look(&l);
	assert_true(l.sample.valid && l.sample.ended);
	assert_cmp(l.sample.work, ==, 1000);
	assert_cmp(l.sample.ran_ns, ==, 5 * MS);
	assert_int_equal(l.sample.khz, 960000);
	assert_int_equal(l.sample.kind, 1);
	assert_int_equal(l.sample.class, GCHINT_CLASS_CONCURRENT);
}

/* A writer that wipes its figures at the end, or has none for the last stretch. */
static void test_time_after_the_last_figure_does_not_count(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	begin(&l, 1000);
	run(&l, 3 * MS, 960000);
	work(&l.slot, 600, 1000);
	look(&l);
	run(&l, 2 * MS, 960000);
	l.slot.work_done = 0;
	l.slot.work_total = 0;
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	look(&l);
	assert_true(l.sample.valid && l.sample.ended);
	assert_cmp(l.sample.work, ==, 600);
	assert_cmp(l.sample.ran_ns, ==, 3 * MS);
	assert_cmp(l.sample.wall_ns, ==, 5 * MS);
	assert_int_equal(l.sample.khz, 960000);

	/* Nor when another phase takes its place. */
	lease_init(&l);
	begin(&l, 1000);
	run(&l, 3 * MS, 960000);
	work(&l.slot, 600, 1000);
	look(&l);
	run(&l, 2 * MS, 480000);
	l.slot.work_done = 7;
	edge(&l.slot, GCHINT_PHASE_REFS, GCHINT_F_STW);
	look(&l);
	assert_cmp(l.sample.work, ==, 600);
	assert_cmp(l.sample.ran_ns, ==, 3 * MS);
	assert_int_equal(l.sample.khz, 960000);
	assert_cmp(l.track.work_done, ==, 7);
}

static void test_long_progress_is_a_sample_of_its_own(void **state)
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
		look(&l);
		if (l.sample.valid) {
			assert_false(l.sample.ended);
			samples++;
			total += l.sample.work;
			assert_cmp(l.sample.work, ==, l.sample.ran_ns / MS * 100);
		}
	}
	assert_cmp(samples, >=, 5);
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	look(&l);
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
	look(&l);
	assert_true(l.sample.valid && l.sample.ended);
	assert_cmp(l.sample.work, ==, 0);

	/* Two that are close enough are one, above or below. */
	for (u32 up = 0; up < 2; up++) {
		lease_init(&l);
		begin(&l, 0);
		run(&l, 3 * MS, up ? 590000 : 610000);
		run(&l, 2 * MS, up ? 610000 : 590000);
		l.slot.work_done = 500;
		edge(&l.slot, GCHINT_PHASE_NONE, 0);
		look(&l);
		assert_cmp(l.sample.work, ==, 500);
		assert_near(l.sample.khz, 600000, 5000);
	}

	/* Most of the time at one is one. */
	lease_init(&l);
	begin(&l, 0);
	run(&l, 200 * US, 1200000);
	run(&l, 5 * MS, 600000);
	l.slot.work_done = 500;
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	look(&l);
	assert_cmp(l.sample.work, ==, 500);
	assert_near(l.sample.khz, 600000, 600000 * 0.05);
}

static void test_unknown_frequency_or_two_kinds_are_no_sample(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	begin(&l, 0);
	run(&l, 2 * MS, 600000);
	run(&l, MS, 0);
	l.slot.work_done = 500;
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	look(&l);
	assert_cmp(l.sample.work, ==, 0);

	lease_init(&l);
	begin(&l, 0);
	run(&l, 2 * MS, 600000);
	gchint_phase_ran(&l.track, 2 * MS, 600000, 0);
	l.now += 2 * MS;
	l.slot.work_done = 500;
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	look(&l);
	assert_cmp(l.sample.work, ==, 0);
}

/* A coordinator sleeps while its workers advance the counter. */
static void test_work_of_others_is_no_sample(void **state)
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
	look(&l);
	assert_cmp(l.sample.work, ==, 0);

	/* A worker that ran all along is, one that was preempted is not. */
	for (u32 off = 0; off <= 4; off += 4) {
		lease_init(&l);
		look_at(&l, &leader, true);
		leader.work_done = 0;
		edge(&leader, GCHINT_PHASE_MARK, GCHINT_F_STW);
		look_at(&l, &leader, true);
		run(&l, 8 * MS, 600000);
		l.now += off * MS;
		leader.work_done = 800;
		edge(&leader, GCHINT_PHASE_NONE, 0);
		look_at(&l, &leader, true);
		assert_cmp(l.sample.work, ==, off ? 0 : 800);
	}
}

static void test_backward_counter_is_ignored_and_said(void **state)
{
	struct gchint_hint h;
	struct lease l;

	(void)state;
	lease_init(&l);
	begin(&l, 1000);
	run(&l, MS, 600000);
	work(&l.slot, 400, 1000);
	look(&l);
	work(&l.slot, 300, 1000);
	look(&l);
	assert_int_equal(l.snap.ignored, BIT(GCHINT_IGNORED_BACKWARD));
	assert_cmp(l.track.work_done, ==, 400);
	gchint_phase_hint(&h, &l.track, GCHINT_ROLE_NONE, false);
	assert_cmp(h.work_left, ==, 600);
	assert_cmp(h.work_done, ==, 400);
	assert_cmp(h.work_ran_ns, ==, MS);
	assert_cmp(h.work_cycles, ==, MS * 600000);
	assert_cmp(h.ran_ns, ==, MS);
	/* Two edges unseen may have been an end and another beginning. */
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	work(&l.slot, 100, 1000);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	assert_int_equal(look(&l), GCHINT_SAW_END | GCHINT_SAW_BEGIN);
	assert_int_equal(l.snap.ignored, 0);
	assert_cmp(l.track.work_done, ==, 100);
}

static void test_unreadable_details_are_read_later(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	begin(&l, 1000);
	/* The look falls between the writer's two stores. */
	l.slot.state |= GCHINT_STATE_WRITING;
	look(&l);
	l.slot.work_done = 250;
	l.slot.state &= ~GCHINT_STATE_WRITING;
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	assert_int_equal(look(&l), GCHINT_SAW_PROGRESS);
	assert_cmp(l.track.work_done, ==, 250);

	/* Or on the very edge: phase now, details when they can be read. */
	lease_init(&l);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	l.slot.state |= GCHINT_STATE_WRITING;
	l.slot.work_total = 77;
	assert_int_equal(look(&l), GCHINT_SAW_BEGIN);
	assert_true(l.track.pending);
	l.slot.state &= ~GCHINT_STATE_WRITING;
	assert_true(gchint_phase_due(&l.track, &l.slot, l.now, TTL));
	assert_int_equal(look(&l), 0);
	assert_false(l.track.pending);
	assert_cmp(l.track.work_total, ==, 77);
}

static void test_stall_instant_that_comes_is_overdue(void **state)
{
	struct gchint_hint h;
	struct lease l;

	(void)state;
	lease_init(&l);
	look(&l);
	l.slot.stall_ns = l.now + 10 * MS;
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	look(&l);
	gchint_phase_hint(&h, &l.track, GCHINT_ROLE_NONE, false);
	assert_cmp(h.stall_ns, ==, l.now + 10 * MS);
	assert_false(h.overdue);
	l.now += 10 * MS;
	assert_true(gchint_phase_due(&l.track, &l.slot, l.now, TTL));
	look(&l);
	gchint_phase_hint(&h, &l.track, GCHINT_ROLE_NONE, false);
	assert_true(h.overdue);
	assert_int_equal(l.snap.ignored, 0);
	assert_false(gchint_phase_due(&l.track, &l.slot, l.now, TTL));
	/* Progress that repeats it does not make it a lie either. */
	work(&l.slot, 5, 0);
	look(&l);
	gchint_phase_hint(&h, &l.track, GCHINT_ROLE_NONE, false);
	assert_true(h.overdue);
	assert_int_equal(l.snap.ignored, 0);
	/* A later instant lifts it, an older one is ignored. */
	l.slot.stall_ns = l.now + MS;
	work(&l.slot, 6, 0);
	look(&l);
	l.slot.stall_ns = l.now - MS;
	work(&l.slot, 7, 0);
	look(&l);
	gchint_phase_hint(&h, &l.track, GCHINT_ROLE_NONE, false);
	assert_false(h.overdue);
	assert_cmp(h.stall_ns, ==, l.now + MS);
	assert_int_equal(l.snap.ignored, BIT(GCHINT_IGNORED_STALL_PAST));
}

static void test_late_cause_is_taken(void **state)
{
	struct gchint_hint h;
	struct lease l;

	(void)state;
	lease_init(&l);
	begin(&l, 0);
	l.slot.cause = GCHINT_CAUSE_EXPLICIT;
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	look(&l);
	gchint_phase_hint(&h, &l.track, GCHINT_ROLE_NONE, false);
	assert_int_equal(h.cause, GCHINT_CAUSE_EXPLICIT);
}

static void test_sequence_wraps(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	look(&l);
	for (u32 n = 0; n < 70000; n++) {
		edge(&l.slot, n & 1 ? GCHINT_PHASE_NONE : GCHINT_PHASE_COPY, GCHINT_F_STW);
		assert_int_equal(look(&l), n & 1 ? GCHINT_SAW_END : GCHINT_SAW_BEGIN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_of_the_flags_decides),
		cmocka_unit_test(test_trim_and_lazy_sweep_are_background),
		cmocka_unit_test(test_begin_and_end_are_seen),
		cmocka_unit_test(test_nested_phase_replaces),
		cmocka_unit_test(test_becoming_urgent_is_the_same_phase),
		cmocka_unit_test(test_end_without_a_start_is_harmless),
		cmocka_unit_test(test_phase_that_stands_still_goes_stale_and_revives),
		cmocka_unit_test(test_progress_keeps_a_phase_alive),
		cmocka_unit_test(test_phase_goes_before_role),
		cmocka_unit_test(test_follower_counts_by_its_leader),
		cmocka_unit_test(test_whole_phase_is_a_sample),
		cmocka_unit_test(test_time_after_the_last_figure_does_not_count),
		cmocka_unit_test(test_long_progress_is_a_sample_of_its_own),
		cmocka_unit_test(test_two_frequencies_are_no_sample),
		cmocka_unit_test(test_unknown_frequency_or_two_kinds_are_no_sample),
		cmocka_unit_test(test_work_of_others_is_no_sample),
		cmocka_unit_test(test_backward_counter_is_ignored_and_said),
		cmocka_unit_test(test_unreadable_details_are_read_later),
		cmocka_unit_test(test_stall_instant_that_comes_is_overdue),
		cmocka_unit_test(test_late_cause_is_taken),
		cmocka_unit_test(test_sequence_wraps),
	};

	return run_tap(tests);
}
