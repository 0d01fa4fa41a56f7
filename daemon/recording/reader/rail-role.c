// SPDX-License-Identifier: GPL-2.0-or-later
#include "rail-role.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/*
 * The first row that matches decides. @chip: the rail's name up to '-' or ':'. @label: the label,
 * in lower case, else the channel (power1). NULL matches all.
 */
static const struct {
	const char *source, *chip, *label;
	enum rail_role role;
} drivers[] = {
	{ "powercap", NULL, "package*", RAIL_ROLE_PACKAGE },
	{ "powercap", NULL, "core", RAIL_ROLE_CPU },
	{ "powercap", NULL, "uncore", RAIL_ROLE_GPU },
	{ "powercap", NULL, "dram", RAIL_ROLE_MEMORY },
	{ "powercap", NULL, "psys", RAIL_ROLE_MACHINE },
	{ "powercap", NULL, "platform", RAIL_ROLE_MACHINE },
	{ "power", NULL, "energy-pkg", RAIL_ROLE_PACKAGE },
	{ "power", NULL, "energy-core*", RAIL_ROLE_CPU },
	{ "power", NULL, "energy-gpu", RAIL_ROLE_GPU },
	{ "power", NULL, "energy-ram", RAIL_ROLE_MEMORY },
	{ "power", NULL, "energy-psys", RAIL_ROLE_MACHINE },
	{ "hwmon", "amd_energy", "esocket*", RAIL_ROLE_PACKAGE },
	{ "hwmon", "amd_energy", NULL, RAIL_ROLE_CPU },
	{ "hwmon", "fam15h_power", NULL, RAIL_ROLE_PACKAGE },
	{ "hwmon", "zenpower", "*core*", RAIL_ROLE_CPU },
	{ "hwmon", "power_meter", NULL, RAIL_ROLE_MACHINE },
	{ "hwmon", "amdgpu", NULL, RAIL_ROLE_GPU },
	{ "hwmon", "radeon", NULL, RAIL_ROLE_GPU },
	{ "hwmon", "nouveau", NULL, RAIL_ROLE_GPU },
	{ "hwmon", "nvidia*", NULL, RAIL_ROLE_GPU },
	{ "hwmon", "i915*", NULL, RAIL_ROLE_GPU },
	{ "hwmon", "xe", NULL, RAIL_ROLE_GPU },
	{ "hwmon", "habanalabs*", NULL, RAIL_ROLE_DEVICE },
	{ "hwmon", "corsairpsu", "power total", RAIL_ROLE_MACHINE },
	{ "hwmon", "corsairpsu", NULL, RAIL_ROLE_DEVICE },
	{ "hwmon", "macsmc*", "ac input*", RAIL_ROLE_BATTERY },
	{ "hwmon", "nvme", NULL, RAIL_ROLE_DEVICE },
	{ "hwmon", "bat[0-9]*", NULL, RAIL_ROLE_BATTERY },
	{ "hwmon", "cmb[0-9]*", NULL, RAIL_ROLE_BATTERY },
	{ "hwmon", "bq2[0-9]*", NULL, RAIL_ROLE_BATTERY },
	{ "hwmon", "max17[0-9]*", NULL, RAIL_ROLE_BATTERY },
	{ "hwmon", "*batt*", NULL, RAIL_ROLE_BATTERY },
	{ "hwmon", "ac", NULL, RAIL_ROLE_BATTERY },
	{ "hwmon", "adp[0-9]*", NULL, RAIL_ROLE_BATTERY },
	{ "hwmon", "*charger*", NULL, RAIL_ROLE_BATTERY },
	{ "hwmon", "ucsi_source_psy*", NULL, RAIL_ROLE_BATTERY },
};

/*
 * Words of a board's own labels, in this order: "VDD_CPU_GPU_CV" feeds CPUs. A digit does not end a
 * word: "A57", "CPU0" is matched by "cpu*".
 */
static const struct {
	const char *word;
	enum rail_role role;
} words[] = {
	{ "batt*", RAIL_ROLE_BATTERY },	  { "vbat", RAIL_ROLE_BATTERY },
	{ "charger", RAIL_ROLE_BATTERY }, { "package*", RAIL_ROLE_PACKAGE },
	{ "socket*", RAIL_ROLE_PACKAGE }, { "cpu*", RAIL_ROLE_CPU },
	{ "core", RAIL_ROLE_CPU },	  { "cores", RAIL_ROLE_CPU },
	{ "arm", RAIL_ROLE_CPU },	  { "vddarm", RAIL_ROLE_CPU },
	{ "vddcore", RAIL_ROLE_CPU },	  { "mpu", RAIL_ROLE_CPU },
	{ "a[57]", RAIL_ROLE_CPU },	  { "a[1-7][0-9]", RAIL_ROLE_CPU },
	{ "gpu*", RAIL_ROLE_GPU },	  { "gfx*", RAIL_ROLE_GPU },
	{ "dram*", RAIL_ROLE_MEMORY },	  { "ddr*", RAIL_ROLE_MEMORY },
	{ "lpddr*", RAIL_ROLE_MEMORY },	  { "memory", RAIL_ROLE_MEMORY },
	{ "mem", RAIL_ROLE_MEMORY },	  { "disk*", RAIL_ROLE_DEVICE },
	{ "ssd*", RAIL_ROLE_DEVICE },	  { "nvme*", RAIL_ROLE_DEVICE },
	{ "fan*", RAIL_ROLE_DEVICE },	  { "wifi*", RAIL_ROLE_DEVICE },
	{ "wlan*", RAIL_ROLE_DEVICE },	  { "display", RAIL_ROLE_DEVICE },
	{ "lcd", RAIL_ROLE_DEVICE },	  { "backlight", RAIL_ROLE_DEVICE },
	{ "camera", RAIL_ROLE_DEVICE },	  { "usb*", RAIL_ROLE_DEVICE },
	{ "psys", RAIL_ROLE_MACHINE },	  { "platform", RAIL_ROLE_MACHINE },
	{ "system", RAIL_ROLE_MACHINE },  { "total", RAIL_ROLE_MACHINE },
	{ "board", RAIL_ROLE_MACHINE },	  { "sys", RAIL_ROLE_MACHINE },
	{ "in", RAIL_ROLE_MACHINE },	  { "pin", RAIL_ROLE_MACHINE },
	{ "pin1", RAIL_ROLE_MACHINE },
};

static void text_lower(char *to, size_t size, const char *from, size_t length)
{
	size_t n = 0;

	for (; n < length && n + 1 < size && from[n]; n++)
		to[n] = (char)tolower((unsigned char)from[n]);
	to[n] = '\0';
}

static bool label_has_word(const char *label, const char *word)
{
	char one[64];

	while (*label) {
		size_t n = 0;

		while (isalnum((unsigned char)label[n]))
			n++;
		text_lower(one, sizeof(one), label, n);
		if (n && !fnmatch(word, one, 0))
			return true;
		label += n ? n : 1;
	}
	return false;
}

enum rail_role rail_role(const char *source, const char *name, const char *label)
{
	const char *channel = strrchr(name, ':');
	char chip[64], lower[64];

	text_lower(chip, sizeof(chip), name, strcspn(name, "-:"));
	/* What powercap calls a zone is its label alone. */
	if (*label)
		text_lower(lower, sizeof(lower), label, sizeof(lower));
	else
		text_lower(lower, sizeof(lower), channel ? channel + 1 : name, sizeof(lower));
	/* perf's rails have the event's name, which says more than a label. */
	if (!strcmp(source, "power") && channel)
		text_lower(lower, sizeof(lower), channel + 1, sizeof(lower));
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (!strcmp(drivers[i].source, source) &&
		    (!drivers[i].chip || !fnmatch(drivers[i].chip, chip, 0)) &&
		    (!drivers[i].label || !fnmatch(drivers[i].label, lower, 0)))
			return drivers[i].role;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (label_has_word(label, words[i].word))
			return words[i].role;
	return RAIL_ROLE_OTHER;
}

const char *rail_role_text(enum rail_role role)
{
	switch (role) {
	case RAIL_ROLE_GPU:
		return "a GPU";
	case RAIL_ROLE_BATTERY:
		return "a battery or charger: no consumption";
	case RAIL_ROLE_DEVICE:
		return "a device";
	default:
		return NULL;
	}
}

bool rail_role_has_threads(enum rail_role role)
{
	return role < RAIL_ROLE_GPU;
}
