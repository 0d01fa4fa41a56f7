// SPDX-License-Identifier: MIT
/* The functions that others than C call, where C has them in line. */
#define _GNU_SOURCE
#define GCHINT_NO_INLINE
#include <errno.h>
#include <gchint.h>

#include "fakedev.h"
#include "state.h"
#include "tap.h"

static struct gchint_session *s;
static struct gchint_thread *t;
static const struct gchint_slot *slot;

static void before(void)
{
	setenv("GCHINT_MIN_US", "0", 1);
	fake_reset();
	CHECK_IS(gchint_open(&s, 0), 0);
}

static void check(unsigned int edges, unsigned int phase, unsigned int flags)
{
	CHECK_IS(edges_of(slot), edges);
	CHECK_IS(phase_of(slot), phase);
	CHECK_IS(flags_of(slot), flags);
}

/* Each of them as a store, then with all that may be to do. */
static void by_handle(void)
{
	const gchint_flags_t all = (gchint_flags_t)GCHINT_F_ALL;
	unsigned int n;

	CHECK_IS(gchint_attach(s, 0, GCHINT_ROLE_NONE, NULL, &t), 0);
	slot = fake_slot_of(getpid());
	for (n = 0; n < 12; n += 6) {
		gchint_begin(t, GCHINT_PHASE_MARK, all);
		check(n + 1, GCHINT_PHASE_MARK, GCHINT_F_ALL);
		gchint_next(t, GCHINT_PHASE_SWEEP, GCHINT_F_STW);
		check(n + 2, GCHINT_PHASE_SWEEP, GCHINT_F_STW);
		gchint_begin(t, GCHINT_PHASE_REFS, GCHINT_F_CONCURRENT);
		check(n + 3, GCHINT_PHASE_REFS, GCHINT_F_CONCURRENT);
		gchint_next(t, GCHINT_PHASE_TRIM, 0);
		check(n + 4, GCHINT_PHASE_TRIM, 0);
		gchint_end(t);
		check(n + 5, GCHINT_PHASE_SWEEP, GCHINT_F_STW);
		gchint_end(t);
		check(n + 6, GCHINT_PHASE_NONE, 0);
		CHECK_IS(fake.ring_count, n);
		fake_info()->doorbell_begin = fake_info()->doorbell_end = ~0u;
	}
}

static void by_thread(void)
{
	const gchint_flags_t all = (gchint_flags_t)GCHINT_F_ALL;
	unsigned int n;

	gchint_self();
	slot = fake_slot_of(getpid());
	for (n = 0; n < 12; n += 6) {
		gchint_phase_begin(GCHINT_PHASE_MARK, all);
		check(n + 1, GCHINT_PHASE_MARK, GCHINT_F_ALL);
		gchint_phase_next(GCHINT_PHASE_SWEEP, GCHINT_F_STW);
		check(n + 2, GCHINT_PHASE_SWEEP, GCHINT_F_STW);
		gchint_phase_begin(GCHINT_PHASE_REFS, GCHINT_F_CONCURRENT);
		check(n + 3, GCHINT_PHASE_REFS, GCHINT_F_CONCURRENT);
		gchint_phase_next(GCHINT_PHASE_TRIM, 0);
		check(n + 4, GCHINT_PHASE_TRIM, 0);
		gchint_phase_end();
		check(n + 5, GCHINT_PHASE_SWEEP, GCHINT_F_STW);
		gchint_phase_end();
		check(n + 6, GCHINT_PHASE_NONE, 0);
		CHECK_IS(fake.ring_count, n);
		fake_info()->doorbell_begin = fake_info()->doorbell_end = ~0u;
	}
}

static void methods(void)
{
	CHECK_IS(gchint_method_enter(0x1000), 0);
	CHECK_IS(gchint_method_enter(0x2000), 0x1000);
	gchint_method_leave(0x1000);
	CHECK_IS(gchint_method_enter(0), 0x1000);
}

static const struct tap_test tests[] = {
	{ "the symbols make edges by a handle", by_handle },
	{ "the symbols make edges of the calling thread", by_thread },
	{ "the symbols set the method", methods },
};

TAP_MAIN(tests, before)
