/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linux 6.9 moved the performance states behind RCU.
 */
#ifndef _GCHINT_COMPAT_ENERGY_MODEL_H
#define _GCHINT_COMPAT_ENERGY_MODEL_H

#include <linux/energy_model.h>
#include <linux/rcupdate.h>
#include <linux/version.h>

#ifdef CONFIG_ENERGY_MODEL
/*
 * Power at exactly @khz, in microwatts or on an abstract scale; 0 if it is not
 * in the energy model, or if that has no power.
 */
static inline u32 gchint_em_power(unsigned int cpu, u32 khz, bool *microwatts)
{
	struct em_perf_domain *pd = em_cpu_get(cpu);
	struct em_perf_state *state;
	u32 power = 0;
	int i;

	if (!pd || em_is_artificial(pd))
		return 0;
	*microwatts = pd->flags & EM_PERF_DOMAIN_MICROWATTS;

	rcu_read_lock();
#if KERNEL_VERSION(6, 9, 0) > LINUX_VERSION_CODE
	state = pd->table;
#else
	state = em_perf_state_from_pd(pd);
#endif
	for (i = 0; i < pd->nr_perf_states; i++)
		if (state[i].frequency == khz)
			power = min_t(unsigned long, state[i].power, U32_MAX);
	rcu_read_unlock();
	return power;
}
#else
static inline u32 gchint_em_power(unsigned int cpu, u32 khz, bool *microwatts)
{
	return 0;
}
#endif

static inline bool gchint_em_exists(unsigned int cpu)
{
	return em_cpu_get(cpu);
}

#endif /* _GCHINT_COMPAT_ENERGY_MODEL_H */
