// SPDX-License-Identifier: GPL-2.0-only
/* Copying a slot into which any program may write anything, at any time. */
#include <pthread.h>
#include <stdatomic.h>

#include "unit.h"
#include "snapshot.h"

#define NOW (100 * S)

static struct gchint_slot slot_of(u32 phase, u32 flags)
{
	struct gchint_slot slot = { .state = GCHINT_STATE(GCHINT_STATE_EDGE, phase, flags) };

	return slot;
}

static void test_good_slot_is_copied(void **state)
{
	struct gchint_slot slot = slot_of(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	struct gchint_snapshot s;

	(void)state;
	slot.cause = GCHINT_CAUSE_THRESHOLD;
	slot.work_done = 10;
	slot.work_total = 1000;
	slot.stall_ns = NOW + S;
	slot.method = 0xdeadbeefcafeULL;
	gchint_snapshot_take(&s, &slot, NOW);
	assert_int_equal(s.phase, GCHINT_PHASE_MARK);
	assert_int_equal(s.flags, GCHINT_F_CONCURRENT);
	assert_int_equal(s.cause, GCHINT_CAUSE_THRESHOLD);
	assert_true(s.details);
	assert_false(s.lead);
	assert_cmp(s.work_done, ==, 10);
	assert_cmp(s.work_total, ==, 1000);
	assert_cmp(s.stall_ns, ==, NOW + S);
	assert_cmp(s.method, ==, 0xdeadbeefcafeULL);
	assert_int_equal(s.ignored, 0);
	assert_true(gchint_snapshot_same(&slot, s.state));
}

static void test_fresh_slot_is_no_phase(void **state)
{
	struct gchint_slot slot = {};
	struct gchint_snapshot s;

	(void)state;
	gchint_snapshot_take(&s, &slot, NOW);
	assert_int_equal(s.phase, GCHINT_PHASE_NONE);
	assert_int_equal(s.ignored, 0);
}

static void test_unknown_phase_counts_as_none(void **state)
{
	(void)state;
	for (u32 phase = GCHINT_PHASE_NR; phase < 256; phase++) {
		struct gchint_slot slot = slot_of(phase, GCHINT_F_STW);
		struct gchint_snapshot s;

		gchint_snapshot_take(&s, &slot, NOW);
		assert_int_equal(s.phase, GCHINT_PHASE_NONE);
		assert_int_equal(s.ignored, BIT(GCHINT_IGNORED_PHASE));
	}
}

static void test_unknown_flags_are_masked(void **state)
{
	struct gchint_slot slot = slot_of(GCHINT_PHASE_MARK, 0xf1);
	struct gchint_snapshot s;

	(void)state;
	gchint_snapshot_take(&s, &slot, NOW);
	assert_int_equal(s.flags, GCHINT_F_STW);
	assert_int_equal(s.ignored, BIT(GCHINT_IGNORED_FLAGS));
}

static void test_unknown_cause_counts_as_unknown(void **state)
{
	struct gchint_slot slot = slot_of(GCHINT_PHASE_MARK, 0);
	struct gchint_snapshot s;

	(void)state;
	slot.cause = 0x100 + GCHINT_CAUSE_OOM;
	gchint_snapshot_take(&s, &slot, NOW);
	assert_int_equal(s.cause, GCHINT_CAUSE_UNKNOWN);
	assert_int_equal(s.ignored, BIT(GCHINT_IGNORED_CAUSE));
}

static void test_absurd_work_is_ignored(void **state)
{
	static const u64 work[][2] = {
		{ 11, 10 },
		{ GCHINT_WORK_MAX + 1, 0 },
		{ 0, GCHINT_WORK_MAX + 1 },
		{ U64_MAX, U64_MAX },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(work); i++) {
		struct gchint_slot slot = slot_of(GCHINT_PHASE_MARK, 0);
		struct gchint_snapshot s;

		slot.work_done = work[i][0];
		slot.work_total = work[i][1];
		gchint_snapshot_take(&s, &slot, NOW);
		assert_cmp(s.work_done, ==, 0);
		assert_cmp(s.work_total, ==, 0);
		assert_int_equal(s.ignored, BIT(GCHINT_IGNORED_WORK));
	}
}

static void test_stall_must_be_in_the_near_future(void **state)
{
	static const struct {
		u64 at;
		u32 ignored;
	} stall[] = {
		{ 1, BIT(GCHINT_IGNORED_STALL_PAST) },
		{ NOW, BIT(GCHINT_IGNORED_STALL_PAST) },
		{ NOW + 1, 0 },
		{ NOW + GCHINT_STALL_HORIZON_NS, 0 },
		{ NOW + GCHINT_STALL_HORIZON_NS + 1, BIT(GCHINT_IGNORED_STALL_FAR) },
		{ U64_MAX, BIT(GCHINT_IGNORED_STALL_FAR) },
	};

	(void)state;
	for (u32 i = 0; i < ARRAY_SIZE(stall); i++) {
		struct gchint_slot slot = slot_of(GCHINT_PHASE_MARK, 0);
		struct gchint_snapshot s;

		slot.stall_ns = stall[i].at;
		gchint_snapshot_take(&s, &slot, NOW);
		assert_int_equal(s.ignored, stall[i].ignored);
		assert_cmp(s.stall_ns, ==, stall[i].ignored ? 0 : stall[i].at);
	}
}

static void test_leftovers_between_phases_are_no_error(void **state)
{
	struct gchint_slot slot = slot_of(GCHINT_PHASE_NONE, 0);
	struct gchint_snapshot s;

	(void)state;
	slot.stall_ns = 5;
	slot.work_done = 7;
	gchint_snapshot_take(&s, &slot, NOW);
	assert_int_equal(s.ignored, 0);
	assert_cmp(s.work_done, ==, 7);
	assert_cmp(s.stall_ns, ==, 0);
}

static void test_details_being_written_are_not_read(void **state)
{
	struct gchint_slot slot = slot_of(GCHINT_PHASE_MARK, GCHINT_F_STW);
	struct gchint_snapshot s;
	u32 before = slot.state;

	(void)state;
	slot.state |= GCHINT_STATE_WRITING;
	slot.cause = GCHINT_CAUSE_OOM;
	slot.work_done = 5;
	slot.stall_ns = NOW + S;
	gchint_snapshot_take(&s, &slot, NOW);
	assert_int_equal(s.phase, GCHINT_PHASE_MARK);
	assert_int_equal(s.flags, GCHINT_F_STW);
	assert_int_equal(s.state, before);
	assert_false(s.details);
	assert_int_equal(s.cause, GCHINT_CAUSE_UNKNOWN);
	assert_cmp(s.work_done, ==, 0);
	assert_cmp(s.stall_ns, ==, 0);
	assert_int_equal(s.ignored, BIT(GCHINT_IGNORED_WRITING));
	assert_true(gchint_snapshot_same(&slot, before));
}

/* Any bytes give a valid snapshot. */
static void test_garbage_is_survived(void **state)
{
	u64 seed = 7;

	(void)state;
	for (u32 n = 0; n < 200000; n++) {
		struct gchint_snapshot s;
		union {
			struct gchint_slot slot;
			u32 word[16];
		} any;

		for (u32 i = 0; i < 16; i++)
			any.word[i] = rnd(&seed) & (rnd(&seed) & 1 ? U32_MAX : 0xff);
		gchint_snapshot_take(&s, &any.slot, NOW);
		assert_cmp(s.phase, <, GCHINT_PHASE_NR);
		assert_int_equal(s.flags & ~GCHINT_F_ALL, 0);
		assert_cmp(s.cause, <, GCHINT_CAUSE_NR);
		assert_true(!s.stall_ns || s.stall_ns > NOW);
		assert_cmp(s.work_done, <=, GCHINT_WORK_MAX);
		assert_true(!s.work_total || s.work_done <= s.work_total);
	}
}

/*
 * A writer that follows the protocol as fast as it can. All details of one edge are derived from
 * its sequence number, so that a torn copy is detected.
 */
static struct gchint_slot shared;
static atomic_bool enough;

static void *writer(void *arg)
{
	u32 state = 0;

	(void)arg;
	while (!atomic_load_explicit(&enough, memory_order_relaxed)) {
		u32 seq = (state & GCHINT_STATE_SEQ_MASK) + GCHINT_STATE_EDGE;
		u64 n = seq >> GCHINT_STATE_SEQ_SHIFT;

		__atomic_store_n(&shared.state, state | GCHINT_STATE_WRITING, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_RELEASE);
		__atomic_store_n(&shared.cause, n % GCHINT_CAUSE_NR, __ATOMIC_RELAXED);
		__atomic_store_n(&shared.work_done, n, __ATOMIC_RELAXED);
		__atomic_store_n(&shared.work_total, 3 * n, __ATOMIC_RELAXED);
		__atomic_store_n(&shared.stall_ns, NOW + 1 + n, __ATOMIC_RELAXED);
		__atomic_store_n(&shared.method, ~n, __ATOMIC_RELAXED);
		state = GCHINT_STATE(seq, 1 + n % (GCHINT_PHASE_NR - 1), n % 16);
		__atomic_store_n(&shared.state, state, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void test_copy_is_never_torn(void **state)
{
	u32 whole = 0, torn = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, writer, NULL), 0);
	/* Until both outcomes were seen often, or long enough. */
	for (u32 n = 0; n < 20000000 && (whole < 50000 || torn < 50); n++) {
		struct gchint_snapshot s;
		u64 seq;

		gchint_snapshot_take(&s, &shared, NOW);
		seq = s.state >> GCHINT_STATE_SEQ_SHIFT;
		if (!s.details) {
			torn++;
			continue;
		}
		whole++;
		if (!seq)
			continue;
		if (s.cause != seq % GCHINT_CAUSE_NR || s.work_done != seq ||
		    s.work_total != 3 * seq || s.stall_ns != NOW + 1 + seq || s.method != ~seq ||
		    s.phase != 1 + seq % (GCHINT_PHASE_NR - 1) || s.flags != seq % 16) {
			atomic_store(&enough, true);
			pthread_join(thread, NULL);
			fail_msg("details of another edge than %llu", (unsigned long long)seq);
		}
	}
	atomic_store(&enough, true);
	pthread_join(thread, NULL);
	assert_cmp(whole, >=, 1000);
}

/* Of a slot being written only its word is valid; between phases there is no instant. */
static void test_unread_details_are_cleared(void **state)
{
	struct gchint_slot slot = {
		.work_done = 5,
		.work_total = 10,
		.stall_ns = NOW + MS,
		.method = 0x1234,
	};
	struct gchint_snapshot s;

	(void)state;
	slot.state = GCHINT_STATE(GCHINT_STATE_EDGE, GCHINT_PHASE_MARK, GCHINT_F_STW) |
		     GCHINT_STATE_WRITING;
	memset(&s, 0xff, sizeof(s));
	gchint_snapshot_take(&s, &slot, NOW);
	assert_false(s.details);
	assert_cmp(s.work_done, ==, 0);
	assert_cmp(s.work_total, ==, 0);
	assert_cmp(s.stall_ns, ==, 0);
	assert_cmp(s.stall_raw, ==, 0);
	assert_cmp(s.method, ==, 0);
	slot.state = GCHINT_STATE(GCHINT_STATE_EDGE, GCHINT_PHASE_NONE, 0);
	memset(&s, 0xff, sizeof(s));
	gchint_snapshot_take(&s, &slot, NOW);
	assert_true(s.details);
	assert_cmp(s.stall_ns, ==, 0);
	assert_cmp(s.stall_raw, ==, 0);
	assert_cmp(s.work_done, ==, 5);
	assert_cmp(s.work_total, ==, 10);
	assert_cmp(s.method, ==, 0x1234);
	/* Impossible work counts are dropped. */
	slot.work_done = 11;
	gchint_snapshot_take(&s, &slot, NOW);
	assert_cmp(s.work_done, ==, 0);
	assert_cmp(s.work_total, ==, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_slot_is_copied),
		cmocka_unit_test(test_fresh_slot_is_no_phase),
		cmocka_unit_test(test_unknown_phase_counts_as_none),
		cmocka_unit_test(test_unknown_flags_are_masked),
		cmocka_unit_test(test_unknown_cause_counts_as_unknown),
		cmocka_unit_test(test_absurd_work_is_ignored),
		cmocka_unit_test(test_stall_must_be_in_the_near_future),
		cmocka_unit_test(test_leftovers_between_phases_are_no_error),
		cmocka_unit_test(test_details_being_written_are_not_read),
		cmocka_unit_test(test_garbage_is_survived),
		cmocka_unit_test(test_copy_is_never_torn),
		cmocka_unit_test(test_unread_details_are_cleared),
	};

	return run_tap(tests);
}
