// SPDX-License-Identifier: MIT
/* Leases: on behalf of others, roles, threads that come and go. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <gchint.h>

#include "fakedev.h"
#include "state.h"
#include "tap.h"

static struct gchint_session *s;

/* Threads that wait for a signal to end. */
#define THREADS 650
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
	/* A joined thread may still exist: its number is released later. */
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
	/* Its CPU is unknown: the doorbell rings whatever the caller's CPU is. */
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

/* More threads over time than slots: slots of ended threads are reused. */
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

static int leased(int count)
{
	int n, with = 0;

	for (n = 0; n < count; n++)
		with += fake_slot_of(workers[n].tid) != NULL;
	return with;
}

static void wait_attaches(int count)
{
	while (__atomic_load_n(&fake.attaches, __ATOMIC_RELAXED) < count)
		usleep(1000);
}

static void announce_and_stay(void)
{
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
}

/* More threads than a session of the kernel has slots: all hint, each in a slot of its own. */
static void more_than_a_session(void)
{
	const struct gchint_slot *slot;
	int n;

	start(200, announce_and_stay);
	wait_attaches(200);
	CHECK_IS(leased(200), 200);
	for (n = 0; n < 200; n++) {
		slot = fake_slot_of(workers[n].tid);
		while (slot && phase_of(slot) != GCHINT_PHASE_MARK)
			usleep(100);
	}
	fake_info()->doorbell_begin = ~0u;
	gchint_phase_begin(GCHINT_PHASE_SWEEP, GCHINT_F_STW);
	CHECK_IS(fake.ring_count, 1);
	CHECK(fake_slot(fake_last_ring().slot) == fake_slot_of(getpid()));
	/* In a further slot block; which one depends on a race. */
	CHECK(fake_last_ring().slot >= GCHINT_SLOTS);
	CHECK_IS(gchint_detach(gchint_self()), 0);
	CHECK(!fake_slot_of(getpid()));
	finish(200);
	/* Slots of ended threads are reused in the open sessions. */
	start(200, try_self);
	wait_attaches(401);
	finish(200);
	/* Threads that wanted the next session at once opened one each; one was kept. */
	CHECK_IS(fake.opens - fake.closes, 4);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(fake.opens - fake.closes, 0);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(fake.opens - fake.closes, 4); /* their handles may be in use */
}

/* Past all that a user may have, the others hint nothing, and harm nothing. */
static void too_many(void)
{
	fake.sessions = 8;
	start(530, try_self);
	wait_attaches(8 * GCHINT_SLOTS);
	CHECK_IS(gchint_attach(s, 0, 0, NULL, NULL), -EDQUOT);
	CHECK_IS(leased(530), 8 * GCHINT_SLOTS);
	finish(530);
	CHECK_IS(fake.opens - fake.closes, 8);
	CHECK_IS(gchint_attach(s, 0, 0, NULL, NULL), 0);
}

/* The user's limit of sessions is an end like any other. */
static void sessions_at_their_limit(void)
{
	fake.sessions = 2;
	start(150, try_self);
	wait_attaches(2 * GCHINT_SLOTS);
	CHECK_IS(gchint_attach(s, 0, 0, NULL, NULL), -EDQUOT);
	CHECK_IS(leased(150), 2 * GCHINT_SLOTS);
	finish(150);
	CHECK_IS(gchint_attach(s, 0, 0, NULL, NULL), 0);
}

/* A follower is leased in the session of its leader, or not at all. */
static void followers_of_full_sessions(void)
{
	struct gchint_thread *first, *later, *own;

	start(70, NULL);
	CHECK_IS(gchint_attach(s, workers[0].tid, GCHINT_ROLE_STW, NULL, &first), 0);
	for (int n = 1; n < 65; n++)
		CHECK_IS(gchint_attach(s, workers[n].tid, GCHINT_ROLE_STW, NULL, &later), 0);
	CHECK(fake_slot_of(workers[64].tid) == fake_slot(GCHINT_SLOTS));
	CHECK_IS(gchint_attach(s, workers[65].tid, GCHINT_ROLE_FOLLOW, first, &own), -ENOSPC);
	CHECK_IS(gchint_attach(s, workers[65].tid, GCHINT_ROLE_FOLLOW, later, &own), 0);
	CHECK_IS(fake.lease[GCHINT_SLOTS + 1].lead, 0);
	CHECK_IS(gchint_set_role(own, GCHINT_ROLE_FOLLOW, first), -ENOSPC);
	CHECK_IS(gchint_set_role(own, GCHINT_ROLE_STW, NULL), 0);
	CHECK_IS(fake.lease[GCHINT_SLOTS + 1].role, GCHINT_ROLE_STW);
	CHECK_IS(fake.lease[1].role, GCHINT_ROLE_STW);
	CHECK_IS(gchint_set_role(own, GCHINT_ROLE_FOLLOW, later), 0);
	CHECK_IS(gchint_detach(own), 0);
	CHECK(!fake_slot_of(workers[65].tid));
	CHECK(fake_slot_of(workers[1].tid) == fake_slot(1));
	finish(70);
}

/* A forked child has none of its parent's sessions, and its own when it asks. */
static void forked_with_many(void)
{
	int status, opens;
	pid_t pid;

	start(70, try_self);
	wait_attaches(70);
	pid = fork();
	if (!pid) {
		opens = fake.opens;
		gchint_phase_begin(GCHINT_PHASE_MARK, 0);
		CHECK(!fake_slot_of(getpid()));
		CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
		gchint_phase_begin(GCHINT_PHASE_MARK, 0);
		CHECK_IS(phase_of(fake_slot_of(getpid())), GCHINT_PHASE_MARK);
		CHECK_IS(fake.opens - opens, 1);
		fflush(stdout);
		_exit(tap_bad);
	}
	CHECK_IS(waitpid(pid, &status, 0), pid);
	CHECK_IS(status, 0);
	CHECK_IS(leased(70), 70);
	finish(70);
}

/* A handle of an ended thread is not reused, and does not write the next thread's slot. */
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

/* A thread that is announced by a handle does not announce itself as well. */
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

/* A thread that detached itself is attached again at its next phase. */
static void detached_and_back(void)
{
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	CHECK_IS(gchint_detach(gchint_self()), 0);
	CHECK(!fake_slot_of(getpid()));
	gchint_phase_begin(GCHINT_PHASE_SWEEP, 0);
	CHECK_IS(phase_of(fake_slot_of(getpid())), GCHINT_PHASE_SWEEP);
	CHECK_IS(fake.attaches, 2);
}

/* One session for all of them, if the kernel's sessions grow. */
static void more_than_a_page(void)
{
	struct gchint_thread *t;
	int n, far;

	gchint_close(s);
	fake_grows();
	CHECK_IS(gchint_open(&s, 0), 0);
	start(200, announce_and_stay);
	wait_attaches(200);
	CHECK_IS(leased(200), 200);
	CHECK_IS(fake.opens - fake.closes, 1);
	for (n = 0, far = 0; n < 200; n++) {
		const struct gchint_slot *slot = fake_slot_of(workers[n].tid);

		while (slot && phase_of(slot) != GCHINT_PHASE_MARK)
			usleep(100);
		far += slot >= fake_slot(3 * GCHINT_SLOTS);
	}
	CHECK_IS(far, 200 - 3 * GCHINT_SLOTS);
	/* A follower may be in any slot block. */
	fake_info()->doorbell_begin = ~0u;
	CHECK_IS(gchint_attach(s, 0, GCHINT_ROLE_NONE, NULL, &t), 0);
	gchint_begin(t, GCHINT_PHASE_SWEEP, GCHINT_F_STW);
	CHECK_IS(fake_last_ring().slot, 200);
	CHECK_IS(gchint_set_role(t, GCHINT_ROLE_FOLLOW, gchint_self()), -EINVAL);
	CHECK_IS(gchint_detach(t), 0);
	finish(200);
	start(1, NULL);
	CHECK_IS(gchint_attach(s, workers[0].tid, GCHINT_ROLE_NONE, NULL, &t), 0);
	CHECK_IS(gchint_attach(s, 0, GCHINT_ROLE_FOLLOW, t, NULL), 0);
	finish(1);
	/* The next session can lease as many again. */
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(fake.opens - fake.closes, 0);
	CHECK_IS(gchint_open(&s, 0), 0);
	start(200, announce_and_stay);
	wait_attaches(403);
	CHECK_IS(leased(200), 200);
	finish(200);
}

/* The kernel gives so many slots; one more thread hints nowhere, and all others do. */
static void grown_to_its_limit(void)
{
	const int most = FAKE_SESSIONS * GCHINT_SLOTS;

	gchint_close(s);
	fake_grows();
	CHECK_IS(gchint_open(&s, 0), 0);
	start(most, announce_and_stay);
	wait_attaches(most);
	CHECK_IS(leased(most), most);
	CHECK_IS(gchint_attach(s, 0, 0, NULL, NULL), -EDQUOT);
	finish(most);
	CHECK_IS(gchint_attach(s, 0, 0, NULL, NULL), 0);
}

static int descriptors(void)
{
	int fd, open = 0;

	for (fd = 0; fd < 1024; fd++)
		open += fcntl(fd, F_GETFD) >= 0;
	return open;
}

/*
 * Slots that cannot be had make an error, and leave nothing behind: @place is where the
 * next ones are.
 */
static struct gchint_thread *refused_at(long place)
{
	struct gchint_thread *t;
	int n, before;

	start(70, NULL);
	for (n = 0; n < GCHINT_SLOTS; n++)
		CHECK_IS(gchint_attach(s, workers[n].tid, 0, NULL, &t), 0);
	before = descriptors();
	fake.no_map = place;
	CHECK_IS(gchint_attach(s, workers[n].tid, 0, NULL, NULL), -ENOMEM);
	CHECK(!fake_slot_of(workers[n].tid));
	CHECK_IS(descriptors(), before);
	CHECK_IS(fake.opens - fake.closes, 1);
	return t;
}

static void had_at_last(pid_t tid)
{
	struct gchint_thread *t;

	fake.no_map = -1;
	CHECK_IS(gchint_attach(s, tid, 0, NULL, &t), 0);
	gchint_begin(t, GCHINT_PHASE_MARK, 0);
	CHECK_IS(phase_of(fake_slot_of(tid)), GCHINT_PHASE_MARK);
	finish(70);
}

static void no_further_session(void)
{
	refused_at(GCHINT_MMAP_SLOTS);
	had_at_last(workers[GCHINT_SLOTS].tid);
}

static void no_further_page(void)
{
	struct gchint_thread *last;

	gchint_close(s);
	fake_grows();
	CHECK_IS(gchint_open(&s, 0), 0);
	last = refused_at(GCHINT_MMAP_SLOTS + 4096);
	/* The first page has a free slot, but the kernel returns one of the next page. */
	CHECK_IS(gchint_detach(last), 0);
	fake.lease[GCHINT_SLOTS - 1].tid = workers[69].tid;
	CHECK_IS(gchint_attach(s, workers[GCHINT_SLOTS].tid, 0, NULL, NULL), -ENOMEM);
	CHECK(!fake_slot_of(workers[GCHINT_SLOTS].tid));
	had_at_last(workers[GCHINT_SLOTS].tid);
}

/* A new session may get fewer slot blocks than the closed one had. */
static void fewer_than_before(void)
{
	unsigned char vec;
	int n;

	start(70, try_self);
	wait_attaches(70);
	finish(70);
	CHECK_IS(gchint_close(s), 0);
	fake.sessions = 1;
	CHECK_IS(gchint_open(&s, 0), 0);
	start(70, NULL);
	for (n = 0; n < GCHINT_SLOTS; n++)
		CHECK_IS(gchint_attach(s, workers[n].tid, 0, NULL, NULL), 0);
	CHECK_IS(gchint_attach(s, workers[n].tid, 0, NULL, NULL), -EDQUOT);
	CHECK(!fake_slot_of(workers[n].tid));
	finish(70);
	/* Nothing is stored for the slots of a missing block. */
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(gchint_open(&s, 0), 0);
	start(1, announce_and_stay);
	wait_attaches(70 + GCHINT_SLOTS + 1);
	CHECK_IS(gchint_close(s), 0);
	CHECK(mincore(NULL, 4096, &vec) < 0);
	finish(1);
}

/* A device elsewhere is found again, whatever its descriptor's number is. */
static void many_elsewhere(void)
{
	int n;

	gchint_close(s);
	fake.path = "/dev/elsewhere";
	setenv("GCHINT_DEVICE", fake.path, 1);
	for (n = 0; n < 2; n++) {
		while (n && dup(STDOUT_FILENO) < 120)
			;
		CHECK_IS(gchint_open(&s, 0), 0);
		CHECK(gchint_get_fd(s) > 100 * n);
		start(70, announce_and_stay);
		wait_attaches(70 * (n + 1));
		CHECK_IS(leased(70), 70);
		finish(70);
		CHECK_IS(gchint_close(s), 0);
		CHECK_IS(fake.opens - fake.closes, 0);
	}
}

/* errno is the caller's, whatever comes of a lease. */
static void errno_kept(void)
{
	struct gchint_thread *t;

	errno = 4711;
	start(1, NULL);
	CHECK_IS(gchint_attach(s, workers[0].tid, 0, NULL, &t), 0);
	CHECK_IS(gchint_attach(s, workers[0].tid, 0, NULL, NULL), -EBUSY);
	CHECK_IS(errno, 4711);
	errno = 0;
	finish(1);
	errno = 4711;
	CHECK_IS(gchint_set_role(t, GCHINT_ROLE_STW, NULL), -ENOENT);
	CHECK_IS(errno, 4711);
	CHECK_IS(gchint_detach(t), 0);
	CHECK_IS(errno, 4711);
	fake.attach_errno = EDQUOT;
	gchint_self();
	CHECK_IS(errno, 4711);
}

static const struct tap_test tests[] = {
	{ "a thread hints on behalf of another one", on_behalf },
	{ "a failed attach changes nothing", attach_errors },
	{ "roles and leaders", roles },
	{ "threads attach at their first phase", attached_lazily },
	{ "slots of ended threads are reused", many_generations },
	{ "more threads than one session has slots can hint", more_than_a_session },
	{ "a session grows beyond a page of slots", more_than_a_page },
	{ "a grown session at the user's limit is EDQUOT", grown_to_its_limit },
	{ "the user's limit of leases is EDQUOT", too_many },
	{ "the user's limit of sessions is EDQUOT", sessions_at_their_limit },
	{ "a follower of a full session is ENOSPC", followers_of_full_sessions },
	{ "a fork with several sessions works", forked_with_many },
	{ "a handle may outlive its thread", handle_outlives_thread },
	{ "a leased thread is announced by one handle", one_announcer },
	{ "a detached thread can attach again", detached_and_back },
	{ "a further session that cannot be mapped is an error", no_further_session },
	{ "a further page that cannot be mapped is an error", no_further_page },
	{ "a new session with fewer slot blocks works", fewer_than_before },
	{ "GCHINT_DEVICE is opened for further sessions", many_elsewhere },
	{ "errno is preserved", errno_kept },
};

TAP_MAIN(tests, before)
