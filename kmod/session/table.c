// SPDX-License-Identifier: GPL-2.0-only
#include "table.h"

/* Starts a new draft without policies; entries of the page stay assigned. */
void gchint_table_begin(struct gchint_table *t)
{
	memset(t->cpu, 0, t->nr_cpus * sizeof(*t->cpu));
	memset(t->policy, 0, sizeof(t->policy));
	memset(t->of_cpu, GCHINT_INFO_NO_POLICY, sizeof(t->of_cpu));
}

/* The page's entry of a policy, or GCHINT_INFO_UNLISTED if all are assigned. */
static u8 table_assign_entry(struct gchint_table *t, u32 first)
{
	u32 i;

	for (i = 0; i < t->nr; i++)
		if (t->first[i] == first)
			return (u8)i;
	if (t->nr == GCHINT_INFO_POLICIES)
		return GCHINT_INFO_UNLISTED;
	t->first[t->nr] = first;
	return (u8)t->nr++;
}

/*
 * @first: first of the CPUs that the policy may have. The policy's flags are
 * not 0, and its cur_khz is not used.
 */
void gchint_table_set_cpu(struct gchint_table *t, u32 cpu, u32 first,
			  const struct gchint_info_policy *policy)
{
	u8 i = table_assign_entry(t, first);

	if (cpu < t->nr_cpus) {
		t->cpu[cpu].policy = *policy;
		t->cpu[cpu].policy_cpu = first;
	}
	if (i < GCHINT_INFO_POLICIES)
		t->policy[i] = *policy;
	if (cpu < GCHINT_INFO_CPUS)
		t->of_cpu[cpu] = i;
}

static bool policy_is_same(const struct gchint_info_policy *a,
			   const struct gchint_info_policy *b)
{
	return !memcmp(a->governor, b->governor, sizeof(a->governor)) &&
	       a->max_khz == b->max_khz && a->hw_max_khz == b->hw_max_khz &&
	       a->flags == b->flags;
}

/* Whether gchint_table_publish() would change nothing. */
bool gchint_table_is_published(const struct gchint_table *t,
			       const struct gchint_info *info,
		       const struct gchint_info_cpu *cpus)
{
	u32 i;

	if (info->nr_policies != t->nr ||
	    memcmp(info->cpu_policy, t->of_cpu, sizeof(t->of_cpu)))
		return false;
	for (i = 0; i < t->nr; i++)
		if (!policy_is_same(&t->policy[i], &info->policy[i]))
			return false;
	for (i = 0; i < t->nr_cpus; i++)
		if (!policy_is_same(&t->cpu[i].policy, &cpus[i].policy) ||
		    t->cpu[i].policy_cpu != cpus[i].policy_cpu)
			return false;
	return true;
}

static void policy_publish(const struct gchint_info_policy *from,
			   struct gchint_info_policy *to)
{
	memcpy(to->governor, from->governor, sizeof(to->governor));
	WRITE_ONCE(to->max_khz, from->max_khz);
	WRITE_ONCE(to->hw_max_khz, from->hw_max_khz);
	WRITE_ONCE(to->flags, from->flags);
}

/*
 * Writes the draft where user space reads it, the page's generation odd. Leaves
 * cur_khz alone, which the frequency probe stores at any time.
 */
void gchint_table_publish(const struct gchint_table *t, struct gchint_info *info,
			  struct gchint_info_cpu *cpus)
{
	u32 i;

	for (i = 0; i < t->nr; i++)
		policy_publish(&t->policy[i], &info->policy[i]);
	memcpy(info->cpu_policy, t->of_cpu, sizeof(t->of_cpu));
	WRITE_ONCE(info->nr_policies, t->nr);
	for (i = 0; i < t->nr_cpus; i++) {
		policy_publish(&t->cpu[i].policy, &cpus[i].policy);
		WRITE_ONCE(cpus[i].policy_cpu, t->cpu[i].policy_cpu);
	}
}
