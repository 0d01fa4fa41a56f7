// SPDX-License-Identifier: MIT
/* gchint_get_policy(): reads a frequency policy from the information page. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "doorbell.h"

#define TRIES		 100
#define POLICY_SIZE_VER0 40

_Static_assert(sizeof(struct gchint_policy) == POLICY_SIZE_VER0, "first version");

/* The entry for the policy of @cpu; NULL if it has none. */
static const struct gchint_info_policy *entry_of(const struct gchint_info *info, const void *cpus,
						 int cpu)
{
	const struct gchint_info_policy *entry = cpu_policy_entry(info, cpus, cpu);
	uint8_t index;

	if (entry)
		return entry;
	index = load_relaxed(&info->cpu_policy[cpu]);
	return index < GCHINT_INFO_POLICIES ? &info->policy[index] : NULL;
}

/* Partner: the kernel makes the generation odd, writes, and makes it even. */
static int read_entry(const struct gchint_info *info, const void *cpus, int cpu,
		      struct gchint_info_policy *entry)
{
	const struct gchint_info_policy *from;
	uint32_t before;
	int try;

	for (try = 0; try < TRIES; try++) {
		before = load_acquire(&info->generation);
		if (before & 1)
			continue;
		from = entry_of(info, cpus, cpu);
		if (from)
			memcpy(entry, from, sizeof(*entry));
		fence_acquire();
		if (load_relaxed(&info->generation) != before)
			continue;
		if (!from || !(entry->flags & GCHINT_POLICY_PRESENT))
			return -ENOENT;
		/* The one word that changes without the generation. */
		entry->cur_khz = load_relaxed(&from->cur_khz);
		return 0;
	}
	return -EAGAIN;
}

static int cpu_exists(const struct gchint_info *info, const void *cpus, int cpu)
{
	return cpu >= 0 && (uint32_t)cpu < (cpus ? load_relaxed(&info->nr_cpus) : GCHINT_INFO_CPUS);
}

int gchint_get_policy(const struct gchint_session *s, int cpu, struct gchint_policy *policy)
{
	const struct gchint_info *info = s ? load_relaxed(&s->info) : NULL;
	const void *cpus = s ? load_relaxed(&s->cpus) : NULL;
	struct gchint_info_policy entry;
	int saved = errno, ret;
	uint32_t size;

	if (!policy || policy->size < POLICY_SIZE_VER0)
		return -EINVAL;
	if (!info || backend_of(s) != GCHINT_BACKEND_DEVICE)
		return -ENODEV;
	if (cpu == -1) {
		cpu = current_cpu();
		errno = saved;
	}
	if (!cpu_exists(info, cpus, cpu))
		return -EINVAL;
	ret = read_entry(info, cpus, cpu, &entry);
	if (ret)
		return ret;
	/* The structure of a newer caller is longer; its further fields are zero. */
	size = policy->size;
	memset(policy, 0, size);
	policy->size = size;
	policy->cpu = (uint32_t)cpu;
	memcpy(policy->governor, entry.governor, sizeof(policy->governor));
	policy->governor[sizeof(policy->governor) - 1] = '\0';
	policy->cur_khz = entry.cur_khz;
	policy->max_khz = entry.max_khz;
	policy->hw_max_khz = entry.hw_max_khz;
	policy->flags = entry.flags;
	return 0;
}
