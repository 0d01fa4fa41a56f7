// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper of the test rig for the Versatile Express board.
 *
 * cpufreq-dt refuses machines that are compatible with arm,vexpress, since
 * those usually have a driver of their own: register its platform device by
 * hand. Oscillators that firmware would have started come up at 0 Hz in the
 * emulator, which no driver expects: start them at their lowest rate. Also show
 * in debugfs what the oscillator of each CPU holds, read from the system
 * registers at each access, under the lock that the clock driver takes for them
 * too: krait-board/cpuN, Hz.
 */
#include <linux/clk.h>
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/of_platform.h>
#include <linux/platform_device.h>
#include <linux/regmap.h>

#define KRAIT_CPUS 4

static struct platform_device *cpufreq_device;
static struct platform_device *oscillator[KRAIT_CPUS];
static struct dentry *directory;

static int rate_show(void *data, u64 *hz)
{
	struct platform_device *osc = data;
	struct regmap *registers = dev_get_regmap(&osc->dev, NULL);
	unsigned int value;
	int ret;

	if (!registers)
		return -ENODEV;
	ret = regmap_read(registers, 0, &value);
	if (ret)
		return ret;
	*hz = value;
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(rate_fops, rate_show, NULL, "%llu\n");

static void put_oscillators(void)
{
	int cpu;

	for (cpu = 0; cpu < KRAIT_CPUS; cpu++)
		if (oscillator[cpu])
			put_device(&oscillator[cpu]->dev);
}

static struct platform_device *find_oscillator(int cpu)
{
	struct device_node *node = of_get_cpu_node(cpu, NULL);
	struct device_node *clock = of_parse_phandle(node, "clocks", 0);
	struct platform_device *osc = clock ? of_find_device_by_node(clock) : NULL;

	of_node_put(clock);
	of_node_put(node);
	return osc;
}

static int start_oscillator(int cpu)
{
	struct device *dev = get_cpu_device(cpu);
	struct clk *clk;
	int ret;

	if (!dev)
		return -ENODEV;
	clk = clk_get(dev, NULL);
	if (IS_ERR(clk))
		return PTR_ERR(clk);
	ret = clk_set_rate(clk, clk_round_rate(clk, 1));
	clk_put(clk);
	return ret;
}

static int __init krait_board_init(void)
{
	char name[8];
	int cpu, ret;

	for (cpu = 0; cpu < KRAIT_CPUS; cpu++) {
		/* A board of the lab may have fewer. */
		if (!cpu_possible(cpu))
			break;
		oscillator[cpu] = find_oscillator(cpu);
		if (!oscillator[cpu]) {
			pr_err("krait-board: no oscillator for cpu%d\n", cpu);
			ret = -ENODEV;
			goto err_put;
		}
		ret = start_oscillator(cpu);
		if (ret) {
			pr_err("krait-board: no clock for cpu%d: %d\n", cpu, ret);
			goto err_put;
		}
	}
	cpufreq_device = platform_device_register_simple("cpufreq-dt", -1, NULL, 0);
	if (IS_ERR(cpufreq_device)) {
		ret = PTR_ERR(cpufreq_device);
		goto err_put;
	}
	directory = debugfs_create_dir("krait-board", NULL);
	for (cpu = 0; cpu < KRAIT_CPUS && oscillator[cpu]; cpu++) {
		snprintf(name, sizeof(name), "cpu%d", cpu);
		debugfs_create_file_unsafe(name, 0400, directory, oscillator[cpu],
					   &rate_fops);
	}
	return 0;

err_put:
	put_oscillators();
	return ret;
}

static void __exit krait_board_exit(void)
{
	debugfs_remove(directory);
	platform_device_unregister(cpufreq_device);
	put_oscillators();
}

module_init(krait_board_init);
module_exit(krait_board_exit);
MODULE_DESCRIPTION("Four Krait cores on a Versatile Express board");
MODULE_LICENSE("GPL");
