// SPDX-License-Identifier: GPL-2.0-or-later
#include "core-type.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUFREQ "devices/system/cpu/cpufreq"
#define POLICY	"%s/" CPUFREQ "/%s/%s"
/* Number of frequencies of a policy whose driver has no table. */
#define STEPS 8
/* Polls of limits that were written, for one second in all. */
#define POLLS	1000
#define POLL_US 1000

struct finder {
	struct core_types *k;
	char *error;
	size_t size;
};

static int policy_read(const struct core_types *k, const struct core_type_policy *p,
		       const char *file, uint64_t *value)
{
	return root_u64(value, POLICY, k->root->sysfs, p->name, file);
}

static int khz_compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Appends the frequencies of a file, which are separated by blanks. */
static int policy_append_khz(const struct core_types *k, struct core_type_policy *p,
			     const char *file)
{
	char text[4096], *at = text, *end;

	if (root_read(text, sizeof(text), POLICY, k->root->sysfs, p->name, file) <= 0)
		return 0;
	for (;; at = end) {
		const uint64_t v = strtoull(at, &end, 10);

		if (end == at || !v)
			return 0;
		if (p->nr == CALIBRATION_OPPS)
			return -E2BIG;
		p->khz[p->nr++] = v;
	}
}

static int policy_find_frequencies(const struct core_types *k, struct core_type_policy *p)
{
	uint64_t low, high;
	unsigned int nr = 0;
	int ret;

	ret = policy_append_khz(k, p, "scaling_available_frequencies");
	if (!ret)
		ret = policy_append_khz(k, p, "scaling_boost_frequencies");
	if (ret)
		return ret;
	p->listed = p->nr > 0;
	if (!p->listed) {
		if (policy_read(k, p, "cpuinfo_min_freq", &low) ||
		    policy_read(k, p, "cpuinfo_max_freq", &high) || low >= high)
			return -ENODATA;
		for (; p->nr < STEPS; p->nr++)
			p->khz[p->nr] = low + (high - low) * p->nr / (STEPS - 1);
	}
	qsort(p->khz, p->nr, sizeof(p->khz[0]), khz_compare);
	for (unsigned int i = 0; i < p->nr; i++)
		if (!i || p->khz[i] != p->khz[nr - 1])
			p->khz[nr++] = p->khz[i];
	p->nr = nr;
	p->low = p->khz[0];
	return 0;
}

static bool policies_match(const struct core_type_policy *a, const struct core_type_policy *b)
{
	return a->capacity == b->capacity && a->nr == b->nr &&
	       !memcmp(a->khz, b->khz, a->nr * sizeof(a->khz[0]));
}

static int policy_find_cpus(struct core_types *k, const struct core_type_policy *p)
{
	char text[4096], *at = text, *end;

	if (root_read(text, sizeof(text), POLICY, k->root->sysfs, p->name, "affected_cpus") <= 0 &&
	    root_read(text, sizeof(text), POLICY, k->root->sysfs, p->name, "related_cpus") <= 0)
		return -ENODATA;
	for (;; at = end) {
		const unsigned long cpu = strtoul(at, &end, 10);

		if (end == at)
			return 0;
		if (k->nr_cpus == CORE_TYPE_CPUS || cpu > INT_MAX)
			return -E2BIG;
		k->of_cpu[k->nr_cpus].cpu = (unsigned int)cpu;
		k->of_cpu[k->nr_cpus++].policy = k->nr;
	}
}

static int on_policy(void *data, const char *name)
{
	struct finder *f = data;
	struct core_types *k = f->k;
	struct core_type_policy *p = &k->policy[k->nr];
	int ret = -E2BIG;

	if (k->nr == CORE_TYPE_POLICIES)
		goto fail;
	*p = (struct core_type_policy){ .type = k->nr };
	snprintf(p->name, sizeof(p->name), "%s", name);
	p->cpu = (unsigned int)strtoul(name + strlen("policy"), NULL, 10);
	ret = policy_read(k, p, "scaling_min_freq", &p->min);
	if (!ret)
		ret = policy_read(k, p, "scaling_max_freq", &p->max);
	if (!ret)
		ret = policy_find_frequencies(k, p);
	if (!ret)
		ret = policy_find_cpus(k, p);
	if (ret)
		goto fail;
	root_u64(&p->capacity, "%s/devices/system/cpu/cpu%u/cpu_capacity", k->root->sysfs, p->cpu);
	for (unsigned int i = k->nr; i--;)
		if (policies_match(&k->policy[i], p))
			p->type = k->policy[i].type;
	k->nr++;
	return 0;
fail:
	snprintf(f->error, f->size, "%s: its frequencies cannot be read: %s", name, strerror(-ret));
	return ret;
}

int core_types_find(struct core_types *k, const struct root *root, char *error, size_t size)
{
	struct finder f = { k, error, size };
	char path[PATH_MAX];
	int ret;

	*k = (struct core_types){ .root = root };
	error[0] = '\0';
	snprintf(path, sizeof(path), "%s/" CPUFREQ, root->sysfs);
	ret = root_list(path, "policy", on_policy, &f);
	return ret ? ret : k->nr ? 0 : -ENOENT;
}

size_t core_type_cpus(const struct core_types *k, unsigned int type, unsigned int *cpu, size_t max)
{
	size_t nr = 0;

	for (unsigned int i = 0; i < k->nr_cpus && nr < max; i++)
		if (k->policy[k->of_cpu[i].policy].type == type)
			cpu[nr++] = k->of_cpu[i].cpu;
	return nr;
}

static int policy_write(const struct core_types *k, const struct core_type_policy *p,
			const char *file, uint64_t khz)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64 "\n", khz);
	return root_write(text, POLICY, k->root->sysfs, p->name, file);
}

/* Lower the minimum first and raise it last, so that it never exceeds the maximum. */
static int policy_set_limits(const struct core_types *k, const struct core_type_policy *p,
			     uint64_t min, uint64_t max)
{
	int ret = policy_write(k, p, "scaling_min_freq", p->low < min ? p->low : min);

	if (!ret)
		ret = policy_write(k, p, "scaling_max_freq", max);
	return ret ? ret : policy_write(k, p, "scaling_min_freq", min);
}

/*
 * cpufreq applies new limits from a work queue, so a single read after the write may be too
 * early.
 */
static bool policy_wait_limits(const struct core_types *k, const struct core_type_policy *p,
			       uint64_t khz, uint64_t *min, uint64_t *max)
{
	for (int polls = 0; polls < POLLS; polls++) {
		if (polls)
			usleep(POLL_US);
		policy_read(k, p, "scaling_min_freq", min);
		policy_read(k, p, "scaling_max_freq", max);
		if (*min == khz && *max == khz)
			return true;
	}
	return false;
}

static int policy_pin(struct core_types *k, struct core_type_policy *p, uint64_t khz, char *error,
		      size_t size)
{
	uint64_t min = 0, max = 0;
	int ret;

	p->held = true;
	ret = policy_set_limits(k, p, khz, khz);
	if (ret) {
		snprintf(error, size, "%s: its limits cannot be set: %s", p->name,
			 ret == -EACCES || ret == -EPERM ? "only root may set them" :
							   strerror(-ret));
		return ret;
	}
	if (policy_wait_limits(k, p, khz, &min, &max))
		return 0;
	snprintf(error, size,
		 "%s: %" PRIu64 " kHz was requested, but its limits are %" PRIu64 " and %" PRIu64
		 ": another program limits it, or boost is off",
		 p->name, khz, min, max);
	return -EBUSY;
}

int core_type_pin(struct core_types *k, unsigned int type, uint64_t khz, char *error, size_t size)
{
	int ret = 0;

	for (unsigned int i = 0; i < k->nr && !ret; i++) {
		struct core_type_policy *p = &k->policy[i];

		ret = policy_pin(k, p, p->type == type ? khz : p->low, error, size);
	}
	return ret;
}

int core_types_restore(struct core_types *k, char *error, size_t size)
{
	int ret = 0;

	for (unsigned int i = 0; i < k->nr; i++) {
		struct core_type_policy *p = &k->policy[i];
		const int one = p->held ? policy_set_limits(k, p, p->min, p->max) : 0;

		p->held = false;
		if (one && !ret) {
			snprintf(error, size,
				 "%s: its limits were %" PRIu64 " and %" PRIu64
				 ", and could not be restored: %s",
				 p->name, p->min, p->max, strerror(-one));
			ret = one;
		}
	}
	return ret;
}
