/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel tells of policies, in both its forms: a table in the
 * information page, which has room for GCHINT_INFO_POLICIES, and an entry a CPU in
 * a mapping of its own. Pure, as the files of policy/ are.
 */
#ifndef _GCHINT_TABLE_H
#define _GCHINT_TABLE_H

#include "policy/pure.h"

/**
 * struct gchint_table - what is to be told
 * @nr_cpus: entries of @cpu
 * @cpu: all zero for a CPU without a policy
 * @nr: entries of the page ever given; one that is given stays with its policy
 * @first: first CPU of the policy that each stands for
 * @policy: the page's entries
 * @of_cpu: entry of each CPU, GCHINT_INFO_UNLISTED or GCHINT_INFO_NO_POLICY
 *
 * The caller serialises. Begin with all zero but @cpu and @nr_cpus, and
 * gchint_table_begin().
 */
struct gchint_table {
	u32 nr_cpus;
	struct gchint_info_cpu *cpu;
	u32 nr;
	u32 first[GCHINT_INFO_POLICIES];
	struct gchint_info_policy policy[GCHINT_INFO_POLICIES];
	u8 of_cpu[GCHINT_INFO_CPUS];
};

/**
 * gchint_table_has() - does a CPU have a policy already?
 * @t: table
 * @cpu: the CPU
 *
 * Return: whether it was put since gchint_table_begin().
 */
static inline bool gchint_table_has(const struct gchint_table *t, u32 cpu)
{
	return cpu < t->nr_cpus && t->cpu[cpu].policy.flags;
}

void gchint_table_begin(struct gchint_table *t);
void gchint_table_put(struct gchint_table *t, u32 cpu, u32 first,
		      const struct gchint_info_policy *policy);
bool gchint_table_told(const struct gchint_table *t,
		       const struct gchint_info *info,
		       const struct gchint_info_cpu *cpus);
void gchint_table_tell(const struct gchint_table *t, struct gchint_info *info,
		       struct gchint_info_cpu *cpus);

/**
 * gchint_table_rough() - a frequency as any user may watch it
 * @khz: the frequency
 * @hw_max_khz: highest of the hardware, 0 unknown
 *
 * Frequencies tell of what runs, and the page tells without a system call.
 *
 * Return: rounded up to an eighth of the highest; 0 if that is unknown
 */
static inline u32 gchint_table_rough(u32 khz, u32 hw_max_khz)
{
	u64 eighths;

	if (!hw_max_khz)
		return 0;
	eighths = div_u64((u64)khz * 8 + hw_max_khz - 1, hw_max_khz);
	return (u32)min_t(u64, div_u64(eighths * hw_max_khz, 8), U32_MAX);
}

#endif /* _GCHINT_TABLE_H */
