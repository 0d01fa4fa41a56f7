// SPDX-License-Identifier: MIT
/*
 * Many threads write their slots, the kernel's own reader (kmod/model/snapshot.c) reads
 * them through the kernel's mapping: what it takes for consistent is consistent.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <gchint.h>

#include "fakedev.h"
#include "snapshot.h"
#include "tap.h"

#define WRITERS 6
#define LOOPS	6000

static const struct gchint_slot *slots[WRITERS];
static pthread_barrier_t attached;
static int done;

static void hint(struct gchint_thread *t, uint64_t n)
{
	struct gchint_detail d = { .size = sizeof(d), .work_done = n, .work_total = 3 * n };

	d.stall_ns = 5 * n;
	d.method = 7 * n;
	gchint_begin_detail(t, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, &d);
	gchint_progress(t, n + 1, 3 * (n + 1), 5 * (n + 1));
	if (n % 3 == 0) {
		gchint_phase_begin(GCHINT_PHASE_REFS, GCHINT_F_STW);
		gchint_phase_end();
	}
	gchint_progress(t, n + 2, 3 * (n + 2), 5 * (n + 2));
	gchint_phase_end();
	gchint_phase_begin(GCHINT_PHASE_SWEEP, 0);
	gchint_phase_end();
}

static void *writer(void *arg)
{
	uint64_t n;

	gchint_self();
	slots[(intptr_t)arg] = fake_slot_of((pid_t)syscall(SYS_gettid));
	pthread_barrier_wait(&attached);
	for (n = 1; n < LOOPS; n++)
		hint(gchint_self(), n);
	__atomic_add_fetch(&done, 1, __ATOMIC_RELAXED);
	return NULL;
}

static unsigned long read_all(unsigned long *taken)
{
	struct gchint_snapshot s;
	unsigned long torn = 0;
	int n;

	for (n = 0; n < WRITERS; n++) {
		gchint_snapshot_take(&s, slots[n], 1);
		if (!s.details)
			continue;
		++*taken;
		torn += s.work_total != 3 * s.work_done;
		torn += s.phase && s.stall_raw != 5 * s.work_done;
		torn += s.ignored & BIT(GCHINT_IGNORED_PHASE);
	}
	return torn;
}

static void race(void)
{
	unsigned long torn = 0, taken = 0;
	pthread_t threads[WRITERS];
	intptr_t n;

	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
	pthread_barrier_init(&attached, NULL, WRITERS + 1);
	for (n = 0; n < WRITERS; n++)
		pthread_create(&threads[n], NULL, writer, (void *)n);
	pthread_barrier_wait(&attached);
	while (__atomic_load_n(&done, __ATOMIC_RELAXED) < WRITERS)
		torn += read_all(&taken);
	for (n = 0; n < WRITERS; n++)
		pthread_join(threads[n], NULL);
	CHECK(taken > 1000);
	CHECK_IS(torn, 0);
	printf("# %lu consistent snapshots\n", taken);
}

static void plain(void)
{
	race();
}

static void with_doorbells(void)
{
	fake_info()->doorbell_begin = ~0u;
	fake_info()->doorbell_end = ~0u;
	race();
}

/* Attaching, hinting and ending all at once; one coordinator hints for the others. */
static void *come_and_go(void *arg)
{
	int n;

	(void)arg;
	for (n = 0; n < 50; n++) {
		gchint_phase_begin(GCHINT_PHASE_MARK, 0);
		gchint_phase_end();
	}
	if (fake_slot_of((pid_t)syscall(SYS_gettid)))
		gchint_detach(gchint_self());
	return NULL;
}

static void churn(void)
{
	struct gchint_session *s;
	pthread_t threads[24];
	int n, round;

	CHECK_IS(gchint_open(&s, 0), 0);
	for (round = 0; round < 20; round++) {
		for (n = 0; n < 24; n++)
			pthread_create(&threads[n], NULL, come_and_go, NULL);
		for (n = 0; n < 24; n++)
			pthread_join(threads[n], NULL);
	}
	CHECK_IS(fake.attaches, 480);
	CHECK_IS(fake.detaches, 480);
	CHECK_IS(gchint_close(s), 0);
}

static void *open_too(void *arg)
{
	struct gchint_session *mine;

	__atomic_store_n((int *)arg, 1, __ATOMIC_SEQ_CST);
	CHECK_IS(gchint_open(&mine, 0), 0);
	CHECK_IS(gchint_get_backend(mine), GCHINT_BACKEND_DEVICE);
	return NULL;
}

/* Threads that open at the same time open one session; later ones wait for the first. */
static void opened_by_two(void)
{
	struct gchint_session *s;
	pthread_t first, second;
	int comes[2] = { 0 };

	fake.hold_open = 1;
	pthread_create(&first, NULL, open_too, &comes[0]);
	while (!__atomic_load_n(&fake.held, __ATOMIC_SEQ_CST))
		usleep(100);
	pthread_create(&second, NULL, open_too, &comes[1]);
	while (!__atomic_load_n(&comes[1], __ATOMIC_SEQ_CST))
		usleep(100);
	usleep(50000);
	CHECK_IS(__atomic_load_n(&fake.held, __ATOMIC_SEQ_CST), 1);
	__atomic_store_n(&fake.hold_open, 0, __ATOMIC_SEQ_CST);
	pthread_join(first, NULL);
	pthread_join(second, NULL);
	CHECK_IS(fake.opens, 1);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(fake.closes, 0);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(fake.closes, 1);
}

static void before(void)
{
	setenv("GCHINT_MIN_US", "0", 1);
	fake_reset();
}

static const struct tap_test tests[] = {
	{ "the kernel's reader sees no torn details of six writers", plain },
	{ "the kernel's reader sees no torn details with doorbells", with_doorbells },
	{ "threads attach and end concurrently", churn },
	{ "two threads can open the session at the same time", opened_by_two },
};

TAP_MAIN(tests, before)
