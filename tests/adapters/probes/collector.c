// SPDX-License-Identifier: MIT
/*
 * Description: a runtime of this test's own, without an adapter. Each collection is a call of
 * toy_collect(), which logs when it began and ended. Arguments: what to do, in this order.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int toy_collect(int generation, int depth);
int toy_sweep(int generation);
int toy_cycle(int generation);
int toy_throw(int generation);
int toy_cycle_begin(int cycle);
int toy_cycle_end(int cycle);

static jmp_buf caught;
static volatile int sink;

static long long clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void heap_walk(int objects)
{
	for (int i = 0; i < objects; i++)
		sink += i;
}

__attribute__((noinline)) int toy_sweep(int generation)
{
	heap_walk(500000);
	return generation + sink;
}

/* Jumps to the sweep. */
__attribute__((noinline)) int toy_cycle(int generation)
{
	heap_walk(20000);
	return toy_sweep(generation);
}

/* @depth: collects within the collection */
__attribute__((noinline)) int toy_collect(int generation, int depth)
{
	const long long begin = clock_ns();

	heap_walk(20000);
	if (depth)
		toy_collect(generation, depth - 1);
	heap_walk(20000);
	printf("%ld %d %d %lld %lld\n", (long)syscall(SYS_gettid), generation, depth, begin,
	       clock_ns());
	fflush(stdout);
	return generation + sink;
}

__attribute__((noinline)) int toy_throw(int generation)
{
	heap_walk(20000);
	longjmp(caught, generation + 1);
}

/* As <sys/sdt.h> writes probes without arguments. */
#define PROBE(name)                                                                                \
	__asm__ volatile(                                                                          \
		"990: nop\n"                                                                       \
		".pushsection .note.stapsdt, \"\", \"note\"\n"                                     \
		".balign 4\n"                                                                      \
		".4byte 992f-991f, 994f-993f, 3\n"                                                 \
		"991: .asciz \"stapsdt\"\n"                                                        \
		"992: .balign 4\n"                                                                 \
		"993: .8byte 990b, _.stapsdt.base, 0\n"                                            \
		".asciz \"toy\"\n.asciz \"" name "\"\n.asciz \"\"\n"                               \
		"994: .balign 4\n"                                                                 \
		".popsection\n"                                                                    \
		".ifndef _.stapsdt.base\n"                                                         \
		".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"        \
		".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"                                   \
		"_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n"                              \
		".popsection\n"                                                                    \
		".endif\n")

__attribute__((noinline)) int toy_cycle_begin(int cycle)
{
	PROBE("begin");
	return cycle + sink;
}

__attribute__((noinline)) int toy_cycle_end(int cycle)
{
	PROBE("end");
	return cycle + sink;
}

static void *thread_collect(void *data)
{
	for (int i = 0; i < 5; i++)
		toy_collect(1, 0);
	return data;
}

/* A thread that ends within a collection. */
__attribute__((noinline)) static void *thread_die(void *data)
{
	const char *volatile text = "a text that only this function uses";

	sink += *text;
	heap_walk(1000);
	pthread_exit(data);
}

static void *cycle_end_elsewhere(void *data)
{
	toy_cycle_end(1);
	return data;
}

static void thread_run(void *(*function)(void *), int nr)
{
	pthread_t thread[8];

	for (int i = 0; i < nr; i++)
		pthread_create(&thread[i], NULL, function, NULL);
	for (int i = 0; i < nr; i++)
		pthread_join(thread[i], NULL);
}

/* Without a return: the caller goes on. */
static void throw_and_catch(int generation)
{
	if (!setjmp(caught))
		toy_throw(generation);
}

static void process_run(char **argv, const char *what)
{
	pid_t pid = fork();

	if (!pid) {
		toy_collect(2, 0);
		if (what)
			execl("/proc/self/exe", argv[0], what, (char *)NULL);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* A collector that is loaded when it is needed. */
static void plugin_run(const char *path)
{
	void *plugin = dlopen(path, RTLD_NOW);
	int (*collect)(int) = NULL;

	if (plugin)
		*(void **)&collect = dlsym(plugin, "plugin_collect");
	for (int i = 0; collect && i < 10; i++)
		collect(i);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *what = argv[i];

		if (!strcmp(what, "calls"))
			for (int k = 0; k < 20; k++)
				toy_collect(k % 4 == 0, 0);
		else if (!strcmp(what, "busy"))
			for (int k = 0; k < 1000; k++) {
				heap_walk(1000000);
				toy_sweep(k);
			}
		else if (!strcmp(what, "recursive"))
			toy_collect(0, 5);
		else if (!strcmp(what, "tail"))
			for (int k = 0; k < 5; k++)
				toy_cycle(k);
		else if (!strcmp(what, "nested"))
			toy_sweep(toy_collect(1, 0));
		else if (!strcmp(what, "longjmp"))
			for (int k = 0; k < 3; k++)
				throw_and_catch(k);
		else if (!strcmp(what, "threads"))
			thread_run(thread_collect, 4);
		else if (!strcmp(what, "die"))
			thread_run(thread_die, 2);
		else if (!strcmp(what, "cycle")) {
			toy_cycle_begin(1);
			thread_run(cycle_end_elsewhere, 1);
		} else if (!strcmp(what, "fork"))
			process_run(argv, NULL);
		else if (!strcmp(what, "exec"))
			process_run(argv, "calls");
		else if (!strcmp(what, "crowd"))
			for (int k = 0; k < 100; k++)
				process_run(argv, NULL);
		else if (!strncmp(what, "load:", 5))
			plugin_run(what + 5);
		else if (!strcmp(what, "wait"))
			raise(SIGSTOP);
	}
	return 7;
}
