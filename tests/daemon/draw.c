// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: preloaded into gchintctl: a machine whose rails show what its CPUs do. Its power is
 * in the file $GCHINT_DRAW: "idle UW", "core CPU POLICY CLUSTER", "awake POLICY UW" once per
 * cluster, "opp POLICY KHZ UW", "memory POLICY NS CYCLES" per hop, "noise PERCENT". Threads are
 * busy from their start until they are joined, on the requested CPU; time advances by sleeping and
 * by each read of the clock: the real machine need not have these CPUs, nor be idle.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CPUS	16
#define OPPS	64
#define HOPS	100000 /* of daemon/gchintctl/calibrate/workload.c */
#define LOOK_NS 1000 /* a read of the clock takes */

static struct {
	double idle, noise;
	int core[CPUS], cluster[CPUS]; /* its policy, or -1 */
	double awake[CPUS], memory_ns[CPUS], cycles[CPUS];
	unsigned int nr;
	struct {
		int policy;
		long khz;
		double uw;
	} opp[OPPS];
} machine;

static int asked[CPUS], nr_asked, main_cpu, stopwatch, busy;
static double energy_uj;
static uint64_t last_ns, now_ns = 1000000000;

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
}

__attribute__((constructor)) static void load(void)
{
	const char *path = getenv("GCHINT_DRAW");
	FILE *f = path ? fopen(path, "re") : NULL;
	char line[128];
	double uw, other;
	int a, b, c;
	long khz;

	memset(machine.core, -1, sizeof(machine.core));
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "core %d %d %d", &a, &b, &c) == 3) {
			machine.core[a] = b;
			machine.cluster[a] = c;
		} else if (sscanf(line, "awake %d %lf", &a, &uw) == 2)
			machine.awake[a] = uw;
		else if (sscanf(line, "idle %lf", &uw) == 1)
			machine.idle = uw;
		else if (sscanf(line, "noise %lf", &uw) == 1)
			machine.noise = uw / 100;
		else if (sscanf(line, "memory %d %lf %lf", &a, &uw, &other) == 3) {
			machine.memory_ns[a] = uw;
			machine.cycles[a] = other;
		} else if (sscanf(line, "opp %d %ld %lf", &a, &khz, &uw) == 3 &&
			   machine.nr < OPPS) {
			machine.opp[machine.nr].policy = a;
			machine.opp[machine.nr].khz = khz;
			machine.opp[machine.nr++].uw = uw;
		}
	}
	if (f)
		fclose(f);
}

static long khz_of(int policy)
{
	const char *sysfs = getenv("GCHINT_SYSFS");
	char path[512];
	long khz = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpufreq/policy%d/scaling_max_freq",
		 sysfs ? sysfs : "", policy);
	f = fopen(path, "re");
	if (f) {
		if (fscanf(f, "%ld", &khz) != 1)
			khz = 0;
		fclose(f);
	}
	return khz;
}

static double opp_uw(int policy)
{
	const long khz = khz_of(policy);

	for (unsigned int i = 0; i < machine.nr; i++)
		if (machine.opp[i].policy == policy && machine.opp[i].khz == khz)
			return machine.opp[i].uw;
	return 0;
}

/* Now: as many of the requested CPUs as there are threads, the first ones. */
static double power_now(void)
{
	double uw = machine.idle;
	unsigned int awake = 0;

	for (int i = 0; i < busy && i < nr_asked; i++) {
		const int policy = machine.core[asked[i]];
		const unsigned int cluster = 1u << machine.cluster[asked[i]];

		if (policy < 0)
			continue;
		uw += opp_uw(policy);
		if (!(awake & cluster))
			uw += machine.awake[policy];
		awake |= cluster;
	}
	return uw * (1 + machine.noise * (2 * drand48() - 1));
}

static void energy_update(void)
{
	if (last_ns)
		energy_uj += power_now() * (double)(now_ns - last_ns) / 1e9;
	last_ns = now_ns;
	/* It wraps, as real ones do. */
	while (energy_uj >= 1000000)
		energy_uj -= 1000000;
}

static int link_ends(int fd, const char *name)
{
	char link[64], path[512];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < (ssize_t)strlen(name))
		return 0;
	path[n] = '\0';
	return !strcmp(path + n - strlen(name), name);
}

__attribute__((visibility("default"))) ssize_t pread(int fd, void *buf, size_t count, off_t offset)
{
	ssize_t (*next)(int, void *, size_t, off_t) =
		(ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread");

	if (link_ends(fd, "/power1_input"))
		return snprintf(buf, count, "%.0f\n", power_now());
	if (link_ends(fd, "/energy_uj")) {
		energy_update();
		return snprintf(buf, count, "%.0f\n", energy_uj);
	}
	return next(fd, buf, count, offset);
}

__attribute__((visibility("default"))) ssize_t pread64(int fd, void *buf, size_t count,
						       off_t offset)
{
	return pread(fd, buf, count, offset);
}

static int first_of(const cpu_set_t *set)
{
	for (int i = 0; i < CPUS; i++)
		if (CPU_ISSET(i, set))
			return i;
	return 0;
}

__attribute__((visibility("default"))) int
pthread_attr_setaffinity_np(pthread_attr_t *attr, size_t size, const cpu_set_t *set)
{
	(void)attr;
	(void)size;
	if (!busy)
		nr_asked = 0;
	if (nr_asked < CPUS)
		asked[nr_asked++] = first_of(set);
	return 0;
}

__attribute__((visibility("default"))) int sched_setaffinity(pid_t pid, size_t size,
							     const cpu_set_t *set)
{
	(void)pid;
	(void)size;
	main_cpu = first_of(set);
	return 0;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *t)
{
	int (*next)(clockid_t, struct timespec *) =
		(int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	int policy = machine.core[main_cpu];

	if (id == CLOCK_MONOTONIC)
		now_ns += LOOK_NS;
	/* A thread is always on its CPU. */
	if (id == CLOCK_MONOTONIC || id < 0) {
		*t = timespec_of(now_ns);
		return 0;
	}
	/* Every second read ends a pointer chase. */
	if (id == CLOCK_THREAD_CPUTIME_ID && policy >= 0 && machine.memory_ns[policy] > 0) {
		double ns = 0;

		if (stopwatch)
			ns = HOPS * (machine.memory_ns[policy] +
				     machine.cycles[policy] * 1e6 / (double)khz_of(policy));
		stopwatch = !stopwatch;
		*t = timespec_of((uint64_t)ns);
		return 0;
	}
	return next(id, t);
}

__attribute__((visibility("default"))) int nanosleep(const struct timespec *t,
						     struct timespec *left)
{
	int (*next)(const struct timespec *, struct timespec *) =
		(int (*)(const struct timespec *, struct timespec *))dlsym(RTLD_NEXT, "nanosleep");

	now_ns += (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
	return next(t, left);
}

/* Energy up to now was drawn by the threads that were busy until then. */
static void busy_change(int by)
{
	energy_update();
	busy += by;
}

__attribute__((visibility("default"))) int
pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
			RTLD_NEXT, "pthread_create");
	int ret = next(thread, attr, start, arg);

	if (!ret)
		busy_change(1);
	return ret;
}

__attribute__((visibility("default"))) int pthread_join(pthread_t thread, void **value)
{
	int (*next)(pthread_t, void **) =
		(int (*)(pthread_t, void **))dlsym(RTLD_NEXT, "pthread_join");
	int ret = next(thread, value);

	if (!ret)
		busy_change(-1);
	return ret;
}
