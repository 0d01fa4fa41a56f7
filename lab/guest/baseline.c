// SPDX-License-Identifier: MIT
/*
 * The baselines that the lab compares with, added to gchint-bench: linked in with
 * --wrap=gc_heap_create, this adds a listener to the program's own.
 *
 *	LAB_HINT=1	hint every phase through libgchint
 *	LAB_NICE=N	nice value of the collector's daemon
 *	LAB_CLAMP=N	its utilisation clamp (uclamp max)
 *	LAB_CLAMP_MIN=N	its minimum utilisation clamp (uclamp min)
 *	LAB_CPUS=MASK	the CPUs that it may run on, decimal
 *	LAB_MUTATOR_CLAMP=N, LAB_MUTATOR_CLAMP_MIN=N	clamps of all other threads
 *	LAB_WARM=BYTES	a mark after so much allocation, see warm.c
 *	LAB_PHASES=...	a fixed frequency for each type of phase, see oracle.c
 */
#define _GNU_SOURCE
#include <gchint.h>
#include <gchint/gc-listener-gchint.h>

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "oracle.h"
#include "warm.h"

/* From <linux/sched/types.h>, which conflicts with <sched.h>. */
struct sched_attr_clamp {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
};

#define FLAG_KEEP_ALL 0x18
#define FLAG_CLAMPS   0x60
#define CLAMP_NONE    1024

static int nice_value;
static int clamp, clamp_min, clamped; /* clamped: any thread has clamps */
static unsigned int cpus;

static void baseline_fail(const char *what)
{
	fprintf(stderr, "baseline: %s: %s\n", what, strerror(errno));
	_exit(1);
}

/* Sets the calling thread's clamps, which its new threads inherit. @max 0: no maximum. */
static void thread_set_clamps(int min, int max)
{
	struct sched_attr_clamp a = {
		.size = sizeof(a),
		.flags = FLAG_KEEP_ALL | FLAG_CLAMPS,
		.util_min = (uint32_t)min,
		.util_max = (uint32_t)(max ? max : CLAMP_NONE),
	};

	if (syscall(SYS_sched_setattr, 0, &a, 0))
		baseline_fail("utilisation clamp");
}

static void on_daemon(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	(void)e;
	if (nice_value && setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), nice_value))
		baseline_fail("nice");
	if (clamped)
		thread_set_clamps(clamp_min, clamp);
	if (cpus) {
		cpu_set_t set;
		int cpu;

		CPU_ZERO(&set);
		for (cpu = 0; cpu < 32; cpu++)
			if (cpus >> cpu & 1)
				CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			baseline_fail("affinity");
	}
}

static const struct gc_listener_ops ops = { .daemon_started = on_daemon };

static int env_read_number(const char *name)
{
	const char *text = getenv(name);

	return text ? atoi(text) : 0;
}

int __real_gc_heap_create(struct gc_heap **out, const char *options, struct gc_listener *listener,
			  struct gc_error *err);
int __wrap_gc_heap_create(struct gc_heap **out, const char *options, struct gc_listener *listener,
			  struct gc_error *err);

int __wrap_gc_heap_create(struct gc_heap **out, const char *options, struct gc_listener *listener,
			  struct gc_error *err)
{
	static struct gc_listener baseline = { &ops };
	static struct gc_listener_gchint hints;
	static struct gc_listener_chain inner, outer;
	static struct gc_listener_chain phases;
	struct gc_listener *ours = &baseline, *oracle = oracle_listener();
	int r;

	nice_value = env_read_number("LAB_NICE");
	clamp = env_read_number("LAB_CLAMP");
	clamp_min = env_read_number("LAB_CLAMP_MIN");
	cpus = (unsigned int)env_read_number("LAB_CPUS");
	clamped = clamp || clamp_min || env_read_number("LAB_MUTATOR_CLAMP") ||
		  env_read_number("LAB_MUTATOR_CLAMP_MIN");
	if (clamped)
		thread_set_clamps(env_read_number("LAB_MUTATOR_CLAMP_MIN"),
				  env_read_number("LAB_MUTATOR_CLAMP"));
	if (env_read_number("LAB_HINT")) {
		r = gc_listener_gchint_open(&hints, 0);
		errno = r < 0 ? -r : ENODEV;
		if (r || gchint_get_backend(hints.session) != GCHINT_BACKEND_DEVICE)
			baseline_fail("libgchint");
		gc_listener_chain_init(&inner, &hints.base, &baseline);
		ours = &inner.base;
	}
	if (oracle) {
		gc_listener_chain_init(&phases, oracle, ours);
		ours = &phases.base;
	}
	if (listener) {
		gc_listener_chain_init(&outer, listener, ours);
		ours = &outer.base;
	}
	r = __real_gc_heap_create(out, options, ours, err);
	if (!r)
		warm_watch(*out);
	return r;
}
