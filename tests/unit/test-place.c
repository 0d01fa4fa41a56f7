// SPDX-License-Identifier: GPL-2.0
/* Bounds of a thread's utilisation: who is slowed, who is moved, who is let be. */
#include "unit.h"
#include "place.h"

#define MS    ((u64)NSEC_PER_MSEC)
#define NOW   (1000 * MS)
#define SMALL 381u

static struct gchint_place find(u8 phase, u8 flags, bool may_raise, u32 least, u64 stall_ns,
				u64 left, const struct gchint_rates *r)
{
	static const struct gchint_rates unknown;
	struct gchint_hint h = {
		.class = gchint_phase_class(phase, flags),
		.phase = phase,
		.flags = flags,
		.may_raise = may_raise,
		.stall_ns = stall_ns,
		.work_left = left,
	};
	struct gchint_tunables tun;
	struct gchint_place p;

	gchint_tunables_init(&tun);
	gchint_place_find(&p, &h, r ? r : &unknown, &tun, least, NOW);
	return p;
}

static u32 mark(u32 least, u64 stall_ns, u64 left, const struct gchint_rates *r)
{
	return find(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, true, least, stall_ns, left, r).max;
}

/* A unit a step on a CPU, from one unit on, in a phase that began before. */
static void work(struct gchint_rates *r, u32 capacity, u32 least, u64 step_ns, u32 steps)
{
	u64 at = NOW - 100 * MS;

	gchint_place_look(r, GCHINT_PHASE_MARK, 1, capacity, least, at);
	gchint_place_look(r, GCHINT_PHASE_MARK, 1 + steps, capacity, least, at + steps * step_ns);
	gchint_place_look(r, GCHINT_PHASE_NONE, 0, capacity, least, at + steps * step_ns);
}

/* The scheduler's own inequality: use * 1280 < capacity * 1024. */
static void test_fits(void **state)
{
	(void)state;
	for (u32 c = 1; c <= GCHINT_ONE; c++) {
		u32 fits = gchint_place_fits(c);

		assert_true(fits * 1280 < c * 1024);
		assert_true((fits + 1) * 1280 >= c * 1024);
	}
	assert_int_equal(gchint_place_fits(GCHINT_ONE), 819);
}

/* What takes no time to speak of is known all the same: 0 would be unknown. */
static void test_least_time_is_one(void **state)
{
	struct gchint_rates r = { 0 };

	(void)state;
	gchint_place_look(&r, GCHINT_PHASE_MARK, 1, GCHINT_ONE, SMALL, NOW);
	gchint_place_look(&r, GCHINT_PHASE_MARK, 1 + (1ull << 39), GCHINT_ONE, SMALL, NOW + MS);
	assert_int_equal(r.each[GCHINT_PHASE_MARK][0], 1);
	gchint_place_look(&r, GCHINT_PHASE_MARK, 1 + (1ull << 39) + (1ull << 29), GCHINT_ONE, SMALL,
			  NOW + 2 * MS);
	assert_int_equal(r.each[GCHINT_PHASE_MARK][0], 1);
}

static void test_alike(void **state)
{
	struct gchint_place p;

	(void)state;
	p = find(GCHINT_PHASE_NONE, 0, true, GCHINT_ONE, 0, 0, NULL);
	assert_int_equal(p.min, 0);
	assert_int_equal(p.max, GCHINT_ONE);
	p = find(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, true, GCHINT_ONE, 0, 0, NULL);
	assert_int_equal(p.min, 0);
	assert_int_equal(p.max, GCHINT_ONE / 2);
	p = find(GCHINT_PHASE_MARK, GCHINT_F_STW, true, GCHINT_ONE, 0, 0, NULL);
	assert_int_equal(p.min, 819);
	assert_int_equal(p.max, GCHINT_ONE);
	p = find(GCHINT_PHASE_MARK, GCHINT_F_STW, false, GCHINT_ONE, 0, 0, NULL);
	assert_int_equal(p.min, 0);
}

static void test_unlike(void **state)
{
	struct gchint_place p;

	(void)state;
	/* A mutator that needed all of a large CPU would end placing by energy. */
	p = find(GCHINT_PHASE_NONE, 0, true, SMALL, 0, 0, NULL);
	assert_int_equal(p.max, 819);
	assert_int_equal(mark(SMALL, 0, 0, NULL), gchint_place_fits(SMALL));
	p = find(GCHINT_PHASE_MARK, GCHINT_F_STW, true, SMALL, 0, 0, NULL);
	assert_int_equal(p.min, 819);
	assert_int_equal(p.max, 819);
}

static u8 where(u8 phase, u8 flags, bool may_raise, u32 least)
{
	return find(phase, flags, may_raise, least, 0, 0, NULL).where;
}

/* For who binds threads: only who may raise claims the large ones. */
static void test_where(void **state)
{
	struct gchint_rates r = {};

	(void)state;
	assert_int_equal(where(GCHINT_PHASE_NONE, 0, true, SMALL), GCHINT_WHERE_ANY);
	assert_int_equal(where(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, false, SMALL),
			 GCHINT_WHERE_SMALL);
	assert_int_equal(where(GCHINT_PHASE_MARK, GCHINT_F_STW, true, SMALL), GCHINT_WHERE_LARGE);
	assert_int_equal(where(GCHINT_PHASE_MARK, GCHINT_F_STW, false, SMALL), GCHINT_WHERE_ANY);
	assert_int_equal(where(GCHINT_PHASE_MARK, 0, true, SMALL), GCHINT_WHERE_ANY);
	assert_int_equal(where(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, true, GCHINT_ONE),
			 GCHINT_WHERE_ANY);
	assert_int_equal(where(GCHINT_PHASE_MARK, GCHINT_F_STW, true, GCHINT_ONE),
			 GCHINT_WHERE_ANY);
	/* Too late on the small ones. */
	work(&r, GCHINT_ONE, SMALL, MS, 10);
	assert_int_equal(
		find(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, true, SMALL, NOW + 30 * MS, 10, &r)
			.where,
		GCHINT_WHERE_ANY);
}

/* 10 ms of work on a large CPU: 27 on one of SMALL, 34 with the margin of a quarter. */
static void test_deadline_by_the_large(void **state)
{
	struct gchint_rates r = {};

	(void)state;
	work(&r, GCHINT_ONE, SMALL, MS, 10);
	assert_int_equal(mark(SMALL, NOW + 35 * MS, 10, &r), gchint_place_fits(SMALL));
	assert_int_equal(mark(SMALL, NOW + 30 * MS, 10, &r), 819);
	/* A CPU between the two that took twice as long is worth the same. */
	r = (struct gchint_rates){};
	work(&r, GCHINT_ONE / 2, SMALL, 2 * MS, 10);
	assert_int_equal(mark(SMALL, NOW + 35 * MS, 10, &r), gchint_place_fits(SMALL));
	assert_int_equal(mark(SMALL, NOW + 30 * MS, 10, &r), 819);
	/* Where all are alike there is no other place. */
	assert_int_equal(mark(GCHINT_ONE, NOW + 1000 * MS, 10, &r), GCHINT_ONE);
}

/* What the small ones were seen to do counts, whatever their capacity promises. */
static void test_deadline_by_the_small(void **state)
{
	struct gchint_rates r = {};

	(void)state;
	work(&r, GCHINT_ONE, SMALL, MS, 10);
	work(&r, SMALL, SMALL, 2 * MS, 10);
	assert_int_equal(mark(SMALL, NOW + 26 * MS, 10, &r), gchint_place_fits(SMALL));
	assert_int_equal(mark(SMALL, NOW + 24 * MS, 10, &r), 819);
	/* It became slower: half of what is new. */
	work(&r, SMALL, SMALL, 4 * MS, 10);
	assert_int_equal(mark(SMALL, NOW + 36 * MS, 10, &r), 819);
	assert_int_equal(mark(SMALL, NOW + 38 * MS, 10, &r), gchint_place_fits(SMALL));
	/* Of another phase nothing is known. */
	assert_int_equal(
		find(GCHINT_PHASE_SWEEP, GCHINT_F_CONCURRENT, true, SMALL, NOW + 1000 * MS, 10, &r)
			.max,
		819);
	assert_int_equal(find(GCHINT_PHASE_SWEEP, GCHINT_F_CONCURRENT, true, SMALL, 0, 10, &r).max,
			 gchint_place_fits(SMALL));
}

static void test_deadline_unknown(void **state)
{
	struct gchint_rates r = {};

	(void)state;
	assert_int_equal(mark(SMALL, NOW + 1000 * MS, 10, NULL), 819);
	work(&r, SMALL, SMALL, 2 * MS, 10);
	/* It has passed, or nobody says how much is left, or says what cannot be. */
	assert_int_equal(mark(SMALL, NOW - 1, 10, &r), 819);
	assert_int_equal(mark(SMALL, NOW + 1000 * MS, 0, &r), 819);
	assert_int_equal(mark(SMALL, NOW + 1000 * MS, BIT_ULL(40), &r), 819);
	assert_int_equal(mark(SMALL, U64_MAX, U64_MAX, &r), 819);
	assert_int_equal(mark(SMALL, U64_MAX, BIT_ULL(40) - 1, &r), 819);
}

/* Of which intervals the rate is made. */
static void test_rate(void **state)
{
	struct gchint_rates r = {};
	u64 *each = r.each[GCHINT_PHASE_MARK], unit = 2 * MS << GCHINT_ONE_SHIFT;

	(void)state;
	gchint_place_look(&r, GCHINT_PHASE_MARK, 0, SMALL, SMALL, NOW);
	gchint_place_look(&r, GCHINT_PHASE_MARK, 0, SMALL, SMALL, NOW + 3 * MS);
	assert_int_equal(each[1], 0);
	/* Waiting is part of it. */
	gchint_place_look(&r, GCHINT_PHASE_MARK, 2, SMALL, SMALL, NOW + 4 * MS);
	assert_int_equal(each[1], unit);
	/* Too soon to tell: together with what comes. */
	gchint_place_look(&r, GCHINT_PHASE_MARK, 3, SMALL, SMALL, NOW + 4 * MS + 1);
	assert_int_equal(each[1], unit);
	gchint_place_look(&r, GCHINT_PHASE_MARK, 4, SMALL, SMALL, NOW + 8 * MS);
	assert_int_equal(each[1], unit);
	/* Begun anew, and over, sooner than can be told. */
	gchint_place_look(&r, GCHINT_PHASE_MARK, 1, SMALL, SMALL, NOW + 8 * MS + 1);
	gchint_place_look(&r, GCHINT_PHASE_MARK, 6, SMALL, SMALL, NOW + 18 * MS + 1);
	assert_int_equal(each[1], unit);
	gchint_place_look(&r, GCHINT_PHASE_NONE, 9, SMALL, SMALL, NOW + 18 * MS + 2);
	assert_int_equal(each[1], unit);
	gchint_place_look(&r, GCHINT_PHASE_MARK, 9, SMALL, SMALL, NOW + 19 * MS);
	/* Moved meanwhile: nobody knows what was done where. */
	gchint_place_look(&r, GCHINT_PHASE_MARK, 60, GCHINT_ONE, SMALL, NOW + 21 * MS);
	assert_int_equal(each[1], unit);
	assert_int_equal(each[0], 0);
	/* The last figure of a phase is there after its end. */
	gchint_place_look(&r, GCHINT_PHASE_NONE, 62, GCHINT_ONE, SMALL, NOW + 25 * MS);
	assert_int_equal(each[0], unit);
	/* Less done than before is another phase of the kind; what is idle has no rate. */
	gchint_place_look(&r, GCHINT_PHASE_NONE, 70, GCHINT_ONE, SMALL, NOW + 28 * MS);
	gchint_place_look(&r, GCHINT_PHASE_MARK, 70, GCHINT_ONE, SMALL, NOW + 30 * MS);
	gchint_place_look(&r, GCHINT_PHASE_MARK, 5, GCHINT_ONE, SMALL, NOW + 40 * MS);
	assert_int_equal(each[0], unit);
	/* Incredible figures. */
	gchint_place_look(&r, GCHINT_PHASE_MARK, U64_MAX, GCHINT_ONE, SMALL, NOW + 50 * MS);
	assert_int_equal(each[0], unit);
	gchint_place_look(&r, GCHINT_PHASE_SWEEP, 1, GCHINT_ONE, SMALL, NOW);
	gchint_place_look(&r, GCHINT_PHASE_SWEEP, 2, GCHINT_ONE, SMALL, NOW + BIT_ULL(40));
	assert_int_equal(r.each[GCHINT_PHASE_SWEEP][0], 0);
	/* Where all are alike there is one kind. */
	work(&r, GCHINT_ONE, GCHINT_ONE, MS, 10);
	assert_int_equal(each[1], unit);
}

static void test_bounds(void **state)
{
	struct gchint_rates r = {};

	(void)state;
	work(&r, GCHINT_ONE, SMALL, MS, 10);
	for (u8 phase = 0; phase < GCHINT_PHASE_NR; phase++)
		for (u32 flags = 0; flags < 16; flags++)
			for (u32 least = 1; least <= GCHINT_ONE; least += 31) {
				struct gchint_place p = find(phase, (u8)flags, true, least,
							     NOW + flags * MS, 7, &r);

				assert_true(p.min <= p.max);
				assert_true(p.max && p.max <= GCHINT_ONE);
			}
}

/* 10 ms on a small CPU and a quarter for luck, to the nanosecond. */
static void test_the_very_end_is_in_time(void **state)
{
	struct gchint_rates r = {};

	(void)state;
	work(&r, SMALL, SMALL, MS, 10);
	assert_int_equal(mark(SMALL, NOW + 12500000, 10, &r), gchint_place_fits(SMALL));
	assert_int_equal(mark(SMALL, NOW + 12499999, 10, &r), 819);
}

static void test_an_instant_that_has_come_is_too_late(void **state)
{
	struct gchint_rates r = {};

	(void)state;
	/* So little work that it takes no nanosecond */
	r.each[GCHINT_PHASE_MARK][1] = 1;
	assert_int_equal(mark(SMALL, NOW, 1, &r), 819);
	assert_int_equal(mark(SMALL, NOW + 1, 1, &r), gchint_place_fits(SMALL));
}

/* Where nothing is to be done, nobody is bounded or moved. */
static void test_off_bounds_nobody(void **state)
{
	static const struct gchint_rates unknown;
	struct gchint_hint h = { .may_raise = true };
	struct gchint_tunables tun;
	struct gchint_place p;

	(void)state;
	gchint_tunables_init(&tun);
	tun.mode = GCHINT_MODE_OFF;
	for (u8 class = 0; class < GCHINT_CLASS_NR; class ++) {
		h.class = class;
		gchint_place_find(&p, &h, &unknown, &tun, SMALL, NOW);
		assert_int_equal(p.min, 0);
		assert_int_equal(p.max, GCHINT_ONE);
		assert_int_equal(p.where, GCHINT_WHERE_ANY);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fits),
		cmocka_unit_test(test_least_time_is_one),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_unlike),
		cmocka_unit_test(test_where),
		cmocka_unit_test(test_deadline_by_the_large),
		cmocka_unit_test(test_deadline_by_the_small),
		cmocka_unit_test(test_deadline_unknown),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_the_very_end_is_in_time),
		cmocka_unit_test(test_an_instant_that_has_come_is_too_late),
		cmocka_unit_test(test_off_bounds_nobody),
	};

	return run_tap(tests);
}
