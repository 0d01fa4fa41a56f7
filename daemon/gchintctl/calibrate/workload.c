// SPDX-License-Identifier: GPL-2.0-or-later
#include "workload.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../../common/text.h"

#define STEPS	  10000 /* between two checks of the end flag */
#define LINE	  64
#define HOPS	  100000
#define LEAST	  (16u << 20)
#define MOST	  (256u << 20)
#define CACHES	  8
#define TIMES_LLC 4

struct burner {
	pthread_t thread;
	clockid_t clock;
	const struct burn *of;
};

struct burn {
	atomic_bool end;
	size_t nr;
	struct burner burner[];
};

/* Volatile: storing results here keeps the compiler from dropping their computation. */
static volatile uint64_t sink;

static void *burner_compute(void *arg)
{
	const struct burner *b = arg;
	uint64_t x = (uintptr_t)arg | 1;

	/* Do not delay the measuring thread. On Linux nice(2) affects this thread only. */
	if (nice(19) < 0)
		sink = 0;
	while (!atomic_load_explicit(&b->of->end, memory_order_relaxed)) {
		for (unsigned int i = 0; i < STEPS; i++)
			x = x * 6364136223846793005u + 1442695040888963407u;
		sink = x;
	}
	return NULL;
}

static bool cpuset_of(cpu_set_t *set, unsigned int cpu)
{
	CPU_ZERO(set);
	if (cpu >= CPU_SETSIZE)
		return false;
	CPU_SET(cpu, set);
	return true;
}

static bool burner_start(struct burner *b, unsigned int cpu)
{
	pthread_attr_t attr;
	cpu_set_t one;
	bool good = false;

	if (!cpuset_of(&one, cpu) || pthread_attr_init(&attr))
		return false;
	if (!pthread_attr_setaffinity_np(&attr, sizeof(one), &one))
		good = !pthread_create(&b->thread, &attr, burner_compute, b);
	pthread_attr_destroy(&attr);
	return good;
}

struct burn *burn_begin(const unsigned int *cpu, size_t nr)
{
	struct burn *b = calloc(1, sizeof(*b) + nr * sizeof(b->burner[0]));

	if (!b)
		return NULL;
	for (; b->nr < nr; b->nr++) {
		struct burner *one = &b->burner[b->nr];

		one->of = b;
		if (!burner_start(one, cpu[b->nr]) ||
		    pthread_getcpuclockid(one->thread, &one->clock)) {
			burn_end(b);
			return NULL;
		}
	}
	return b;
}

uint64_t burn_ns(const struct burn *b)
{
	uint64_t sum = 0;

	for (size_t i = 0; b && i < b->nr; i++)
		sum += clock_ns(b->burner[i].clock);
	return sum;
}

void burn_end(struct burn *b)
{
	if (!b)
		return;
	atomic_store(&b->end, true);
	for (size_t i = 0; i < b->nr; i++)
		pthread_join(b->burner[i].thread, NULL);
	free(b);
}

struct chase {
	size_t lines;
	uint32_t *ring; /* index of the next line; entries are LINE bytes apart */
	uint32_t at;
};

/* Bytes of the CPU's largest cache; 0 if unknown. */
static uint64_t cpu_largest_cache(const struct root *root, unsigned int cpu)
{
	uint64_t most = 0, size;
	char text[32];

	for (unsigned int i = 0; i < CACHES; i++)
		if (root_read(text, sizeof(text), "%s/devices/system/cpu/cpu%u/cache/index%u/size",
			      root->sysfs, cpu, i) > 0 &&
		    !text_size(text, &size) && size > most)
			most = size;
	return most;
}

static uint32_t *chase_line(const struct chase *c, size_t i)
{
	return &c->ring[i * (LINE / sizeof(*c->ring))];
}

/* Links all lines into one random ring (Sattolo's algorithm), which no prefetcher can predict. */
static void chase_shuffle(struct chase *c)
{
	uint64_t x = 1;

	for (size_t i = 0; i < c->lines; i++)
		*chase_line(c, i) = (uint32_t)i;
	for (size_t i = c->lines - 1; i; i--) {
		uint32_t *a = chase_line(c, i), *b, other;

		x = x * 6364136223846793005u + 1442695040888963407u;
		b = chase_line(c, (x >> 33) % i);
		other = *a;
		*a = *b;
		*b = other;
	}
}

struct chase *chase_new(const struct root *root, unsigned int cpu)
{
	uint64_t bytes = cpu_largest_cache(root, cpu) * TIMES_LLC;
	struct chase *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	bytes = bytes < LEAST ? LEAST : bytes > MOST ? MOST : bytes;
	c->lines = bytes / LINE;
	c->ring = aligned_alloc(LINE, bytes);
	if (!c->ring) {
		free(c);
		return NULL;
	}
	chase_shuffle(c);
	return c;
}

double chase_run(struct chase *c, unsigned int cpu)
{
	cpu_set_t one, before;
	uint64_t start_ns, ns;

	if (!cpuset_of(&one, cpu) || sched_getaffinity(0, sizeof(before), &before) ||
	    sched_setaffinity(0, sizeof(one), &one))
		return -1;
	start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (unsigned int i = 0; i < HOPS; i++)
		c->at = *chase_line(c, c->at);
	ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
	sink = c->at;
	sched_setaffinity(0, sizeof(before), &before);
	return (double)ns / HOPS;
}

void chase_free(struct chase *c)
{
	if (!c)
		return;
	free(c->ring);
	free(c);
}
