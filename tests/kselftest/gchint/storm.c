// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Everything at once: threads that attach, hint and die, others that change
 * their scheduling and their CPUs, governors and limits, hotplug, suspend,
 * tunables, netlink, debugfs and unload attempts, in any order. The kernel log
 * must stay silent (the rig checks it), nothing of the module may be left, and
 * the governor must still work.
 *
 * storm [SECONDS [SEED]]
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../kselftest_harness.h"
#include "genl.h"
#include "hw.h"
#include "module.h"
#include "session.h"
#include "sysfs.h"
#include "use.h"
#include "worker.h"

#define RUNTIMES 8

static int seconds = 15;
static unsigned int seed = 1;

/* -- The parts of the storm: each runs in a process of its own -- */

static __thread unsigned int dice;

static unsigned int roll(unsigned int sides)
{
	/* xorshift: rand() has a lock that would order the threads. */
	dice ^= dice << 13;
	dice ^= dice >> 17;
	dice ^= dice << 5;
	return dice % sides;
}

/* Successful actions, counted by all processes. */
struct counts {
	unsigned int sessions, attached, edges, switches, actuators, hotplugs, dumps, unloads;
	unsigned int moves, cpusets, suspends;
	unsigned int asked; /* to unplug a CPU */
	int refused; /* and the error of the last failure */
	unsigned int over; /* every part but the runtimes ends before its next action */
	pid_t runtime[RUNTIMES];
};

static struct counts *counts;

#define COUNT(what) __atomic_fetch_add(&counts->what, 1, __ATOMIC_RELAXED)

/*
 * A part that writes to sysfs is never killed: kthread_create() fails with -EINTR for
 * a process with a fatal signal, and cpufreq_set_policy() of 6.1 then leaves a policy
 * whose governor has no data, on which the next change of governor panics.
 */
static bool storm_over(void)
{
	return __atomic_load_n(&counts->over, __ATOMIC_RELAXED);
}

/*
 * Is any required action still missing? Seconds of a guest that hardly runs are
 * no storm.
 */
static bool calm(unsigned int kills)
{
	const volatile struct counts *t = counts;

	return !kills || !t->sessions || !t->attached || !t->edges || !t->switches ||
	       !t->actuators || !t->hotplugs || !t->dumps || !t->moves;
}

/* A slot's fields, valid or not, complete or torn. */
static void scribble(struct session *s, unsigned int slot)
{
	volatile struct gchint_slot *line = &s->slots[slot];

	line->cause = roll(8) ? roll(GCHINT_CAUSE_NR) : roll(~0u);
	line->work_done = (uint64_t)roll(~0u) << roll(33);
	line->work_total = (uint64_t)roll(~0u) << roll(33);
	line->stall_ns = roll(2) ? now_us() * 1000 + roll(100000000) : roll(~0u);
	if (!roll(4))
		line->state = roll(~0u);
}

#define THREADS 8

struct team {
	struct session session;
	unsigned int seed;
};

static void *member_main(void *arg)
{
	struct team *team = arg;
	struct session *s = &team->session;
	int slot, edges, others[4];
	unsigned int i;

	dice = team->seed ^ (unsigned int)syscall(SYS_gettid) * 2654435761u;
	dice = dice ? dice : 1;
	if (!roll(4))
		bind_cpu(roll(sysconf(_SC_NPROCESSORS_CONF)));
	slot = session_attach(s, 0, roll(GCHINT_ROLE_NR), roll(3) ? 0 : roll(GCHINT_SLOTS));
	if (slot < 0)
		slot = session_attach(s, 0, GCHINT_ROLE_NONE, 0);
	if (slot < 0)
		return NULL;
	COUNT(attached);
	for (edges = roll(200); edges; edges--) {
		switch (roll(8)) {
		case 0:
			scribble(s, slot);
			break;
		case 1:
			session_role(s, slot, roll(GCHINT_ROLE_NR), roll(GCHINT_SLOTS));
			break;
		case 2:
			for (i = 0; i < 4; i++) {
				others[i] = roll(GCHINT_SLOTS + 2);
				session_ring(s, others[i]);
			}
			break;
		case 3:
			sleep_us(roll(3000));
			break;
		default:
			session_edge(s, slot, roll(GCHINT_PHASE_NR), roll(16));
			COUNT(edges);
			break;
		}
		for (i = roll(20000); i; i--)
			__asm__ volatile("" ::: "memory");
	}
	/*
	 * Half of them leave the release of their lease to the thread's exit.
	 */
	if (roll(2))
		session_detach(s, slot);
	return NULL;
}

/*
 * Two things must not happen at once. Whatever the host's pace, so each is done
 * with a lock on a file, which ends with its descriptor.
 *
 * EXEC: an exec waits for the other threads of its process to exit, which frozen
 * ones do not: 6.1 gives up after 20 s, with a stack in the log. Runtimes exec
 * with a shared lock, which the exec drops behind that wait; suspender() has it
 * exclusively.
 * DEBUGFS: for a moment a module that is unloading has no references and is not
 * marked as going yet: an open of its debugfs warns then (full_proxy_open()).
 * readers() have a shared lock, unloader() has it exclusively.
 */
#define EXEC "/tmp/storm-exec"
#define DEBUGFS "/tmp/storm-debugfs"

/* Return: the descriptor, or -1. */
static int storm_lock(const char *file, int operation)
{
	int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0 && flock(fd, operation)) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * A runtime: threads start and end, sometimes it forks, in the end it is
 * killed.
 */
static void runtime(void)
{
	struct team team;
	pthread_t thread[THREADS];
	int i, n, status;
	pid_t child;

	for (;;) {
		team.seed = roll(~0u);
		if (session_open(&team.session)) {
			sleep_us(2000);
			continue;
		}
		COUNT(sessions);
		for (n = 0; n < THREADS; n++)
			if (pthread_create(&thread[n], NULL, member_main, &team))
				break;
		if (!roll(3)) {
			child = fork();
			if (!child) {
				session_edge(&team.session, 0, GCHINT_PHASE_MARK, 1);
				if (roll(2))
					execl("/proc/self/exe", "storm", "--exit", NULL);
				_exit(0);
			}
			if (child > 0)
				waitpid(child, &status, 0);
		}
		if (!roll(8) && storm_lock(EXEC, LOCK_SH | LOCK_NB) >= 0)
			execl("/proc/self/exe", "storm", "--exit", NULL);
		for (i = 0; i < n; i++)
			pthread_join(thread[i], NULL);
		session_close(&team.session);
	}
}

static void governors(void)
{
	static const char * const names[] = {
		"gchint", "gchint", "gchint", "schedutil", "performance",
		"ondemand", "userspace", "powersave",
	};
	int number[MAX_POLICIES];
	char text[32];
	long khz[MAX_OPPS];

	while (!storm_over()) {
		int n = policies(number, MAX_POLICIES), k;
		int p;

		if (!n)
			continue;
		p = number[roll(n)];
		switch (roll(4)) {
		case 0:
			k = opps(p, khz, MAX_OPPS);
			if (k < 1)
				break;
			snprintf(text, sizeof(text), "%ld", khz[roll(k)]);
			policy_put(p, roll(2) ? "scaling_max_freq" : "scaling_min_freq", text);
			break;
		case 1:
			snprintf(text, sizeof(text), "%ld",
				 policy_number(p, "cpuinfo_min_freq"));
			policy_put(p, "scaling_min_freq", text);
			snprintf(text, sizeof(text), "%ld",
				 policy_number(p, "cpuinfo_max_freq"));
			policy_put(p, "scaling_max_freq", text);
			break;
		default:
			if (!policy_put(p, "scaling_governor",
					names[roll(sizeof(names) / sizeof(*names))]))
				COUNT(switches);
			break;
		}
		sleep_us(roll(50000));
	}
}

/*
 * Governors that a machine lacks are refused; so is each while gchint governs.
 */
static void actuators(void)
{
	static const char * const names[] = { "off", "limits" };
	int number[MAX_POLICIES], n, p;

	while (!storm_over()) {
		n = policies(number, MAX_POLICIES);
		p = n && roll(3) ? number[roll(n)] : -1;
		if (p >= 0 && roll(2))
			policy_put(p, "scaling_governor", "schedutil");
		if (!use_put(p, names[roll(sizeof(names) / sizeof(*names))]))
			COUNT(actuators);
		sleep_us(roll(50000));
	}
}

/* -- What an administrator does to hinting threads -- */

/* <linux/sched/types.h>, which clashes with <sched.h> */
struct attributes {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
};

#define OTHER 0
#define ROUND_ROBIN 2
#define RESET_ON_FORK 0x01
#define CLAMP_MAX 0x40

static pid_t some_runtime(void)
{
	return __atomic_load_n(&counts->runtime[roll(RUNTIMES)], __ATOMIC_RELAXED);
}

/* One of a runtime's threads, or its first one. */
static pid_t some_thread(void)
{
	pid_t pid = some_runtime(), tid = pid;
	struct dirent *entry;
	char path[64];
	DIR *dir;
	int skip = roll(8);

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && skip-- && (entry = readdir(dir)))
		if (atoi(entry->d_name) > 0)
			tid = atoi(entry->d_name);
	if (dir)
		closedir(dir);
	return tid;
}

static int put_attributes(pid_t tid, struct attributes *a)
{
	a->size = sizeof(*a);
	return syscall(SYS_sched_setattr, tid, a, 0) ? -errno : 0;
}

/*
 * Threads may end meanwhile. None gets a deadline: with the module unloaded and
 * the same hotplug, cpusets and changes of scheduling, 6.1 itself panics within
 * 30 to 60 s (divide error in inactive_task_timer(): the root domain of an
 * offline CPU has no CPUs; and "rq->clock_update_flags < RQCF_ACT_SKIP" in
 * dl_task_timer()). The test manners has deadlines.
 */
static void strangers(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct attributes a;
	unsigned long mask;
	pid_t tid;

	while (!storm_over()) {
		tid = some_thread();
		memset(&a, 0, sizeof(a));
		switch (roll(3)) {
		case 0:
			mask = roll(1u << cpus) ? : 1;
			if (syscall(SYS_sched_setaffinity, tid, sizeof(mask), &mask) >= 0)
				COUNT(moves);
			break;
		case 1:
			a.nice = (int)roll(40) - 20;
			/* Not every kernel supports clamps. */
			a.flags = RESET_ON_FORK | (roll(2) ? CLAMP_MAX : 0);
			a.util_max = roll(1025);
			put_attributes(tid, &a);
			break;
		default:
			/*
			 * Only this thread: if its children inherited it, a
			 * runtime could take all CPUs from the rest of the storm
			 * for as long as it lives.
			 */
			a.policy = ROUND_ROBIN;
			a.priority = 1;
			a.flags = RESET_ON_FORK;
			put_attributes(tid, &a);
			break;
		}
		sleep_us(roll(5000));
		memset(&a, 0, sizeof(a));
		put_attributes(tid, &a);
	}
}

#define CGROUP "/tmp/storm-cgroup"
#define INSIDE CGROUP "/storm"

static bool cpusets_begin(void)
{
	mkdir(CGROUP, 0700);
	return !mount("none", CGROUP, "cgroup2", 0, NULL) &&
	       !file_put(CGROUP "/cgroup.subtree_control", "+cpuset") &&
	       !mkdir(INSIDE, 0700);
}

/* Its members have been killed, or are moved out. */
static bool cpusets_end(void)
{
	int tries;

	for (tries = 0; tries < 500 && rmdir(INSIDE) && errno != ENOENT; tries++)
		sleep_us(10000);
	return access(INSIDE, F_OK) && !umount(CGROUP) && !rmdir(CGROUP);
}

/* Runtimes enter a set whose CPUs change under them, and leave it again. */
static void cpusets(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	char text[32];

	while (!storm_over()) {
		int first = roll(cpus), last = first + roll(cpus - first);

		snprintf(text, sizeof(text), "%d-%d", first, last);
		if (!file_put(INSIDE "/cpuset.cpus", text))
			COUNT(cpusets);
		snprintf(text, sizeof(text), "%d", some_runtime());
		file_put(roll(3) ? INSIDE "/cgroup.procs" : CGROUP "/cgroup.procs", text);
		sleep_us(roll(30000));
	}
}

#define POWER "/sys/power"
#define DELAY "/sys/module/suspend/parameters/pm_test_delay"

/*
 * As deep as the kernel's own test levels go, and back at once. Of "freeze"
 * these are three: at the fourth, "processors", the machine really sleeps
 * (s2idle_loop() in suspend_enter()), and nothing would wake it.
 */
static void suspender(void)
{
	static const char *const levels[] = { "freezer", "devices", "platform" };
	int lock;

	while (!storm_over()) {
		lock = storm_lock(EXEC, LOCK_EX);
		if (!file_put(POWER "/pm_test", levels[roll(3)]) &&
		    !file_put(POWER "/state", "freeze"))
			COUNT(suspends);
		file_put(POWER "/pm_test", "none");
		close(lock);
		sleep_us(500000 + roll(1500000));
	}
}

static void hotplug(void)
{
	int cpu, err;

	while (!storm_over()) {
		cpu = 1 + roll(sysconf(_SC_NPROCESSORS_CONF) - 1);
		COUNT(asked);
		err = cpu_plug(cpu, false);
		if (!err)
			COUNT(hotplugs);
		else
			__atomic_store_n(&counts->refused, err, __ATOMIC_RELAXED);
		while (cpu_plug(cpu, true))
			sleep_us(1000);
		sleep_us(roll(300000));
	}
}

static void tunables(void)
{
	static const char * const modes[] = { "off", "table", "model" };
	static const char * const names[] = {
		"awake_pct", "boost_unprivileged", "budget", "cap_pct", "hold_us",
		"min_latencies",
	};
	char text[32];

	while (!storm_over()) {
		tunable_put(roll(4), "mode", modes[roll(3)]);
		snprintf(text, sizeof(text), "%u", roll(roll(2) ? 100 : 100000));
		tunable_put(roll(4), names[roll(sizeof(names) / sizeof(*names))], text);
		snprintf(text, sizeof(text), "%u", 10 + roll(2000));
		parameter_put("hint_ttl_ms", text);
		sleep_us(roll(20000));
	}
}

/*
 * A socket whose buffer multicast messages have filled drops the answers to its
 * own requests as well (netlink_attachskb()), and only the first loss is
 * reported, as ENOBUFS. So each answer may be missing: no long wait for one, and
 * not for the next one if the storm is over.
 */
static void listeners(void)
{
	struct genl g;
	char attr[16];
	int i;

	while (!storm_over()) {
		if (genl_open(&g)) {
			sleep_us(5000);
			continue;
		}
		g.wait_ms = 200;
		genl_listen(&g, g.event);
		if (roll(2))
			genl_listen(&g, g.sampling);
		for (i = roll(20); i && !storm_over(); i--) {
			genl_record(&g, roll(1u << GCHINT_PHASE_NR));
			if (!genl_request(&g, GCHINT_CMD_SESSION_GET, 0x300,
					  NULL, 0))
				COUNT(dumps);
			genl_request(&g, GCHINT_CMD_POLICY_GET, 0x300, NULL, 0);
			genl_request(&g, GCHINT_CMD_POLICY_GET, 0, attr,
				     genl_put_u32(attr, GCHINT_A_CPU, roll(6)));
			/*
			 * Sometimes it reads, sometimes it lets its socket
			 * fill.
			 */
			while (roll(3) && !genl_next(&g, 1))
				;
		}
		genl_close(&g);
	}
}

static void read_directory(const char *path)
{
	struct dirent *entry;
	char inside[512], text[4096];
	DIR *directory = opendir(path);

	while (directory && (entry = readdir(directory))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(inside, sizeof(inside), "%s/%s", path, entry->d_name);
		if (entry->d_type == DT_DIR)
			read_directory(inside);
		else
			file_get(inside, text, sizeof(text));
	}
	if (directory)
		closedir(directory);
}

static void readers(void)
{
	int lock;

	while (!storm_over()) {
		lock = storm_lock(DEBUGFS, LOCK_SH);
		read_directory("/sys/kernel/debug/gchint");
		close(lock);
		read_directory(CPUFREQ "/gchint");
		read_directory(CPUFREQ "/policy0/gchint");
		sleep_us(roll(5000));
	}
}

/* Mostly refused; every few seconds all users are closed. */
static void unloader(void)
{
	int lock;

	while (!storm_over()) {
		sleep_us(20000 + roll(200000));
		lock = storm_lock(DEBUGFS, LOCK_EX);
		if (!module_unload()) {
			COUNT(unloads);
			sleep_us(roll(20000));
			while (module_load())
				sleep_us(1000);
		}
		close(lock);
	}
}

static void (* const parts[])(void) = {
	runtime, runtime, runtime, runtime, runtime, runtime, runtime, runtime,
	governors, actuators, hotplug, tunables, listeners, listeners, readers, unloader,
	strangers, cpusets, suspender,
};

#define PARTS (sizeof(parts) / sizeof(*parts))

static pid_t begin_part(size_t part, unsigned int number)
{
	pid_t child = fork();

	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	dice = seed * 2654435761u + number * 40503u + 1;
	parts[part]();
	_exit(0);
}

static void limits_off(void)
{
	int number[MAX_POLICIES];
	int n = policies(number, MAX_POLICIES), i;
	char text[32];

	for (i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "%ld",
			 policy_number(number[i], "cpuinfo_min_freq"));
		policy_put(number[i], "scaling_min_freq", text);
		snprintf(text, sizeof(text), "%ld",
			 policy_number(number[i], "cpuinfo_max_freq"));
		policy_put(number[i], "scaling_max_freq", text);
	}
}

/* A thread that executes decisions, as long as there is a gchint policy. */
static bool workers_left(void)
{
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	char path[300], name[32];
	bool found = false;

	while (dir && !found && (entry = readdir(dir))) {
		if (atoi(entry->d_name) <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		found = file_get(path, name, sizeof(name)) > 0 && !strncmp(name, "gchint:", 7);
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Limits that no user has set, or a directory of tunables. */
static const char *left_at(int policy)
{
	char path[64];

	snprintf(path, sizeof(path), CPUFREQ "/policy%d/gchint", policy);
	if (!access(path, F_OK) || !access(CPUFREQ "/gchint", F_OK))
		return "tunables";
	if (policy_number(policy, "scaling_min_freq") !=
	    policy_number(policy, "cpuinfo_min_freq"))
		return "a floor";
	if (policy_number(policy, "scaling_max_freq") !=
	    policy_number(policy, "cpuinfo_max_freq"))
		return "a cap";
	return NULL;
}

FIXTURE(storm) {
	char modprobe[256];
	char delay[16];
	bool cpusets, suspends;
};

/*
 * Naming a governor that is not loaded makes the kernel run modprobe with the
 * policy's rwsem held; modprobe waits for the CPU hotplug lock, and hotplug for
 * the rwsem. That is the kernel's own deadlock, whatever the governor, so no
 * modprobe here.
 */
#define MODPROBE "/proc/sys/kernel/modprobe"

FIXTURE_SETUP(storm)
{
	file_get(MODPROBE, self->modprobe, sizeof(self->modprobe));
	ASSERT_EQ(0, file_put(MODPROBE, "\n"));
	governor_save();
	self->cpusets = cpusets_begin();
	self->suspends = !access(POWER "/pm_test", W_OK) &&
			 file_get(DELAY, self->delay, sizeof(self->delay)) > 0;
	if (self->suspends)
		file_put(DELAY, "0");
}

FIXTURE_TEARDOWN(storm)
{
	governor_restore();
	if (self->suspends)
		file_put(DELAY, self->delay);
	file_put(MODPROBE, self->modprobe);
	unlink(EXEC);
	unlink(DEBUGFS);
}

TEST_F_TIMEOUT(storm, everything_at_once, 4000)
{
	long long begin = now_us(), end = begin + seconds * 1000000LL;
	long long last = end + 4 * (end - begin);
	unsigned int number = 0, kills = 0, loads = 0;
	uint32_t sessions = ~0u, slots = ~0u;
	pid_t part[PARTS];
	struct genl g;
	struct worker worker;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), max;
	int policy[MAX_POLICIES], n, p;
	size_t i;
	int tries;

	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)counts);
	for (i = 0; i < PARTS; i++) {
		part[i] = begin_part(i, number++);
		ASSERT_GT(part[i], 0);
		if (i < RUNTIMES)
			counts->runtime[i] = part[i];
	}
	dice = seed + 77;
	while (now_us() < end || (calm(kills) && now_us() < last)) {
		/* A runtime dies at any point. */
		sleep_us(20000 + roll(100000));
		i = roll(RUNTIMES);
		kill(part[i], SIGKILL);
		waitpid(part[i], NULL, 0);
		kills++;
		/*
		 * Now and then all of them at once, so that an unload succeeds.
		 */
		if (!roll(25)) {
			for (i = 0; i < RUNTIMES; i++) {
				kill(part[i], SIGKILL);
				waitpid(part[i], NULL, 0);
			}
			kill(part[RUNTIMES], SIGSTOP);
			governor_all("performance");
			sleep_us(500000);
			loads++;
			kill(part[RUNTIMES], SIGCONT);
			for (i = 0; i < RUNTIMES; i++)
				counts->runtime[i] = part[i] = begin_part(i, number++);
			continue;
		}
		counts->runtime[i] = part[i] = begin_part(i, number++);
	}
	/*
	 * Runtimes last: while they live, the others end in the middle of a
	 * storm.
	 */
	__atomic_store_n(&counts->over, 1, __ATOMIC_RELAXED);
	for (i = RUNTIMES; i < PARTS; i++) {
		int status;

		ASSERT_EQ(part[i], waitpid(part[i], &status, 0));
		EXPECT_EQ(0, status);
	}
	for (i = 0; i < RUNTIMES; i++) {
		kill(part[i], SIGKILL);
		waitpid(part[i], NULL, 0);
	}
	TH_LOG("%lld of %d s, seed %u: %u runtimes killed, %u times all of them",
	       (now_us() - begin) / 1000000, seconds, seed, kills, loads);
	TH_LOG("%u sessions, %u leases, %u edges, %u governor switches, %u other actuators, %u CPUs unplugged, %u dumps, %u unloads",
	       counts->sessions, counts->attached, counts->edges, counts->switches,
	       counts->actuators, counts->hotplugs, counts->dumps, counts->unloads);
	TH_LOG("%u threads moved, %u changes of a cpuset, %u suspends", counts->moves,
	       counts->cpusets, counts->suspends);
	TH_LOG("asked to unplug %u times, refused at last with %d", counts->asked,
	       counts->refused);
	EXPECT_GT(kills, 0);
	EXPECT_GT(counts->sessions, 0);
	EXPECT_GT(counts->attached, 0);
	EXPECT_GT(counts->edges, 0);
	EXPECT_GT(counts->switches, 0);
	EXPECT_GT(counts->actuators, 0);
	EXPECT_GT(counts->hotplugs, 0);
	EXPECT_GT(counts->dumps, 0);
	EXPECT_GT(counts->moves, 0);
	/* Not every kernel has both. */
	if (self->cpusets) {
		EXPECT_GT(counts->cpusets, 0);
		EXPECT_TRUE(cpusets_end());
	} else {
		TH_LOG("this kernel has no cpusets in cgroup2");
	}
	if (self->suspends) {
		EXPECT_GT(counts->suspends, 0);
	} else {
		TH_LOG("this kernel has no test levels of suspend");
	}

	EXPECT_EQ(0, access("/sys/module/" MODULE, F_OK));
	EXPECT_EQ(cpus, sysconf(_SC_NPROCESSORS_ONLN));
	limits_off();
	parameter_put("hint_ttl_ms", "1000");

	/* All of them are gone soon. */
	ASSERT_EQ(0, genl_open(&g));
	for (tries = 0; tries < 200 && (sessions || slots); tries++) {
		sleep_us(20000);
		genl_info(&g, GCHINT_A_SESSIONS, &sessions);
		genl_info(&g, GCHINT_A_SLOTS, &slots);
	}
	EXPECT_EQ(0, sessions);
	EXPECT_EQ(0, slots);
	genl_close(&g);

	/* So is the module's state. */
	ASSERT_EQ(0, bind_cpu(0));
	ASSERT_EQ(0, use_put(-1, "off"));
	ASSERT_EQ(0, governor_all("performance"));
	EXPECT_FALSE(workers_left());
	n = policies(policy, MAX_POLICIES);
	for (p = 0; p < n; p++)
		EXPECT_EQ(NULL, left_at(policy[p]))
			TH_LOG("policy %d has %s", policy[p], left_at(policy[p]));
	for (tries = 0; tries < 200 && module_unload(); tries++)
		sleep_us(20000);
	EXPECT_LT(tries, 200);
	EXPECT_EQ(0, module_load());

	/* And the governor still works. */
	ASSERT_EQ(0, governor_all("gchint"));
	max = policy_number(0, "cpuinfo_max_freq");
	ASSERT_EQ(0, worker_start(&worker, 1));
	worker_do(&worker, WORK_SPIN);
	EXPECT_GE(await_khz(1, max, max, 20000), 0);
	worker_do(&worker, WORK_LIGHT);
	EXPECT_GE(await_khz(1, 0, max * 3 / 4, 20000), 0);
	worker_stop(&worker);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--exit"))
		return 0;
	if (argc > 1)
		seconds = atoi(argv[1]);
	if (argc > 2)
		seed = atoi(argv[2]);
	return test_harness_run(1, argv);
}
