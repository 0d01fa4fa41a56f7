// SPDX-License-Identifier: MIT
/* Leases: on behalf of others, roles, threads that come and go. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <gchint.h>

#include "fakedev.h"
#include "state.h"
#include "tap.h"

static struct gchint_session *s;

/* Threads that wait until they are told to end. */
#define THREADS 70
static struct worker {
	pthread_t thread;
	pid_t tid;
	void (*run)(void);
} workers[THREADS];
static pthread_barrier_t started;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *arg)
{
	struct worker *w = arg;

	w->tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&started);
	if (w->run)
		w->run();
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return NULL;
}

static void start(int count, void (*run)(void))
{
	int n;

	pthread_mutex_lock(&gate);
	pthread_barrier_init(&started, NULL, (unsigned int)count + 1);
	for (n = 0; n < count; n++) {
		workers[n].run = run;
		pthread_create(&workers[n].thread, NULL, worker, &workers[n]);
	}
	pthread_barrier_wait(&started);
}

static void finish(int count)
{
	int n;

	pthread_mutex_unlock(&gate);
	for (n = 0; n < count; n++)
		pthread_join(workers[n].thread, NULL);
	/* One that is joined may not be gone yet: its number is given back later. */
	for (n = 0; n < count; n++)
		while (!syscall(SYS_tgkill, getpid(), workers[n].tid, 0))
			usleep(100);
}

static void before(void)
{
	fake_reset();
	setenv("GCHINT_MIN_US", "0", 1);
	CHECK_IS(gchint_open(&s, 0), 0);
}

static void on_behalf(void)
{
	struct gchint_thread *t[2];
	const struct gchint_slot *slot;

	start(2, NULL);
	CHECK_IS(gchint_attach(s, workers[0].tid, 0, NULL, &t[0]), 0);
	CHECK_IS(gchint_attach(s, workers[1].tid, 0, NULL, &t[1]), 0);
	gchint_begin(t[1], GCHINT_PHASE_COPY, GCHINT_F_STW);
	slot = fake_slot_of(workers[1].tid);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_COPY);
	CHECK_IS(state_of(fake_slot_of(workers[0].tid)), 0);
	gchint_end(t[1]);
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
	/* Where it runs is not known: the doorbell goes out whatever our CPU is. */
	fake_info()->doorbell_begin = BIT(GCHINT_PHASE_COPY);
	memset(fake_info()->cpu_policy, GCHINT_INFO_NO_POLICY, GCHINT_INFO_CPUS);
	gchint_begin(t[1], GCHINT_PHASE_COPY, GCHINT_F_STW);
	CHECK_IS(fake.ring_count, 1);
	CHECK(fake_slot(fake_last_ring().slot) == slot);
	CHECK_IS(gchint_detach(t[0]), 0);
	CHECK_IS(fake.detaches, 1);
	CHECK_IS(gchint_detach(t[0]), -EINVAL);
	gchint_begin(t[0], GCHINT_PHASE_COPY, 0);
	finish(2);
}

static void attach_errors(void)
{
	struct gchint_thread *t, *again;

	CHECK_IS(gchint_attach(s, 1, 0, NULL, &t), -ESRCH);
	gchint_begin(t, GCHINT_PHASE_MARK, 0);
	gchint_end(t);
	CHECK_IS(gchint_attach(s, 0, GCHINT_ROLE_NR, NULL, &t), -EINVAL);
	CHECK_IS(gchint_attach(s, 0, GCHINT_ROLE_FOLLOW, NULL, &t), -EINVAL);
	CHECK_IS(gchint_attach(s, 0, GCHINT_ROLE_FOLLOW, t, &t), -EINVAL);
	CHECK_IS(gchint_attach(s, 0, 0, NULL, &t), 0);
	CHECK_IS(gchint_attach(s, 0, 0, NULL, &again), -EBUSY);
	gchint_begin(again, GCHINT_PHASE_MARK, 0);
	CHECK_IS(state_of(fake_slot_of(getpid())), 0);
	CHECK_IS(gchint_set_role(again, 0, NULL), -EINVAL);
	CHECK_IS(gchint_detach(t), 0);
	fake.attach_errno = EDQUOT;
	CHECK_IS(gchint_attach(s, 0, 0, NULL, &t), -EDQUOT);
	CHECK_IS(fake.attaches, 1);
	/* A failure leaves nothing behind: all slots can be had. */
	fake.attach_errno = 0;
	CHECK_IS(gchint_attach(s, 0, 0, NULL, NULL), 0);
}

static void roles(void)
{
	struct gchint_thread *t[3];

	start(3, NULL);
	CHECK_IS(gchint_attach(s, workers[0].tid, GCHINT_ROLE_CONCURRENT, NULL, &t[0]), 0);
	CHECK_IS(gchint_attach(s, workers[1].tid, GCHINT_ROLE_FOLLOW, t[0], &t[1]), 0);
	CHECK_IS(fake.lease[0].role, GCHINT_ROLE_CONCURRENT);
	CHECK_IS(fake.lease[1].role, GCHINT_ROLE_FOLLOW);
	CHECK_IS(fake.lease[1].lead, 0);
	CHECK_IS(gchint_attach(s, workers[2].tid, 0, NULL, &t[2]), 0);
	CHECK_IS(gchint_set_role(t[0], GCHINT_ROLE_FOLLOW, t[2]), 0);
	CHECK_IS(fake.lease[0].lead, 2);
	CHECK_IS(gchint_set_role(t[0], GCHINT_ROLE_BACKGROUND, NULL), 0);
	CHECK_IS(fake.lease[0].role, GCHINT_ROLE_BACKGROUND);
	CHECK_IS(gchint_set_role(t[0], GCHINT_ROLE_STW, t[1]), -EINVAL);
	CHECK_IS(gchint_set_role(t[0], 99, NULL), -EINVAL);
	CHECK_IS(gchint_set_role(gchint_self(), GCHINT_ROLE_FOLLOW, t[0]), 0);
	CHECK_IS(fake.roles, 3);
	finish(3);
	CHECK_IS(gchint_set_role(t[1], GCHINT_ROLE_STW, NULL), -ENOENT);
}

static void announce_self(void)
{
	pid_t me = (pid_t)syscall(SYS_gettid);

	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	CHECK_IS(phase_of(fake_slot_of(me)), GCHINT_PHASE_MARK);
	gchint_phase_begin(GCHINT_PHASE_REFS, 0);
	CHECK_IS(phase_of(fake_slot_of(me)), GCHINT_PHASE_REFS);
	gchint_phase_end();
	gchint_phase_end();
	CHECK_IS(phase_of(fake_slot_of(me)), GCHINT_PHASE_NONE);
	CHECK_IS(edges_of(fake_slot_of(me)), 4);
}

static void attached_lazily(void)
{
	start(30, announce_self);
	finish(30);
	CHECK_IS(fake.attaches, 30);
	CHECK_IS(fake.calls, 30);
}

/* More threads over time than slots: those that ended make room. */
static void many_generations(void)
{
	int n;

	/* After the first ones all want a dead thread's record, at once. */
	for (n = 0; n < 40; n++) {
		start(60, announce_self);
		finish(60);
	}
	CHECK_IS(fake.attaches, 2400);
}

static void try_self(void)
{
	gchint_self();
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
}

/* More threads than slots at once: the others hint nothing, and harm nothing. */
static void too_many(void)
{
	int n, with = 0;

	start(THREADS, try_self);
	/* Each has tried once its state is back; attaching is under a lock in the fake. */
	for (n = 0; n < 2000 && __atomic_load_n(&fake.calls, __ATOMIC_RELAXED) < GCHINT_SLOTS; n++)
		usleep(1000);
	usleep(20000);
	for (n = 0; n < THREADS; n++)
		with += fake_slot_of(workers[n].tid) != NULL;
	CHECK_IS(with, GCHINT_SLOTS);
	CHECK_IS(gchint_attach(s, 0, 0, NULL, NULL), -ENOSPC);
	finish(THREADS);
	CHECK_IS(gchint_attach(s, 0, 0, NULL, NULL), 0);
}

/* A handle whose thread ended is not given away, and does not touch the next one's slot. */
static void handle_outlives_thread(void)
{
	struct gchint_thread *t, *next;

	start(1, NULL);
	CHECK_IS(gchint_attach(s, workers[0].tid, 0, NULL, &t), 0);
	finish(1);
	start(1, NULL);
	CHECK_IS(gchint_attach(s, workers[0].tid, 0, NULL, &next), 0);
	CHECK(t != next);
	CHECK(fake_slot_of(workers[0].tid) == fake_slot(0));
	gchint_begin(t, GCHINT_PHASE_MARK, 0);
	gchint_end(t);
	CHECK_IS(state_of(fake_slot(0)), 0);
	CHECK_IS(gchint_detach(t), 0);
	CHECK_IS(fake.detaches, 0); /* the slot is the next thread's */
	gchint_begin(next, GCHINT_PHASE_MARK, 0);
	CHECK_IS(phase_of(fake_slot(0)), GCHINT_PHASE_MARK);
	finish(1);
}

/* One who is announced by a handle does not announce itself as well. */
static void one_announcer(void)
{
	struct gchint_thread *t;

	CHECK_IS(gchint_attach(s, 0, 0, NULL, &t), 0);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	CHECK_IS(state_of(fake_slot_of(getpid())), 0);
	gchint_phase_end();
	CHECK_IS(gchint_detach(t), 0);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0); /* tried once, not at each edge */
	CHECK(!fake_slot_of(getpid()));
	gchint_phase_end();
	gchint_self();
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	CHECK_IS(phase_of(fake_slot_of(getpid())), GCHINT_PHASE_MARK);
	CHECK_IS(gchint_attach(s, 0, 0, NULL, &t), -EBUSY);
	CHECK_IS(gchint_detach(gchint_self()), 0);
	CHECK(!fake_slot_of(getpid()));
	CHECK_IS(gchint_attach(s, 0, 0, NULL, &t), 0);
}

static const struct tap_test tests[] = {
	{ "hints on behalf of other threads", on_behalf },
	{ "attach: errors change nothing", attach_errors },
	{ "roles and leaders", roles },
	{ "threads attach at their first phase", attached_lazily },
	{ "threads that ended make room", many_generations },
	{ "more threads than slots", too_many },
	{ "a handle that outlives its thread", handle_outlives_thread },
	{ "a thread has one announcer", one_announcer },
};

TAP_MAIN(tests, before)
