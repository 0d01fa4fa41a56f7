// SPDX-License-Identifier: MIT
/*
 * The oracle's hand: a fixed frequency for each kind of phase, set from the
 * collector's own events through the userspace governor. What it costs to set
 * is charged as to any governor: a system call and the board's switch.
 *
 *	LAB_PHASES=MUTATOR,CONCURRENT,WAITED,URGENT	kHz
 *
 * WAITED is for stopped worlds and for mutators that collect, URGENT for
 * concurrent work that a mutator has begun to wait for. A core keeps the
 * frequency of what ran there last: where threads are fewer than cores, that
 * is the frequency of its thread.
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

enum kind {
	MUTATOR,
	CONCURRENT,
	WAITED,
	URGENT,
	KINDS
};

static char text[KINDS][16];
static int speed[CPUS]; /* each core's scaling_setspeed */
static _Atomic int now[CPUS]; /* its kind + 1 */
static _Atomic int waiting; /* mutators, for the cycle */
static _Atomic int busy = -1; /* the core of concurrent work under way */

static void set(int cpu, enum kind kind)
{
	size_t n = strlen(text[kind]);

	if (cpu < 0 || cpu >= CPUS || speed[cpu] < 0)
		return;
	if (atomic_exchange(&now[cpu], (int)kind + 1) == (int)kind + 1)
		return;
	if (pwrite(speed[cpu], text[kind], n, 0) != (ssize_t)n) {
		fprintf(stderr, "oracle: cpu%d: %s\n", cpu, strerror(errno));
		_exit(1);
	}
}

/* Within a cycle, on the thread that does its work. */
static void on_work(struct gc_listener *self, const struct gc_event *e)
{
	int cpu = sched_getcpu();

	(void)self;
	if (e->stw || e->foreground) {
		set(cpu, WAITED);
		return;
	}
	atomic_store(&busy, cpu);
	set(cpu, atomic_load(&waiting) ? URGENT : CONCURRENT);
}

static void on_stop(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	(void)e;
	set(sched_getcpu(), WAITED);
}

static void on_end(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	(void)e;
	atomic_store(&busy, -1);
	set(sched_getcpu(), MUTATOR);
}

static void on_paused(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	if (e->pause != GC_PAUSE_WAIT)
		return;
	atomic_fetch_add(&waiting, 1);
	set(atomic_load(&busy), URGENT);
}

static void on_resumed(struct gc_listener *self, const struct gc_event *e)
{
	(void)self;
	if (e->pause != GC_PAUSE_WAIT)
		return;
	atomic_fetch_sub(&waiting, 1);
	set(sched_getcpu(), MUTATOR);
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
	    KINDS) {
		fprintf(stderr, "oracle: LAB_PHASES='%s': want four numbers\n", p);
		_exit(1);
	}
	for (i = 0; i < CPUS; i++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_setspeed", i);
		speed[i] = open(path, O_WRONLY | O_CLOEXEC);
		set(i, MUTATOR);
	}
	return &listener;
}
