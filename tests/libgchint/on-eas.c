// SPDX-License-Identifier: MIT
/*
 * Utilisation clamps by the library alone, under schedutil and Energy-Aware Scheduling,
 * on two big and two LITTLE cores. Runs as root on a board of tests/board without the
 * module: see on-eas. Prints TAP.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <gchint.h>

#include "../kselftest/gchint/placement.h"
#include "../kselftest/gchint/sysfs.h"
#include "tap.h"

#define BIG	    0 /* the first CPU of each type */
#define LITTLE	    2
#define BIG_CPUS    0x3ul
#define LITTLE_CPUS 0xcul
#define BUSY_US	    40000 /* between naps of 8 ms: too much for a small core */
#define WAKES	    20
#define SOON_MS	    20000 /* an emulated CPU on a busy machine may be delayed */
#define WAIT_S	    60

#define NO_CLAMPS "libgchint: no clamps: GCHINT_HINTS=clamp: "

struct sched_attr_53 {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
};

static const char *program;
static struct gchint_session *s;

/* 0 on a kernel without CONFIG_UCLAMP_TASK. */
static uint32_t clamp_of(pid_t tid)
{
	struct sched_attr_53 a;

	memset(&a, 0, sizeof(a));
	return syscall(SYS_sched_getattr, tid, &a, (unsigned int)sizeof(a), 0) ? 0 : a.util_max;
}

static int clamp_write(pid_t tid, uint32_t max)
{
	struct sched_attr_53 a;

	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	a.flags = 0x58;
	a.util_max = max;
	return syscall(SYS_sched_setattr, tid, &a, 0) ? -errno : 0;
}

static int has_clamps(void)
{
	return clamp_of(0) != 0;
}

/* fits_capacity() of kernel/sched/fair.c */
static uint32_t fits_little(void)
{
	return (uint32_t)(cpu_capacity(LITTLE) * 1024 - 1) / 1280;
}

static void before(void)
{
	setenv("GCHINT_HINTS", "clamp", 1);
	setenv("GCHINT_MIN_US", "0", 1);
	if (governor_all("schedutil") || !await_eas(true, SOON_MS)) {
		printf("# no Energy-Aware Scheduling\n");
		exit(1);
	}
	CHECK(access("/dev/gchint", F_OK) != 0);
}

static void needs_clamps(void)
{
	if (!has_clamps())
		tap_skip("the kernel has no CONFIG_UCLAMP_TASK");
}

#define CHECK_PLACE(thread, cpus)                                                                  \
	do {                                                                                       \
		int tap_share = await_placement(thread, cpus, 90, WAKES, SOON_MS);                 \
		if (tap_share < 90)                                                                \
			printf("# %d %% of the wake-ups on " #cpus "\n", tap_share);               \
		CHECK(tap_share >= 90);                                                            \
	} while (0)

/* A collector thread and a mutator thread, both busy; a third thread announces the phases. */
static void phases_place(void)
{
	struct napper collector, mutator;
	struct gchint_thread *t;

	needs_clamps();
	CHECK(fits_little() > 0 && fits_little() < 512);
	CHECK_IS(napper_start(&mutator, BIG, BUSY_US), 0);
	CHECK_IS(napper_start(&collector, BIG + 1, BUSY_US), 0);
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_backend(s), GCHINT_BACKEND_CLAMP);
	CHECK_IS(gchint_attach(s, collector.tid, GCHINT_ROLE_NONE, NULL, &t), 0);
	CHECK_PLACE(&collector, BIG_CPUS);
	gchint_begin(t, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(clamp_of(collector.tid), fits_little());
	CHECK_IS(clamp_of(mutator.tid), 1024);
	CHECK_PLACE(&collector, LITTLE_CPUS);
	CHECK_PLACE(&mutator, BIG_CPUS);
	CHECK_IS(eas_on(), 1);
	gchint_begin(t, GCHINT_PHASE_REMARK, GCHINT_F_STW);
	CHECK_IS(clamp_of(collector.tid), 1024);
	CHECK_PLACE(&collector, BIG_CPUS);
	gchint_end(t);
	CHECK_PLACE(&collector, LITTLE_CPUS);
	gchint_end(t);
	CHECK_IS(clamp_of(collector.tid), 1024);
	CHECK_PLACE(&collector, BIG_CPUS);
	CHECK_IS(gchint_set_role(t, GCHINT_ROLE_BACKGROUND, NULL), 0);
	CHECK_IS(clamp_of(collector.tid), fits_little());
	CHECK_PLACE(&collector, LITTLE_CPUS);
	CHECK_IS(gchint_close(s), 0);
	CHECK_IS(clamp_of(collector.tid), 1024);
	CHECK_PLACE(&collector, BIG_CPUS);
	CHECK_IS(eas_on(), 1);
	napper_stop(&collector);
	napper_stop(&mutator);
}

static int wait_for(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A started program reports its clamp by its exit status. */
static int started(void)
{
	pid_t pid = fork();

	if (!pid) {
		execl(program, program, "clamp", NULL);
		_exit(1);
	}
	return wait_for(pid);
}

static void *inherits(void *arg)
{
	(void)arg;
	/* The kernel hands it on, until the thread announces itself. */
	CHECK_IS(clamp_of(0), fits_little());
	gchint_self();
	CHECK_IS(clamp_of(0), 1024);
	return NULL;
}

static void descendants(void)
{
	pthread_t thread;
	pid_t pid;

	needs_clamps();
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_CLAMP);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	CHECK_IS(clamp_of(0), fits_little());
	pid = fork();
	if (!pid) {
		CHECK_IS(clamp_of(0), 1024);
		CHECK_IS(clamp_of(getppid()), fits_little());
		fflush(stdout);
		_exit(tap_bad);
	}
	CHECK_IS(wait_for(pid), 0);
	CHECK_IS(started(), 0);
	CHECK_IS(pthread_create(&thread, NULL, inherits, NULL), 0);
	pthread_join(thread, NULL);
	CHECK_IS(clamp_of(0), fits_little());
	gchint_phase_end();
	CHECK_IS(clamp_of(0), 1024);
}

/* The administrator's, by a process of its own. */
static void foreign(void)
{
	pid_t me = getpid(), pid;

	needs_clamps();
	CHECK_IS(gchint_init(0), GCHINT_BACKEND_CLAMP);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	pid = fork();
	if (!pid)
		_exit(clamp_write(me, 700) ? 1 : 0);
	CHECK_IS(wait_for(pid), 0);
	CHECK_IS(clamp_of(0), 700);
	gchint_phase_end();
	CHECK_IS(clamp_of(0), 700);
}

/* A clamp ends with its thread, however that ends. */
static void killed(void)
{
	struct napper napper;
	int ready[2], status;
	char byte;
	pid_t pid;

	needs_clamps();
	CHECK_IS(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		if (napper_start(&napper, BIG, BUSY_US) || gchint_open(&s, 0) ||
		    gchint_attach(s, napper.tid, GCHINT_ROLE_CONCURRENT, NULL, NULL) ||
		    gchint_init(0) != GCHINT_BACKEND_CLAMP)
			_exit(1);
		gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		if (clamp_of(0) != fits_little() || clamp_of(napper.tid) != fits_little() ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	CHECK_IS(read(ready[0], &byte, 1), 1);
	CHECK_IS(clamp_of(pid), fits_little());
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	CHECK_IS(clamp_of(0), 1024);
	CHECK_IS(started(), 0);
	CHECK_IS(eas_on(), 1);
	CHECK_IS(napper_start(&napper, LITTLE, BUSY_US), 0);
	CHECK_IS(clamp_of(napper.tid), 1024);
	CHECK_PLACE(&napper, BIG_CPUS);
	napper_stop(&napper);
}

/* All that the process prints on standard error while it opens the session. */
static const char *opened_with(const char *hints)
{
	static char text[1024];
	int err = dup(STDERR_FILENO), ends[2];
	ssize_t length;

	setenv("GCHINT_HINTS", hints, 1);
	CHECK_IS(pipe(ends), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	gchint_init(0);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	gchint_phase_end();
	dup2(err, STDERR_FILENO);
	close(err);
	length = read(ends[0], text, sizeof(text) - 1);
	close(ends[0]);
	text[length > 0 ? length : 0] = '\0';
	return text;
}

static void no_config(void)
{
	if (has_clamps())
		tap_skip("this kernel has them");
	CHECK(!strcmp(opened_with("clamp"),
		      NO_CLAMPS "the kernel is built without CONFIG_UCLAMP_TASK, as Debian's are; "
				"boot one that has it\n"));
	CHECK_IS(gchint_open(&s, 0), 0);
	CHECK_IS(gchint_get_backend(s), GCHINT_BACKEND_NOTHING);
	CHECK_IS(gchint_get_reason(s), -EOPNOTSUPP);
	CHECK_IS(eas_on(), 1);
}

static void sandboxed(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setattr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { .len = sizeof(code) / sizeof(*code), .filter = code };
	uint32_t found = clamp_of(0);

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		tap_skip("the kernel has no CONFIG_SECCOMP_FILTER");
	CHECK(!strcmp(opened_with("clamp"),
		      NO_CLAMPS "sched_setattr(2) is not permitted; allow it in the seccomp filter "
				"of the container or service\n"));
	CHECK_IS(clamp_of(0), found);
}

/* In an emulator, next to a call that does nothing: not a duration of any hardware. */
static void cost(void)
{
	struct timespec from, to;
	double ns[3];
	int what, n;

	needs_clamps();
	for (what = 0; what < 3; what++) {
		clock_gettime(CLOCK_MONOTONIC, &from);
		for (n = 0; n < 5000; n++) {
			if (what == 0)
				syscall(SYS_getppid);
			else if (what == 1)
				clamp_of(0);
			else
				clamp_write(0, n & 1 ? 256 : 1024);
		}
		clock_gettime(CLOCK_MONOTONIC, &to);
		ns[what] = ((double)(to.tv_sec - from.tv_sec) * 1e9 +
			    (double)(to.tv_nsec - from.tv_nsec)) /
			   5000;
	}
	printf("# getppid %.0f ns, sched_getattr %.0f ns, sched_setattr %.0f ns\n", ns[0], ns[1],
	       ns[2]);
	CHECK_IS(clamp_write(0, 1024), 0);
}

static const struct tap_test tests[] = {
	{ "phases and roles place a collector, and its end restores it", phases_place },
	{ "a forked child, a program and a thread that announces itself are not capped",
	  descendants },
	{ "a clamp set by another process during a phase stays", foreign },
	{ "SIGKILL leaves nothing behind", killed },
	{ "a kernel without clamps is reported", no_config },
	{ "a seccomp filter is reported", sandboxed },
	{ "the cost of a clamp is printed", cost },
};

int main(int argc, char **argv)
{
	program = argv[0];
	if (argc > 1)
		return clamp_of(0) != 1024;
	alarm(WAIT_S * 20);
	return tap_main(tests, (int)(sizeof(tests) / sizeof(*tests)), before);
}
