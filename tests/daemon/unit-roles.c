// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: what a rail feeds, for channels that drivers of real machines have: each row of the
 * table of docs/recording.md has at least one, and feeds what the table says.
 */
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../daemon/recording/reader/rail-role.h"

#define ROLE_PACKAGE "package"
#define ROLE_CPU     "CPUs"
#define ROLE_MACHINE "machine"
#define ROLE_OTHER   "other"
#define ROLE_MEMORY  "memory"
#define ROLE_GPU     "GPU"
#define ROLE_DEVICE  "device"
#define ROLE_BATTERY "battery"

static const char *const role_text[RAIL_ROLES] = {
	[RAIL_ROLE_PACKAGE] = ROLE_PACKAGE, [RAIL_ROLE_CPU] = ROLE_CPU,
	[RAIL_ROLE_MACHINE] = ROLE_MACHINE, [RAIL_ROLE_OTHER] = ROLE_OTHER,
	[RAIL_ROLE_MEMORY] = ROLE_MEMORY,   [RAIL_ROLE_GPU] = ROLE_GPU,
	[RAIL_ROLE_DEVICE] = ROLE_DEVICE,   [RAIL_ROLE_BATTERY] = ROLE_BATTERY,
};

/* @row: the first two cells of its row in the document, without backquotes; NULL: no row has it. */
static const struct {
	const char *row, *source, *name, *label, *feeds;
} channels[] = {
	{ "powercap | package*", "powercap", "intel-rapl:0", "package-0", ROLE_PACKAGE },
	{ "powercap | package*", "powercap", "intel-rapl:1", "package-1-die-1", ROLE_PACKAGE },
	{ "powercap | core", "powercap", "intel-rapl:0:0", "core", ROLE_CPU },
	{ "powercap | uncore", "powercap", "intel-rapl:0:1", "uncore", ROLE_GPU },
	{ "powercap | dram", "powercap", "intel-rapl:0:2", "dram", ROLE_MEMORY },
	{ "powercap | psys, platform", "powercap", "intel-rapl:1", "psys", ROLE_MACHINE },
	{ "powercap | psys, platform", "powercap", "intel-rapl:1", "platform", ROLE_MACHINE },
	{ "power | energy-pkg", "power", "power-0:energy-pkg", "package-0", ROLE_PACKAGE },
	{ "power | energy-core*", "power", "power-0:energy-cores", "", ROLE_CPU },
	{ "power | energy-core*", "power", "power_core-0:energy-core", "", ROLE_CPU },
	{ "power | energy-gpu", "power", "power-0:energy-gpu", "", ROLE_GPU },
	{ "power | energy-ram", "power", "power-0:energy-ram", "", ROLE_MEMORY },
	{ "power | energy-psys", "power", "power-0:energy-psys", "", ROLE_MACHINE },
	/* amd_energy.c: "Ecore%03u", "Esocket%u" */
	{ "amd_energy | Esocket*; the others", "hwmon", "amd_energy-0:energy65", "Esocket0",
	  ROLE_PACKAGE },
	{ "amd_energy | Esocket*; the others", "hwmon", "amd_energy-0:energy1", "Ecore000",
	  ROLE_CPU },
	{ "fam15h_power | all", "hwmon", "fam15h_power-pci:power1", "", ROLE_PACKAGE },
	{ "zenpower | *core*", "hwmon", "zenpower-pci:power1", "SVI2_P_Core", ROLE_CPU },
	{ NULL, "hwmon", "zenpower-pci:power2", "SVI2_P_SoC", ROLE_OTHER },
	{ "power_meter (ACPI) | all", "hwmon", "power_meter-acpi:power1", "", ROLE_MACHINE },
	{ "amdgpu, radeon, nouveau, nvidia, i915, xe | all", "hwmon", "amdgpu-pci:power1", "PPT",
	  ROLE_GPU },
	{ "amdgpu, radeon, nouveau, nvidia, i915, xe | all", "hwmon", "radeon-pci:power1", "",
	  ROLE_GPU },
	{ "amdgpu, radeon, nouveau, nvidia, i915, xe | all", "hwmon", "nouveau-pci:power1", "",
	  ROLE_GPU },
	{ "amdgpu, radeon, nouveau, nvidia, i915, xe | all", "hwmon", "nvidia-pci:power1", "",
	  ROLE_GPU },
	{ "amdgpu, radeon, nouveau, nvidia, i915, xe | all", "hwmon", "i915_gt0-pci:energy1", "",
	  ROLE_GPU },
	{ "amdgpu, radeon, nouveau, nvidia, i915, xe | all", "hwmon", "xe-pci:energy1", "card",
	  ROLE_GPU },
	{ "amdgpu, radeon, nouveau, nvidia, i915, xe | all", "hwmon", "xe-pci:energy2", "pkg",
	  ROLE_GPU },
	{ "habanalabs, nvme | all", "hwmon", "habanalabs-pci:power1", "", ROLE_DEVICE },
	{ "habanalabs, nvme | all", "hwmon", "nvme-pci:power1", "", ROLE_DEVICE },
	{ "corsairpsu | power total; the others", "hwmon", "corsairpsu-hid:power1", "power total",
	  ROLE_MACHINE },
	{ "corsairpsu | power total; the others", "hwmon", "corsairpsu-hid:power2", "power +12v",
	  ROLE_DEVICE },
	{ "BATn, CMBn, bq2*, max17*, *batt* | all", "hwmon", "BAT0-acpi:power1", "", ROLE_BATTERY },
	{ "BATn, CMBn, bq2*, max17*, *batt* | all", "hwmon", "CMB1-acpi:power1", "", ROLE_BATTERY },
	{ "BATn, CMBn, bq2*, max17*, *batt* | all", "hwmon", "bq27z561_0-i2c:power1", "",
	  ROLE_BATTERY },
	{ "BATn, CMBn, bq2*, max17*, *batt* | all", "hwmon", "max170xx_battery-i2c:power1", "",
	  ROLE_BATTERY },
	{ "BATn, CMBn, bq2*, max17*, *batt* | all", "hwmon", "macsmc_battery-0:power1", "",
	  ROLE_BATTERY },
	{ "AC, ADPn, *charger*, ucsi_source_psy | all", "hwmon", "AC-acpi:power1", "",
	  ROLE_BATTERY },
	{ "AC, ADPn, *charger*, ucsi_source_psy | all", "hwmon", "ADP1-acpi:power1", "",
	  ROLE_BATTERY },
	{ "AC, ADPn, *charger*, ucsi_source_psy | all", "hwmon", "rk817_charger-0:power1", "",
	  ROLE_BATTERY },
	{ "AC, ADPn, *charger*, ucsi_source_psy | all", "hwmon",
	  "ucsi_source_psy_USBC000:001-0:power1", "", ROLE_BATTERY },
	{ "macsmc_hwmon | AC Input*", "hwmon", "macsmc_hwmon-0:power2", "AC Input Power",
	  ROLE_BATTERY },
	{ NULL, "hwmon", "macsmc_hwmon-0:power1", "Total System Power", ROLE_MACHINE },
	/* ODROID-XU3, HiKey 960, Jetson, Juno, Zynq boards, in the words of their device trees. */
	{ "any | words cpu*, core, cores, arm, mpu, a7 to a79", "hwmon", "ina231-3-0045:power1",
	  "sensor_arm", ROLE_CPU },
	{ "any | words cpu*, core, cores, arm, mpu, a7 to a79", "iio", "ina226:power",
	  "VDD_CPU_GPU_CV", ROLE_CPU },
	{ "any | words cpu*, core, cores, arm, mpu, a7 to a79", "hwmon", "scmi_sensors-0:energy1",
	  "A57 energy", ROLE_CPU },
	{ "any | words cpu*, core, cores, arm, mpu, a7 to a79", "regulator", "vdd_mpu:power",
	  "vdd_mpu", ROLE_CPU },
	{ "any | words cpu*, core, cores, arm, mpu, a7 to a79", "regulator", "cores:power",
	  "vdd-cores", ROLE_CPU },
	{ "any | words cpu*, core, cores, arm, mpu, a7 to a79", "regulator", "core:power",
	  "vdd_core", ROLE_CPU },
	{ "any | words package*, socket*", "hwmon", "apss-0:power1", "Socket0 power",
	  ROLE_PACKAGE },
	{ "any | words gpu*, gfx*", "hwmon", "ina231-3-0044:power1", "sensor_gpu", ROLE_GPU },
	{ "any | words gpu*, gfx*", "hwmon", "scmi_sensors-0:power3", "GFX rail", ROLE_GPU },
	{ "any | words dram*, ddr*, lpddr*, mem, memory", "hwmon", "ina231-3-0041:power1",
	  "sensor_mem", ROLE_MEMORY },
	{ "any | words dram*, ddr*, lpddr*, mem, memory", "hwmon", "ina3221-1-0041:power1",
	  "VDDQ_DDR", ROLE_MEMORY },
	{ "any | words psys, platform, system, sys, total, board, in, pin", "hwmon",
	  "ina3221-1-0040:power1", "VDD_IN", ROLE_MACHINE },
	{ "any | words psys, platform, system, sys, total, board, in, pin", "hwmon",
	  "pmbus-0:power1", "pin", ROLE_MACHINE },
	{ "any | words psys, platform, system, sys, total, board, in, pin", "hwmon",
	  "scmi_sensors-0:power5", "SYS power", ROLE_MACHINE },
	{ "any | words batt*, vbat, charger", "iio", "adc:power", "VBAT", ROLE_BATTERY },
	{ "any | words batt*, vbat, charger", "hwmon", "ec-0:power1", "Battery", ROLE_BATTERY },
	{ "any | words disk*, ssd*, nvme*, fan*, wifi*, wlan*, usb*, display, lcd, backlight, "
	  "camera",
	  "hwmon", "ec-0:power2", "USB-C port 1", ROLE_DEVICE },
	{ "any | words disk*, ssd*, nvme*, fan*, wifi*, wlan*, usb*, display, lcd, backlight, "
	  "camera",
	  "hwmon", "macsmc_hwmon-0:power4", "Display power", ROLE_DEVICE },
	{ "any | words disk*, ssd*, nvme*, fan*, wifi*, wlan*, usb*, display, lcd, backlight, "
	  "camera",
	  "hwmon", "ina2xx-0:power1", "SSD0", ROLE_DEVICE },
	{ NULL, "hwmon", "ina2xx-0:power1", "", ROLE_OTHER },
	{ NULL, "hwmon", "ina2xx-0:power1", "SVDD_GPIO", ROLE_OTHER },
	{ NULL, "hwmon", "ina2xx-0:power1", "inner", ROLE_OTHER },
};

#define CHANNELS (sizeof(channels) / sizeof(channels[0]))

static void text_remove_quotes(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (*text != '`')
			*to++ = *text;
	*to = '\0';
}

/* Whether a channel of the row feeds what the last cell says, and none another thing. */
static bool row_holds(const char *row, const char *cell)
{
	bool found = false;

	for (size_t i = 0; i < CHANNELS; i++)
		if (channels[i].row && !strcmp(channels[i].row, row)) {
			found = true;
			if (!strstr(cell, channels[i].feeds))
				return false;
		}
	return found;
}

static void roles_of_document(void)
{
	FILE *f = fopen(DOCS "/recording.md", "re");
	char line[512], *cell, *end, text[600];
	size_t rows = 0;
	bool in = false;

	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "| driver | channel", 18))
			in = true;
		if (!in || !strncmp(line, "| driver", 8) || !strncmp(line, "|---", 4))
			continue;
		if (*line != '|')
			break;
		text_remove_quotes(line);
		end = strrchr(line, '|');
		*end = '\0';
		cell = strrchr(line, '|');
		*cell++ = '\0';
		cell[-2] = '\0';
		snprintf(text, sizeof(text), "the table is right: %s", line + 2);
		CHECK(row_holds(line + 2, cell), text);
		rows++;
	}
	if (f)
		fclose(f);
	CHECK(rows > 20, "the document has the table");
}

void unit_roles(void)
{
	char text[200];

	for (size_t i = 0; i < CHANNELS; i++) {
		const enum rail_role role =
			rail_role(channels[i].source, channels[i].name, channels[i].label);

		snprintf(text, sizeof(text), "%s (%s) feeds: %s", channels[i].name,
			 channels[i].label, channels[i].feeds);
		CHECK(!strcmp(role_text[role], channels[i].feeds), text);
	}
	roles_of_document();
}
