// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * What the module does to unrelated users of the machine: processes that open
 * other devices, that run with a deadline, that read the audit log or pay for
 * power.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "hw.h"
#include "klog.h"
#include "module.h"
#include "session.h"
#include "sysfs.h"
#include "worker.h"

#define TRACING "/sys/kernel/tracing"
#define NOBODY 65534

FIXTURE(manners) {
	char text[1 << 16];
};

FIXTURE_SETUP(manners)
{
	governor_save();
	ASSERT_EQ(0, governor_all("gchint"));
	ASSERT_NE(NULL, hw_open());
}

FIXTURE_TEARDOWN(manners)
{
	file_put(TRACING "/current_tracer", "nop");
	file_put(TRACING "/set_ftrace_filter", "");
	file_put(TRACING "/events/kprobes/enable", "0");
	file_put(TRACING "/kprobe_events", "");
	file_put(TRACING "/trace", "");
	tunable_put(0, "mode", "model");
	governor_restore();
}

static const char *slurp(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;
	ssize_t got;

	while (fd >= 0 && n < size - 1 && (got = read(fd, text + n, size - 1 - n)) > 0)
		n += got;
	if (fd >= 0)
		close(fd);
	text[n] = '\0';
	return text;
}

/*
 * Lines of the trace that contain @what, and how many of them task @comm wrote.
 */
static int lines(char *text, const char *what, const char *comm, int *by)
{
	char *line, *at = text;
	int n = 0;

	*by = 0;
	while ((line = strsep(&at, "\n"))) {
		if (*line == '#' || !strstr(line, what))
			continue;
		n++;
		line += strspn(line, " ");
		*by += !strncmp(line, comm, strlen(comm));
	}
	return n;
}

/* As lines(), once there is one; waits for it. */
static int traced_wait(char *text, size_t size, const char *what, int *by)
{
	long long end = now_us() + 20 * 1000000LL;
	int n;

	do {
		slurp(TRACING "/trace", text, size);
		n = lines(text, what, "manners", by);
		if (!n)
			sleep_us(10000);
	} while (!n && now_us() < end);
	return n;
}

/* The module as it is just after it was loaded: nothing is listened to. */
static int module_renew(void)
{
	int ret;

	/* A session that was just closed may hold it for a moment. */
	for (;;) {
		ret = module_unload();
		if (ret != -EWOULDBLOCK)
			return ret ?: module_load();
		sleep_us(10000);
	}
}

#define renew() do {							\
	governor_restore();						\
	ASSERT_EQ(0, module_renew());					\
	ASSERT_EQ(0, governor_all("gchint"));				\
} while (0)

/*
 * Opening a character device of this type waits for the one before. Code is
 * patched, and readers are waited for, in another process's time.
 */
TEST_F(manners, open_patches_no_code)
{
	static const char what[] = "tracepoint_probe_register";
	void *slots;
	int by, fd;

	if (file_put(TRACING "/set_ftrace_filter", "tracepoint_probe_register") ||
	    file_put(TRACING "/current_tracer", "function"))
		SKIP(return, "this kernel has no function tracer");
	governor_restore();
	ASSERT_EQ(0, module_renew());
	file_put(TRACING "/trace", "");
	/* The governor's own probe, for wakeups. */
	ASSERT_EQ(0, governor_all("gchint"));
	EXPECT_LT(0, traced_wait(self->text, sizeof(self->text), what, &by));
	EXPECT_EQ(0, by);
	file_put(TRACING "/trace", "");
	fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, fd);
	sleep_us(500000);
	slurp(TRACING "/trace", self->text, sizeof(self->text));
	EXPECT_EQ(0, lines(self->text, what, "manners", &by));
	/* The first use of the session does, in a thread of the kernel. */
	slots = mmap(NULL, getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		     GCHINT_MMAP_SLOTS);
	ASSERT_NE(MAP_FAILED, slots);
	EXPECT_LT(0, traced_wait(self->text, sizeof(self->text), what, &by));
	EXPECT_EQ(0, by);
	munmap(slots, getpagesize());
	close(fd);
}

/*
 * A program that attaches and leaves, as often as the module stops listening in
 * between, must not make it patch code and interrupt all CPUs each time.
 */
TEST_F_TIMEOUT(manners, sessions_in_a_loop_patch_little_code, 120)
{
	long long end;
	struct session s;
	int by, n;

	if (file_put(TRACING "/set_ftrace_filter", "tracepoint_probe_unregister") ||
	    file_put(TRACING "/current_tracer", "function"))
		SKIP(return, "this kernel has no function tracer");
	renew();
	file_put(TRACING "/trace", "");
	end = now_us() + 20 * 1000000LL;
	while (now_us() < end) {
		ASSERT_EQ(0, session_open(&s));
		ASSERT_LE(0, session_attach(&s, 0, GCHINT_ROLE_NONE, 0));
		session_close(&s);
		sleep_us(2300000);
	}
	slurp(TRACING "/trace", self->text, sizeof(self->text));
	n = lines(self->text, "tracepoint_probe_unregister", "manners", &by);
	EXPECT_LT(0, n);
	/* Five probes of a session, after 2, 4 and 8 s; every 2.3 s would be eight times. */
	EXPECT_GE(5 * 4, n);
}

/*
 * With equal cores there is no Energy-Aware Scheduling, and no message that it
 * ends.
 */
TEST_F(manners, no_placement_warning_on_equal_cores)
{
	int log = klog_open();

	ASSERT_LE(0, log);
	ASSERT_EQ(0, file_put("/dev/kmsg", "manners: cores\n"));
	EXPECT_EQ(1, klog_count(log, "manners: cores"));
	ASSERT_EQ(0, lseek(log, 0, SEEK_SET));
	EXPECT_EQ(0, klog_count(log, "Energy-Aware Scheduling"));
	close(log);
}

/*
 * To open without the right to raise is no offence that an audit log must
 * record.
 */
TEST_F(manners, open_writes_no_audit_record)
{
	int by, n, status;
	pid_t child;

	if (file_put(TRACING "/kprobe_events",
		     "p:asked cap_capable cap=$arg3:s32 opts=$arg4:u32"))
		SKIP(return, "this kernel has no arguments at its probes");
	ASSERT_EQ(0, file_put(TRACING "/events/kprobes/asked/filter", "cap == 23"));
	file_put(TRACING "/trace", "");
	ASSERT_EQ(0, file_put(TRACING "/events/kprobes/enable", "1"));
	child = fork();
	if (!child) {
		struct session s;

		_exit(setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		      setresuid(NOBODY, NOBODY, NOBODY) || session_open(&s));
	}
	ASSERT_EQ(child, waitpid(child, &status, 0));
	ASSERT_EQ(0, status);
	slurp(TRACING "/trace", self->text, sizeof(self->text));
	n = lines(self->text, "asked:", "manners", &by);
	EXPECT_LT(0, n)
		TH_LOG("nobody asked for CAP_SYS_NICE: %.200s", self->text);
	/* CAP_OPT_NOAUDIT */
	slurp(TRACING "/trace", self->text, sizeof(self->text));
	EXPECT_EQ(n, lines(self->text, "opts=2", "manners", &by))
		TH_LOG("%.400s", self->text);
}

struct sched_attributes {	/* struct sched_attr, which C libraries lack */
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
};

#define MS 1000000ULL

/*
 * A thread with a deadline runs at the top from the start of a burst on, as
 * with schedutil for everything above the fair class.
 */
TEST_F(manners, deadline_bursts_run_at_the_top)
{
	struct sched_attributes attr = {
		.size = sizeof(attr),
		.policy = 6, /* SCHED_DEADLINE */
		.runtime = 15 * MS,
		.deadline = 40 * MS,
		.period = 40 * MS,
	};
	int top = 0, bursts = 40, i, cpu, policy;
	long khz[MAX_OPPS];
	long long until;

	if (!hw_open()->fast)
		SKIP(return, "a switch takes longer than a burst");
	ASSERT_EQ(0, syscall(SYS_sched_setattr, 0, &attr, 0))
		TH_LOG("%s", strerror(errno));
	for (i = 0; i < bursts; i++) {
		sleep_us(60000);
		until = now_us() + 4000;
		while (now_us() < until)
			;
		cpu = sched_getcpu();
		policy = policy_of(cpu);
		top += hw_khz(cpu) == khz[opps(policy, khz, MAX_OPPS) - 1];
	}
	/*
	 * Without the boost one in twelve is. A burst may end while its host is
	 * away: with two other boards running, 28 of 40 were seen.
	 */
	EXPECT_LE(bursts / 2, top)
		TH_LOG("%d of %d bursts at the top", top, bursts);
}

struct toggled {
	int times;
	long long us;
	long transitions;
};

enum toggling { ROLES, NAPS };

/*
 * As fast as possible: a role that is set and cleared on a CPU that is always
 * busy, or sleeps just long enough for the governor to restore the frequency.
 */
static int toggle(struct toggled *t, enum toggling how, int cpu, unsigned int uid)
{
	int policy = policy_of(cpu), report[2], status;
	long before;
	pid_t child;

	if (pipe(report))
		return -errno;
	before = policy_number(policy, "stats/total_trans");
	if (before < 0)
		return before;
	child = fork();
	if (!child) {
		struct session s;
		long long start, now, end;
		int slot;

		if (bind_cpu(cpu) ||
		    (uid && (setgroups(0, NULL) || setresgid(uid, uid, uid) ||
			     setresuid(uid, uid, uid))) ||
		    session_open(&s))
			_exit(1);
		slot = session_attach(&s, 0, GCHINT_ROLE_NONE, 0);
		if (slot < 0)
			_exit(2);
		start = now_us();
		t->times = 0;
		do {
			if (how == ROLES &&
			    session_role(&s, slot, t->times & 1 ?
					 GCHINT_ROLE_NONE : GCHINT_ROLE_CONCURRENT, 0))
				_exit(3);
			if (how == NAPS)
				sleep_us(1300);
			t->times++;
			end = now_us() + 250;
			while ((now = now_us()) < end)
				;
		} while (now < start + 1000000 || t->times < 500);
		t->us = now - start;
		_exit(write(report[1], t, sizeof(*t)) != sizeof(*t));
	}
	close(report[1]);
	if (child < 0 || waitpid(child, &status, 0) != child || status ||
	    read(report[0], t, sizeof(*t)) != sizeof(*t)) {
		close(report[0]);
		return -EIO;
	}
	close(report[0]);
	t->transitions = policy_number(policy, "stats/total_trans") - before;
	return 0;
}

/* One in 10 ms, as many again by load itself, plus the saved ones. */
static long fair(const struct toggled *t)
{
	return 2 * (t->us / 10000) + 40;
}

/*
 * In the long run hints of unprivileged threads switch no more often than load
 * may: at intervals of hold_us, or of the driver's minimum, whichever is
 * longer.
 */
TEST_F(manners, unprivileged_switches_are_limited)
{
	struct toggled own, nobody;

	if (!hw_open()->per_cpu)
		SKIP(return, "other CPUs decide for the policy, too");
	ASSERT_EQ(0, tunable_put(0, "mode", "table"));
	if (policy_number(policy_of(1), "stats/total_trans") < 0)
		SKIP(return, "this kernel does not count transitions");
	ASSERT_EQ(0, toggle(&own, ROLES, 1, 0));
	ASSERT_EQ(0, toggle(&nobody, ROLES, 1, NOBODY));
	TH_LOG("root: %ld transitions in %d toggles and %lld ms; nobody: %ld, %d, %lld",
	       own.transitions, own.times, own.us / 1000,
	       nobody.transitions, nobody.times, nobody.us / 1000);
	EXPECT_GE(fair(&nobody), nobody.transitions);
	/*
	 * Else nothing had to be limited; a slow driver, or host, limits by
	 * itself.
	 */
	if (hw_open()->fast && fair(&own) < own.times)
		EXPECT_LT(fair(&own), own.transitions);
}

TEST_F(manners, unprivileged_sleeps_are_limited)
{
	struct toggled own, nobody;

	if (policy_number(policy_of(1), "stats/total_trans") < 0)
		SKIP(return, "this kernel does not count transitions");
	ASSERT_EQ(0, toggle(&own, NAPS, 1, 0));
	ASSERT_EQ(0, toggle(&nobody, NAPS, 1, NOBODY));
	TH_LOG("root: %ld transitions in %d naps and %lld ms; nobody: %ld, %d, %lld",
	       own.transitions, own.times, own.us / 1000,
	       nobody.transitions, nobody.times, nobody.us / 1000);
	EXPECT_GE(fair(&nobody), nobody.transitions);
}

TEST_HARNESS_MAIN
