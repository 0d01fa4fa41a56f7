// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The actuator "limits": hints act under another governor, through limits that
 * the clock register obeys, and nothing of them is left when it is removed.
 */
#include <grp.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "bounds.h"
#include "explain.h"
#include "hw.h"
#include "session.h"
#include "sysfs.h"
#include "use.h"
#include "worker.h"

#define SOON_MS 10000
#define NOBODY 65534

FIXTURE(limits) {
	int cpu;
	int policy;
	long min, max, cap;
	long user_min;
	struct session watch;
	pid_t victim;
	int *in_phase;
	bool nobody;
};

FIXTURE_SETUP(limits)
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
	self->user_min = policy_number(self->policy, "scaling_min_freq");
	governor_save();
	ASSERT_EQ(0, governor_all("performance"));
	ASSERT_EQ(0, use_put(-1, "off"));
	ASSERT_EQ(0, use_put(self->policy, "limits"));
	ASSERT_EQ(0, tunable_put(self->policy, "mode", "table"));
	ASSERT_EQ(0, tunable_put(self->policy, "cap_pct", "45"));
	ASSERT_EQ(0, tunable_put(self->policy, "min_latencies", "0"));
	ASSERT_EQ(0, parameter_put("hint_ttl_ms", "60000"));
	self->watch.fd = -1;
	if (!hw_open()->per_cpu)
		ASSERT_EQ(0, session_watch_quietly(&self->watch));
	self->in_phase = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->in_phase);
}

FIXTURE_TEARDOWN(limits)
{
	char text[32];

	if (self->victim > 0) {
		kill(self->victim, SIGKILL);
		waitpid(self->victim, NULL, 0);
	}
	session_close(&self->watch);
	bounds_stop();
	parameter_put("hint_ttl_ms", "1000");
	use_put(-1, "off");
	snprintf(text, sizeof(text), "%ld", self->user_min);
	policy_put(self->policy, "scaling_min_freq", text);
	governor_restore();
}

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
	signalled = 1;
}

/* What it does in its phase. */
enum manner {
	STEADY,
	YIELDING,	/* lets other threads run in between */
	NAPPING,	/* sleeps most of the time */
};

static void spin_us(long us)
{
	long long end = now_us() + us;

	while (now_us() < end)
		;
}

/* In the phase until a signal ends it; then it spins forever. */
static void victim(int *in_phase, int cpu, bool nobody, unsigned int phase,
		   unsigned int flags, enum manner manner)
{
	struct session s;
	int slot;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGUSR1, on_signal);
	if (bind_cpu(cpu) ||
	    (nobody && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			setresuid(NOBODY, NOBODY, NOBODY))) ||
	    session_open(&s))
		_exit(1);
	slot = session_attach(&s, 0, GCHINT_ROLE_NONE, 0);
	if (slot < 0)
		_exit(2);
	if (session_edge(&s, slot, phase, flags) != 1)
		_exit(3);
	__atomic_store_n(in_phase, 1, __ATOMIC_RELEASE);
	while (!signalled) {
		if (manner == YIELDING) {
			sched_yield();
		} else if (manner == NAPPING) {
			spin_us(100);
			sleep_us(1500);
		}
	}
	session_edge(&s, slot, GCHINT_PHASE_NONE, 0);
	spin_forever();
}

#define begin(_phase, _flags) begin_so(_phase, _flags, STEADY)
#define begin_so(_phase, _flags, _manner) do {				\
	self->victim = fork();						\
	if (!self->victim)						\
		victim(self->in_phase, self->cpu, self->nobody, _phase,	\
		       _flags, _manner);				\
	ASSERT_GT(self->victim, 0);					\
	while (!__atomic_load_n(self->in_phase, __ATOMIC_ACQUIRE) &&	\
	       !waitpid(self->victim, NULL, WNOHANG))			\
		sleep_us(1000);						\
	ASSERT_TRUE(__atomic_load_n(self->in_phase, __ATOMIC_ACQUIRE));	\
} while (0)

/* Limits do not show which thread set them, but there is one. */
static long policy_max(int policy)
{
	return policy_number(policy, "scaling_max_freq");
}

/*
 * The cap as sysfs shows it. A thread that does not hint lifts it while it runs
 * on a CPU of the policy.
 */
static bool await_policy_max(int policy, long most)
{
	long long end = now_us() + SOON_MS * 1000LL;

	while (policy_max(policy) > most) {
		if (now_us() > end)
			return false;
		sleep_us(1000);
	}
	return true;
}

/* A driver with its own algorithm accepts no governor of another name. */
static bool governed(int policy)
{
	char text[256];

	return policy_get(policy, "scaling_available_governors", text,
			  sizeof(text)) > 0 && strstr(text, "gchint");
}

TEST_F(limits, concurrent_phase_is_capped_and_restored)
{
	ASSERT_LE(0, await_khz(self->cpu, self->max, self->max, SOON_MS));
	begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	EXPECT_LE(0, await_khz(self->cpu, self->min, self->cap, SOON_MS));
	EXPECT_TRUE(await_policy_max(self->policy, self->cap));
	kill(self->victim, SIGUSR1);
	EXPECT_LE(0, await_khz(self->cpu, self->max, self->max, SOON_MS));
	EXPECT_EQ(self->max, policy_max(self->policy));
}

TEST_F(limits, pause_is_raised_under_another_governor)
{
	if (!governed(self->policy))
		SKIP(return, "the driver takes no governor");
	ASSERT_EQ(0, policy_put(self->policy, "scaling_governor", "powersave"));
	ASSERT_LE(0, await_khz(self->cpu, self->min, self->min, SOON_MS));
	begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
	EXPECT_LE(0, await_khz(self->cpu, self->max, self->max, SOON_MS));
	kill(self->victim, SIGUSR1);
	EXPECT_LE(0, await_khz(self->cpu, self->min, self->min, SOON_MS));
}

/* Requests so far with a given reason, all policies together. */
static long switches(const char *reason)
{
	FILE *in = fopen("/sys/kernel/debug/gchint/switches", "re");
	char line[64], name[32];
	long value, sum = 0;

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "%31s %ld", name, &value) == 2 && !strcmp(name, reason))
			sum += value;
	if (in)
		fclose(in);
	return sum;
}

#define BOOSTS 100
#define BOOSTS_ONCE 3

/*
 * Our own floor moves the policy's lowest limit as any user's does: no second
 * decision.
 */
TEST_F_TIMEOUT(limits, boost_is_counted_once, 120)
{
	struct worker worker;
	struct session s;
	int slot, i, once = 0;
	long raised, lifted;

	if (!governed(self->policy))
		SKIP(return, "the driver takes no governor");
	ASSERT_EQ(0, policy_put(self->policy, "scaling_governor", "powersave"));
	ASSERT_EQ(0, worker_start(&worker, self->cpu));
	worker_do(&worker, WORK_SPIN);
	ASSERT_EQ(0, session_open(&s));
	slot = session_attach(&s, worker.tid, GCHINT_ROLE_NONE, 0);
	ASSERT_LE(0, slot);
	for (i = 0; i < BOOSTS && once < BOOSTS_ONCE; i++) {
		raised = switches("stw");
		lifted = switches("load");
		ASSERT_EQ(1, session_edge(&s, slot, GCHINT_PHASE_MARK, GCHINT_F_STW));
		EXPECT_LE(0, await_khz(self->cpu, self->max, self->max, SOON_MS));
		ASSERT_EQ(1, session_edge(&s, slot, GCHINT_PHASE_NONE, 0));
		EXPECT_LE(0, await_khz(self->cpu, self->min, self->min, SOON_MS));
		raised = switches("stw") - raised;
		lifted = switches("load") - lifted;
		once += raised == 1 && lifted <= 1;
	}
	/*
	 * A kernel thread that runs there for a millisecond, on a busy host
	 * any, ends a boost for a moment, which is then counted again. Where
	 * requests take long, one floor lasts over several. But if each floor
	 * and its end were counted twice, no boost would have one of both.
	 */
	EXPECT_EQ(BOOSTS_ONCE, once)
		TH_LOG("of %d boosts %d were counted once", i, once);
	session_close(&s);
	worker_stop(&worker);
}

TEST_F(limits, killed_in_mid_phase_leaves_no_limit)
{
	begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	EXPECT_LE(0, await_khz(self->cpu, self->min, self->cap, SOON_MS));
	kill(self->victim, SIGKILL);
	waitpid(self->victim, NULL, 0);
	self->victim = -1;
	EXPECT_LE(0, await_khz(self->cpu, self->max, self->max, SOON_MS));
	EXPECT_EQ(self->max, policy_max(self->policy));
}

TEST_F(limits, phase_without_progress_goes_stale)
{
	/* Long enough to see it, also where a switch takes long. */
	ASSERT_EQ(0, parameter_put("hint_ttl_ms", "3000"));
	begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	EXPECT_LE(0, await_khz(self->cpu, self->min, self->cap, SOON_MS));
	EXPECT_LE(0, await_khz(self->cpu, self->max, self->max, SOON_MS));
}

#define THROTTLE "/proc/sys/kernel/sched_rt_runtime_us"

enum hog_state { HOG_NONE, HOG_SPINS, HOG_STOPS };

/*
 * A real-time thread that arrives on a CPU and does not leave it until it is
 * asked to: anything of lower priority that waits for that CPU waits as long.
 */
static void hog(int *state, int cpu, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (sched_setscheduler(0, SCHED_FIFO, &param) || bind_cpu(cpu))
		_exit(1);
	__atomic_store_n(state, HOG_SPINS, __ATOMIC_RELEASE);
	while (__atomic_load_n(state, __ATOMIC_ACQUIRE) == HOG_SPINS)
		;
	_exit(0);
}

/*
 * @killed: the hinting process dies while its cap holds, else the arrival of
 * the other thread alone is the reason to lift it.
 */
static void cap_ends_under(struct __test_metadata *_metadata,
			   FIXTURE_DATA(limits) *self, int priority, bool killed)
{
	int *state, status = -1;
	char throttle[32];
	pid_t other;

	state = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)state);
	self->nobody = true;
	begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	ASSERT_LE(0, await_khz(self->cpu, self->min, self->cap, SOON_MS));
	/* Throttling would let the others run after 0.95 s. */
	ASSERT_LT(0, file_get(THROTTLE, throttle, sizeof(throttle)));
	ASSERT_EQ(0, file_put(THROTTLE, "-1"));
	other = fork();
	if (!other)
		hog(state, self->cpu, priority);
	while (__atomic_load_n(state, __ATOMIC_ACQUIRE) != HOG_SPINS &&
	       !waitpid(other, &status, WNOHANG))
		sleep_us(200);
	if (killed)
		kill(self->victim, SIGKILL);
	EXPECT_LE(0, await_khz(self->cpu, self->max, self->max, SOON_MS));
	EXPECT_EQ(self->max, policy_max(self->policy));
	/* It still spins, so it was not its end that lifted the cap. */
	EXPECT_EQ(HOG_SPINS, *state);
	__atomic_store_n(state, HOG_STOPS, __ATOMIC_RELEASE);
	EXPECT_EQ(other, waitpid(other, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, file_put(THROTTLE, throttle));
}

TEST_F_TIMEOUT(limits, real_time_thread_lifts_the_cap, 120)
{
	cap_ends_under(_metadata, self, 10, false);
}

TEST_F_TIMEOUT(limits, real_time_thread_of_highest_priority_lifts_the_cap, 120)
{
	cap_ends_under(_metadata, self, 99, false);
}

TEST_F_TIMEOUT(limits, cap_of_a_killed_process_ends_under_a_real_time_thread, 120)
{
	cap_ends_under(_metadata, self, 99, true);
}

TEST_F(limits, off_restores_the_limits)
{
	char name[16];

	begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	EXPECT_LE(0, await_khz(self->cpu, self->min, self->cap, SOON_MS));
	EXPECT_EQ(0, use_put(-1, "off"));
	EXPECT_LE(0, await_khz(self->cpu, self->max, self->max, SOON_MS));
	EXPECT_EQ(self->max, policy_max(self->policy));
	EXPECT_LT(0, use_get(self->policy, name, sizeof(name)));
	EXPECT_STREQ("off", name);
	EXPECT_EQ(0, policy_get(self->policy, "scaling_governor", name,
				sizeof(name)) < 0);
	EXPECT_STREQ("performance", name);
}

TEST_F(limits, user_minimum_overrides_a_cap)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", self->max);
	begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	EXPECT_LE(0, await_khz(self->cpu, self->min, self->cap, SOON_MS));
	ASSERT_EQ(0, policy_put(self->policy, "scaling_min_freq", text));
	EXPECT_LE(0, await_khz(self->cpu, self->max, self->max, SOON_MS));
	snprintf(text, sizeof(text), "%ld", self->min);
	ASSERT_EQ(0, policy_put(self->policy, "scaling_min_freq", text));
	EXPECT_LE(0, await_khz(self->cpu, self->min, self->cap, SOON_MS));
}

static void neighbour_is_not_slowed(struct __test_metadata *_metadata,
				    FIXTURE_DATA(limits) *self, int neighbour)
{
	struct worker other;

	begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	ASSERT_LE(0, await_khz(self->cpu, self->min, self->cap, SOON_MS));
	ASSERT_EQ(0, worker_start(&other, neighbour));
	worker_do(&other, WORK_SPIN);
	/* Time slices of the watcher in between do not matter. */
	if (!neighbour)
		ASSERT_EQ(0, session_role(&self->watch, 0, GCHINT_ROLE_NONE, 0));
	EXPECT_LE(90, share_khz(self->cpu, self->max, self->max, 300));
	worker_stop(&other);
	ASSERT_EQ(0, session_role(&self->watch, 0, GCHINT_ROLE_CONCURRENT, 0));
	EXPECT_LE(0, await_khz(self->cpu, self->min, self->cap, SOON_MS));
}

TEST_F(limits, neighbour_without_hints_is_not_slowed)
{
	if (hw_open()->per_cpu)
		SKIP(return, "each CPU has a policy of its own");
	neighbour_is_not_slowed(_metadata, self, 0);
}

/* CPUs that come online after the limits were chosen are neighbours, too. */
TEST_F(limits, neighbour_on_a_new_cpu_is_not_slowed)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), cpu;

	if (hw_open()->per_cpu)
		SKIP(return, "each CPU has a policy of its own");
	ASSERT_EQ(0, use_put(-1, "off"));
	for (cpu = 1; cpu < cpus; cpu++)
		ASSERT_EQ(0, cpu_plug(cpu, false));
	EXPECT_EQ(0, use_put(self->policy, "limits"));
	for (cpu = 1; cpu < cpus; cpu++)
		ASSERT_EQ(0, cpu_plug(cpu, true));
	ASSERT_EQ(0, tunable_put(self->policy, "mode", "table"));
	ASSERT_EQ(0, tunable_put(self->policy, "cap_pct", "45"));
	ASSERT_EQ(0, tunable_put(self->policy, "min_latencies", "0"));
	/* On the CPU that was online, with a mutator on one that was not. */
	self->cpu = 0;
	neighbour_is_not_slowed(_metadata, self, cpus - 1);
}

/*
 * Of ten long phases, each after many that ended before a limit would have had
 * an effect, how many are capped before they end? The short ones are so far
 * apart that each is planned separately, and that evaluation has stopped.
 */
static int long_ones(int cpu, int policy, long cap, long us)
{
	int slot, round, i, capped = 0;
	struct session s;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (bind_cpu(cpu) || session_open(&s))
		return 100;
	slot = session_attach(&s, 0, GCHINT_ROLE_NONE, 0);
	if (slot < 0)
		return 101;
	for (round = 0; round < 10; round++) {
		for (i = 0; i < 20; i++) {
			session_edge(&s, slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
			spin_us(100);
			session_edge(&s, slot, GCHINT_PHASE_NONE, 0);
			spin_us(30000);
		}
		session_edge(&s, slot, GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
		spin_us(us);
		/*
		 * On a host that takes the CPU away a request takes long, and a
		 * phase is too short.
		 */
		for (i = 0; i < 20 && policy_max(policy) > cap; i++)
			spin_us(us);
		capped += policy_max(policy) <= cap;
		session_edge(&s, slot, GCHINT_PHASE_NONE, 0);
	}
	return capped;
}

/*
 * No hook is called there: a thread that requests the same again must not count
 * as decided.
 */
TEST_F(limits, long_phases_after_short_ones_are_capped)
{
	int status;

	ASSERT_EQ(0, tunable_put(self->policy, "min_latencies", "4"));
	self->victim = fork();
	if (!self->victim)
		_exit(long_ones(self->cpu, self->policy, self->cap,
				hw_open()->fast ? 200000 : 1000000));
	ASSERT_LT(0, self->victim);
	ASSERT_EQ(self->victim, waitpid(self->victim, &status, 0));
	self->victim = -1;
	ASSERT_TRUE(WIFEXITED(status));
	EXPECT_LE(9, WEXITSTATUS(status))
		TH_LOG("%d of 10", WEXITSTATUS(status));
	EXPECT_GE(10, WEXITSTATUS(status));
}

/*
 * Two threads alternate on a CPU, one of which hints: no cap is set in between.
 */
TEST_F(limits, alternating_threads_do_not_flap)
{
	pid_t other;
	int changes;

	begin_so(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, YIELDING);
	EXPECT_TRUE(await_policy_max(self->policy, self->cap));
	other = fork();
	if (!other) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (bind_cpu(self->cpu))
			_exit(1);
		for (;;)
			sched_yield();
	}
	ASSERT_LT(0, other);
	EXPECT_LE(0, await_khz(self->cpu, self->max, self->max, SOON_MS));
	changes = bounds_changes(1000000);
	EXPECT_LE(0, changes);
	/*
	 * Thousands if each time slice counts. A slice is long when the host
	 * takes the CPU away in it, and a cap is set then.
	 */
	EXPECT_GE(200, changes)
		TH_LOG("%d changes of limits in a second", changes);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	EXPECT_TRUE(await_policy_max(self->policy, self->cap));
}

/*
 * Sleeps in a phase, each long enough to lift a cap, by an unprivileged thread.
 * The cap is what idle policies get anyway: the same frequency.
 */
TEST_F(limits, unprivileged_sleeps_are_rate_limited)
{
	int changes, ms = 2000;
	char text[32];

	ASSERT_LT(0, tunable_get(self->policy, "hold_us", text, sizeof(text)));
	ASSERT_EQ(10000, atoi(text));
	ASSERT_EQ(0, tunable_put(self->policy, "cap_pct", "10"));
	self->nobody = true;
	begin_so(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, NAPPING);
	changes = bounds_changes(ms * 1000);
	EXPECT_LT(0, changes);
	EXPECT_GE(16 + ms / 10 + 20, changes)
		TH_LOG("%d changes of limits in %d ms", changes, ms);
}

/*
 * A thread that sleeps in a phase requests a cap again and again, more often
 * than permitted without privilege. When it wakes on another CPU it leaves an
 * idle one, on which no thread would request anything else. Its caps are too
 * short to be seen in a file, so they are counted by cpufreq's tracepoint.
 */
TEST_F_TIMEOUT(limits, migration_in_a_sleep_leaves_no_limit, 120)
{
	cpu_set_t away;
	long long end;
	int i;

	CPU_ZERO(&away);
	CPU_SET(0, &away);
	if (policy_of(0) == self->policy)
		SKIP(return, "no CPU has another policy");
	self->nobody = true;
	for (i = 0; i < 8; i++) {
		__atomic_store_n(self->in_phase, 0, __ATOMIC_RELEASE);
		/*
		 * The first may come before the parent continues, and be the
		 * only one.
		 */
		ASSERT_EQ(0, bounds_watch());
		begin_so(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, NAPPING);
		end = now_us() + SOON_MS * 1000LL;
		while (bounds_seen() < 1 && now_us() < end)
			sleep_us(10000);
		EXPECT_LE(1, bounds_seen());
		/* The thread may be asleep, with a cap or without. */
		sleep_us(100000 + 1300 * i);
		ASSERT_EQ(0, sched_setaffinity(self->victim, sizeof(away), &away));
		ASSERT_LE(0, await_khz(self->cpu, self->max, self->max, SOON_MS))
			explain(self->cpu);
		kill(self->victim, SIGKILL);
		waitpid(self->victim, NULL, 0);
		self->victim = -1;
	}
}

/* Kernel threads run for a moment, on each CPU, many times a second. */
TEST_F(limits, short_kernel_threads_lift_no_cap)
{
	int i, least = INT_MAX, *passing;
	pid_t other;

	passing = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)passing);
	begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	EXPECT_TRUE(await_policy_max(self->policy, self->cap));
	other = fork();
	if (!other) {
		struct session s;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		/* The test's own activity must not lift it either. */
		if (session_watch_quietly(&s))
			_exit(1);
		for (;;) {
			if (file_put("/proc/sys/vm/stat_refresh", "1"))
				_exit(2);
			__atomic_add_fetch(passing, 1, __ATOMIC_RELAXED);
			sleep_us(3000);
		}
	}
	ASSERT_LT(0, other);
	sleep_us(200000);
	/*
	 * A thread on a CPU that the host took away appears to have run for
	 * long, which only adds changes: the minimum of some windows. If each
	 * of them lifted a cap and restored it, it would happen in every
	 * window.
	 */
	for (i = 0; i < 5; i++) {
		int passed = __atomic_load_n(passing, __ATOMIC_RELAXED);
		int changes = bounds_changes(400000);

		passed = __atomic_load_n(passing, __ATOMIC_RELAXED) - passed;
		ASSERT_LE(0, changes);
		if (passed > 3 && 100 * changes / passed < least)
			least = 100 * changes / passed;
	}
	EXPECT_EQ(0, waitpid(other, NULL, WNOHANG));
	EXPECT_GE(50, least)
		TH_LOG("%d changes of limits in 100 passes", least);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

/*
 * Any user may read the page and wait for its changes. That someone's program
 * collects is none, and a runtime would take the cap for a limit of others.
 */
TEST_F_TIMEOUT(limits, caps_are_not_published, 120)
{
	const volatile struct gchint_info_policy *shown;
	char text[32];
	uint64_t before, after;
	struct session s;
	long long end;
	int i;

	ASSERT_EQ(0, session_open(&s));
	self->nobody = true;
	begin_so(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT, NAPPING);
	ASSERT_EQ(8, read(s.fd, &before, sizeof(before)));
	shown = &s.info->policy[s.info->cpu_policy[self->cpu]];
	/* On a busy host the victim naps for longer than it means to. */
	ASSERT_EQ(0, bounds_watch());
	for (i = 0; i < 60 && bounds_seen() <= 4; i++)
		sleep_us(1000000);
	bounds_stop();
	EXPECT_LT(4, bounds_seen());
	for (i = 0; i < 1000; i++) {
		ASSERT_EQ(self->max, (long)shown->max_khz);
		sleep_us(500);
	}
	ASSERT_EQ(8, read(s.fd, &after, sizeof(after)));
	EXPECT_EQ(before, after);
	/* The limit of an administrator is, at once, also below a cap. */
	kill(self->victim, SIGUSR1);
	snprintf(text, sizeof(text), "%ld", self->min);
	ASSERT_EQ(0, policy_put(self->policy, "scaling_max_freq", text));
	end = now_us() + SOON_MS * 1000LL;
	while ((long)shown->max_khz != self->min && now_us() < end)
		sleep_us(1000);
	EXPECT_EQ(self->min, (long)shown->max_khz);
	ASSERT_EQ(8, read(s.fd, &after, sizeof(after)));
	EXPECT_LT(before, after);
	snprintf(text, sizeof(text), "%ld", self->max);
	ASSERT_EQ(0, policy_put(self->policy, "scaling_max_freq", text));
	while ((long)shown->max_khz != self->max && now_us() < end)
		sleep_us(1000);
	EXPECT_EQ(self->max, (long)shown->max_khz);
	session_close(&s);
}

TEST_F(limits, actuator_in_force_is_reported)
{
	struct session s;
	uint32_t value;
	long long end;
	int ret;

	ASSERT_EQ(0, session_open(&s));
	EXPECT_TRUE(s.info->features & GCHINT_FEATURE_LIMITS);
	EXPECT_EQ(governed(self->policy),
		  !!(s.info->features & GCHINT_FEATURE_GOVERNOR));
	EXPECT_TRUE(s.info->doorbell_begin & (1u << GCHINT_PHASE_MARK));
	EXPECT_TRUE(s.info->policy[s.info->cpu_policy[self->cpu]].flags &
		    GCHINT_POLICY_GCHINT);
	session_close(&s);
	ASSERT_EQ(0, use_attribute(self->cpu, GCHINT_POLICY_A_ACTUATOR, &value));
	EXPECT_EQ(GCHINT_ACTUATOR_LIMITS, value);
	ASSERT_EQ(0, use_attribute(self->cpu, GCHINT_POLICY_A_CAN, &value));
	EXPECT_EQ(GCHINT_CAN_LIMITS, value);
	/* In a policy that all share, the watcher's own role may cap it now. */
	if (hw_open()->per_cpu)
		EXPECT_EQ(-ENODATA, use_attribute(self->cpu, GCHINT_POLICY_A_CAP_KHZ,
					     &value));
	begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	/*
	 * Any other thread that runs there for a moment ends it for a moment.
	 */
	end = now_us() + SOON_MS * 1000LL;
	while ((ret = use_attribute(self->cpu, GCHINT_POLICY_A_CAP_KHZ, &value)) ==
	       -ENODATA && now_us() < end)
		sleep_us(1000);
	ASSERT_EQ(0, ret);
	EXPECT_GE(self->cap, (long)value);
	ASSERT_EQ(0, use_put(-1, "off"));
	EXPECT_EQ(-ENODEV, use_attribute(self->cpu, GCHINT_POLICY_A_CAN, &value));
}

TEST_F(limits, one_actuator_at_a_time)
{
	char name[16];

	if (!governed(self->policy))
		SKIP(return, "the driver takes no governor");
	EXPECT_NE(0, policy_put(self->policy, "scaling_governor", "gchint"));
	EXPECT_LT(0, policy_get(self->policy, "scaling_governor", name,
				sizeof(name)));
	EXPECT_STREQ("performance", name);
	EXPECT_LT(0, use_get(self->policy, name, sizeof(name)));
	EXPECT_STREQ("limits", name);
	ASSERT_EQ(0, use_put(self->policy, "off"));
	EXPECT_EQ(0, policy_put(self->policy, "scaling_governor", "gchint"));
	EXPECT_EQ(-EBUSY, use_put(self->policy, "limits"));
	EXPECT_LT(0, use_get(self->policy, name, sizeof(name)));
	EXPECT_STREQ("governor", name);
	EXPECT_EQ(-EINVAL, use_put(self->policy, "governor"));
	EXPECT_EQ(-EINVAL, use_put(self->policy, "rubbish"));
	EXPECT_EQ(-EBUSY, use_put(-1, "limits"));
	/* All or none. */
	if (self->policy) {
		EXPECT_LT(0, use_get(0, name, sizeof(name)));
		EXPECT_STREQ("off", name);
	}
}

TEST_F(limits, governor_changes_and_hotplug)
{
	const char *other = governed(self->policy) ? "schedutil" : "powersave";
	char path[64];
	int i;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", self->cpu);
	begin(GCHINT_PHASE_MARK, GCHINT_F_CONCURRENT);
	EXPECT_LE(0, await_khz(self->cpu, self->min, self->cap, SOON_MS));
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, policy_put(self->policy, "scaling_governor",
					i % 2 ? "performance" : other));
		if (access(path, W_OK))
			continue;
		EXPECT_EQ(0, cpu_plug(self->cpu, false));
		EXPECT_EQ(0, cpu_plug(self->cpu, true));
	}
	/*
	 * A driver that cannot read its register assumes the highest value when
	 * a CPU comes back, and writes that only after a different one.
	 */
	EXPECT_EQ(0, policy_put(self->policy, "scaling_governor", "powersave"));
	EXPECT_EQ(0, policy_put(self->policy, "scaling_governor", "performance"));
	kill(self->victim, SIGKILL);
	waitpid(self->victim, NULL, 0);
	self->victim = -1;
	EXPECT_LE(0, await_khz(self->cpu, self->max, self->max, SOON_MS))
		explain(self->cpu);
}

TEST_HARNESS_MAIN
