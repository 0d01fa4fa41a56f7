// SPDX-License-Identifier: MIT
/* Opening and closing; what happens without the device; fork and exec. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
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
	CHECK_IS(gchint_get_backend(s), GCHINT_BACKEND_DEVICE);
	CHECK_IS(gchint_get_reason(s), 0);
	CHECK(fcntl(gchint_get_fd(s), F_GETFD) & FD_CLOEXEC);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(fake.closes, 0);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(fake.closes, 1);
	CHECK_IS(gchint_close(s), -EBADF);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(fake.opens, 2);
}

/* gchint_init() holds the session once, however often it is called. */
static void init_counts_once(void)
{
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(fake.closes, 0);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(fake.closes, 1);
	CHECK_IS(gchint_close(s), -EBADF);
}

static void bad_arguments(void)
{
	CHECK_IS(gchint_open(&s, 0x80), -EINVAL);
	CHECK(!s);
	CHECK_IS(gchint_open(NULL, 0), -EINVAL);
	CHECK_IS(gchint_init(2), -EINVAL);
	CHECK_IS(gchint_close(NULL), -EBADF);
	CHECK_IS(gchint_get_reason(NULL), -EBADF);
	CHECK_IS(gchint_get_fd(NULL), -ENODEV);
	CHECK_IS(gchint_get_backend(NULL), GCHINT_BACKEND_NOTHING);
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
	CHECK_IS(gchint_get_reason(s), -ENOENT);
	CHECK_IS(gchint_get_fd(s), -ENODEV);
	CHECK_IS(gchint_attach(s, 0, 0, NULL, &t), -ENODEV);
	/* A handle that does nothing takes every call. */
	gchint_begin(t, GCHINT_PHASE_MARK, 0);
	gchint_next(t, GCHINT_PHASE_SWEEP, 0);
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
	CHECK_IS(gchint_get_backend(s), GCHINT_BACKEND_NOTHING);
	CHECK_IS(gchint_get_reason(s), -EACCES);
	CHECK_IS(gchint_close(s), 0);
	fake.open_errno = 0;
	fake_info()->abi = 0;
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_reason(s), -EPROTONOSUPPORT);
	gchint_close(s);
	fake_info()->abi = GCHINT_ABI + 1; /* append-only: newer is fine */
	fake_info()->size += 64;
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_reason(s), 0);
	gchint_close(s);
	setenv("GCHINT_DISABLE", "1", 1);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_NOTHING);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_reason(s), -ECANCELED);
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
	CHECK_IS(gchint_get_reason(s), -ENOENT);
	CHECK_IS(fake.opens, 0);
	gchint_close(s);
	unsetenv("GCHINT_DEVICE");
	setenv("GCHINT_DISABLE", "0", 1);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
}

static const char *explained(void)
{
	static char text[256];

	CHECK_IS(gchint_explain(text, sizeof(text)), strlen(text));
	return text;
}

#define CHECK_SAYS(text) CHECK(strcmp(explained(), text) == 0 || (printf("# %s\n", explained()), 0))

/* gchint_explain() describes the result of opening. */
static void in_words(void)
{
	char small[8] = "1234567";

	errno = 4711;
	CHECK_SAYS("no session is open");
	setenv("GCHINT_MIN_US", "1ms", 1);
	CHECK_IS(gchint_open(&s, 0), -EINVAL);
	CHECK_SAYS("GCHINT_MIN_US=1ms: wants a number of microseconds up to 10000000");
	unsetenv("GCHINT_MIN_US");
	setenv("GCHINT_TRACE", "/nonexistent/trace", 1);
	CHECK_IS(gchint_open(&s, 0), -ENOENT);
	CHECK_SAYS("GCHINT_TRACE=/nonexistent/trace: no such file; wants a file, or a pipe that is "
		   "read");
	unsetenv("GCHINT_TRACE");
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_SAYS("the kernel's device");
	CHECK_IS(gchint_explain(small, sizeof(small)), 19);
	CHECK(strcmp(small, "the ker") == 0);
	CHECK_IS(gchint_explain(NULL, 0), 19);
	gchint_close(s);
	CHECK_SAYS("no session is open");
	fake.present = 0;
	setenv("GCHINT_TRACE", "/dev/null", 1);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_SAYS("trace; /dev/gchint: no such file");
	CHECK_IS(errno, 4711);
	gchint_close(s);
	unsetenv("GCHINT_TRACE");
	setenv("GCHINT_DEVICE", "/nonexistent/gchint", 1);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_SAYS("GCHINT_DEVICE=/nonexistent/gchint: no such file");
	gchint_close(s);
	setenv("GCHINT_DISABLE", "1", 1);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_SAYS("GCHINT_DISABLE is set");
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
		CHECK_IS(state_of(slot), state); /* the store has no effect */
		gchint_phase_end();
		fake_info()->doorbell_begin = ~0u;
		gchint_phase_begin(GCHINT_PHASE_SWEEP, GCHINT_F_URGENT);
		CHECK_IS(fake.stale, 1);
		gchint_phase_end();
		gchint_phase_begin(GCHINT_PHASE_SWEEP, GCHINT_F_URGENT);
		CHECK_IS(fake.stale, 1); /* one report is enough */
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

/* Pages of the address space. */
static unsigned long pages(void)
{
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	char text[128] = "";

	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return strtoul(text, NULL, 10);
}

static void forked_child_calls(void)
{
	struct gchint_thread *t;
	unsigned long before;
	pid_t pid;

	CHECK_IS(gchint_open(&s, 0), 0);
	pid = fork();
	if (!pid) {
		before = pages();
		CHECK_IS(gchint_attach(s, 0, 0, NULL, &t), -ESTALE);
		CHECK_IS(gchint_close(s), -ESTALE);
		gchint_phase_begin(GCHINT_PHASE_MARK, 0);
		gchint_phase_end();
		CHECK_IS(fake.attaches, 0);
		CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
		gchint_phase_begin(GCHINT_PHASE_MARK, 0);
		CHECK_IS(phase_of(fake_slot_of(getpid())), GCHINT_PHASE_MARK);
		/* The parent's mappings are not kept; the others are the fake device's. */
		CHECK(pages() <= before + FAKE_SESSIONS);
		fflush(stdout);
		_exit(tap_bad);
	}
	CHECK(wait_ok(pid));
	CHECK_IS(gchint_attach(s, 0, 0, NULL, &t), 0);
}

/* The child may be in a place without the device. */
static void forked_without_device(void)
{
	pid_t pid;

	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
	pid = fork();
	if (!pid) {
		fake.present = 0;
		CHECK_IS(gchint_init(0), GCHINT_BACKEND_NOTHING);
		CHECK_IS(gchint_attach(s, 0, 0, NULL, NULL), -ENODEV);
		gchint_phase_begin(GCHINT_PHASE_MARK, 0);
		fflush(stdout);
		_exit(tap_bad);
	}
	CHECK(wait_ok(pid));
}

static void *open_close_loop(void *arg)
{
	struct gchint_session *mine;
	int n;

	(void)arg;
	for (n = 0; n < 300; n++) {
		CHECK_IS(gchint_open(&mine, 0), 0);
		/* While this one holds it, it is open, and once. */
		CHECK_IS(__atomic_load_n(&fake.opens, __ATOMIC_SEQ_CST) -
				 __atomic_load_n(&fake.closes, __ATOMIC_SEQ_CST),
			 1);
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

static void *open_held(void *arg)
{
	CHECK_IS(gchint_open(arg, 0), 0);
	return NULL;
}

static void wait_held(void)
{
	while (!__atomic_load_n(&fake.held, __ATOMIC_SEQ_CST))
		usleep(100);
}

/* The thread with the lock does not exist in the child, which must not wait for it. */
static void forked_while_opening(void)
{
	struct gchint_session *mine;
	pthread_t thread;
	pid_t pid;

	fake.hold_open = 1;
	pthread_create(&thread, NULL, open_held, &s);
	wait_held();
	pid = fork();
	if (!pid) {
		fake.hold_open = 0;
		CHECK_IS(gchint_open(&mine, 0), 0);
		fflush(stdout);
		_exit(tap_bad);
	}
	CHECK(wait_ok(pid));
	__atomic_store_n(&fake.hold_open, 0, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
	CHECK_IS(gchint_close(s), 0);
}

static int may_go_on;

static void *open_tid(void *tid)
{
	struct gchint_session *mine;

	__atomic_store_n((pid_t *)tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	CHECK_IS(gchint_open(&mine, 0), 0);
	return NULL;
}

/* What a thread does: R it runs or would, S it sleeps. */
static char thread_state(pid_t tid)
{
	char path[64], text[256];
	const char *end;
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	fd = open(path, O_RDONLY);
	length = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	end = strrchr(text, ')');
	return end ? end[2] : '?';
}

/* One of real-time priority that only yields keeps the other off its CPU for ever. */
static void waiter_sleeps(void)
{
	pthread_t opener, waiter;
	pid_t tid = 0;
	int asleep = 0;

	fake.hold_open = 1;
	pthread_create(&opener, NULL, open_held, &s);
	wait_held();
	pthread_create(&waiter, NULL, open_tid, &tid);
	while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
		usleep(1000);
	/* A thread that runs is not asleep so often in a row. */
	for (int n = 0; n < 10000 && asleep < 200; n++) {
		asleep = thread_state(tid) == 'S' ? asleep + 1 : 0;
		usleep(100);
	}
	CHECK_IS(asleep, 200);
	__atomic_store_n(&fake.hold_open, 0, __ATOMIC_RELAXED);
	pthread_join(opener, NULL);
	pthread_join(waiter, NULL);
	CHECK_IS(fake.opens, 1);
}

#define NO_NAMESPACE 77

/*
 * Runs @what as the first process of a pid namespace below that of the caller. A process of
 * its own makes it: one that has made a namespace can start no thread.
 */
static int status_in_namespace(void (*what)(void))
{
	int status = -1;
	pid_t maker = fork(), pid;

	if (maker) {
		CHECK_IS(waitpid(maker, &status, 0), maker);
		return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	}
	if (unshare(CLONE_NEWPID) && unshare(CLONE_NEWUSER | CLONE_NEWPID))
		_exit(NO_NAMESPACE);
	pid = fork();
	if (!pid) {
		what();
		fflush(stdout);
		_exit(tap_bad);
	}
	_exit(waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ? 1 : WEXITSTATUS(status));
}

/* Its process id is that of the process that opened the session. */
static void child_of_same_number(void)
{
	struct gchint_session *mine;

	CHECK_IS(getpid(), 1);
	CHECK_IS(gchint_close(s), -ESTALE);
	CHECK_IS(gchint_attach(s, 0, GCHINT_ROLE_NONE, NULL, NULL), -ESTALE);
	CHECK_IS(gchint_open(&mine, 0), 0);
	CHECK_IS(fake.opens, 2);
	CHECK_IS(gchint_close(mine), 0);
}

static void parent_of_same_number(void)
{
	CHECK_IS(getpid(), 1);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(status_in_namespace(child_of_same_number), 0);
	CHECK_IS(gchint_close(s), 0);
}

static void forked_into_a_namespace(void)
{
	int status = status_in_namespace(parent_of_same_number);

	if (status == NO_NAMESPACE)
		tap_skip("this user may not make namespaces here");
	CHECK_IS(status, 0);
}

static void *stay_attached(void *arg)
{
	(void)arg;
	gchint_self();
	__atomic_store_n(&may_go_on, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&may_go_on, __ATOMIC_SEQ_CST) != 2)
		usleep(100);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
	return NULL;
}

/* The page that a thread stores into stays, whether it is there already or attaching. */
static void closed_with_a_thread_attached(void)
{
	pthread_t thread;

	CHECK_IS(gchint_open(&s, 0), 0);
	pthread_create(&thread, NULL, stay_attached, NULL);
	while (!__atomic_load_n(&may_go_on, __ATOMIC_SEQ_CST))
		usleep(100);
	CHECK_IS(gchint_close(s), 0);
	__atomic_store_n(&may_go_on, 2, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
}

static void *attach_held(void *arg)
{
	if (arg)
		gchint_attach(s, 0, GCHINT_ROLE_NONE, NULL, NULL);
	else
		gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	gchint_phase_end();
	return NULL;
}

static void closed_while_attaching(void)
{
	pthread_t thread;
	int foreign;

	for (foreign = 0; foreign < 2; foreign++) {
		CHECK_IS(gchint_open(&s, 0), 0);
		fake.hold_attach = 1;
		pthread_create(&thread, NULL, attach_held, foreign ? s : NULL);
		wait_held();
		CHECK_IS(gchint_close(s), 0);
		__atomic_store_n(&fake.hold_attach, 0, __ATOMIC_SEQ_CST);
		pthread_join(thread, NULL);
	}
}

/* The session's own handle of this thread, and foreign ones, after a close. */
/* Also after one gchint_close() too many, which dropped the reference of gchint_init(). */
static void init_after_close(void)
{
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	CHECK_IS(phase_of(fake_slot_of(getpid())), GCHINT_PHASE_MARK);
	gchint_phase_end();
}

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

static pthread_barrier_t closed_twice;

static void *detach_late(void *arg)
{
	struct gchint_thread *self = gchint_self();

	pthread_barrier_wait(&closed_twice);
	pthread_barrier_wait(&closed_twice);
	if (!arg)
		CHECK_IS(gchint_detach(self), -EINVAL);
	else
		CHECK(gchint_self() == self);
	gchint_phase_begin(GCHINT_PHASE_MARK, 0);
	CHECK_IS(phase_of(fake_slot_of((pid_t)syscall(SYS_gettid))), GCHINT_PHASE_MARK);
	return NULL;
}

/* A lease of a session that was closed is none, and the thread may have another. */
static void comes_late(void *how)
{
	struct gchint_thread *mine;
	pthread_t thread;

	CHECK_IS(gchint_open(&s, 0), 0);
	pthread_barrier_init(&closed_twice, NULL, 2);
	pthread_create(&thread, NULL, detach_late, how);
	pthread_barrier_wait(&closed_twice);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_attach(s, 0, 0, NULL, &mine), 0);
	pthread_barrier_wait(&closed_twice);
	pthread_join(thread, NULL);
	/* The lease that replaced it is not affected. */
	gchint_begin(mine, GCHINT_PHASE_SWEEP, 0);
	CHECK_IS(phase_of(fake_slot_of(getpid())), GCHINT_PHASE_SWEEP);
}

static void detached_late(void)
{
	comes_late(NULL);
}

static void asked_late(void)
{
	comes_late(&s);
}

/* Errors are returned; errno stays that of the caller. */
#define KEEPS(call)                                                                                \
	do {                                                                                       \
		errno = 4711;                                                                      \
		(void)(call);                                                                      \
		CHECK_IS(errno, 4711);                                                             \
	} while (0)

static void errno_kept(void)
{
	struct gchint_thread *t;

	fake.present = 0;
	KEEPS(gchint_open(&s, 0));
	KEEPS(gchint_close(s));
	KEEPS(gchint_init(0));
	gchint_close(s);
	setenv("GCHINT_TRACE", "/nonexistent/trace", 1);
	KEEPS(gchint_open(&s, 0));
	unsetenv("GCHINT_TRACE");
	fake.present = 1;
	CHECK_IS(gchint_open(&s, 0), 0);
	fake.attach_errno = EACCES;
	KEEPS(gchint_attach(s, 0, GCHINT_ROLE_NONE, NULL, &t));
	KEEPS(gchint_self());
	fake.attach_errno = 0;
	CHECK_IS(gchint_attach(s, 0, GCHINT_ROLE_NONE, NULL, &t), 0);
	memset(fake.lease, 0, sizeof(fake.lease));
	KEEPS(gchint_set_role(t, GCHINT_ROLE_STW, NULL));
	KEEPS(gchint_detach(t));
	close(gchint_get_fd(s));
	KEEPS(gchint_close(s));
}

static const struct tap_test tests[] = {
	{ "a process has one session with a count", counted },
	{ "gchint_init() counts once", init_counts_once },
	{ "bad arguments are EINVAL or EBADF", bad_arguments },
	{ "without the device calls do nothing", no_device },
	{ "gchint_get_reason() has the reason", why_not },
	{ "invalid variables are errors", environment },
	{ "gchint_explain() describes the backend and invalid variables", in_words },
	{ "errno is preserved", errno_kept },
	{ "a child forked during a phase leaves the parent's phase", forked_in_a_phase },
	{ "a forked child gets ESTALE, and may open a session", forked_child_calls },
	{ "a forked child works without the device", forked_without_device },
	{ "many threads open and close concurrently", opened_by_many },
	{ "a close under a running thread is safe", closed_under_a_thread },
	{ "a fork while another thread opens does not deadlock", forked_while_opening },
	{ "a thread that waits for another one's open sleeps", waiter_sleeps },
	{ "a child of the same process id in its namespace is a child", forked_into_a_namespace },
	{ "a close ends the lease of an attached thread", closed_with_a_thread_attached },
	{ "a close while a thread attaches is safe", closed_while_attaching },
	{ "handles of a closed session do nothing", handles_after_close },
	{ "gchint_init() after the last close opens a session", init_after_close },
	{ "detaching a handle of an earlier session is EINVAL", detached_late },
	{ "a handle of an earlier session is attached again", asked_late },
};

TAP_MAIN(tests, fake_reset)
