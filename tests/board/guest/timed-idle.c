// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper of the lab's timed board: cpuidle.
 *
 * The emulated machine has WFI alone. The state that a CPU means is written,
 * before each WFI, to the motherboard's non-volatile flags, where the lab's
 * plugin reads it: 0 is WFI, N the Nth of the CPU's idle states in the device
 * tree. The board file defines the cost and the savings of a state.
 *
 * CPUs whose device tree names the same states share a driver.
 */
#include <linux/cpuidle.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/of_address.h>

#include <asm/barrier.h>

#define NVFLAGSSET	0x38

struct timed_idle {
	struct cpuidle_driver driver;
	struct cpumask cpus;
	struct device_node *first;	/* first idle state except WFI, or NULL */
};

static void __iomem *sysreg;
static struct timed_idle kinds[NR_CPUS];
static unsigned int types_used;

static int enter(struct cpuidle_device *dev, struct cpuidle_driver *drv, int index)
{
	writel_relaxed(index, sysreg + NVFLAGSSET);
	dsb();
	wfi();
	return index;
}

static void add_wfi(struct cpuidle_driver *drv)
{
	struct cpuidle_state *state = &drv->states[drv->state_count++];

	state->enter = enter;
	state->exit_latency = 1;
	state->target_residency = 1;
	strscpy(state->name, "WFI", sizeof(state->name));
	strscpy(state->desc, "wait for interrupt", sizeof(state->desc));
}

static int add_state(struct cpuidle_driver *drv, struct device_node *node)
{
	struct cpuidle_state *state;
	const char *name;
	int ret;

	if (drv->state_count == CPUIDLE_STATE_MAX)
		return -E2BIG;
	state = &drv->states[drv->state_count];
	ret = of_property_read_u32(node, "exit-latency-us", &state->exit_latency);
	if (!ret)
		ret = of_property_read_u32(node, "min-residency-us",
					   &state->target_residency);
	if (!ret)
		ret = of_property_read_string(node, "idle-state-name", &name);
	if (ret)
		return ret;
	state->enter = enter;
	strscpy(state->name, name, sizeof(state->name));
	strscpy(state->desc, name, sizeof(state->desc));
	drv->state_count++;
	return 0;
}

/*
 * The type of CPUs whose first idle state is @first, a new one if there is
 * none.
 */
static struct timed_idle *kind_of(struct device_node *first)
{
	unsigned int i;

	for (i = 0; i < types_used; i++)
		if (kinds[i].first == first)
			return &kinds[i];
	kinds[i].first = first;
	types_used++;
	return &kinds[i];
}

static int describe(unsigned int cpu)
{
	struct device_node *core = of_get_cpu_node(cpu, NULL);
	struct device_node *first = of_parse_phandle(core, "cpu-idle-states", 0);
	struct timed_idle *kind = kind_of(first);
	struct device_node *state;
	int i, ret = 0;

	cpumask_set_cpu(cpu, &kind->cpus);
	if (!kind->driver.state_count) {
		kind->driver.name = "timed_idle";
		kind->driver.owner = THIS_MODULE;
		kind->driver.cpumask = &kind->cpus;
		add_wfi(&kind->driver);
		for (i = 0; !ret; i++) {
			state = of_parse_phandle(core, "cpu-idle-states", i);
			if (!state)
				break;
			ret = add_state(&kind->driver, state);
			of_node_put(state);
		}
	}
	of_node_put(first);
	of_node_put(core);
	return ret;
}

static void forget(void)
{
	while (types_used)
		cpuidle_unregister(&kinds[--types_used].driver);
	iounmap(sysreg);
}

static int __init timed_idle_init(void)
{
	struct device_node *node = of_find_compatible_node(NULL, NULL, "arm,vexpress-sysreg");
	unsigned int cpu, described, i;
	int ret = 0;

	sysreg = node ? of_iomap(node, 0) : NULL;
	of_node_put(node);
	if (!sysreg)
		return -ENODEV;
	for_each_possible_cpu(cpu) {
		ret = describe(cpu);
		if (ret) {
			iounmap(sysreg);
			return ret;
		}
	}
	described = types_used;
	for (i = 0; i < described; i++) {
		ret = cpuidle_register(&kinds[i].driver, NULL);
		if (ret) {
			types_used = i;
			forget();
			return ret;
		}
	}
	return 0;
}

static void __exit timed_idle_exit(void)
{
	forget();
}

module_init(timed_idle_init);
module_exit(timed_idle_exit);
MODULE_DESCRIPTION("Idle states of the lab's timed board");
MODULE_LICENSE("GPL");
