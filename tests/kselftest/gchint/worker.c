// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hw.h"
#include "worker.h"

int bind_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

long long now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

void sleep_us(long us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

static void spin_a_little(void)
{
	volatile int i;

	for (i = 0; i < 2000; i++)
		;
}

void spin_forever(void)
{
	for (;;)
		spin_a_little();
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;

	bind_cpu(w->cpu);
	__atomic_store_n(&w->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	for (;;) {
		switch (__atomic_load_n(&w->work, __ATOMIC_ACQUIRE)) {
		case WORK_SLEEP:
			sleep_us(1000);
			break;
		case WORK_SPIN:
			spin_a_little();
			break;
		case WORK_LIGHT:
			spin_a_little();
			sleep_us(5000);
			break;
		case WORK_WAIT:
			syscall(SYS_futex, &w->work, FUTEX_WAIT, WORK_WAIT, NULL);
			break;
		case WORK_EXIT:
			return NULL;
		}
	}
}

int worker_start(struct worker *w, int cpu)
{
	int ret;

	memset(w, 0, sizeof(*w));
	w->cpu = cpu;
	ret = pthread_create(&w->thread, NULL, worker_main, w);
	if (ret)
		return -ret;
	w->running = true;
	while (!__atomic_load_n(&w->tid, __ATOMIC_ACQUIRE))
		sleep_us(500);
	return 0;
}

int worker_start_blocked(struct worker *w, int cpu)
{
	int ret = worker_start(w, cpu);

	if (!ret)
		worker_do(w, WORK_WAIT);
	return ret;
}

void worker_do(struct worker *w, enum work work)
{
	if (__atomic_exchange_n(&w->work, work, __ATOMIC_ACQ_REL) == WORK_WAIT)
		syscall(SYS_futex, &w->work, FUTEX_WAKE, 1);
}

void worker_stop(struct worker *w)
{
	if (!w->running)
		return;
	worker_do(w, WORK_EXIT);
	pthread_join(w->thread, NULL);
	w->running = false;
}

/* Reads a CPU's clock, without disturbing it if possible. */
static long read_khz(int cpu, long long *asked_us)
{
	long khz = hw_peek(cpu);

	/* Other threads use the clocks: read properly, but not all the time. */
	if (khz == -EAGAIN && now_us() - *asked_us > 20000) {
		khz = hw_khz(cpu);
		*asked_us = now_us();
	}
	return khz;
}

static void pause_between_reads(void)
{
	sleep_us(hw_open() && hw_open()->per_cpu ? 200 : 1000);
}

long await_khz(int cpu, long low, long high, int ms)
{
	long long begin = now_us(), asked = begin, now;

	do {
		long khz = read_khz(cpu, &asked);

		now = now_us();
		if (khz >= low && khz <= high)
			return now - begin;
		pause_between_reads();
	} while (now - begin < ms * 1000LL);
	/* The read itself never causes a timeout. */
	return hw_khz(cpu) >= low && hw_khz(cpu) <= high ? now - begin : -1;
}

static int share_once(int cpu, long low, long high, int ms)
{
	long long asked = 0, end = now_us() + ms * 1000LL;
	int reads = 0, within = 0;

	while (now_us() < end || !reads) {
		long khz = read_khz(cpu, &asked);

		if (khz != -EAGAIN) {
			reads++;
			within += khz >= low && khz <= high;
		}
		pause_between_reads();
	}
	return within * 100 / reads;
}

int share_khz(int cpu, long low, long high, int ms)
{
	int tries, share, best = 0;

	/* What led here may still be under way. */
	sleep_us(100000);
	for (tries = 0; tries < 5 && best < 100; tries++) {
		share = share_once(cpu, low, high, ms);
		best = share > best ? share : best;
	}
	return best;
}

static void *sleeper_main(void *tid)
{
	__atomic_store_n((int *)tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	for (;;)
		pause();
}

int sleeper_start(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	int tid = 0, ret;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	ret = pthread_create(&thread, &attr, sleeper_main, &tid);
	while (!ret && !__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
		sched_yield();
	return tid;
}
