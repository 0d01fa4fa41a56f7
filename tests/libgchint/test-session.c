// SPDX-License-Identifier: MIT
/* Opening and closing; what happens without the device; fork and exec. */
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

static void counted(void)
{
	struct gchint_session *again;

	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_open(&again, 0), 0);
	CHECK(s == again);
	CHECK_IS(fake.opens, 1);
	CHECK_IS(gchint_backend(s), GCHINT_BACKEND_DEVICE);
	CHECK_IS(gchint_why(s), 0);
	CHECK(fcntl(gchint_fd(s), F_GETFD) & FD_CLOEXEC);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(fake.closes, 0);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(fake.closes, 1);
	CHECK_IS(gchint_close(s), -EBADF);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(fake.opens, 2);
}

static void bad_arguments(void)
{
	CHECK_IS(gchint_open(&s, 0x80), -EINVAL);
	CHECK(!s);
	CHECK_IS(gchint_open(NULL, 0), -EINVAL);
	CHECK_IS(gchint_init(2), -EINVAL);
	CHECK_IS(gchint_close(NULL), -EBADF);
	CHECK_IS(gchint_why(NULL), -EBADF);
	CHECK_IS(gchint_fd(NULL), -ENODEV);
	CHECK_IS(gchint_backend(NULL), GCHINT_BACKEND_NOTHING);
	CHECK_IS(gchint_detach(NULL), -EINVAL);
	CHECK_IS(gchint_attach(NULL, 0, 0, NULL, NULL), -ENODEV);
	CHECK_IS(gchint_set_role(NULL, 0, NULL), -EINVAL);
	CHECK_IS(fake.calls, 0);
}

static void no_device(void)
{
	struct gchint_thread *t;

	fake.present = 0;
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_NOTHING);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
	gchint_progress(gchint_self(), 1, 2, 3);
	gchint_abandon(gchint_self());
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_why(s), -ENOENT);
	CHECK_IS(gchint_fd(s), -ENODEV);
	CHECK_IS(gchint_attach(s, 0, 0, NULL, &t), -ENODEV);
	/* A handle that does nothing takes every call. */
	gchint_begin(t, GCHINT_PHASE_MARK, 0);
	gchint_progress(t, 1, 2, 3);
	gchint_set_cause(t, 1);
	gchint_end(t);
	gchint_abandon(t);
	CHECK_IS(gchint_set_role(t, 1, NULL), -EINVAL);
	CHECK_IS(gchint_detach(t), -EINVAL);
	CHECK_IS(fake.calls, 0);
}

static void why_not(void)
{
	fake.open_errno = EACCES;
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_backend(s), GCHINT_BACKEND_NOTHING);
	CHECK_IS(gchint_why(s), -EACCES);
	CHECK_IS(gchint_close(s), 0);
	fake.open_errno = 0;
	fake_info()->abi = 0;
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_why(s), -EPROTONOSUPPORT);
	gchint_close(s);
	fake_info()->abi = GCHINT_ABI + 1; /* append-only: newer is fine */
	fake_info()->size += 64;
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_why(s), 0);
	gchint_close(s);
	setenv("GCHINT_DISABLE", "1", 1);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_NOTHING);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_why(s), -ECANCELED);
}

static void environment(void)
{
	setenv("GCHINT_MIN_US", "12x", 1);
	CHECK_IS(gchint_open(&s, 0), -EINVAL);
	CHECK(!s);
	setenv("GCHINT_MIN_US", "-1", 1);
	CHECK_IS(gchint_init(0), -EINVAL);
	setenv("GCHINT_MIN_US", "", 1);
	setenv("GCHINT_CLAMP", "101", 1);
	CHECK_IS(gchint_open(&s, 0), -EINVAL);
	unsetenv("GCHINT_CLAMP");
	setenv("GCHINT_TRACE", "/nonexistent/trace", 1);
	CHECK_IS(gchint_open(&s, 0), -ENOENT);
	CHECK_IS(fake.opens, 0);
	setenv("GCHINT_TRACE", "", 1);
	setenv("GCHINT_DEVICE", "/nonexistent/gchint", 1);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_why(s), -ENOENT);
	CHECK_IS(fake.opens, 0);
	gchint_close(s);
	unsetenv("GCHINT_DEVICE");
	setenv("GCHINT_DISABLE", "0", 1);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
}

/* The device does not become the program's standard output. */
static void not_stdio(void)
{
	close(0);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK(gchint_fd(s) > 2);
	CHECK(fcntl(0, F_GETFD) < 0);
}

static int wait_ok(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && status == 0;
}

static void forked_in_a_phase(void)
{
	const struct gchint_slot *slot;
	struct gchint_session *mine;
	struct gchint_thread *t;
	__u32 state;
	pid_t pid;

	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
	slot = fake_slot_of(getpid());
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	state = state_of(slot);
	pid = fork();
	if (!pid) {
		gchint_phase_end();
		gchint_phase_begin(GCHINT_PHASE_SWEEP, 0);
		CHECK_IS(state_of(slot), state); /* nobody reads what was stored */
		gchint_phase_end();
		fake_info()->doorbell_begin = ~0u;
		gchint_phase_begin(GCHINT_PHASE_SWEEP, GCHINT_F_URGENT);
		CHECK_IS(fake.stale, 1);
		gchint_phase_end();
		gchint_phase_begin(GCHINT_PHASE_SWEEP, GCHINT_F_URGENT);
		CHECK_IS(fake.stale, 1); /* told once is enough */
		gchint_open(&mine, 0);
		/* A new session of its own, and the thread may hint again. */
		CHECK_IS(fake.opens, 2);
		CHECK_IS(gchint_attach(mine, 0, 0, NULL, &t), 0);
		gchint_detach(t);
		gchint_self();
		gchint_phase_begin(GCHINT_PHASE_COPY, GCHINT_F_URGENT);
		CHECK_IS(phase_of(fake_slot_of(getpid())), GCHINT_PHASE_COPY);
		CHECK_IS(fake.ring_count, 1);
		fflush(stdout);
		_exit(tap_bad);
	}
	CHECK(wait_ok(pid));
	fake_info()->doorbell_begin = 0;
	CHECK_IS(state_of(slot), state);
	gchint_phase_end();
	CHECK_IS(phase_of(slot), GCHINT_PHASE_NONE);
}

static void forked_child_calls(void)
{
	struct gchint_thread *t;
	pid_t pid;

	CHECK_IS(gchint_open(&s, 0), 0);
	pid = fork();
	if (!pid) {
		CHECK_IS(gchint_attach(s, 0, 0, NULL, &t), -ESTALE);
		CHECK_IS(gchint_close(s), -ESTALE);
		gchint_phase_begin(GCHINT_PHASE_MARK, 0);
		gchint_phase_end();
		CHECK_IS(fake.attaches, 0);
		CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
		gchint_phase_begin(GCHINT_PHASE_MARK, 0);
		CHECK_IS(phase_of(fake_slot_of(getpid())), GCHINT_PHASE_MARK);
		fflush(stdout);
		_exit(tap_bad);
	}
	CHECK(wait_ok(pid));
	CHECK_IS(gchint_attach(s, 0, 0, NULL, &t), 0);
}

static void *open_close_loop(void *arg)
{
	struct gchint_session *mine;
	int n;

	(void)arg;
	for (n = 0; n < 300; n++) {
		CHECK_IS(gchint_open(&mine, 0), 0);
		CHECK_IS(gchint_close(mine), 0);
	}
	return NULL;
}

static void opened_by_many(void)
{
	pthread_t threads[4];
	int n;

	for (n = 0; n < 4; n++)
		pthread_create(&threads[n], NULL, open_close_loop, NULL);
	for (n = 0; n < 4; n++)
		pthread_join(threads[n], NULL);
	CHECK_IS(fake.opens, fake.closes);
	CHECK(fake.opens > 0);
}

/* A thread that goes on announcing itself is harmless, and comes back. */
static int go_on = 1;
static unsigned long edges;

static void *announce(void *arg)
{
	(void)arg;
	while (__atomic_load_n(&go_on, __ATOMIC_RELAXED)) {
		gchint_phase_begin(GCHINT_PHASE_MARK, 0);
		gchint_phase_end();
		__atomic_add_fetch(&edges, 1, __ATOMIC_RELAXED);
	}
	return (void *)(intptr_t)(fake_slot_of((pid_t)syscall(SYS_gettid)) != NULL);
}

static void wait_edges(void)
{
	unsigned long from = __atomic_load_n(&edges, __ATOMIC_RELAXED);

	while (__atomic_load_n(&edges, __ATOMIC_RELAXED) < from + 100)
		usleep(100);
}

static void closed_under_a_thread(void)
{
	pthread_t thread;
	void *leased;
	int n;

	CHECK_IS(gchint_open(&s, 0), 0);
	pthread_create(&thread, NULL, announce, NULL);
	for (n = 0; n < 20; n++) {
		wait_edges();
		CHECK_IS(gchint_close(s), 0);
		wait_edges();
		CHECK_IS(gchint_open(&s, 0), 0);
	}
	wait_edges();
	__atomic_store_n(&go_on, 0, __ATOMIC_RELAXED);
	pthread_join(thread, &leased);
	CHECK(leased);
}

/* The session's own handle of this thread, and foreign ones, after a close. */
static void handles_after_close(void)
{
	struct gchint_thread *t;

	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_attach(s, 0, 0, NULL, &t), 0);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(gchint_open(&s, 0), 0);
	gchint_begin(t, GCHINT_PHASE_MARK, 0);
	gchint_end(t);
	CHECK_IS(gchint_detach(t), -EINVAL);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	CHECK_IS(phase_of(fake_slot_of(getpid())), GCHINT_PHASE_MARK);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(gchint_open(&s, 0), 0);
	gchint_phase_begin(GCHINT_PHASE_SWEEP, 0);
	CHECK_IS(phase_of(fake_slot_of(getpid())), GCHINT_PHASE_SWEEP);
}

static void policies(void)
{
	struct gchint_policy p = { .size = sizeof(p) };

	CHECK_IS(gchint_open(&s, 0), 0);
	fake_info()->cpu_policy[3] = 1;
	fake_info()->cpu_policy[4] = GCHINT_INFO_NO_POLICY;
	CHECK_IS(gchint_policy(s, -1, &p), 0);
	CHECK(strcmp(p.governor, "gchint") == 0);
	CHECK_IS(p.cur_khz, 500000);
	CHECK_IS(p.max_khz, 900000);
	CHECK_IS(p.hw_max_khz, 1000000);
	CHECK_IS(p.flags, GCHINT_POLICY_PRESENT | GCHINT_POLICY_GCHINT);
	CHECK_IS(gchint_policy(s, 3, &p), -ENOENT); /* entry not in use */
	CHECK_IS(gchint_policy(s, 4, &p), -ENOENT);
	CHECK_IS(gchint_policy(s, GCHINT_INFO_CPUS, &p), -EINVAL);
	CHECK_IS(gchint_policy(s, -2, &p), -EINVAL);
	fake_info()->generation = 1;
	CHECK_IS(gchint_policy(s, 0, &p), -EAGAIN);
	fake_info()->generation = 2;
	p.size = 8;
	CHECK_IS(gchint_policy(s, 0, &p), -EINVAL);
	p.size = sizeof(p);
	memset(fake_info()->policy[0].governor, 'x', 16); /* not terminated */
	CHECK_IS(gchint_policy(s, 0, &p), 0);
	CHECK_IS(strlen(p.governor), 15);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(gchint_policy(s, 0, &p), -ENODEV);
}

static const struct tap_test tests[] = {
	{ "a process has one session, counted", counted },
	{ "bad arguments", bad_arguments },
	{ "without the device nothing happens", no_device },
	{ "why the device is not in use", why_not },
	{ "the environment", environment },
	{ "the device is never standard input", not_stdio },
	{ "fork in a phase", forked_in_a_phase },
	{ "a forked child gets ESTALE, and may open anew", forked_child_calls },
	{ "opened and closed by many threads", opened_by_many },
	{ "closed under a thread that goes on", closed_under_a_thread },
	{ "handles of a closed session do nothing", handles_after_close },
	{ "what the kernel says of its policies", policies },
};

TAP_MAIN(tests, fake_reset)
