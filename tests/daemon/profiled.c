// SPDX-License-Identifier: MIT
/*
 * profiled WHAT: a program to be profiled, which prints its CPU time in ns. Its durations are CPU
 * time, not wall time.
 */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <gchint.h>

#define MS 1000000ull

static volatile uint64_t sink;

static uint64_t cpu_time(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static void work(unsigned int ms)
{
	const uint64_t end = cpu_time(CLOCK_THREAD_CPUTIME_ID) + ms * MS;

	while (cpu_time(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 20000; i++)
			sink += (uint64_t)i;
}

static void method_run(uintptr_t method, unsigned int ms)
{
	uintptr_t outer = gchint_method_enter(method);

	work(ms);
	gchint_method_leave(outer);
}

static void *worker_run(void *name)
{
	if (name)
		method_run(gchint_symbol_add(0, 0, name), 300);
	else
		work(100);
	return NULL;
}

static void run_thread(const char *name)
{
	pthread_t thread;

	pthread_create(&thread, NULL, worker_run, (void *)(uintptr_t)name);
	pthread_join(thread, NULL);
}

/* A loop, the only function that instructions show, runs three methods. */
static void methods_run(void)
{
	uintptr_t hot = gchint_symbol_add(0, 0, "hot (m.lua:3)");
	uintptr_t cold = gchint_symbol_add(0, 0, "cold <&\"; (m.lua:9)");
	uintptr_t outer = gchint_method_enter(hot);

	work(300);
	gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
	method_run(cold, 300);
	gchint_phase_end();
	work(300);
	gchint_method_leave(outer);
	/* Never leased; and one that follows it, perhaps with its stack and number. */
	run_thread("worker");
	run_thread(NULL);
}

/* Code that replaces other code; code next to it; code without a name. */
static void code_move(void)
{
	gchint_symbol_add(0x7000, 0x10, "first");
	method_run(0x7008, 200);
	gchint_symbol_remove(0x7000, 0x10);
	method_run(0x7008, 100);
	gchint_symbol_add(0x7000, 0x10, "second");
	method_run(0x7008, 200);
	method_run(0x7010, 100);
	method_run(0x6fff, 100);
}

/* A file not written by the library: only its valid entries are used. */
static void file_spoil(void)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/perf-%d.map", getenv("GCHINT_SYMBOLS"), getpid());
	f = fopen(path, "w");
	if (!f)
		exit(1);
	fputs("garbage\n\n7000\n7000 10\n7000 10 \nzz 10 zz\n-1 10 minus\n"
	      "ffffffffffffff00 fff wraps\n8000 0 empty\n0 0 @notanumber\n"
	      "9000 100 whole\n9080 10 over\na000 10 good name\n",
	      f);
	for (int i = 0; i < 100000; i++)
		fputc('x', f);
	fclose(f);
	method_run(0x7008, 100);
	method_run(0x8000, 100);
	method_run(0x9010, 100); /* of "whole" the remaining work is unknown */
	method_run(0x9088, 100);
	method_run(0xa00f, 100);
	method_run(0xa010, 100);
}

static atomic_int stage;

static void *helper_wait(void *data)
{
	atomic_store((_Atomic pid_t *)data, (pid_t)syscall(SYS_gettid));
	while (atomic_load(&stage) != 1)
		usleep(1000);
	method_run(gchint_symbol_add(0, 0, "helped"), 200);
	atomic_store(&stage, 2);
	while (atomic_load(&stage) != 3)
		usleep(1000);
	method_run(gchint_symbol_add(0, 0, "alone"), 100);
	return NULL;
}

/* A thread whose phase another thread announces, until it ends. */
static void behalf_announce(void)
{
	struct gchint_session *session;
	struct gchint_thread *handle;
	_Atomic pid_t tid = 0;
	pthread_t thread;

	gchint_open(&session, 0);
	pthread_create(&thread, NULL, helper_wait, &tid);
	while (!atomic_load(&tid))
		usleep(1000);
	gchint_attach(session, atomic_load(&tid), GCHINT_ROLE_NONE, NULL, &handle);
	gchint_begin(handle, GCHINT_PHASE_SWEEP, 0);
	/* Time for a recorder to see it. */
	usleep(300000);
	atomic_store(&stage, 1);
	while (atomic_load(&stage) != 2)
		usleep(1000);
	gchint_detach(handle);
	usleep(300000);
	atomic_store(&stage, 3);
	pthread_join(thread, NULL);
}

/* Two methods alternate, the second in a phase, until a signal ends it. */
static void methods_alternate(void)
{
	uintptr_t hot = gchint_symbol_add(0, 0, "hot (m.lua:3)");
	uintptr_t cold = gchint_symbol_add(0, 0, "cold (m.lua:9)");
	struct pollfd end = { .fd = 0, .events = POLLIN };

	while (poll(&end, 1, 0) == 0) {
		method_run(hot, 20);
		gchint_phase_begin(GCHINT_PHASE_MARK, GCHINT_F_STW);
		method_run(cold, 20);
		gchint_phase_end();
	}
}

/* Blocks every signal that it may block. */
static void signals_block(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	methods_run();
}

static void on_urgent(int number)
{
	(void)number;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "methods";

	if (!strcmp(what, "signal"))
		signal(SIGURG, on_urgent);
	gchint_init(0);
	if (!strcmp(what, "moves"))
		code_move();
	else if (!strcmp(what, "behalf"))
		behalf_announce();
	else if (!strcmp(what, "turns"))
		methods_alternate();
	else if (!strcmp(what, "blocked"))
		signals_block();
	else if (!strcmp(what, "hostile"))
		file_spoil();
	else
		methods_run();
	printf("%llu\n", (unsigned long long)cpu_time(CLOCK_PROCESS_CPUTIME_ID));
	return argc > 2 ? atoi(argv[2]) : 0;
}
