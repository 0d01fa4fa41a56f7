/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Linux 6.9 moved the performance states behind RCU, so that they can change at
 * run time.
 */
#ifndef _GCHINT_COMPAT_ENERGY_MODEL_H
#define _GCHINT_COMPAT_ENERGY_MODEL_H

#include <linux/energy_model.h>
#include <linux/rcupdate.h>
#include <linux/version.h>

#ifdef CONFIG_ENERGY_MODEL
/**
 * gchint_em_power - power of a CPU at a frequency
 * @cpu: the CPU
 * @khz: the frequency, exactly one of its energy model's
 * @microwatts: out: the model is in microwatts, not on an abstract scale
 *
 * Return: its power; 0 if there is no model, or none of power.
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

/**
 * gchint_em_known - is there an energy model of a CPU?
 * @cpu: the CPU
 *
 * Return: whether the scheduler has what it needs to place by energy there.
 */
static inline bool gchint_em_known(unsigned int cpu)
{
	return em_cpu_get(cpu);
}
#else
static inline u32 gchint_em_power(unsigned int cpu, u32 khz, bool *microwatts)
{
	return 0;
}

static inline bool gchint_em_known(unsigned int cpu)
{
	return false;
}
#endif

#endif /* _GCHINT_COMPAT_ENERGY_MODEL_H */
