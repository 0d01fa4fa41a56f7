// SPDX-License-Identifier: MIT
/*
 * The oracle baseline: a fixed frequency for each type of phase, set at the collector's own
 * events through the userspace governor. A change is charged as with any governor: a system
 * call and the board's clock switch.
 *
 *	LAB_PHASES=MUTATOR,CONCURRENT,WAITED,URGENT	kHz
 *
 * WAITED applies while the world is stopped and to mutators that collect, URGENT to concurrent
 * work for which a mutator waits. A core keeps the frequency of the last phase on it. With fewer
 * threads than cores that is the frequency of its thread.
 */
#define _GNU_SOURCE
#include "oracle.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS 4

enum phase_type {
	MUTATOR,
	CONCURRENT,
	WAITED,
	URGENT,
	PHASE_TYPES
};

static char text[PHASE_TYPES][16];
static int speed[CPUS]; /* each core's scaling_setspeed */
static _Atomic int now[CPUS]; /* each core's phase type + 1 */
static _Atomic int waiting; /* number of mutators that wait for the cycle */
static _Atomic int busy = -1; /* the core that runs concurrent work, or -1 */

static void core_set_speed(int cpu, enum phase_type type)
{
	size_t n = strlen(text[type]);

	if (cpu < 0 || cpu >= CPUS || speed[cpu] < 0)
		return;
	if (atomic_exchange(&now[cpu], (int)type + 1) == (int)type + 1)
		return;
	if (pwrite(speed[cpu], text[type], n, 0) != (ssize_t)n) {
		fprintf(stderr, "oracle: cpu%d: %s\n", cpu, strerror(errno));
		_exit(1);
	}
}

/* Runs within a cycle, on the thread that does its work. */
static void on_work(struct gc_listener *self, const struct gc_event *e)
{
	int cpu = sched_getcpu();

	(void)self;
	if (e->stw || e->foreground) {
		core_set_speed(cpu, WAITED);
		return;
	}
	atomic_store(&busy, cpu);
	core_set_speed(cpu, atomic_load(&waiting) ? URGENT : CONCURRENT);
}

static void on_stop(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	(void)e;
	core_set_speed(sched_getcpu(), WAITED);
}

static void on_end(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	(void)e;
	atomic_store(&busy, -1);
	core_set_speed(sched_getcpu(), MUTATOR);
}

static void on_paused(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	if (e->pause != GC_PAUSE_WAIT)
		return;
	atomic_fetch_add(&waiting, 1);
	core_set_speed(atomic_load(&busy), URGENT);
}

static void on_resumed(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	if (e->pause != GC_PAUSE_WAIT)
		return;
	atomic_fetch_sub(&waiting, 1);
	core_set_speed(sched_getcpu(), MUTATOR);
}

static const struct gc_listener_ops ops = {
	.cycle_begin = on_work,
	.cycle_end = on_end,
	.first_stopped = on_stop,
	.stopped = on_stop,
	.restarted = on_work,
	.mark_begin = on_work,
	.copy_begin = on_work,
	.sweep_begin = on_work,
	.trim_begin = on_work,
	.trim_end = on_end,
	.progress = on_work,
	.mutator_paused = on_paused,
	.mutator_resumed = on_resumed,
};

struct gc_listener *oracle_listener(void)
{
	static struct gc_listener listener = { &ops };
	const char *p = getenv("LAB_PHASES");
	char path[80];
	int i;

	if (!p)
		return NULL;
	if (sscanf(p, "%15[0-9],%15[0-9],%15[0-9],%15[0-9]", text[0], text[1], text[2], text[3]) !=
	    PHASE_TYPES) {
		fprintf(stderr, "oracle: LAB_PHASES='%s': want four numbers\n", p);
		_exit(1);
	}
	for (i = 0; i < CPUS; i++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_setspeed", i);
		speed[i] = open(path, O_WRONLY | O_CLOEXEC);
		core_set_speed(i, MUTATOR);
	}
	return &listener;
}
