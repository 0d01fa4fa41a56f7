// SPDX-License-Identifier: MIT
/* Phases too short to be worth a hint. Time is the test's own. */
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>
#include <gchint.h>

#include "fakedev.h"
#include "state.h"
#include "tap.h"

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

static uint64_t now_ns = 5000000000;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	ts->tv_sec = (time_t)(now_ns / 1000000000);
	ts->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

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
	gchint_phase_begin(what, flags);
	now_ns += (uint64_t)us * 1000;
	gchint_phase_end();
}

static int rings_of(int count, unsigned int flags, long us)
{
	int before = fake.ring_count;

	while (count--)
		phase(GCHINT_PHASE_SWEEP, flags, us);
	return fake.ring_count - before;
}

static void learned_short(void)
{
	start();
	CHECK_IS(rings_of(1, 0, 20), 2); /* nothing is known of the first */
	CHECK_IS(rings_of(1000, 0, 20), 0);
	CHECK_IS(rings_of(1000, 0, 98), 0);
	/* Another class of flags is learned separately. */
	CHECK_IS(rings_of(1, GCHINT_F_FOREGROUND, 20), 2);
	CHECK_IS(rings_of(1, GCHINT_F_FOREGROUND, 20), 0);
	CHECK_IS(rings_of(1, GCHINT_F_CONCURRENT, 20), 2);
	CHECK_IS(rings_of(1, GCHINT_F_CONCURRENT, 20), 0);
	CHECK_IS(rings_of(1, GCHINT_F_FOREGROUND | GCHINT_F_CONCURRENT, 20), 0);
}

/* After one long phase among short ones the next phases are announced, until it is forgotten. */
static void long_among_short(void)
{
	int heard;

	start();
	rings_of(1000, 0, 20);
	CHECK_IS(rings_of(1, 0, 10000), 0);
	CHECK_IS(rings_of(10, 0, 20), 20);
	/* 10 ms less an eighth each time is 100 us after 34 or 35. */
	heard = rings_of(1000, 0, 20) / 2;
	CHECK(heard >= 20 && heard <= 26);
	/* It does not creep down to nothing, nor stay above what is. */
	CHECK_IS(rings_of(1, 0, 150), 0);
	CHECK(rings_of(1000, 0, 150) >= 1998);
	rings_of(100, 0, 20);
	CHECK_IS(rings_of(1000, 0, 20), 0);
}

/* A pause is heard however short the ones before it were. */
static void no_pause_is_hidden(void)
{
	start();
	CHECK_IS(rings_of(1000, GCHINT_F_STW, 5), 2000);
	gchint_expect(s, GCHINT_PHASE_SWEEP, GCHINT_F_STW, 1000);
	CHECK_IS(rings_of(1, GCHINT_F_STW, 10000), 2);
	CHECK_IS(rings_of(1, GCHINT_F_STW | GCHINT_F_FOREGROUND, 10000), 2);
}

/* Where an edge is only a store, all phases are announced. */
static void all_is_told_where_it_costs_nothing(void)
{
	__u32 edges;

	start();
	fake_info()->doorbell_begin = 0;
	fake_info()->doorbell_end = 0;
	gchint_expect(s, GCHINT_PHASE_SWEEP, 0, 20000);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	edges = edges_of(slot);
	phase(GCHINT_PHASE_SWEEP, 0, 20);
	CHECK_IS(edges_of(slot) - edges, 2);
	fake_info()->doorbell_end = BIT(GCHINT_PHASE_SWEEP);
	phase(GCHINT_PHASE_SWEEP, 0, 20);
	CHECK_IS(edges_of(slot) - edges, 2);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 0);
}

static void short_is_not_in_the_slot(void)
{
	__u32 state;

	start();
	gchint_expect(s, GCHINT_PHASE_MARK, GCHINT_F_FOREGROUND, 50000000);
	gchint_expect(s, GCHINT_PHASE_REFS, GCHINT_F_FOREGROUND, 20000);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_FOREGROUND);
	state = state_of(slot);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_MARK);
	gchint_phase_begin(GCHINT_PHASE_REFS, GCHINT_F_FOREGROUND);
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
	gchint_expect(s, GCHINT_PHASE_REFS, GCHINT_F_FOREGROUND, 20000);
	gchint_phase_begin(GCHINT_PHASE_REFS, GCHINT_F_FOREGROUND);
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

/* An abandoned short phase leaves no state. */
static void short_abandoned(void)
{
	start();
	gchint_expect(s, GCHINT_PHASE_MARK, 0, 20000);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	gchint_abandon(gchint_self());
	gchint_set_cause(gchint_self(), GCHINT_CAUSE_EXPLICIT);
	CHECK_IS(slot->cause, GCHINT_CAUSE_EXPLICIT);
	gchint_phase_begin(GCHINT_PHASE_SWEEP, 0);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 2);
	gchint_phase_end();
	CHECK_IS(fake.ring_count, 2);
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

/* However far away, long is long. */
static void longer_than_can_be_counted(void)
{
	start();
	gchint_expect(s, GCHINT_PHASE_MARK, 0, ((uint64_t)UINT32_MAX + 2) << 10);
	phase(GCHINT_PHASE_MARK, 0, 0);
	CHECK_IS(fake.ring_count, 2);
	gchint_expect(s, GCHINT_PHASE_MARK, 0, UINT64_MAX);
	phase(GCHINT_PHASE_MARK, 0, 0);
	CHECK_IS(fake.ring_count, 4);
}

/* The instant at which the counter is at nothing is one like others. */
static void begun_at_nothing(void)
{
	now_ns = (uint64_t)1 << 41;
	start();
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_MARK);
	now_ns += 20000;
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	CHECK_IS(fake.ring_count, 2);
	phase(GCHINT_PHASE_MARK, 0, 20);
	CHECK_IS(fake.ring_count, 2);
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
	gchint_close(s);
	setenv("GCHINT_MIN_US", "2", 1); /* what is said is never nothing, nor too much */
	start();
	gchint_expect(s, GCHINT_PHASE_MARK, 0, 1);
	phase(GCHINT_PHASE_MARK, 0, 0);
	CHECK_IS(fake.ring_count, 6);
}

static void attach_as(unsigned int role, unsigned int is)
{
	struct gchint_thread *t;

	CHECK_IS(gchint_attach(s, 0, role, NULL, &t), 0);
	CHECK_IS(fake.lease[0].role, is);
	CHECK_IS(gchint_set_role(t, GCHINT_ROLE_NONE, NULL), 0);
	CHECK_IS(gchint_set_role(t, role, NULL), 0);
	CHECK_IS(fake.lease[0].role, is);
	gchint_detach(t);
}

/* If only some hints may act, the others are phases without flags, nested or not. */
static void caps_only(void)
{
	setenv("GCHINT_HINTS", "cap", 1);
	start();
	/* Also where an edge is a store, on a handle that was used before. */
	fake_info()->doorbell_begin = 0;
	fake_info()->doorbell_end = 0;
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
	gchint_phase_begin(GCHINT_PHASE_COLLECT, GCHINT_F_STW);
	CHECK_IS(flags_of(slot), 0);
	gchint_phase_end();
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(flags_of(slot), GCHINT_F_CONCURRENT);
	gchint_phase_begin(GCHINT_PHASE_REMARK, GCHINT_F_STW | GCHINT_F_CONCURRENT);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_REMARK);
	CHECK_IS(flags_of(slot), 0);
	gchint_phase_next(GCHINT_PHASE_REFS, GCHINT_F_URGENT);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_REFS);
	CHECK_IS(flags_of(slot), 0);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_MARK);
	CHECK_IS(flags_of(slot), GCHINT_F_CONCURRENT);
	gchint_phase_end();
	gchint_phase_begin(GCHINT_PHASE_COPY, GCHINT_F_FOREGROUND);
	CHECK_IS(flags_of(slot), 0);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	gchint_detach(gchint_self());
	attach_as(GCHINT_ROLE_STW, GCHINT_ROLE_NONE);
	attach_as(GCHINT_ROLE_CONCURRENT, GCHINT_ROLE_CONCURRENT);
	attach_as(GCHINT_ROLE_BACKGROUND, GCHINT_ROLE_BACKGROUND);
}

static void boosts_only(void)
{
	setenv("GCHINT_HINTS", "boost", 1);
	start();
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_MARK);
	CHECK_IS(flags_of(slot), 0);
	gchint_phase_begin(GCHINT_PHASE_REMARK, GCHINT_F_STW);
	CHECK_IS(flags_of(slot), GCHINT_F_STW);
	gchint_phase_end();
	CHECK_IS(flags_of(slot), 0);
	gchint_phase_end();
	gchint_detach(gchint_self());
	attach_as(GCHINT_ROLE_STW, GCHINT_ROLE_STW);
	attach_as(GCHINT_ROLE_CONCURRENT, GCHINT_ROLE_NONE);
	attach_as(GCHINT_ROLE_BACKGROUND, GCHINT_ROLE_NONE);
}

static void no_such_hints(void)
{
	char why[128];

	setenv("GCHINT_HINTS", "caps", 1);
	CHECK_IS(gchint_open(&s, 0), -EINVAL);
	gchint_explain(why, sizeof(why));
	CHECK(!strcmp(why, "GCHINT_HINTS=caps: wants all, boost, cap or clamp"));
	setenv("GCHINT_HINTS", "all", 1);
	start();
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(flags_of(slot), GCHINT_F_CONCURRENT);
}

static const struct tap_test tests[] = {
	{ "short phases are learned and left out", learned_short },
	{ "a long phase among short ones makes its class count again", long_among_short },
	{ "no pause is filtered", no_pause_is_hidden },
	{ "nothing is filtered where an edge is a store", all_is_told_where_it_costs_nothing },
	{ "a short phase leaves the outer one in the slot", short_is_not_in_the_slot },
	{ "an abandoned short phase is learned", short_abandoned },
	{ "consecutive short phases leave the slot unchanged", short_next },
	{ "phases that become long are learned", learned_long },
	{ "declared lengths are used", declared },
	{ "lengths beyond the counter count as the longest", longer_than_can_be_counted },
	{ "a phase that begins at counter 0 is timed", begun_at_nothing },
	{ "the bound is the user's, else the kernel's, else the default", bound },
	{ "GCHINT_HINTS=cap passes only hints that lower", caps_only },
	{ "GCHINT_HINTS=boost passes only hints that raise", boosts_only },
	{ "an unknown GCHINT_HINTS is an error", no_such_hints },
};

TAP_MAIN(tests, fake_reset)
