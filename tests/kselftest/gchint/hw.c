// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hw.h"
#include "registers.h"

#define CPUFREQ "/sys/devices/system/cpu/cpufreq/policy0"

/* read_text - first line of a file; its length or -errno */
static int read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return n;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return n;
}

static long read_number(const char *path)
{
	char text[64], *end;
	long value;
	int n = read_text(path, text, sizeof(text));

	if (n < 0)
		return n;
	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text)
		return -EIO;
	return value;
}

static bool driver_is(const char *name)
{
	char text[64];

	return read_text(CPUFREQ "/scaling_driver", text, sizeof(text)) > 0 &&
	       !strcmp(text, name);
}

/*
 * q35: the P-state register of each CPU is the scratch register of a UART and
 * holds the frequency in units of 60 MHz (see tests/board/acpi/pss.dsl).
 */
static const int x86_port[] = { 0x3ff, 0x2ff, 0x3ef, 0x2ef };
static int x86_fd = -1;

static int x86_open(void)
{
	if (!driver_is("acpi-cpufreq"))
		return -ENODEV;
	x86_fd = open("/dev/port", O_RDONLY | O_CLOEXEC);
	return x86_fd < 0 ? -errno : 0;
}

static long x86_khz(int cpu)
{
	unsigned char value;

	if (cpu < 0 || cpu >= (int)(sizeof(x86_port) / sizeof(*x86_port)))
		return -EINVAL;
	if (pread(x86_fd, &value, 1, x86_port[cpu]) != 1)
		return -EIO;
	return value * 60000L;
}

/*
 * i.MX6Q: the cores' clock is computed from the clock controller's registers
 * (i.MX 6Dual/6Quad Reference Manual, chapters CCM and CCM_ANALOG). The supply
 * of the cores is the anatop regulator vddarm, whose sysfs value is read from
 * its register.
 */
#define IMX_CCM		0x020c4000
#define IMX_CCSR	(0x0c / 4)	/* clock switcher */
#define IMX_CACRR	(0x10 / 4)	/* divider of the cores */
#define IMX_ANALOG	0x020c8000
#define IMX_PLL_ARM	(0x00 / 4)
#define IMX_PFD_528	(0x100 / 4)
#define IMX_OSC_KHZ	24000L

static const volatile uint32_t *imx_ccm, *imx_analog;

static const volatile uint32_t *map_registers(off_t address)
{
	int fd = open("/dev/mem", O_RDONLY | O_SYNC | O_CLOEXEC);
	void *map;

	if (fd < 0)
		return NULL;
	map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, address);
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

static char imx_uv_path[300];

static int imx_open(void)
{
	struct dirent *entry;
	DIR *directory;

	if (!driver_is("imx6q-cpufreq"))
		return -ENODEV;
	directory = opendir("/sys/class/regulator");
	if (!directory)
		return -errno;
	while ((entry = readdir(directory))) {
		char path[300], name[32];

		snprintf(path, sizeof(path), "/sys/class/regulator/%.200s/name",
			 entry->d_name);
		if (read_text(path, name, sizeof(name)) > 0 &&
		    !strcmp(name, "vddarm")) {
			snprintf(imx_uv_path, sizeof(imx_uv_path),
				 "/sys/class/regulator/%.200s/microvolts",
				 entry->d_name);
			break;
		}
	}
	closedir(directory);
	imx_ccm = map_registers(IMX_CCM);
	imx_analog = map_registers(IMX_ANALOG);
	return imx_uv_path[0] && imx_ccm && imx_analog ? 0 : -ENODEV;
}

static long imx_khz(int cpu)
{
	uint32_t ccsr = imx_ccm[IMX_CCSR];
	uint32_t pll = imx_analog[IMX_PLL_ARM];
	long khz;

	if (!(ccsr & 1 << 2)) {			/* PLL1 itself */
		khz = pll & 1 << 16 ? IMX_OSC_KHZ :
			IMX_OSC_KHZ * (pll & 0x7f) / 2;
	} else if (ccsr & 1 << 8) {		/* PFD 2 of PLL2, 528 MHz */
		uint32_t frac = imx_analog[IMX_PFD_528] >> 16 & 0x3f;

		if (!frac)
			return -EIO;
		khz = 528000L * 18 / frac;
	} else {
		khz = IMX_OSC_KHZ;
	}
	return khz / ((imx_ccm[IMX_CACRR] & 7) + 1);
}

static long imx_uv(int cpu)
{
	return read_number(imx_uv_path);
}

/*
 * Versatile Express: a helper module of the rig asks the system registers for
 * the oscillator of each CPU, through the kernel's own lock for them. That
 * takes a transaction of some ms, during which the driver must wait.
 *
 * Those registers keep the command and the value of the last transaction (ARM
 * DUI 0447, SYS_CFGCTRL and SYS_CFGDATA): while it concerned the oscillator in
 * question, the value can be read without a transaction.
 */
#define VEXPRESS_SYSREGS	0x1c010000
#define VEXPRESS_CFGDATA	(0xa0 / 4)
#define VEXPRESS_CFGCTRL	(0xa4 / 4)
#define VEXPRESS_TARGET		0x03f30fffu	/* function, site, device */
#define VEXPRESS_OSC(n)		(1u << 20 | 1u << 16 | (n))

static const volatile uint32_t *vexpress_regs;

static int vexpress_open(void)
{
	if (!driver_is("cpufreq-dt"))
		return -ENODEV;
	vexpress_regs = map_registers(VEXPRESS_SYSREGS);
	if (!vexpress_regs)
		return -ENODEV;
	return access("/sys/kernel/debug/krait-board/cpu0", R_OK) ? -errno : 0;
}

static long debugfs_khz(const char *directory, int cpu)
{
	char path[64];
	long hz;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/cpu%d", directory, cpu);
	hz = read_number(path);
	return hz < 0 ? hz : hz / 1000;
}

static long vexpress_khz(int cpu)
{
	return debugfs_khz("krait-board", cpu);
}

static long vexpress_peek(int cpu)
{
	uint32_t command = vexpress_regs[VEXPRESS_CFGCTRL];
	uint32_t hz = vexpress_regs[VEXPRESS_CFGDATA];

	/*
	 * The value is written before the command: check for the same command
	 * before and after.
	 */
	if ((command & VEXPRESS_TARGET) != VEXPRESS_OSC(cpu) ||
	    vexpress_regs[VEXPRESS_CFGCTRL] != command)
		return -EAGAIN;
	return hz / 1000;
}

/*
 * The same tile with two clocks: that helper never sleeps during a transaction.
 */
static int eas_open(void)
{
	if (!driver_is("cpufreq-dt"))
		return -ENODEV;
	return access("/sys/kernel/debug/timed-board/cpu0", R_OK) ? -errno : 0;
}

static long eas_khz(int cpu)
{
	return debugfs_khz("timed-board", cpu);
}

/*
 * A driver without governors: the hardware runs a busy CPU at its upper limit.
 */
static int setpolicy_open(void)
{
	return driver_is("setpolicy-board") ? registers_open(0x100000000) : -ENODEV;
}

static long setpolicy_khz(int cpu)
{
	long level = registers_word(cpu, REGISTER_MAX);

	return level < 0 ? level : level * REGISTER_KHZ;
}

/* arm64: the clock runs at the desired performance in the CPU's CPPC page. */
static int cppc_open(void)
{
	return driver_is("cppc_cpufreq") ? registers_open(0x80000000) : -ENODEV;
}

static long cppc_khz(int cpu)
{
	long level = registers_word(cpu, REGISTER_DESIRED);

	return level < 0 ? level : level * REGISTER_KHZ;
}

/*
 * amd-pstate: the level that it requests, or the bounds of the hardware's own
 * choice, which is taken as the lowest when the driver follows load, else as
 * the highest.
 */
static int pstate_open(void)
{
	if (!driver_is("amd-pstate") && !driver_is("amd-pstate-epp"))
		return -ENODEV;
	return registers_open(0x100000000);
}

static long pstate_khz(int cpu)
{
	long level = registers_word(cpu, REGISTER_DESIRED);

	if (!level)
		level = registers_word(cpu, driver_is("amd-pstate") ? REGISTER_MIN :
				       REGISTER_MAX);
	return level < 0 ? level : level * REGISTER_KHZ;
}

static const struct hw_board boards[] = {
	{
		.name = "amd-pstate", .driver = "amd-pstate", .per_cpu = true,
		.power = "none",
		.open = pstate_open, .khz = pstate_khz,
	}, {
		.name = "arm64", .driver = "cppc_cpufreq", .per_cpu = true,
		.fast = true, .power = "assumed",
		.open = cppc_open, .khz = cppc_khz,
	}, {
		.name = "sabrelite", .driver = "imx6q-cpufreq",
		.power = "opp-voltage",
		.open = imx_open, .khz = imx_khz, .uv = imx_uv,
	}, {
		.name = "vexpress", .driver = "cpufreq-dt", .per_cpu = true,
		.power = "em", .joules = true,
		.open = vexpress_open, .khz = vexpress_khz,
		.peek = vexpress_peek,
	}, {
		.name = "vexpress-eas", .driver = "cpufreq-dt",
		.power = "em", .joules = true,
		.open = eas_open, .khz = eas_khz,
	}, {
		.name = "x86", .driver = "acpi-cpufreq", .per_cpu = true,
		.fast = true, .power = "acpi-pss", .joules = true,
		.open = x86_open, .khz = x86_khz,
	}, {
		.name = "x86-setpolicy", .driver = "setpolicy-board",
		.per_cpu = true,
		.open = setpolicy_open, .khz = setpolicy_khz,
	},
};

static const struct hw_board *board;

const struct hw_board *hw_open(void)
{
	size_t i;

	for (i = 0; !board && i < sizeof(boards) / sizeof(*boards); i++)
		if (!boards[i].open())
			board = &boards[i];
	return board;
}

long hw_khz(int cpu)
{
	if (!hw_open())
		return -ENODEV;
	return board->khz(cpu);
}

long hw_uv(int cpu)
{
	if (!hw_open() || !board->uv)
		return -ENODEV;
	return board->uv(cpu);
}

long hw_peek(int cpu)
{
	if (!hw_open())
		return -ENODEV;
	return board->peek ? board->peek(cpu) : board->khz(cpu);
}
