// SPDX-License-Identifier: GPL-2.0-only
/* Edges, staleness, roles and classes. */
#include "lease.h"

static void test_first_flag_decides(void **state)
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
	assert_int_equal(lease_poll(&l), 0);
	assert_false(gchint_phase_due(&l.track, &l.slot, l.now, TTL));
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	assert_true(gchint_phase_due(&l.track, &l.slot, l.now, TTL));
	assert_int_equal(lease_poll(&l), GCHINT_SAW_BEGIN);
	assert_int_equal(class_now(&l, GCHINT_ROLE_NONE), GCHINT_CLASS_CONCURRENT);
	assert_int_equal(lease_poll(&l), 0);
	l.now += 5 * MS;
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	assert_int_equal(lease_poll(&l), GCHINT_SAW_END);
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
	lease_poll(&l);
	outer = l.track.instance;
	edge(&l.slot, GCHINT_PHASE_REMARK, GCHINT_F_STW);
	assert_int_equal(lease_poll(&l), GCHINT_SAW_END | GCHINT_SAW_BEGIN);
	gchint_phase_hint(&h, &l.track, GCHINT_ROLE_NONE, true);
	assert_int_equal(h.class, GCHINT_CLASS_STW);
	assert_int_equal(h.phase, GCHINT_PHASE_REMARK);
	assert_true(h.may_raise);
	assert_int_not_equal(h.instance, outer);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	assert_int_equal(lease_poll(&l), GCHINT_SAW_END | GCHINT_SAW_BEGIN);
}

static void test_urgent_phase_is_still_the_same(void **state)
{
	struct lease l;
	u32 instance, revision;

	(void)state;
	lease_init(&l);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	lease_poll(&l);
	instance = l.track.instance;
	revision = l.track.revision;
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT | GCHINT_F_URGENT);
	assert_int_equal(lease_poll(&l), GCHINT_SAW_PROGRESS | GCHINT_SAW_FLAGS);
	assert_int_equal(l.track.instance, instance);
	assert_int_not_equal(l.track.revision, revision);
	assert_int_equal(class_now(&l, GCHINT_ROLE_NONE), GCHINT_CLASS_URGENT);
	/* A concurrent phase that stops the world becomes another one. */
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_STW);
	assert_int_equal(lease_poll(&l), GCHINT_SAW_END | GCHINT_SAW_BEGIN);
}

static bool awaited_now(struct lease *l)
{
	struct gchint_hint h;

	lease_poll(l);
	gchint_phase_hint(&h, &l->track, GCHINT_ROLE_CONCURRENT, true);
	return h.awaited;
}

/* That mutators waited counts for the rest of the collection, whatever its phases. */
static void test_waiting_counts_until_the_collection_ends(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	assert_false(awaited_now(&l));
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	assert_false(awaited_now(&l));
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT | GCHINT_F_URGENT);
	assert_true(awaited_now(&l));
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	assert_true(awaited_now(&l));
	edge(&l.slot, GCHINT_PHASE_REMARK, GCHINT_F_STW);
	assert_true(awaited_now(&l));
	edge(&l.slot, GCHINT_PHASE_COPY, GCHINT_F_CONCURRENT);
	assert_true(awaited_now(&l));
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	assert_false(awaited_now(&l));
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	assert_false(awaited_now(&l));
	/* A pause is no reason: it ends by itself. */
	edge(&l.slot, GCHINT_PHASE_REMARK, GCHINT_F_STW);
	assert_false(awaited_now(&l));
}

static void test_end_without_a_start_is_harmless(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	lease_poll(&l);
	for (int i = 0; i < 3; i++) {
		edge(&l.slot, GCHINT_PHASE_NONE, 0);
		assert_int_equal(lease_poll(&l), 0);
		assert_false(l.sample.valid);
	}
}

static void test_phase_without_progress_goes_stale_and_revives(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_STW);
	lease_poll(&l);
	l.now += TTL;
	assert_false(gchint_phase_due(&l.track, &l.slot, l.now, TTL));
	assert_int_equal(lease_poll(&l), 0);
	l.now += 1;
	assert_true(gchint_phase_due(&l.track, &l.slot, l.now, TTL));
	assert_int_equal(lease_poll(&l), GCHINT_SAW_END | GCHINT_SAW_STALE);
	assert_false(l.sample.valid);
	assert_true(l.track.stale);
	assert_int_equal(class_now(&l, GCHINT_ROLE_NONE), GCHINT_CLASS_NEUTRAL);
	/* A role needs no progress. */
	assert_int_equal(class_now(&l, GCHINT_ROLE_CONCURRENT), GCHINT_CLASS_CONCURRENT);
	l.now += 10 * TTL;
	assert_int_equal(lease_poll(&l), 0);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_STW);
	assert_int_equal(lease_poll(&l), GCHINT_SAW_FRESH | GCHINT_SAW_BEGIN);
	assert_false(l.track.stale);
	assert_int_equal(class_now(&l, GCHINT_ROLE_NONE), GCHINT_CLASS_STW);
}

static void test_progress_keeps_a_phase_alive(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	lease_poll(&l);
	for (u64 n = 1; n < 20; n++) {
		l.now += TTL - MS;
		work(&l.slot, n, 100);
		assert_int_equal(lease_poll(&l), GCHINT_SAW_PROGRESS);
		assert_false(l.track.stale);
	}
	/* A writer that died while writing makes no progress. */
	l.slot.state |= GCHINT_STATE_WRITING;
	l.now += TTL + 1;
	assert_int_equal(lease_poll(&l) & GCHINT_SAW_STALE, GCHINT_SAW_STALE);
}

static void test_phase_overrides_role(void **state)
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
		lease_poll(&l);
		gchint_phase_hint(&h, &l.track, bare[i].role, false);
		assert_int_equal(h.class, bare[i].class);
		assert_int_equal(h.role, bare[i].class != GCHINT_CLASS_NEUTRAL);
		edge(&l.slot, GCHINT_PHASE_ROOTS, GCHINT_F_FOREGROUND);
		lease_poll(&l);
		gchint_phase_hint(&h, &l.track, bare[i].role, false);
		assert_int_equal(h.class, GCHINT_CLASS_FOREGROUND);
		assert_false(h.role);
	}
}

static void test_follower_uses_its_leaders_phase(void **state)
{
	struct gchint_slot leader = {};
	struct lease l;

	(void)state;
	lease_init(&l);
	lease_poll_slot(&l, &leader, true);
	edge(&leader, GCHINT_PHASE_MARK, GCHINT_F_STW);
	assert_int_equal(lease_poll_slot(&l, &leader, true), GCHINT_SAW_BEGIN);
	assert_int_equal(class_now(&l, GCHINT_ROLE_FOLLOW), GCHINT_CLASS_STW);
	/* Its own phase has priority, and the leader's counts again afterwards. */
	edge(&l.slot, GCHINT_PHASE_SWEEP, GCHINT_F_CONCURRENT);
	assert_int_equal(lease_poll(&l), GCHINT_SAW_END | GCHINT_SAW_BEGIN);
	assert_int_equal(class_now(&l, GCHINT_ROLE_FOLLOW), GCHINT_CLASS_BACKGROUND);
	assert_int_equal(lease_poll_slot(&l, &leader, true), GCHINT_SAW_END | GCHINT_SAW_BEGIN);
	assert_int_equal(class_now(&l, GCHINT_ROLE_FOLLOW), GCHINT_CLASS_STW);
	edge(&leader, GCHINT_PHASE_NONE, 0);
	assert_int_equal(lease_poll_slot(&l, &leader, true), GCHINT_SAW_END);
	assert_int_equal(class_now(&l, GCHINT_ROLE_FOLLOW), GCHINT_CLASS_NEUTRAL);
}

static void test_unreadable_details_are_read_later(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	begin(&l, 1000);
	/* The read falls between the writer's two stores. */
	l.slot.state |= GCHINT_STATE_WRITING;
	lease_poll(&l);
	l.slot.work_done = 250;
	l.slot.state &= ~GCHINT_STATE_WRITING;
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	assert_int_equal(lease_poll(&l), GCHINT_SAW_PROGRESS);
	assert_cmp(l.track.work_done, ==, 250);

	/* Or exactly on the edge: phase now, details when they are readable. */
	lease_init(&l);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	l.slot.state |= GCHINT_STATE_WRITING;
	l.slot.work_total = 77;
	assert_int_equal(lease_poll(&l), GCHINT_SAW_BEGIN);
	assert_true(l.track.pending);
	l.slot.state &= ~GCHINT_STATE_WRITING;
	assert_true(gchint_phase_due(&l.track, &l.slot, l.now, TTL));
	assert_int_equal(lease_poll(&l), 0);
	assert_false(l.track.pending);
	assert_cmp(l.track.work_total, ==, 77);
}

static void test_stall_instant_that_passes_is_overdue(void **state)
{
	struct gchint_hint h;
	struct lease l;

	(void)state;
	lease_init(&l);
	lease_poll(&l);
	l.slot.stall_ns = l.now + 10 * MS;
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	lease_poll(&l);
	gchint_phase_hint(&h, &l.track, GCHINT_ROLE_NONE, false);
	assert_cmp(h.stall_ns, ==, l.now + 10 * MS);
	assert_false(h.overdue);
	l.now += 10 * MS;
	assert_true(gchint_phase_due(&l.track, &l.slot, l.now, TTL));
	lease_poll(&l);
	gchint_phase_hint(&h, &l.track, GCHINT_ROLE_NONE, false);
	assert_true(h.overdue);
	assert_int_equal(l.snap.ignored, 0);
	assert_false(gchint_phase_due(&l.track, &l.slot, l.now, TTL));
	/* Progress that repeats it is valid too. */
	work(&l.slot, 5, 0);
	lease_poll(&l);
	gchint_phase_hint(&h, &l.track, GCHINT_ROLE_NONE, false);
	assert_true(h.overdue);
	assert_int_equal(l.snap.ignored, 0);
	/* A later instant lifts it, an earlier one is ignored. */
	l.slot.stall_ns = l.now + MS;
	work(&l.slot, 6, 0);
	lease_poll(&l);
	l.slot.stall_ns = l.now - MS;
	work(&l.slot, 7, 0);
	lease_poll(&l);
	gchint_phase_hint(&h, &l.track, GCHINT_ROLE_NONE, false);
	assert_false(h.overdue);
	assert_cmp(h.stall_ns, ==, l.now + MS);
	assert_int_equal(l.snap.ignored, BIT(GCHINT_IGNORED_STALL_PAST));
}

/*
 * If the state word moved by one edge the work belongs to the same phase; if it moved by two, an
 * end and another beginning may be unseen, and only work that continued proves that it is the same.
 */
static void test_unseen_end_is_distinguished_from_progress(void **state)
{
	static const struct {
		u32 edges;
		u64 done;
		bool writing;
		bool same;
	} rows[] = {
		{ 1, 10, false, true }, { 1, 1, false, true },	{ 2, 10, false, true },
		{ 2, 11, false, true }, { 2, 9, false, false }, { 2, 1, true, true },
		{ 3, 9, false, false },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		u32 instance, saw;
		struct lease l;

		lease_init(&l);
		begin(&l, 100);
		work(&l.slot, 10, 100);
		lease_poll(&l);
		instance = l.track.instance;
		l.now += MS;
		l.slot.work_done = rows[i].done;
		for (u32 n = 0; n < rows[i].edges; n++)
			edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		l.slot.state |= rows[i].writing ? GCHINT_STATE_WRITING : 0;
		saw = lease_poll(&l);
		if ((l.track.instance == instance) != rows[i].same)
			fail_msg("row %u: saw %#x", i, saw);
		assert_int_equal(saw, rows[i].same ? GCHINT_SAW_PROGRESS : GCHINT_SAW_EDGE);
		assert_cmp(l.track.work_done, ==,
			   rows[i].same ? max_t(u64, rows[i].writing ? 10 : rows[i].done, 10) :
					  rows[i].done);
	}
}

static void test_sequence_wraps(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	lease_poll(&l);
	for (u32 n = 0; n < 70000; n++) {
		edge(&l.slot, n & 1 ? GCHINT_PHASE_NONE : GCHINT_PHASE_COPY, GCHINT_F_STW);
		assert_int_equal(lease_poll(&l), n & 1 ? GCHINT_SAW_END : GCHINT_SAW_BEGIN);
	}
}

/* Reads change nothing until it passes; then once. */
static void test_overdue_is_reported_once(void **state)
{
	struct lease l;
	u32 revision;

	(void)state;
	lease_init(&l);
	lease_poll(&l);
	l.slot.stall_ns = l.now + 10 * MS;
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	lease_poll(&l);
	revision = l.track.revision;
	l.now += 10 * MS - 1;
	lease_poll(&l);
	assert_false(l.track.overdue);
	assert_int_equal(l.track.revision, revision);
	for (u32 n = 0; n < 3; n++) {
		l.now++;
		lease_poll(&l);
		assert_true(l.track.overdue);
		assert_int_equal(l.track.revision, revision + 1);
	}

	/* An instant that never comes is never overdue. */
	lease_init(&l);
	lease_poll(&l);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	lease_poll(&l);
	revision = l.track.revision;
	lease_poll(&l);
	assert_false(l.track.overdue);
	assert_int_equal(l.track.revision, revision);
}

/* Time at the sample's frequency. */
static void test_frequency_of_most_of_the_time(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	begin(&l, 100);
	assert_cmp(l.track.mark_at_ns, ==, 0);
	run(&l, 10, 1000);
	assert_cmp(l.track.mark_at_ns, ==, 10);
	assert_int_equal(l.track.mark_khz, 1000);
	run(&l, 10, 2000);
	assert_cmp(l.track.mark_at_ns, ==, 0);
	assert_int_equal(l.track.mark_khz, 1000);
	run(&l, 5, 2000);
	assert_cmp(l.track.mark_at_ns, ==, 5);
	assert_int_equal(l.track.mark_khz, 2000);
	run(&l, 7, 1000);
	assert_cmp(l.track.mark_at_ns, ==, 2);
	assert_int_equal(l.track.mark_khz, 1000);
	assert_cmp(l.track.ran_ns, ==, 32);
	assert_cmp(l.track.cycles, ==, 17 * 1000 + 15 * 2000);
}

/* Work of a phase of 80 ms in which the thread ran for that long. */
static u64 work_of(bool lead, u64 ran_ns)
{
	struct lease l;

	lease_init(&l);
	lease_poll_slot(&l, &l.slot, lead);
	l.slot.work_total = 100;
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	lease_poll_slot(&l, &l.slot, lead);
	run(&l, ran_ns, 1000000);
	l.now += 80 * MS - ran_ns;
	l.slot.work_done = 60;
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	assert_int_equal(lease_poll_slot(&l, &l.slot, lead), GCHINT_SAW_END);
	assert_true(l.sample.valid);
	assert_cmp(l.sample.wall_ns, ==, 80 * MS);
	return l.sample.work;
}

static void test_sample_needs_mostly_running_time(void **state)
{
	(void)state;
	assert_cmp(work_of(false, 20 * MS), ==, 60);
	assert_cmp(work_of(false, 20 * MS - 1), ==, 0);
	assert_cmp(work_of(true, 70 * MS), ==, 60);
	assert_cmp(work_of(true, 70 * MS - 1), ==, 0);
}

/* Time after the last count belongs to the next sample. */
static void test_sample_ends_with_its_count(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	begin(&l, 100);
	run(&l, 10 * MS, 1000000);
	work(&l.slot, 40, 100);
	lease_poll(&l);
	assert_cmp(l.track.mark_ran_ns, ==, 10 * MS);
	run(&l, 10 * MS, 1000000);
	/* An edge that repeats the same count */
	work(&l.slot, 40, 100);
	assert_int_equal(lease_poll(&l), GCHINT_SAW_PROGRESS);
	assert_cmp(l.track.mark_ran_ns, ==, 10 * MS);
	assert_cmp(l.track.mark_cycles, ==, 10 * MS * 1000000);
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	lease_poll(&l);
	assert_cmp(l.sample.ran_ns, ==, 10 * MS);
	assert_cmp(l.sample.work, ==, 40);
	assert_int_equal(l.sample.khz, 1000000);
}

static void test_unreadable_count_keeps_the_sample(void **state)
{
	u64 stall;
	struct lease l;

	(void)state;
	lease_init(&l);
	lease_poll(&l);
	stall = l.now + 10 * MS;
	l.slot.stall_ns = stall;
	l.slot.work_done = 5;
	l.slot.work_total = 100;
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	lease_poll(&l);
	edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	l.slot.state |= GCHINT_STATE_WRITING;
	assert_int_equal(lease_poll(&l), GCHINT_SAW_PROGRESS);
	assert_true(l.track.pending);
	assert_cmp(l.track.work_done, ==, 5);
	assert_cmp(l.track.work_total, ==, 100);
	assert_cmp(l.track.stall_ns, ==, stall);
}

static void test_each_phase_has_its_own_counts(void **state)
{
	struct lease l;

	(void)state;
	lease_init(&l);
	begin(&l, 100);
	assert_cmp(l.track.work_total, ==, 100);
	assert_int_equal(l.track.flags, GCHINT_F_CONCURRENT);
	l.slot.work_total = 7;
	edge(&l.slot, GCHINT_PHASE_COPY, GCHINT_F_STW);
	assert_int_equal(lease_poll(&l), GCHINT_SAW_EDGE);
	assert_cmp(l.track.work_total, ==, 7);
	edge(&l.slot, GCHINT_PHASE_NONE, 0);
	lease_poll(&l);
	assert_int_equal(l.track.flags, 0);
	assert_int_equal(l.track.class, GCHINT_CLASS_NEUTRAL);
}

/* A part of a phase of this length and frequency is a separate sample; else none. */
static void test_long_phases_are_sampled_in_parts(void **state)
{
	static const struct {
		u64 first_ns, second_ns;
		u32 second_khz;
		u64 work;
	} rows[] = {
		{ 50 * MS, 0, 0, 40 },
		{ 50 * MS - 1, 0, 0, 0 },
		/* Two thirds of the time at 1600: the mean may be off by a sixteenth. */
		{ 40 * MS, 20 * MS, 1300, 40 },
		{ 40 * MS, 20 * MS, 1297, 0 },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(rows); i++) {
		struct lease l;

		lease_init(&l);
		begin(&l, 100);
		run(&l, rows[i].first_ns, 1600);
		run(&l, rows[i].second_ns, rows[i].second_khz);
		work(&l.slot, 40, 100);
		lease_poll(&l);
		assert_int_equal(l.sample.valid, rows[i].work > 0);
		if (l.sample.valid)
			assert_cmp(l.sample.work, ==, rows[i].work);
		assert_int_equal(l.track.flags, GCHINT_F_CONCURRENT);
		edge(&l.slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT | GCHINT_F_URGENT);
		assert_int_equal(lease_poll(&l), GCHINT_SAW_PROGRESS | GCHINT_SAW_FLAGS);
		assert_int_equal(l.track.flags, GCHINT_F_CONCURRENT | GCHINT_F_URGENT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_flag_decides),
		cmocka_unit_test(test_trim_and_lazy_sweep_are_background),
		cmocka_unit_test(test_begin_and_end_are_seen),
		cmocka_unit_test(test_nested_phase_replaces),
		cmocka_unit_test(test_urgent_phase_is_still_the_same),
		cmocka_unit_test(test_waiting_counts_until_the_collection_ends),
		cmocka_unit_test(test_end_without_a_start_is_harmless),
		cmocka_unit_test(test_phase_without_progress_goes_stale_and_revives),
		cmocka_unit_test(test_progress_keeps_a_phase_alive),
		cmocka_unit_test(test_phase_overrides_role),
		cmocka_unit_test(test_follower_uses_its_leaders_phase),
		cmocka_unit_test(test_unreadable_details_are_read_later),
		cmocka_unit_test(test_stall_instant_that_passes_is_overdue),
		cmocka_unit_test(test_unseen_end_is_distinguished_from_progress),
		cmocka_unit_test(test_sequence_wraps),
		cmocka_unit_test(test_overdue_is_reported_once),
		cmocka_unit_test(test_frequency_of_most_of_the_time),
		cmocka_unit_test(test_sample_needs_mostly_running_time),
		cmocka_unit_test(test_sample_ends_with_its_count),
		cmocka_unit_test(test_unreadable_count_keeps_the_sample),
		cmocka_unit_test(test_each_phase_has_its_own_counts),
		cmocka_unit_test(test_long_phases_are_sampled_in_parts),
	};

	return run_tap(tests);
}
