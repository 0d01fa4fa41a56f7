// SPDX-License-Identifier: MIT
/* Phases too short to be worth a hint. Lengths are made by sleeping, with slack. */
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>
#include <gchint.h>

#include "fakedev.h"
#include "state.h"
#include "tap.h"

static struct gchint_session *s;
static const struct gchint_slot *slot;

static void start(void)
{
	fake_info()->doorbell_begin = ~0u;
	fake_info()->doorbell_end = ~0u;
	CHECK_IS(gchint_open(&s, 0), 0);
	gchint_self();
	slot = fake_slot_of(getpid());
}

static void phase(unsigned int what, unsigned int flags, long us)
{
	struct timespec ts = { .tv_nsec = us * 1000 };

	gchint_phase_begin(what, flags);
	if (us)
		nanosleep(&ts, NULL);
	gchint_phase_end();
}

/* A busy machine may stretch an empty phase; most of them it does not. */
static void learned_short(void)
{
	int n, before;

	start();
	phase(GCHINT_PHASE_SWEEP, 0, 0);
	CHECK_IS(fake.ring_count, 2); /* nothing is known of the first */
	before = fake.ring_count;
	for (n = 0; n < 1000; n++)
		phase(GCHINT_PHASE_SWEEP, 0, 0);
	CHECK(fake.ring_count - before < 200);
	/* Another kind of wait is another kind of phase. */
	before = fake.ring_count;
	phase(GCHINT_PHASE_SWEEP, GCHINT_F_STW, 0);
	CHECK_IS(fake.ring_count - before, 2);
}

static void short_is_not_in_the_slot(void)
{
	__u32 state;

	start();
	gchint_expect(s, GCHINT_PHASE_MARK, GCHINT_F_STW, 50000000);
	gchint_expect(s, GCHINT_PHASE_REFS, GCHINT_F_STW, 20000);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
	state = state_of(slot);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_MARK);
	gchint_phase_begin(GCHINT_PHASE_REFS, GCHINT_F_STW);
	CHECK_IS(state_of(slot), state);
	gchint_progress(gchint_self(), 1, 2, 3); /* of the short one */
	CHECK_IS(slot->work_done, 0);
	gchint_phase_end();
	CHECK_IS(state_of(slot), state);
	CHECK_IS(fake.ring_count, 1);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	CHECK_IS(fake.ring_count, 2);
	/* A long phase inside of a short one counts. */
	gchint_expect(s, GCHINT_PHASE_REFS, GCHINT_F_STW, 20000);
	gchint_phase_begin(GCHINT_PHASE_REFS, GCHINT_F_STW);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	gchint_phase_begin(GCHINT_PHASE_TRIM, 0);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_TRIM);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	gchint_phase_begin(GCHINT_PHASE_TRIM, GCHINT_F_URGENT);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_TRIM);
}

static void short_next(void)
{
	start();
	gchint_expect(s, GCHINT_PHASE_REFS, 0, 20000);
	gchint_expect(s, GCHINT_PHASE_ROOTS, 0, 20000);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_progress(gchint_self(), 7, 9, 0);
	gchint_phase_next(GCHINT_PHASE_REFS, 0);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	/* For the slot marking was the outermost phase, and its last. */
	CHECK_IS(slot->work_done, 7);
	CHECK_IS(fake.ring_count, 2);
	gchint_phase_next(GCHINT_PHASE_ROOTS, 0);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	CHECK_IS(fake.ring_count, 2);
	gchint_phase_next(GCHINT_PHASE_SWEEP, 0);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_SWEEP);
	CHECK_IS(fake.ring_count, 3);
	CHECK_IS(slot->work_done, 0);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	gchint_phase_begin(GCHINT_PHASE_COPY, 0);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_COPY);
}

static void learned_long(void)
{
	int n, before;

	start();
	gchint_expect(s, GCHINT_PHASE_MARK, 0, 10000);
	phase(GCHINT_PHASE_MARK, 0, 3000);
	CHECK_IS(fake.ring_count, 0);
	before = fake.ring_count;
	for (n = 0; n < 20; n++)
		phase(GCHINT_PHASE_MARK, 0, 3000);
	CHECK_IS(fake.ring_count - before, 40);
}

static void declared(void)
{
	struct gchint_detail d = { .size = sizeof(d), .expect_ns = 50000 };

	start();
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_MARK, 0, &d);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 0);
	d.expect_ns = 5000000;
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_MARK, 0, &d);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_MARK);
	gchint_phase_end();
	d.expect_ns = 50000;
	gchint_begin_detail(gchint_self(), GCHINT_PHASE_MARK, GCHINT_F_URGENT, &d);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_MARK);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 4);
	CHECK_IS(gchint_expect(s, GCHINT_PHASE_NR, 0, 1), -EINVAL);
	CHECK_IS(gchint_expect(s, 0, 0x80, 1), -EINVAL);
	CHECK_IS(gchint_expect(NULL, 0, 0, 1), -EINVAL);
}

static void bound(void)
{
	start();
	gchint_expect(s, GCHINT_PHASE_MARK, 0, 500000);
	phase(GCHINT_PHASE_MARK, 0, 0);
	CHECK_IS(fake.ring_count, 2);
	fake_info()->min_phase_us = 1000; /* the kernel's tunable */
	gchint_expect(s, GCHINT_PHASE_MARK, 0, 500000);
	phase(GCHINT_PHASE_MARK, 0, 0);
	CHECK_IS(fake.ring_count, 2);
	gchint_close(s);
	setenv("GCHINT_MIN_US", "200", 1); /* the user's goes before it */
	start();
	gchint_expect(s, GCHINT_PHASE_MARK, 0, 500000);
	phase(GCHINT_PHASE_MARK, 0, 0);
	CHECK_IS(fake.ring_count, 4);
	gchint_close(s);
	setenv("GCHINT_MIN_US", "0", 1);
	start();
	gchint_expect(s, GCHINT_PHASE_MARK, 0, 1);
	phase(GCHINT_PHASE_MARK, 0, 0);
	CHECK_IS(fake.ring_count, 6);
}

static const struct tap_test tests[] = {
	{ "short phases are learned and left out", learned_short },
	{ "a short phase leaves the outer one in the slot", short_is_not_in_the_slot },
	{ "short phases after each other", short_next },
	{ "phases that become long are learned", learned_long },
	{ "declared lengths", declared },
	{ "the bound: kernel, user, none", bound },
};

TAP_MAIN(tests, fake_reset)
