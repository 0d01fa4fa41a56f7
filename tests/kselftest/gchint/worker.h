/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A thread that is bound to one CPU and runs commands, and waits on clocks. */
#ifndef WORKER_H
#define WORKER_H

#include <pthread.h>
#include <stdbool.h>

enum work {
	WORK_SLEEP,	/* nothing */
	WORK_SPIN,	/* all of the CPU, in user space */
	WORK_WAIT,	/* the same without polling for commands all the time */
	WORK_LIGHT,	/* some per cent of the CPU */
	WORK_EXIT,	/* the thread ends */
};

/**
 * struct worker - a thread
 * @cpu: where it runs
 * @tid: its number
 */
struct worker {
	int cpu;
	int tid;
	enum work work;
	pthread_t thread;
	bool running;
};

/* 0 or -errno; returns when the thread is on its CPU and sleeps. */
int worker_start(struct worker *w, int cpu);
/*
 * The same for a thread of many that only has to exist: it blocks. Hundreds of
 * threads that wake every millisecond leave an emulated CPU no time for
 * anything else.
 */
int worker_start_blocked(struct worker *w, int cpu);
void worker_do(struct worker *w, enum work work);
void worker_stop(struct worker *w);

/* Binds the calling thread: 0 or -errno. */
int bind_cpu(int cpu);

/* CLOCK_MONOTONIC in microseconds. */
long long now_us(void);

/* Sleeps without spinning. */
void sleep_us(long us);

/**
 * spin_forever() - what WORK_SPIN does, for a process of its own
 */
void spin_forever(void) __attribute__((noreturn));

/* A thread that sleeps forever, to have a slot: its number, or 0. */
int sleeper_start(void);

/**
 * await_khz() - wait until the hardware runs a CPU within bounds
 * @cpu: the CPU
 * @low: lowest acceptable kHz
 * @high: highest
 * @ms: timeout
 *
 * Reads every 200 us, or every 1000 us where both are in one policy and reading
 * is load that counts; the caller should be on another CPU.
 *
 * Return: microseconds until then, or -1 on timeout.
 */
long await_khz(int cpu, long low, long high, int ms);

/**
 * share_khz() - how often, from 100 ms from now on, the hardware runs a CPU
 * within bounds
 * @cpu: the CPU
 * @low: lowest kHz
 * @high: highest
 * @ms: duration
 *
 * A busy host may take an emulated CPU away in the middle of a window, and the
 * samples are then not what the governor requests. It requests the same all the
 * time, so the best of up to five windows counts.
 *
 * Return: percent of the samples.
 */
int share_khz(int cpu, long low, long high, int ms);

#endif
