// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper of the test rig: a cpufreq driver without governors.
 *
 * It replaces intel_pstate in active mode with HWP, which no emulator has: the
 * hardware chooses within its limits. Like intel_pstate_set_policy() and
 * intel_pstate_hwp_set() (drivers/cpufreq/intel_pstate.c, 6.1) it turns the
 * limits of the policy into the lowest and highest level of performance, makes
 * both the highest under "performance", and sets the energy preference: 0
 * there, else 128. The fields of MSR_HWP_REQUEST are words in memory that the
 * host reads, a page per CPU, laid out as in acpi/cppc.dsl; desired stays 0,
 * which leaves the choice to the hardware.
 */
#include <linux/cpufreq.h>
#include <linux/io.h>
#include <linux/module.h>

/* boards/x86-setpolicy: the machine's NVDIMM. */
#define REGISTERS	0x100000000ULL
#define REG_MIN		0x04
#define REG_MAX		0x08
#define REG_EPP		0x14

#define LEVEL_KHZ	15000	/* a level of performance */
#define LOWEST		20
#define HIGHEST		140
#define HIGHEST_BASE	100	/* without turbo */

#define EPP_PERFORMANCE		0
#define EPP_BALANCE_PERFORMANCE	128

static void __iomem *page(struct cpufreq_policy *policy)
{
	return policy->driver_data;
}

static int board_init(struct cpufreq_policy *policy)
{
	void __iomem *words = ioremap(REGISTERS + policy->cpu * PAGE_SIZE, PAGE_SIZE);

	if (!words)
		return -ENOMEM;
	policy->driver_data = words;
	policy->cpuinfo.min_freq = LOWEST * LEVEL_KHZ;
	policy->cpuinfo.max_freq = HIGHEST * LEVEL_KHZ;
	policy->min = policy->cpuinfo.min_freq;
	policy->max = policy->cpuinfo.max_freq;
	policy->policy = CPUFREQ_POLICY_POWERSAVE;
	return 0;
}

static int board_exit(struct cpufreq_policy *policy)
{
	iounmap(page(policy));
	return 0;
}

static int board_verify(struct cpufreq_policy_data *policy)
{
	cpufreq_verify_within_cpu_limits(policy);
	return 0;
}

/* Called by cpufreq whenever limits or policy have changed; may sleep. */
static int board_setpolicy(struct cpufreq_policy *policy)
{
	u32 high = policy->max / LEVEL_KHZ;
	u32 low = DIV_ROUND_UP(policy->min, LEVEL_KHZ);
	u32 epp = EPP_BALANCE_PERFORMANCE;

	if (policy->policy == CPUFREQ_POLICY_PERFORMANCE) {
		low = high;
		epp = EPP_PERFORMANCE;
	}
	writel(high, page(policy) + REG_MAX);
	writel(min(low, high), page(policy) + REG_MIN);
	writel(epp, page(policy) + REG_EPP);
	return 0;
}

/*
 * As a write to intel_pstate/no_turbo does: the hardware's highest frequency changes
 * while policies are in use (intel_pstate_update_max_freq()).
 */
static bool no_turbo;

static int set_no_turbo(const char *val, const struct kernel_param *kp)
{
	unsigned int cpu, highest;
	int ret = param_set_bool(val, kp);

	if (ret)
		return ret;
	highest = (no_turbo ? HIGHEST_BASE : HIGHEST) * LEVEL_KHZ;
	for_each_online_cpu(cpu) {
		struct cpufreq_policy *policy = cpufreq_cpu_get(cpu);

		if (!policy)
			continue;
		down_write(&policy->rwsem);
		policy->cpuinfo.max_freq = highest;
		refresh_frequency_limits(policy);
		up_write(&policy->rwsem);
		cpufreq_cpu_put(policy);
	}
	return 0;
}

static const struct kernel_param_ops no_turbo_ops = {
	.set = set_no_turbo,
	.get = param_get_bool,
};
module_param_cb(no_turbo, &no_turbo_ops, &no_turbo, 0644);

static struct cpufreq_driver driver = {
	.name = "setpolicy-board",
	.flags = CPUFREQ_CONST_LOOPS,
	.init = board_init,
	.exit = board_exit,
	.verify = board_verify,
	.setpolicy = board_setpolicy,
};

static int __init setpolicy_board_init(void)
{
	return cpufreq_register_driver(&driver);
}

static void __exit setpolicy_board_exit(void)
{
	cpufreq_unregister_driver(&driver);
}

module_init(setpolicy_board_init);
module_exit(setpolicy_board_exit);
MODULE_DESCRIPTION("A cpufreq driver that takes no governor");
MODULE_LICENSE("GPL");
