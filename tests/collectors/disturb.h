/* SPDX-License-Identifier: MIT */
/*
 * What disturbs the threads of a program while they use a heap: signals, pthread_cancel(), and
 * longjmp() out of the callback before an allocation is refused. One program a process.
 */
#ifndef DISTURB_H
#define DISTURB_H

#include <gchint/gc.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define DISTURB_MOST 8 /* threads */
#define DISTURB_PACE                                                                               \
	300 /* steps of all threads between two disturbances; they wait after twice as many */
#define DISTURB_HANG 200 /* seconds without a step: only what hangs takes as long */

/*
 * Where a stack is unwound by pthread_cancel(), the address sanitizer of GCC 12 clears the shadow of
 * other frames than it should, and the thread sanitizer ends with a fault of its own.
 */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define DISTURB_CANCELS false
#else
#define DISTURB_CANCELS true
#endif

/**
 * struct disturbance - the threads and what was done to them
 * @thread: the first one is the caller's, and is not canceled; one that is starts again
 * @main, @arg: what they run
 * @count, @ended: number of threads, and of those that have nothing more to do
 * @steps: of all threads, and what they were at the last disturbance
 * @handled, @foreign: signals, and those that were handled by threads of a heap
 * @canceled, @left: threads, and callbacks that were left by longjmp()
 */
struct disturbance {
	pthread_t thread[DISTURB_MOST], own;
	void *(*main)(void *arg);
	void *arg[DISTURB_MOST];
	bool joined[DISTURB_MOST];
	unsigned int count, ended;
	unsigned long steps, acted;
	unsigned int handled, foreign, canceled, left;
	unsigned int hang_s;
	uint64_t rng;
};

static struct disturbance disturbance;
static __thread bool thread_is_program;
static __thread jmp_buf *refusal_target;

static inline uint64_t disturb_random(struct disturbance *d, uint64_t below)
{
	d->rng ^= d->rng << 13;
	d->rng ^= d->rng >> 7;
	d->rng ^= d->rng << 17;
	return d->rng % below;
}

static inline void signal_handle(int signal)
{
	(void)signal;
	__atomic_fetch_add(&disturbance.handled, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&disturbance.foreign, !thread_is_program, __ATOMIC_RELAXED);
}

static inline void signal_mask(int how, sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(how, &set, before);
}

/* A thread of the program begins; it may be canceled where it allows that. */
static inline void disturb_thread(void)
{
	int state;

	thread_is_program = true;
	signal_mask(SIG_UNBLOCK, NULL);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
}

/* A step of the thread; it may wait here until it is disturbed. */
static inline void disturb_step(struct gc_mutator *m)
{
	struct disturbance *d = &disturbance;
	unsigned long steps = __atomic_add_fetch(&d->steps, 1, __ATOMIC_RELAXED);

	while (steps > __atomic_load_n(&d->acted, __ATOMIC_RELAXED) + 2 * DISTURB_PACE) {
		gc_safepoint(m);
		pthread_testcancel();
		sched_yield();
	}
	pthread_testcancel();
}

/* The calling thread has nothing more to do. */
static inline void disturb_leave(void)
{
	__atomic_fetch_add(&disturbance.ended, 1, __ATOMIC_SEQ_CST);
}

static inline void hang_report(const char *what)
{
	fprintf(stderr, "model: %s\n", what);
	_exit(1);
}

/* Wait until some more steps were done; false: there are no more. */
static inline bool steps_wait(struct disturbance *d)
{
	unsigned long seen = __atomic_load_n(&d->steps, __ATOMIC_RELAXED), now;
	unsigned long until = d->acted + disturb_random(d, DISTURB_PACE);
	time_t moved = time(NULL);

	for (;;) {
		struct timespec poll = { 0, 50000 };

		if (__atomic_load_n(&d->ended, __ATOMIC_SEQ_CST) == d->count)
			return false;
		now = __atomic_load_n(&d->steps, __ATOMIC_RELAXED);
		if (now >= until)
			return true;
		if (now != seen)
			moved = time(NULL);
		else if (time(NULL) - moved > (time_t)d->hang_s)
			hang_report("the threads hang");
		seen = now;
		nanosleep(&poll, NULL);
	}
}

static inline void *thread_join(struct disturbance *d, unsigned int i)
{
	struct timespec until;
	void *result = NULL;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += d->hang_s;
	if (pthread_timedjoin_np(d->thread[i], &result, &until))
		hang_report("a thread that was canceled hangs");
	return result;
}

static inline void thread_cancel(struct disturbance *d, unsigned int i)
{
	pthread_cancel(d->thread[i]);
	if (thread_join(d, i) != PTHREAD_CANCELED) {
		d->joined[i] = true;
		return;
	}
	d->canceled++;
	if (pthread_create(&d->thread[i], NULL, d->main, d->arg[i]))
		hang_report("no thread can be started");
}

static inline void *disturb_main(void *arg)
{
	struct disturbance *d = arg;

	while (steps_wait(d)) {
		unsigned int i = (unsigned int)disturb_random(d, d->count);

		if (d->joined[i] || !disturb_random(d, 3))
			kill(getpid(), SIGUSR1);
		else if (DISTURB_CANCELS && i && disturb_random(d, 2))
			thread_cancel(d, i);
		else
			pthread_kill(d->thread[i], SIGUSR1);
		__atomic_store_n(&d->acted, __atomic_load_n(&d->steps, __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
	}
	for (unsigned int i = 1; i < d->count; i++)
		if (!d->joined[i])
			thread_join(d, i);
	return NULL;
}

/* Run @main with each of @arg, the first on this thread, and disturb them until they ended. */
static inline void disturb_run(void *(*main)(void *arg), void **arg, unsigned int count,
			       uint64_t seed)
{
	struct sigaction action = { .sa_handler = signal_handle };
	const char *hang_s = getenv("GRAPH_HANG_S");
	struct disturbance *d = &disturbance;
	sigset_t before;

	*d = (struct disturbance){ .main = main, .count = count, .rng = seed * 2 + 1 };
	d->hang_s = hang_s ? (unsigned int)atoi(hang_s) : DISTURB_HANG;
	/* Not SA_RESTART: what the library waits for may be interrupted. */
	sigaction(SIGUSR1, &action, NULL);
	/* Threads are started with the signal blocked, and let it in when they are known. */
	signal_mask(SIG_BLOCK, &before);
	d->thread[0] = pthread_self();
	for (unsigned int i = 0; i < count; i++) {
		d->arg[i] = arg[i];
		if (i && pthread_create(&d->thread[i], NULL, main, arg[i]))
			hang_report("no thread can be started");
	}
	if (pthread_create(&d->own, NULL, disturb_main, d))
		hang_report("no thread can be started");
	main(arg[0]);
	pthread_join(d->own, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* gc_oom_callback(): leaves the allocation that called it. */
static inline bool refusal_leave(struct gc_mutator *m, size_t bytes, enum gc_refusal why, void *arg)
{
	(void)m;
	(void)bytes;
	(void)why;
	(void)arg;
	if (refusal_target)
		longjmp(*refusal_target, 1);
	return false;
}

/* With a root frame of its own, which the callback leaves as well */
static __attribute__((noinline, unused)) bool
frame_fill(struct gc_mutator *m, const struct gc_type *type, uint32_t length)
{
	struct {
		struct gc_frame head;
		void *array;
	} f;
	bool full;

	GC_PUSH(m, f);
	f.array = gc_alloc_array(m, type, length);
	full = !f.array;
	GC_POP(m, f);
	return full;
}

/*
 * Allocate an array for which there may be no memory, in a frame of its own or not. Returns what is
 * wrong, or NULL.
 */
static __attribute__((noinline, unused)) const char *
disturb_fill(struct gc_mutator *m, const struct gc_type *type, uint32_t length, bool framed)
{
	struct gc_frame *volatile frames = m->frames;
	volatile int before;
	jmp_buf target;
	int state;
	bool full;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	before = state;
	pthread_setcancelstate(before, &state);
	if (setjmp(target)) {
		refusal_target = NULL;
		m->frames = frames;
		__atomic_fetch_add(&disturbance.left, 1, __ATOMIC_RELAXED);
		pthread_setcancelstate(before, &state);
		return state == before ? NULL : "canceling is not as before a callback was left";
	}
	refusal_target = &target;
	full = framed ? frame_fill(m, type, length) : !gc_alloc_array(m, type, length);
	refusal_target = NULL;
	return full ? "an allocation is refused without a call" : NULL;
}

#endif
