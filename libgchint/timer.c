// SPDX-License-Identifier: MIT
/*
 * Timers of CPU time, one a thread. By the kernel's own calls, because those of the C
 * library may allocate, and a signal handler starts them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <gchint-stream.h>

#include "barrier.h"
#include "timer.h"

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define TIMERS 1024
#define HZ_MAX 10000u

/* @tid: whose it is, 0 none. Only that thread reads and writes @id, or another once it ended. */
struct cpu_timer {
	pid_t tid;
	int id;
};

/* TIMERS of them, mapped for the first, and never unmapped. */
static struct cpu_timer *table;

int timer_owns(const void *value)
{
	const struct cpu_timer *timers = load_acquire(&table);

	return timers && (uintptr_t)value - (uintptr_t)timers < TIMERS * sizeof(*timers);
}

void timers_forget(void)
{
	if (table)
		memset(table, 0, TIMERS * sizeof(*table));
}

#ifdef SYS_timer_settime
static void timer_delete_of(const struct cpu_timer *t)
{
	syscall(SYS_timer_delete, t->id, 0L, 0L, 0L, 0L, 0L);
}

/* NULL if there is no memory. */
static struct cpu_timer *table_map(void)
{
	struct cpu_timer *had = load_acquire(&table);
	void *map;

	if (had)
		return had;
	map = mmap(NULL, TIMERS * sizeof(*had), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		   -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	if (cmpxchg_seq(&table, &had, (struct cpu_timer *)map))
		return map;
	munmap(map, TIMERS * sizeof(*had));
	return had;
}

static struct cpu_timer *timer_of(pid_t tid)
{
	struct cpu_timer *timers = load_acquire(&table);

	for (unsigned int i = 0; timers && i < TIMERS; i++)
		if (load_relaxed(&timers[i].tid) == tid)
			return &timers[i];
	return NULL;
}

static int thread_is_gone(pid_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0, 0L, 0L, 0L) && errno == ESRCH;
}

static struct cpu_timer *timer_take(pid_t tid)
{
	struct cpu_timer *timers = table_map();

	if (!timers)
		return NULL;
	for (unsigned int i = 0; i < TIMERS; i++) {
		pid_t none = 0;

		if (cmpxchg_seq(&timers[i].tid, &none, tid))
			return &timers[i];
	}
	for (unsigned int i = 0; i < TIMERS; i++) {
		pid_t old = load_relaxed(&timers[i].tid);

		if (thread_is_gone(old) && cmpxchg_seq(&timers[i].tid, &old, tid)) {
			timer_delete_of(&timers[i]);
			return &timers[i];
		}
	}
	return NULL;
}

void timer_start(pid_t tid, unsigned int hz)
{
	/* As the kernel has them: two words each, of the width of a register. */
	long spec[4];
	struct cpu_timer *t = timer_of(tid);
	struct sigevent to;

	/* Perhaps one of an earlier thread with the same number. */
	if (t)
		timer_delete_of(t);
	else if (hz)
		t = timer_take(tid);
	if (!t)
		return;
	memset(&to, 0, sizeof(to));
	to.sigev_notify = SIGEV_THREAD_ID;
	to.sigev_signo = GCHINT_STREAM_SIGNAL;
	to.sigev_value.sival_ptr = t;
	to.sigev_notify_thread_id = tid;
	if (!hz || syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &to, &t->id, 0L, 0L, 0L)) {
		store_release(&t->tid, 0);
		return;
	}
	hz = hz < HZ_MAX ? hz : HZ_MAX;
	spec[0] = spec[2] = hz == 1;
	spec[1] = spec[3] = hz == 1 ? 0 : (long)(1000000000u / hz);
	syscall(SYS_timer_settime, t->id, 0, spec, 0L, 0L, 0L);
}
#else
void timer_start(pid_t tid, unsigned int hz)
{
	(void)tid;
	(void)hz;
}
#endif
