// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper of the lab's timed board: the cores' clocks.
 *
 * They are the tile's oscillators, behind the motherboard's configuration
 * registers. The kernel's own driver for those sleeps a scheduler tick or two
 * at each access, since the real microcontroller is slow: a change of frequency
 * would take some 20 ms, a thousand times what the modelled boards need. This
 * driver writes the same registers without sleeping; the board file defines the
 * cost of a switch. As in krait-board, cpufreq-dt's device is registered by
 * hand, and debugfs shows what the oscillator of each CPU holds, read from the
 * registers at each access: timed-board/cpuN, Hz.
 */
#include <linux/clk-provider.h>
#include <linux/debugfs.h>
#include <linux/io.h>
#include <linux/iopoll.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/of_address.h>
#include <linux/platform_device.h>
#include <linux/spinlock.h>

#define CFGDATA		0xa0
#define CFGCTRL		0xa4
#define CFGSTAT		0xa8
#define CFGCTRL_START	BIT(31)
#define CFGCTRL_WRITE	BIT(30)
#define CFGCTRL_OSC	BIT(20)
#define CFGCTRL_TILE	BIT(16)
#define CFGSTAT_DONE	BIT(0)
#define CFGSTAT_ERROR	BIT(1)

struct timed_clock {
	struct clk_hw hw;
	u32 device;
	unsigned long min, max;
};

static struct dentry *directory;
static void __iomem *sysreg;
static DEFINE_SPINLOCK(sysreg_lock);	/* one transaction of three registers */
static struct platform_device *cpufreq_device;

static int transact(u32 device, u32 direction, u32 *value)
{
	unsigned long flags;
	u32 status;
	int ret;

	spin_lock_irqsave(&sysreg_lock, flags);
	if (direction)
		writel(*value, sysreg + CFGDATA);
	writel(0, sysreg + CFGSTAT);
	writel(CFGCTRL_START | direction | CFGCTRL_OSC | CFGCTRL_TILE | device,
	       sysreg + CFGCTRL);
	ret = readl_poll_timeout_atomic(sysreg + CFGSTAT, status,
					status & (CFGSTAT_DONE | CFGSTAT_ERROR), 1, 1000);
	if (!ret && (status & CFGSTAT_ERROR))
		ret = -EIO;
	if (!ret && !direction)
		*value = readl(sysreg + CFGDATA);
	spin_unlock_irqrestore(&sysreg_lock, flags);
	return ret;
}

static struct timed_clock *to_timed(struct clk_hw *hw)
{
	return container_of(hw, struct timed_clock, hw);
}

static unsigned long recalc_rate(struct clk_hw *hw, unsigned long parent)
{
	u32 rate;

	return transact(to_timed(hw)->device, 0, &rate) ? 0 : rate;
}

/* Not round_rate: its signed result ends at 2147 MHz. */
static int determine_rate(struct clk_hw *hw, struct clk_rate_request *req)
{
	struct timed_clock *clock = to_timed(hw);

	req->rate = clamp(req->rate, clock->min, clock->max);
	return 0;
}

static int set_rate(struct clk_hw *hw, unsigned long rate, unsigned long parent)
{
	u32 value = rate;

	return transact(to_timed(hw)->device, CFGCTRL_WRITE, &value);
}

static const struct clk_ops ops = {
	.recalc_rate = recalc_rate,
	.determine_rate = determine_rate,
	.set_rate = set_rate,
};

static int probe(struct platform_device *pdev)
{
	struct clk_init_data init = { .ops = &ops, .name = dev_name(&pdev->dev) };
	struct timed_clock *clock;
	u32 value, range[2];
	int ret;

	clock = devm_kzalloc(&pdev->dev, sizeof(*clock), GFP_KERNEL);
	if (!clock)
		return -ENOMEM;
	ret = of_property_read_u32(pdev->dev.of_node, "gchint,oscillator", &clock->device);
	if (!ret)
		ret = of_property_read_u32_array(pdev->dev.of_node, "freq-range", range, 2);
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "device tree lacks a property\n");
	clock->min = range[0];
	clock->max = range[1];
	/* Firmware would have started it. */
	value = range[0];
	ret = transact(clock->device, CFGCTRL_WRITE, &value);
	if (ret)
		return dev_err_probe(&pdev->dev, ret, "no oscillator\n");
	clock->hw.init = &init;
	ret = devm_clk_hw_register(&pdev->dev, &clock->hw);
	if (ret)
		return ret;
	return devm_of_clk_add_hw_provider(&pdev->dev, of_clk_hw_simple_get, &clock->hw);
}

/*
 * No MODULE_DEVICE_TABLE: it is loaded by name, and Debian's modpost, which is
 * built for 64 bits, refuses one of 32.
 */
static const struct of_device_id match[] = {
	{ .compatible = "gchint,timed-clock" },
	{ }
};

static struct platform_driver driver = {
	.probe = probe,
	.driver = { .name = "timed-clock", .of_match_table = match, .suppress_bind_attrs = true },
};

static int rate_show(void *data, u64 *hz)
{
	u32 value;
	int ret = transact((uintptr_t)data, 0, &value);

	if (!ret)
		*hz = value;
	return ret;
}
DEFINE_DEBUGFS_ATTRIBUTE(rate_fops, rate_show, NULL, "%llu\n");

static void show(void)
{
	unsigned int cpu;

	directory = debugfs_create_dir("timed-board", NULL);
	for_each_possible_cpu(cpu) {
		struct device_node *core = of_get_cpu_node(cpu, NULL);
		struct device_node *clock = of_parse_phandle(core, "clocks", 0);
		char name[8];
		u32 value;

		if (!of_property_read_u32(clock, "gchint,oscillator", &value)) {
			snprintf(name, sizeof(name), "cpu%u", cpu);
			debugfs_create_file_unsafe(name, 0400, directory,
						   (void *)(uintptr_t)value,
						   &rate_fops);
		}
		of_node_put(clock);
		of_node_put(core);
	}
}

static int __init timed_board_init(void)
{
	struct device_node *node = of_find_compatible_node(NULL, NULL, "arm,vexpress-sysreg");
	int ret;

	sysreg = node ? of_iomap(node, 0) : NULL;
	of_node_put(node);
	if (!sysreg)
		return -ENODEV;
	ret = platform_driver_register(&driver);
	if (ret)
		goto err_unmap;
	cpufreq_device = platform_device_register_simple("cpufreq-dt", -1, NULL, 0);
	if (IS_ERR(cpufreq_device)) {
		ret = PTR_ERR(cpufreq_device);
		goto err_driver;
	}
	show();
	return 0;

err_driver:
	platform_driver_unregister(&driver);
err_unmap:
	iounmap(sysreg);
	return ret;
}

static void __exit timed_board_exit(void)
{
	debugfs_remove(directory);
	platform_device_unregister(cpufreq_device);
	platform_driver_unregister(&driver);
	iounmap(sysreg);
}

module_init(timed_board_init);
module_exit(timed_board_exit);
MODULE_DESCRIPTION("Clocks of the lab's timed board");
MODULE_LICENSE("GPL");
