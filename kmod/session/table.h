/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What user space can read about policies, in two forms: a table in the
 * information page with GCHINT_INFO_POLICIES entries, and an entry for each CPU
 * in a mapping of its own. Pure, as the files of model/ are.
 */
#ifndef _GCHINT_TABLE_H
#define _GCHINT_TABLE_H

#include "model/pure.h"

/*
 * A draft of both forms. The caller serialises. Initially all is zero but @cpu
 * and @nr_cpus; gchint_table_begin() comes first.
 */
struct gchint_table {
	u32 nr_cpus;
	struct gchint_info_cpu *cpu; /* all zero for a CPU without a policy */
	u32 nr; /* assigned entries of the page; each keeps its policy */
	u32 first[GCHINT_INFO_POLICIES]; /* first CPU of each entry's policy */
	struct gchint_info_policy policy[GCHINT_INFO_POLICIES];
	/* Entry of each CPU, GCHINT_INFO_UNLISTED or GCHINT_INFO_NO_POLICY. */
	u8 of_cpu[GCHINT_INFO_CPUS];
};

/* Whether the draft has a policy for the CPU. */
static inline bool gchint_table_has(const struct gchint_table *t, u32 cpu)
{
	return cpu < t->nr_cpus && t->cpu[cpu].policy.flags;
}

void gchint_table_begin(struct gchint_table *t);
void gchint_table_set_cpu(struct gchint_table *t, u32 cpu, u32 first,
			  const struct gchint_info_policy *policy);
bool gchint_table_is_published(const struct gchint_table *t,
			       const struct gchint_info *info,
		       const struct gchint_info_cpu *cpus);
void gchint_table_publish(const struct gchint_table *t, struct gchint_info *info,
			  struct gchint_info_cpu *cpus);

/*
 * Rounds up to an eighth of the highest, or 0 if that is unknown: every user
 * can poll the page, and exact frequencies would reveal what other users run.
 */
static inline u32 gchint_table_round_khz(u32 khz, u32 hw_max_khz)
{
	u64 eighths;

	if (!hw_max_khz)
		return 0;
	eighths = div_u64((u64)khz * 8 + hw_max_khz - 1, hw_max_khz);
	return (u32)min_t(u64, div_u64(eighths * hw_max_khz, 8), U32_MAX);
}

#endif /* _GCHINT_TABLE_H */
