// SPDX-License-Identifier: GPL-2.0-or-later
#include "loops.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../common/clock.h"
#include "../launch/child.h"

#define POLICY	   "%s/devices/system/cpu/cpufreq/%s/%s"
#define COUNT	   4 /* frequencies of a policy, from the lowest to the highest */
#define STEPS	   2000000 /* of the compute loop */
#define HOPS	   200000 /* of the memory loop */
#define LINES	   (1 << 17) /* of 64 bytes: 8 MiB, more than the private caches of a core */
#define TIMES	   5
#define SETTLED_NS 50000000

struct line {
	uint32_t next;
	char rest[60];
};

struct loops {
	const struct root *root;
	FILE *f;
	void (*report)(void *data, const char *policy, const char *mistake);
	void *data;
	struct line *line;
	unsigned int policies;
};

/* Keeps the compiler from removing the loops. */
static volatile uint64_t sink;

static double loop_compute(void)
{
	const uint64_t start = clock_now();
	uint64_t x = start | 1;

	for (unsigned int i = 0; i < STEPS; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	sink = x;
	return (double)(clock_now() - start) / STEPS;
}

static double loop_chase(const struct line *line)
{
	const uint64_t start = clock_now();
	uint32_t at = 0;

	for (unsigned int i = 0; i < HOPS; i++)
		at = line[at].next;
	sink = at;
	return (double)(clock_now() - start) / HOPS;
}

/* One ring through all lines, in an order that no prefetcher predicts (Sattolo's algorithm). */
static struct line *ring_alloc(void)
{
	struct line *line = calloc(LINES, sizeof(*line));
	uint64_t x = 1;

	for (uint32_t i = 0; line && i < LINES; i++)
		line[i].next = i;
	for (uint32_t i = LINES - 1; line && i; i--) {
		uint32_t j, other;

		x = x * 6364136223846793005u + 1442695040888963407u;
		j = (uint32_t)((x >> 33) % i);
		other = line[i].next;
		line[i].next = line[j].next;
		line[j].next = other;
	}
	return line;
}

static int policy_write(const struct loops *l, const char *policy, const char *file, uint64_t khz)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, khz);
	return root_write(text, POLICY, l->root->sysfs, policy, file);
}

/* Lower the minimum first and raise it last, so that it never exceeds the maximum. */
static int policy_set_limits(const struct loops *l, const char *policy, uint64_t low, uint64_t min,
			     uint64_t max)
{
	int ret = policy_write(l, policy, "scaling_min_freq", low);

	if (!ret)
		ret = policy_write(l, policy, "scaling_max_freq", max);
	return ret ? ret : policy_write(l, policy, "scaling_min_freq", min);
}

static int khz_compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Picks at most COUNT frequencies of the driver's list, or steps between its bounds. */
static unsigned int policy_pick_frequencies(const struct loops *l, const char *policy, uint64_t low,
					    uint64_t high, uint64_t *khz)
{
	uint64_t all[128];
	unsigned int nr = 0, count;
	char text[2048], *at = text, *end;

	if (root_read(text, sizeof(text), POLICY, l->root->sysfs, policy,
		      "scaling_available_frequencies") <= 0)
		for (; nr < COUNT; nr++)
			all[nr] = low + (high - low) * nr / (COUNT - 1);
	else
		while (nr < 128 && (all[nr] = strtoull(at, &end, 10)) && end != at) {
			at = end;
			nr++;
		}
	qsort(all, nr, sizeof(*all), khz_compare);
	count = nr < COUNT ? nr : COUNT;
	for (unsigned int i = 0; i < count; i++)
		khz[i] = all[count > 1 ? (nr - 1) * i / (count - 1) : 0];
	return count;
}

static void policy_measure(const struct loops *l, const char *policy, uint64_t khz)
{
	const struct timespec settled = { 0, SETTLED_NS };
	double least[2] = { 0, 0 };
	uint64_t read;
	char text[32] = "";

	nanosleep(&settled, NULL);
	for (unsigned int i = 0; i < TIMES; i++) {
		const double took[2] = { loop_compute(), loop_chase(l->line) };

		for (unsigned int j = 0; j < 2; j++)
			if (!i || took[j] < least[j])
				least[j] = took[j];
	}
	if (!root_u64(&read, POLICY, l->root->sysfs, policy, "scaling_cur_freq"))
		snprintf(text, sizeof(text), "%" PRIu64, read);
	fprintf(l->f, "%s,%" PRIu64 ",%s,%.3f,%.3f\n", policy, khz, text, least[0], least[1]);
}

static const char *policy_sweep(const struct loops *l, const char *policy)
{
	uint64_t low, high, min, max, cpu, khz[COUNT];
	const char *mistake = NULL;
	unsigned int count;
	cpu_set_t one;

	if (root_u64(&low, POLICY, l->root->sysfs, policy, "cpuinfo_min_freq") ||
	    root_u64(&high, POLICY, l->root->sysfs, policy, "cpuinfo_max_freq") ||
	    root_u64(&min, POLICY, l->root->sysfs, policy, "scaling_min_freq") ||
	    root_u64(&max, POLICY, l->root->sysfs, policy, "scaling_max_freq"))
		return "its limits are not known";
	cpu = strtoull(policy + strlen("policy"), NULL, 10);
	CPU_ZERO(&one);
	if (cpu >= CPU_SETSIZE)
		return "its CPU number is too high for a CPU affinity";
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return "its CPU is offline, or this process may not run on it";
	count = policy_pick_frequencies(l, policy, low, high, khz);
	for (unsigned int i = 0; i < count && !mistake && !child_caught; i++) {
		if (policy_set_limits(l, policy, low, khz[i], khz[i]))
			mistake = "only root may set its limits";
		else
			policy_measure(l, policy, khz[i]);
	}
	if (policy_set_limits(l, policy, low, min, max) && !mistake)
		mistake = "its limits could not be put back";
	return mistake;
}

static int on_policy(void *data, const char *policy)
{
	struct loops *l = data;

	l->policies++;
	if (!child_caught)
		l->report(l->data, policy, l->line ? policy_sweep(l, policy) : "no memory");
	return 0;
}

unsigned int loops_run(const struct root *root, FILE *f,
		       void (*report)(void *data, const char *policy, const char *mistake),
		       void *data)
{
	struct loops l = {
		.root = root, .f = f, .report = report, .data = data, .line = ring_alloc()
	};
	cpu_set_t before;
	char path[4096];

	fputs("policy,khz,khz_read,compute_ns,chase_ns\n", f);
	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpufreq", root->sysfs);
	if (!sched_getaffinity(0, sizeof(before), &before)) {
		root_list(path, "policy", on_policy, &l);
		sched_setaffinity(0, sizeof(before), &before);
	}
	free(l.line);
	return l.policies;
}
