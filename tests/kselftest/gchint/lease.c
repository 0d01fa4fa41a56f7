// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A hint is a lease: however its owner ends, the policy returns to what load
 * alone requests. Each test has a process of its own in mid-phase, capped while
 * it spins (or boosted while it hardly runs), ends it in one way, and reads the
 * clock register.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "hw.h"
#include "session.h"
#include "sysfs.h"
#include "worker.h"

#define SOON_MS 120000	/* of a CPU that the host may take away for long */

/* In memory that a victim shares with the test. */
struct shared {
	struct session session;
	int in_phase;
	int ended;
};

FIXTURE(lease) {
	int cpu;
	int policy;
	struct session watch;
	long min, max, cap;
	int steady;		/* percent of samples at the maximum */
	pid_t victim;
	struct shared *shared;
};

FIXTURE_SETUP(lease)
{
	long khz[MAX_OPPS];
	int n;

	self->victim = -1;
	ASSERT_NE(NULL, hw_open());
	self->cpu = sysconf(_SC_NPROCESSORS_ONLN) - 1;
	ASSERT_EQ(0, bind_cpu(0));
	self->policy = policy_of(self->cpu);
	n = opps(self->policy, khz, MAX_OPPS);
	ASSERT_GT(n, 1);
	self->min = khz[0];
	self->max = khz[n - 1];
	self->cap = self->max * 6 / 10;
	/*
	 * In a shared policy other load on the board raises it, too, but a
	 * thread that spins without a cap is never seen below the maximum.
	 */
	self->steady = 95;
	governor_save();
	ASSERT_EQ(0, governor_all("performance"));
	ASSERT_EQ(0, policy_put(self->policy, "scaling_governor", "gchint"));
	ASSERT_EQ(0, tunable_put(self->policy, "mode", "table"));
	ASSERT_EQ(0, tunable_put(self->policy, "cap_pct", "45"));
	ASSERT_EQ(0, tunable_put(self->policy, "min_latencies", "0"));
	ASSERT_EQ(0, parameter_put("hint_ttl_ms", "60000"));
	self->watch.fd = -1;
	if (!hw_open()->per_cpu)
		ASSERT_EQ(0, session_watch_quietly(&self->watch));
	self->shared = mmap(NULL, sizeof(*self->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->shared);
}

FIXTURE_TEARDOWN(lease)
{
	if (self->victim > 0) {
		kill(self->victim, SIGKILL);
		waitpid(self->victim, NULL, 0);
	}
	session_close(&self->watch);
	parameter_put("hint_ttl_ms", "1000");
	tunable_put(self->policy, "mode", "model");
	governor_restore();
}

enum end { END_NEVER, END_EXEC, END_CLOSE, END_DETACH, END_FORK };

/* What the victim does on SIGUSR1. */
static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
	signalled = 1;
}

static void victim(struct shared *shared, int cpu, unsigned int phase,
		   unsigned int flags, enum end end)
{
	struct session *s = &shared->session;
	int slot;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGUSR1, on_signal);
	if (bind_cpu(cpu) || session_open(s))
		_exit(1);
	slot = session_attach(s, 0, GCHINT_ROLE_NONE, 0);
	if (slot < 0 || session_edge(s, slot, phase, flags) < 0)
		_exit(2);
	__atomic_store_n(&shared->in_phase, 1, __ATOMIC_RELEASE);
	while (!signalled)
		;
	switch (end) {
	case END_EXEC:
		execl("/proc/self/exe", "lease", "--spin", NULL);
		_exit(3);
	case END_CLOSE:
		session_close(s);
		break;
	case END_DETACH:
		if (session_detach(s, slot))
			_exit(4);
		break;
	default:
		break;
	}
	__atomic_store_n(&shared->ended, 1, __ATOMIC_RELEASE);
	spin_forever();
}

/*
 * Getting a session may take long: the kernel patches its code for the first
 * one.
 */
static bool await_flag(int *flag)
{
	int tries;

	for (tries = 0; tries < SOON_MS; tries++) {
		if (__atomic_load_n(flag, __ATOMIC_ACQUIRE))
			return true;
		sleep_us(1000);
	}
	return false;
}

/*
 * A cap that has arrived stays. In a shared policy it is there whenever the
 * rest of the board is idle, which may be busy for a while.
 */
static bool cap_holds(int cpu, long min, long cap)
{
	if (hw_open()->per_cpu)
		return share_khz(cpu, min, cap, 60) >= 90;
	sleep_us(100000);
	return await_khz(cpu, min, cap, SOON_MS) >= 0;
}

/*
 * Soon the policy is where load puts it, and stays there. In a shared policy it
 * may have been there a moment before, for another CPU and still under the cap.
 */
static bool becomes_steady(int cpu, long khz, int percent)
{
	long long until = now_us() + SOON_MS * 1000LL;

	do {
		if (await_khz(cpu, khz, khz, SOON_MS) < 0)
			return false;
		if (share_khz(cpu, khz, khz, 100) >= percent)
			return true;
	} while (now_us() < until);
	return false;
}

/* A victim in mid-phase whose cap has arrived in the clock register. */
#define START(phase, flags, end) do {					\
	self->victim = fork();						\
	ASSERT_GE(self->victim, 0);					\
	if (!self->victim)						\
		victim(self->shared, self->cpu, phase, flags, end);	\
	ASSERT_TRUE(await_flag(&self->shared->in_phase));		\
} while (0)

#define START_CAPPED(end) do {						\
	START(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, end);		\
	ASSERT_GE(await_khz(self->cpu, self->min, self->cap, SOON_MS), 0); \
	EXPECT_TRUE(cap_holds(self->cpu, self->min, self->cap));	\
} while (0)

#define EXPECT_LOAD_ONLY() \
	EXPECT_TRUE(becomes_steady(self->cpu, self->max, self->steady))

TEST_F(lease, killed_in_mid_cap)
{
	struct worker after;

	START_CAPPED(END_NEVER);
	kill(self->victim, SIGKILL);
	waitpid(self->victim, NULL, 0);
	self->victim = -1;
	ASSERT_EQ(0, worker_start(&after, self->cpu));
	worker_do(&after, WORK_SPIN);
	EXPECT_LOAD_ONLY();
	worker_stop(&after);
}

TEST_F(lease, killed_in_mid_boost)
{
	struct worker after;

	START(GCHINT_PHASE_REMARK, GCHINT_F_STW, END_NEVER);
	ASSERT_GE(await_khz(self->cpu, self->max, self->max, SOON_MS), 0);
	kill(self->victim, SIGKILL);
	waitpid(self->victim, NULL, 0);
	self->victim = -1;
	/* Hardly any load: only a leftover boost would keep it high. */
	ASSERT_EQ(0, worker_start(&after, self->cpu));
	worker_do(&after, WORK_LIGHT);
	EXPECT_GE(await_khz(self->cpu, self->min, self->max / 2, SOON_MS), 0);
	worker_stop(&after);
}

TEST_F(lease, exec_in_mid_phase)
{
	START_CAPPED(END_EXEC);
	/* The same thread continues as another program. */
	kill(self->victim, SIGUSR1);
	EXPECT_LOAD_ONLY();
	EXPECT_EQ(0, waitpid(self->victim, NULL, WNOHANG));
}

TEST_F(lease, closed_in_mid_phase)
{
	START_CAPPED(END_CLOSE);
	kill(self->victim, SIGUSR1);
	ASSERT_TRUE(await_flag(&self->shared->ended));
	EXPECT_LOAD_ONLY();
	EXPECT_EQ(0, waitpid(self->victim, NULL, WNOHANG));
}

TEST_F(lease, detached_in_mid_phase)
{
	START_CAPPED(END_DETACH);
	kill(self->victim, SIGUSR1);
	ASSERT_TRUE(await_flag(&self->shared->ended));
	EXPECT_LOAD_ONLY();
	EXPECT_EQ(0, waitpid(self->victim, NULL, WNOHANG));
}

/* -- Fork, in this process: the child inherits file and mappings. -- */

static int child_finds(struct session *s, int slot)
{
	struct gchint_attach attach = { 0 };
	uint64_t generation;

	/* Its stores have no effect and do not fault. */
	session_store(s, slot, GCHINT_PHASE_REMARK, GCHINT_F_STW);
	if (session_ring(s, slot) != -ESTALE)
		return 1;
	if (session_detach(s, slot) != -ESTALE)
		return 2;
	if (session_role(s, slot, GCHINT_ROLE_CONCURRENT, 0) != -ESTALE)
		return 3;
	if (!ioctl(s->fd, GCHINT_IOC_ATTACH, &attach) || errno != ESTALE)
		return 4;
	if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, s->fd,
		 GCHINT_MMAP_INFO) != MAP_FAILED || errno != ESTALE)
		return 5;
	if (read(s->fd, &generation, sizeof(generation)) != -1 || errno != ESTALE)
		return 6;
	return 0;
}

TEST_F(lease, forked_child_has_no_effect)
{
	struct worker worker;
	struct session s;
	uint32_t state;
	int slot, status;
	pid_t child;

	ASSERT_EQ(0, session_open(&s));
	ASSERT_EQ(0, worker_start(&worker, self->cpu));
	worker_do(&worker, WORK_SPIN);
	slot = session_attach(&s, worker.tid, GCHINT_ROLE_NONE, 0);
	ASSERT_GE(slot, 0);
	ASSERT_GE(session_edge(&s, slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT), 0);
	ASSERT_GE(await_khz(self->cpu, self->min, self->cap, SOON_MS), 0);
	state = s.slots[slot].state;

	child = fork();
	ASSERT_GE(child, 0);
	if (!child)
		_exit(child_finds(&s, slot));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(0, WEXITSTATUS(status));
	/* The parent's slot, lease and cap are as they were. */
	EXPECT_EQ(state, s.slots[slot].state);
	EXPECT_TRUE(cap_holds(self->cpu, self->min, self->cap));
	EXPECT_EQ(0, session_ring(&s, slot));
	session_edge(&s, slot, GCHINT_PHASE_NONE, 0);
	EXPECT_LOAD_ONLY();
	worker_stop(&worker);
	session_close(&s);
}

/* The child outlives the parent in mid-phase and spins on the same CPU. */
TEST_F(lease, child_does_not_inherit_the_phase)
{
	int ready[2];
	pid_t child = -1;

	ASSERT_EQ(0, pipe(ready));
	self->victim = fork();
	ASSERT_GE(self->victim, 0);
	if (!self->victim) {
		struct session *s = &self->shared->session;
		int slot;

		if (bind_cpu(self->cpu) || session_open(s))
			_exit(1);
		slot = session_attach(s, 0, GCHINT_ROLE_NONE, 0);
		if (slot < 0 || session_edge(s, slot, GCHINT_PHASE_MARK,
					     GCHINT_F_CONCURRENT) < 0)
			_exit(2);
		child = fork();
		if (!child) {
			close(ready[0]);
			spin_forever();
		}
		if (write(ready[1], &child, sizeof(child)) != sizeof(child))
			_exit(3);
		pause();
	}
	ASSERT_EQ((ssize_t)sizeof(child), read(ready[0], &child, sizeof(child)));
	/* The parent sleeps in its phase, only the child runs there. */
	EXPECT_LOAD_ONLY();
	kill(self->victim, SIGKILL);
	waitpid(self->victim, NULL, 0);
	self->victim = -1;
	EXPECT_LOAD_ONLY();
	kill(child, SIGKILL);
}

/* A thread that exits releases its slot. */
TEST_F(lease, thread_exit_ends_the_lease)
{
	struct worker worker;
	struct session s;
	int slot, i, tries;

	ASSERT_EQ(0, session_open(&s));
	for (i = 0; i < 3 * GCHINT_SLOTS; i++) {
		ASSERT_EQ(0, worker_start(&worker, self->cpu));
		slot = session_attach(&s, worker.tid, GCHINT_ROLE_NONE, 0);
		ASSERT_GE(slot, 0)
			TH_LOG("thread %d gets no slot", i);
		session_store(&s, slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		worker_stop(&worker);
		/* A joined thread may still be exiting in the kernel. */
		for (tries = 0; tries < 2000 && !session_ring(&s, slot); tries++)
			sleep_us(1000);
		EXPECT_EQ(-ENOENT, session_ring(&s, slot));
	}
	ASSERT_EQ(0, worker_start(&worker, self->cpu));
	worker_do(&worker, WORK_SPIN);
	EXPECT_LOAD_ONLY();
	worker_stop(&worker);
	session_close(&s);
}

/* Closing the descriptor does not end the session while it is mapped. */
TEST_F(lease, mapping_keeps_the_session)
{
	struct worker worker;
	struct session s;
	int slot;

	ASSERT_EQ(0, session_open(&s));
	ASSERT_EQ(0, worker_start(&worker, self->cpu));
	worker_do(&worker, WORK_SPIN);
	slot = session_attach(&s, worker.tid, GCHINT_ROLE_NONE, 0);
	ASSERT_GE(slot, 0);
	close(s.fd);
	session_store(&s, slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	EXPECT_GE(await_khz(self->cpu, self->min, self->cap, SOON_MS), 0);
	munmap((void *)s.slots, 4096);
	munmap((void *)s.info, 4096);
	EXPECT_LOAD_ONLY();
	worker_stop(&worker);
}

/*
 * In a slot past the first page: by its own phase, and by that of a leader in
 * another one, until that lease ends.
 */
TEST_F_TIMEOUT(lease, leases_of_a_grown_session, 120)
{
	static struct worker filler[2 * GCHINT_SLOTS - 1];
	volatile struct gchint_slot *slots;
	struct worker spinner = { 0 };
	struct session s;
	int i, slot;

	ASSERT_EQ(0, session_open(&s));
	ASSERT_EQ(0, ioctl(s.fd, GCHINT_IOC_GROW, 2 * GCHINT_SLOTS));
	slots = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, s.fd,
		     GCHINT_MMAP_SLOTS);
	ASSERT_NE(MAP_FAILED, (void *)slots);
	for (i = 0; i < 2 * GCHINT_SLOTS - 1; i++) {
		ASSERT_EQ(0, worker_start_blocked(&filler[i], 0));
		ASSERT_EQ(i, session_attach(&s, filler[i].tid,
					    GCHINT_ROLE_CONCURRENT, 0));
	}
	ASSERT_EQ(0, worker_start(&spinner, self->cpu));
	slot = session_attach(&s, spinner.tid, 0, 0);
	ASSERT_EQ(2 * GCHINT_SLOTS - 1, slot);
	worker_do(&spinner, WORK_SPIN);
	EXPECT_LE(0, await_khz(self->cpu, self->max, self->max, SOON_MS));
	slots[slot].state = GCHINT_STATE(GCHINT_STATE_EDGE, GCHINT_PHASE_MARK,
					 GCHINT_F_CONCURRENT);
	EXPECT_EQ(0, session_ring(&s, slot));
	EXPECT_LE(0, await_khz(self->cpu, self->min, self->cap, SOON_MS));
	slots[slot].state = GCHINT_STATE(2 * GCHINT_STATE_EDGE, 0, 0);
	EXPECT_EQ(0, session_ring(&s, slot));
	EXPECT_LE(0, await_khz(self->cpu, self->max, self->max, SOON_MS));

	EXPECT_EQ(0, session_role(&s, slot, GCHINT_ROLE_FOLLOW, 70));
	slots[70].state = GCHINT_STATE(GCHINT_STATE_EDGE, GCHINT_PHASE_MARK,
				       GCHINT_F_CONCURRENT);
	EXPECT_EQ(0, session_ring(&s, 70));
	EXPECT_LE(0, await_khz(self->cpu, self->min, self->cap, SOON_MS));
	/* The next lease of that slot is not the leader. */
	EXPECT_EQ(0, session_detach(&s, 70));
	ASSERT_EQ(70, session_attach(&s, filler[70].tid, GCHINT_ROLE_CONCURRENT,
				     0));
	EXPECT_LE(0, await_khz(self->cpu, self->max, self->max, SOON_MS));
	slots[70].state = GCHINT_STATE(3 * GCHINT_STATE_EDGE, GCHINT_PHASE_MARK,
				       GCHINT_F_CONCURRENT);
	EXPECT_EQ(0, session_ring(&s, 70));
	EXPECT_EQ(0, session_ring(&s, slot));
	EXPECT_LE(self->steady, share_khz(self->cpu, self->max, self->max, 300));
	worker_stop(&spinner);
	for (i = 0; i < 2 * GCHINT_SLOTS - 1; i++)
		worker_stop(&filler[i]);
	munmap((void *)slots, 8192);
	session_close(&s);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--spin")) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		spin_forever();
	}
	return test_harness_run(argc, argv);
}
