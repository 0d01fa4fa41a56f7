// SPDX-License-Identifier: MIT
/* Hints from a signal handler that interrupts hints of the same thread anywhere. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <gchint.h>

#include "fakedev.h"
#include "state.h"
#include "tap.h"

#define LOOPS 20000

static pthread_t main_thread;
static volatile sig_atomic_t handled;
static int done;

static void handler(int sig)
{
	(void)sig;
	handled++;
	gchint_phase_begin(GCHINT_PHASE_SAFEPOINT, GCHINT_F_STW);
	gchint_progress(gchint_self(), 1, 2, 0);
	gchint_phase_end();
}

static void *storm(void *arg)
{
	(void)arg;
	while (!__atomic_load_n(&done, __ATOMIC_RELAXED)) {
		pthread_kill(main_thread, SIGUSR1);
		usleep(20);
	}
	return NULL;
}

static void run(void)
{
	struct sigaction sa = { .sa_handler = handler };
	const struct gchint_slot *slot;
	int n, bad = 0;
	pthread_t thread;

	main_thread = pthread_self();
	sigaction(SIGUSR1, &sa, NULL);
	pthread_create(&thread, NULL, storm, NULL);
	while (handled < 3)
		usleep(100);
	CHECK(gchint_init(0) > 0);
	slot = fake_slot_of(getpid());
	/* Until enough of both have happened. */
	for (n = 0; n < LOOPS || handled < 500; n++) {
		gchint_phase_begin(GCHINT_PHASE_MARK, 0);
		bad += slot && phase_of(slot) != GCHINT_PHASE_MARK;
		gchint_phase_begin(GCHINT_PHASE_REFS, 0);
		bad += slot && phase_of(slot) != GCHINT_PHASE_REFS;
		gchint_phase_end();
		bad += slot && phase_of(slot) != GCHINT_PHASE_MARK;
		gchint_phase_end();
		bad += slot && phase_of(slot) != GCHINT_PHASE_NONE;
	}
	__atomic_store_n(&done, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	CHECK_IS(bad, 0);
	gchint_phase_end();
	if (slot)
		CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
}

static void plain(void)
{
	run();
}

static void with_doorbells(void)
{
	fake_info()->doorbell_begin = ~0u;
	fake_info()->doorbell_end = ~0u;
	run();
}

static void with_trace(void)
{
	setenv("GCHINT_TRACE", "/dev/null", 1);
	fake.present = 0;
	run();
}

static void with_clamps(void)
{
	setenv("GCHINT_CLAMP", "50", 1);
	fake.present = 0;
	fake_clamp.supported = 1;
	run();
}

static void before(void)
{
	setenv("GCHINT_MIN_US", "0", 1);
	fake_reset();
}

static const struct tap_test tests[] = {
	{ "a signal handler may hint between plain edges", plain },
	{ "a signal handler may hint between edges with doorbells", with_doorbells },
	{ "a signal handler may hint between traced edges", with_trace },
	{ "a signal handler may hint between clamped edges", with_clamps },
};

TAP_MAIN(tests, before)
