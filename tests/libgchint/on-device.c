// SPDX-License-Identifier: MIT
/*
 * The library on the real device. Runs as root where the module is loaded, on a
 * board of tests/board: see on-device. Prints TAP. CPU 0's policy is switched
 * between gchint and another governor.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <gchint.h>

#include "tap.h"

#define POLICY	 "/sys/devices/system/cpu/cpu0/cpufreq/"
#define SESSIONS "/sys/kernel/debug/gchint/sessions"
#define TRACE	 "/tmp/on-device.trace"

static struct gchint_session *s;
static char text[1 << 16];

static const char *slurp(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n, length = 0;

	while (fd >= 0 && (n = read(fd, text + length, sizeof(text) - 1 - (size_t)length)) > 0)
		length += n;
	close(fd);
	text[length] = '\0';
	return text;
}

static int spew(const char *path, const char *what)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int good = fd >= 0 && write(fd, what, strlen(what)) == (ssize_t)strlen(what);

	close(fd);
	return good;
}

static void govern(const char *governor)
{
	CHECK(spew(POLICY "scaling_governor", governor));
}

/* "slot=N tid=TID ..." of the kernel's list of sessions; what follows the tid. */
static const char *lease_of(pid_t tid)
{
	char key[32], *at;

	snprintf(key, sizeof(key), " tid=%d ", tid);
	at = strstr(slurp(SESSIONS), key);
	return at ? at + strlen(key) : "";
}

static int lease_says(pid_t tid, const char *what)
{
	const char *line = lease_of(tid);
	const char *end = strchr(line, '\n');
	const char *at = strstr(line, what);

	return at && end && at < end;
}

static void pause_us(long us)
{
	struct timespec ts = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

/* Runs, so that the kernel reads this thread's slot at its ticks. */
static void spin_ms(int ms)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 < ms);
}

static void before(void)
{
	cpu_set_t zero;

	CPU_ZERO(&zero);
	CPU_SET(0, &zero);
	sched_setaffinity(0, sizeof(zero), &zero);
	setenv("GCHINT_MIN_US", "0", 1);
	govern("gchint");
}

static void opened(void)
{
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_reason(s), 0);
	CHECK(lease_says(getpid(), "role=none"));
	CHECK_IS(gchint_detach(gchint_self()), 0);
	CHECK(!lease_says(getpid(), "role="));
}

static void phases(void)
{
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	spin_ms(30);
	CHECK(lease_says(getpid(), "phase=mark flags=0x2"));
	gchint_phase_begin(GCHINT_PHASE_REFS, GCHINT_F_STW);
	spin_ms(30);
	CHECK(lease_says(getpid(), "phase=refs flags=0x1"));
	gchint_phase_end();
	spin_ms(30);
	CHECK(lease_says(getpid(), "phase=mark flags=0x2"));
	gchint_phase_next(GCHINT_PHASE_SWEEP, GCHINT_F_CONCURRENT);
	spin_ms(30);
	CHECK(lease_says(getpid(), "phase=sweep"));
	gchint_phase_end();
	spin_ms(30);
	CHECK(lease_says(getpid(), "phase=none"));
}

static int rings(void)
{
	const char *p = slurp(TRACE);
	int n = 0;

	while ((p = strstr(p, " ring\n"))) {
		n++;
		p++;
	}
	return n;
}

/* The kernel asks for doorbells of a CPU that gchint governs, and of no other. */
static void doorbells(void)
{
	int n;

	unlink(TRACE);
	setenv("GCHINT_TRACE", TRACE, 1);
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
	for (n = 0; n < 5; n++) {
		gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
		gchint_phase_end();
	}
	CHECK_IS(rings(), 10);
	govern("performance");
	for (n = 0; n < 5; n++) {
		gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
		gchint_phase_end();
	}
	CHECK_IS(rings(), 10);
	unlink(TRACE);
}

static pthread_barrier_t step;
static pid_t tid;

static void *worker(void *arg)
{
	(void)arg;
	tid = (pid_t)syscall(SYS_gettid);
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	return NULL;
}

static void leases(void)
{
	struct gchint_thread *t, *again;
	pthread_t thread;

	pthread_barrier_init(&step, NULL, 2);
	pthread_create(&thread, NULL, worker, NULL);
	pthread_barrier_wait(&step);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_attach(s, tid, GCHINT_ROLE_CONCURRENT, NULL, &t), 0);
	CHECK(lease_says(tid, "role=concurrent"));
	CHECK_IS(gchint_attach(s, tid, 0, NULL, &again), -EBUSY);
	CHECK_IS(gchint_attach(s, 1, 0, NULL, &again), -ESRCH);
	CHECK_IS(gchint_attach(s, 0, GCHINT_ROLE_NR, NULL, &again), -EINVAL);
	CHECK_IS(gchint_attach(s, 0, GCHINT_ROLE_FOLLOW, t, &again), 0);
	CHECK(lease_says(getpid(), "role=follow"));
	CHECK_IS(gchint_set_role(again, GCHINT_ROLE_BACKGROUND, NULL), 0);
	CHECK(lease_says(getpid(), "role=background"));
	pthread_barrier_wait(&step);
	pthread_join(thread, NULL);
	pause_us(100000);
	CHECK(!lease_says(tid, "role="));
	CHECK_IS(gchint_set_role(t, GCHINT_ROLE_STW, NULL), -ENOENT);
	CHECK_IS(gchint_detach(t), 0);
	CHECK_IS(gchint_close(s), 0);
	CHECK(!lease_says(getpid(), "role="));
}

static void forked(void)
{
	pid_t child;
	int status;

	CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
	CHECK_IS(gchint_open(&s, 0), 0);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	child = fork();
	if (!child) {
		gchint_phase_end();
		gchint_phase_begin(GCHINT_PHASE_TRIM, 0);
		CHECK_IS(gchint_attach(s, 0, 0, NULL, NULL), -ESTALE);
		CHECK(!lease_says(getpid(), "role="));
		CHECK_IS(gchint_init(0), GCHINT_BACKEND_DEVICE);
		CHECK(lease_says(getpid(), "role=none"));
		fflush(stdout);
		_exit(tap_bad);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	spin_ms(30);
	CHECK(lease_says(getpid(), "phase=mark"));
}

static void policies(void)
{
	struct gchint_policy p = { .size = sizeof(p) };
	struct pollfd wait = { .events = POLLIN };
	uint64_t generation;

	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_policy(s, -1, &p), 0);
	CHECK_IS(p.cpu, 0);
	CHECK(strcmp(p.governor, "gchint") == 0);
	CHECK(p.flags & GCHINT_POLICY_GCHINT);
	CHECK_IS(p.hw_max_khz, atoi(slurp(POLICY "cpuinfo_max_freq")));
	CHECK_IS(p.max_khz, atoi(slurp(POLICY "scaling_max_freq")));
	wait.fd = gchint_get_fd(s);
	CHECK(read(wait.fd, &generation, sizeof(generation)) == sizeof(generation));
	CHECK_IS(poll(&wait, 1, 0), 0);
	govern("performance");
	CHECK_IS(poll(&wait, 1, 2000), 1);
	CHECK_IS(gchint_get_policy(s, 0, &p), 0);
	CHECK(strcmp(p.governor, "performance") == 0);
	CHECK(!(p.flags & GCHINT_POLICY_GCHINT));
}

/* 0 on a kernel without CONFIG_UCLAMP_TASK. */
static uint32_t own_clamp(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		uint32_t nice, priority;
		uint64_t runtime, deadline, period;
		uint32_t util_min, util_max;
	} a;

	memset(&a, 0, sizeof(a));
	return syscall(SYS_sched_getattr, 0, &a, (unsigned int)sizeof(a), 0) ? 0 : a.util_max;
}

/* Without the device, on a kernel that has clamps. */
static void clamps(void)
{
	setenv("GCHINT_DEVICE", "/nonexistent", 1);
	if (!own_clamp()) {
		CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_NOTHING);
		tap_skip("the kernel has no CONFIG_UCLAMP_TASK");
	}
	CHECK_IS(gchint_init(GCHINT_OPEN_CLAMP), GCHINT_BACKEND_CLAMP);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(own_clamp(), 512);
	gchint_phase_begin(GCHINT_PHASE_REMARK, GCHINT_F_STW);
	CHECK_IS(own_clamp(), 1024);
	gchint_phase_end();
	CHECK_IS(own_clamp(), 512);
	gchint_phase_end();
	CHECK_IS(own_clamp(), 1024);
}

/* With GCHINT_HINTS=clamp the device is not opened, so the kernel does not act as well. */
static void clamps_asked_for(void)
{
	setenv("GCHINT_HINTS", "clamp", 1);
	CHECK_IS(gchint_init(0), own_clamp() ? GCHINT_BACKEND_CLAMP : GCHINT_BACKEND_NOTHING);
	CHECK(!lease_says(getpid(), "role="));
}

static const struct tap_test tests[] = {
	{ "the session opens and threads are leased", opened },
	{ "the kernel receives plain and nested phases", phases },
	{ "doorbells only where gchint governs", doorbells },
	{ "leases and roles work, and report their errors", leases },
	{ "a child forked during a phase leaves the parent's phase", forked },
	{ "gchint_get_policy() follows the policy's governor and limits", policies },
	{ "clamps work without the device", clamps },
	{ "GCHINT_HINTS=clamp works with the device", clamps_asked_for },
};

TAP_MAIN(tests, before)
