// SPDX-License-Identifier: MIT
/*
 * calibrate: runs loops whose time the board file predicts in closed form.
 *
 * For each frequency of one CPU of each core type, set through the userspace governor, it
 * prints "cal LOOP cpu N streams N insns N khz N ns X", where X is the time of one iteration.
 * The loops are in assembly so that their instruction counts are known.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../board/board.h"
#include "mark.h"

#define LINE	  64
#define FOOTPRINT BOARD_CHASE_BYTES /* four times the largest L2 */
#define CPUFREQ	  "/sys/devices/system/cpu/cpu%d/cpufreq/%s"

#define COMPUTE_INSNS 18
#define CHASE_INSNS   3
#define STREAM_INSNS  4

static uint64_t clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Each loop returns the address at which the next call continues. */
static void *loop_compute(void *from, unsigned long n)
{
	uint32_t a = 1, b = 2;

	__asm__ volatile("1:\n"
			 "	add	%0, %0, %1\n	eor	%1, %1, %0\n"
			 "	add	%0, %0, %1\n	eor	%1, %1, %0\n"
			 "	add	%0, %0, %1\n	eor	%1, %1, %0\n"
			 "	add	%0, %0, %1\n	eor	%1, %1, %0\n"
			 "	add	%0, %0, %1\n	eor	%1, %1, %0\n"
			 "	add	%0, %0, %1\n	eor	%1, %1, %0\n"
			 "	add	%0, %0, %1\n	eor	%1, %1, %0\n"
			 "	add	%0, %0, %1\n	eor	%1, %1, %0\n"
			 "	subs	%2, %2, #1\n"
			 "	bne	1b\n"
			 : "+r"(a), "+r"(b), "+r"(n)
			 :
			 : "cc");
	return from;
}

static void *loop_chase(void *from, unsigned long n)
{
	__asm__ volatile("1:\n"
			 "	ldr	%0, [%0]\n"
			 "	subs	%1, %1, #1\n"
			 "	bne	1b\n"
			 : "+r"(from), "+r"(n)
			 :
			 : "cc", "memory");
	return from;
}

static void *loop_stream(void *from, unsigned long n)
{
	uint32_t sum = 0, value;

	__asm__ volatile("1:\n"
			 "	ldr	%2, [%0], #64\n"
			 "	add	%3, %3, %2\n"
			 "	subs	%1, %1, #1\n"
			 "	bne	1b\n"
			 : "+r"(from), "+r"(n), "=&r"(value), "+r"(sum)
			 :
			 : "cc", "memory");
	return from;
}

/* Links all lines of @area to one cycle, in an order that no prefetcher can follow. */
static void area_shuffle(char *area)
{
	unsigned long lines = FOOTPRINT / LINE, i, j;
	uint32_t *order = malloc(lines * sizeof(*order)), seed = 12345, swap;

	if (!order)
		exit(1);
	for (i = 0; i < lines; i++)
		order[i] = (uint32_t)i;
	for (i = lines - 1; i > 0; i--) {
		seed = seed * 1664525u + 1013904223u;
		j = ((uint64_t)seed * (i + 1)) >> 32;
		swap = order[i];
		order[i] = order[j];
		order[j] = swap;
	}
	for (i = 0; i < lines; i++)
		*(void **)(area + (size_t)order[i] * LINE) =
			area + (size_t)order[(i + 1) % lines] * LINE;
	free(order);
}

static int thread_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

struct job {
	void *(*run)(void *from, unsigned long n);
	char *area;
	void **from;
	unsigned long n;
	int cpu;
	pthread_barrier_t *start;
	double ns;
};

static void *job_run(void *arg)
{
	struct job *j = arg;
	uint64_t t;

	if (thread_pin(j->cpu))
		exit(1);
	/*
	 * Read no line again before all other lines of the area, so that it
	 * is no longer in L2.
	 */
	if (j->run == loop_stream &&
	    (char *)*j->from + (j->n + j->n / 8) * LINE > j->area + FOOTPRINT)
		*j->from = j->area;
	*j->from = j->run(*j->from, j->n / 8);
	pthread_barrier_wait(j->start);
	t = clock_now();
	*j->from = j->run(*j->from, j->n);
	j->ns = (double)(clock_now() - t) / (double)j->n;
	return NULL;
}

static void *chased;
static void *streamed[4];

static void loop_measure(const char *name, void *(*run)(void *, unsigned long), unsigned int insns,
			 char **areas, unsigned long n, int first, int streams, unsigned int khz)
{
	pthread_barrier_t start;
	struct job jobs[4];
	pthread_t threads[4];
	double ns = 0;
	int i;

	pthread_barrier_init(&start, NULL, (unsigned int)streams);
	for (i = 0; i < streams; i++) {
		jobs[i] = (struct job){ run, areas[i],	run == loop_stream ? &streamed[i] : &chased,
					n,   first + i, &start,
					0 };
		/* The area differs from the last call's: begin at its start. */
		if (run == loop_stream &&
		    ((char *)streamed[i] < areas[i] || (char *)streamed[i] > areas[i] + FOOTPRINT))
			streamed[i] = areas[i];
		if (pthread_create(&threads[i], NULL, job_run, &jobs[i]))
			exit(1);
	}
	for (i = 0; i < streams; i++) {
		pthread_join(threads[i], NULL);
		ns += jobs[i].ns / streams;
	}
	printf("cal %s cpu %d streams %d insns %u khz %u ns %.3f\n", name, first, streams, insns,
	       khz, ns);
	fflush(stdout);
}

static int cpufreq_write(int cpu, const char *file, const char *value)
{
	char path[128];
	FILE *f;
	int r;

	snprintf(path, sizeof(path), CPUFREQ, cpu, file);
	f = fopen(path, "we");
	if (!f)
		return -1;
	r = fputs(value, f) < 0 ? -1 : 0;
	return fclose(f) ? -1 : r;
}

static int cpus_set_khz(int cpus, unsigned int khz)
{
	char text[16];
	int cpu, r = 0;

	snprintf(text, sizeof(text), "%u", khz);
	for (cpu = 0; cpu < cpus; cpu++)
		r |= cpufreq_write(cpu, "scaling_setspeed", text);
	return r;
}

/* The frequencies of a CPU, ascending. */
static int cpu_frequencies(int cpu, unsigned int *khz, int max)
{
	char path[128];
	FILE *f;
	int n = 0;

	snprintf(path, sizeof(path), CPUFREQ, cpu, "scaling_available_frequencies");
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (n < max && fscanf(f, "%u", &khz[n]) == 1)
		n++;
	fclose(f);
	return n;
}

/* Equal capacities mean the same core type. 0 if the kernel exports none: all are the same. */
static int cpu_capacity(int cpu)
{
	char path[128];
	FILE *f;
	int v = 0;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpu_capacity", cpu);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%d", &v) != 1)
		v = 0;
	fclose(f);
	return v;
}

/* Runs all loops on the @count CPUs of one core type that begin at @first. */
static int core_type_measure(int first, int count, int cpus, int every, char **areas,
			     char *chase_area)
{
	unsigned long compute_n = 40000, chase_n = 20000, stream_n = 40000;
	unsigned int khz[64];
	int n = cpu_frequencies(first, khz, 64), i;

	for (i = 0; i < n; i++) {
		/* Always measure both ends, and every @every-th frequency between them. */
		if (i % every && i != n - 1)
			continue;
		if (cpus_set_khz(cpus, khz[i]))
			return -1;
		loop_measure("compute", loop_compute, COMPUTE_INSNS, areas, compute_n, first, 1,
			     khz[i]);
		loop_measure("chase", loop_chase, CHASE_INSNS, &chase_area, chase_n, first, 1,
			     khz[i]);
		loop_measure("stream", loop_stream, STREAM_INSNS, areas, stream_n, first, 1,
			     khz[i]);
		if (count > 1)
			loop_measure("stream", loop_stream, STREAM_INSNS, areas, stream_n, first, 2,
				     khz[i]);
		if (count > 2)
			loop_measure("stream", loop_stream, STREAM_INSNS, areas, stream_n, first,
				     count, khz[i]);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	int every = argc > 1 ? atoi(argv[1]) : 1, i, first;
	char *areas[4], *chase_area;

	if (cpus > 4)
		cpus = 4;
	for (i = 0; i < cpus; i++) {
		areas[i] = aligned_alloc(4096, FOOTPRINT);
		if (!areas[i])
			return 1;
		memset(areas[i], 1, FOOTPRINT);
	}
	/* A separate area, because a line that a stream left in L2 would be a hit. */
	chase_area = aligned_alloc(4096, FOOTPRINT);
	if (!chase_area)
		return 1;
	area_shuffle(chase_area);
	chased = chase_area;
	for (i = 0; i < cpus; i++)
		if (cpufreq_write(i, "scaling_governor", "userspace")) {
			fprintf(stderr, "calibrate: no userspace governor on cpu%d\n", i);
			return 1;
		}
	MARK(MARK_ARM);
	for (first = 0; first < cpus; first = i) {
		for (i = first + 1; i < cpus && cpu_capacity(i) == cpu_capacity(first);)
			i++;
		if (core_type_measure(first, i - first, cpus, every, areas, chase_area))
			return 1;
	}
	return 0;
}
