// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hwmon: power, energy, current and voltage channels with their labels. For a chip that
 * measures a current and its voltage but no power, the product is a power rail, which is
 * recorded as derived.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../source.h"
#include "rail.h"
#include "scans.h"

/* The kernel's units: power and energy in micro-, the others in milli-. */
static const struct {
	const char *prefix;
	enum rail_kind kind;
	double scale;
} types[] = {
	{ "curr", RAIL_CURRENT, 1e3 },
	{ "energy", RAIL_ENERGY, 1 },
	{ "in", RAIL_VOLTAGE, 1e3 },
	{ "power", RAIL_POWER, 1 },
};

/*
 * Chips whose channels do not pair by number: the current above @last has no voltage of its own.
 * ina3221: curr4 is the sum of all, in4 and above are voltages over the shunts. iio_hwmon: each
 * channel is another chip's.
 */
static const struct {
	const char *chip;
	int last;
} unpaired[] = {
	{ "iio_hwmon", 0 },
	{ "ina3221", 3 },
};

struct chip {
	struct rails *rails;
	unsigned int powers;
	char dir[256];
	char driver[40]; /* "adm1272" */
	char name[96]; /* "adm1272-0-0060" */
	char status[320]; /* "power/runtime_status" of its device; "" if it never sleeps */
};

/* The 3 of "power3_input" for "power" and "_input"; -1 for another file. */
static int channel_number(const char *file, const char *prefix, const char *suffix)
{
	size_t n = strlen(prefix);
	char *end;
	long v;

	if (strncmp(file, prefix, n) || !isdigit((unsigned char)file[n]))
		return -1;
	v = strtol(file + n, &end, 10);
	return v > 9999 || strcmp(end, suffix) ? -1 : (int)v;
}

static void channel_add(struct chip *c, const char *channel, const char *label, enum rail_kind kind,
			double scale, const char *path, const char *factor, const char *derived,
			uint64_t window)
{
	char name[128];

	c->powers += kind == RAIL_POWER;
	snprintf(name, sizeof(name), "%s:%s", c->name, channel);
	rails_add(c->rails, &(struct rail_desc){
				    .name = name,
				    .label = *label ? label : NULL,
				    .kind = kind,
				    .path = path,
				    .factor = factor,
				    .scale = scale,
				    .status = *c->status ? c->status : NULL,
				    .derived = derived,
				    .update_ns = window,
			    });
}

/* For how long a meter averages, in ns; 0 if it does not say. */
static uint64_t channel_window(const struct chip *c, const char *channel)
{
	char text[24];

	if (root_read(text, sizeof(text), "%s/%s_average_interval", c->dir, channel) <= 0)
		return 0;
	return strtoul(text, NULL, 10) * NSEC_PER_MSEC;
}

static int hwmon_on_file(void *data, const char *file)
{
	struct chip *c = data;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		char label[64], channel[24], path[384];
		int n = channel_number(file, types[i].prefix, "_input");
		bool mean = false;

		/* Averaging meters have no _input but an _average. */
		if (n < 0 && types[i].kind == RAIL_POWER) {
			n = channel_number(file, types[i].prefix, "_average");
			snprintf(path, sizeof(path), "%s/power%d_input", c->dir, n);
			if (n >= 0 && !root_access(path, F_OK))
				n = -1;
			mean = n >= 0;
		}
		if (n < 0)
			continue;
		snprintf(channel, sizeof(channel), "%s%d", types[i].prefix, n);
		snprintf(path, sizeof(path), "%s/%s", c->dir, file);
		root_read(label, sizeof(label), "%s/%s_label", c->dir, channel);
		channel_add(c, channel, label, types[i].kind, types[i].scale, path, NULL, NULL,
			    mean ? channel_window(c, channel) : 0);
		return 0;
	}
	return 0;
}

/* The voltage that belongs to a current: "iout1" and "vout1", else its number. */
static int channel_find_voltage(struct chip *c, int n, const char *label)
{
	char other[64], path[384];

	for (int i = 0; i < 32 && label[0] == 'i'; i++) {
		if (root_read(other, sizeof(other), "%s/in%d_label", c->dir, i) > 0 &&
		    other[0] == 'v' && !strcmp(other + 1, label + 1))
			return i;
	}
	if (*label)
		return -1;
	snprintf(path, sizeof(path), "%s/in%d_input", c->dir, n);
	return root_access(path, F_OK) ? -1 : n;
}

static int on_current(void *data, const char *file)
{
	struct chip *c = data;
	char label[64], channel[32], path[384], factor[384], derived[64];
	int n = channel_number(file, "curr", "_input"), v;

	if (n < 0)
		return 0;
	for (size_t i = 0; i < sizeof(unpaired) / sizeof(unpaired[0]); i++)
		if (!strcmp(c->driver, unpaired[i].chip) && n > unpaired[i].last)
			return 0;
	root_read(label, sizeof(label), "%s/curr%d_label", c->dir, n);
	v = channel_find_voltage(c, n, label);
	if (v < 0)
		return 0;
	/* Some chips name the voltage alone: "VDD_CPU". */
	if (!*label)
		root_read(label, sizeof(label), "%s/in%d_label", c->dir, v);
	snprintf(channel, sizeof(channel), "curr%dxin%d", n, v);
	snprintf(derived, sizeof(derived), "curr%d x in%d", n, v);
	snprintf(path, sizeof(path), "%s/%s", c->dir, file);
	snprintf(factor, sizeof(factor), "%s/in%d_input", c->dir, v);
	/* mA x mV = uW */
	channel_add(c, channel, label, RAIL_POWER, 1, path, factor, derived, 0);
	return 0;
}

static int on_chip(void *data, const char *entry)
{
	struct chip *c = data;
	const struct source_context *context = rails_context(c->rails);
	char link[300], device[160], status[16];
	const char *base;
	ssize_t n;

	snprintf(c->dir, sizeof(c->dir), "%s/class/hwmon/%s", context->root.sysfs, entry);
	if (root_read(c->driver, sizeof(c->driver), "%s/name", c->dir) <= 0)
		snprintf(c->driver, sizeof(c->driver), "%s", entry);
	/* hwmonN may change at each bind; the device's own name does not. */
	snprintf(link, sizeof(link), "%s/device", c->dir);
	n = readlink(link, device, sizeof(device) - 1);
	device[n > 0 ? n : 0] = '\0';
	base = strrchr(device, '/');
	base = base ? base + 1 : device;
	snprintf(c->name, sizeof(c->name), "%s%s%.48s", c->driver, *base ? "-" : "", base);
	c->powers = 0;
	snprintf(c->status, sizeof(c->status), "%s/device/power/runtime_status", c->dir);
	if (root_read(status, sizeof(status), "%s", c->status) <= 0 ||
	    !strcmp(status, "unsupported"))
		c->status[0] = '\0';
	root_list(c->dir, "", hwmon_on_file, c);
	if (!c->powers)
		root_list(c->dir, "curr", on_current, c);
	return 0;
}

void hwmon_scan(struct rails *rails)
{
	struct chip c = { .rails = rails };
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/class/hwmon", rails_context(rails)->root.sysfs);
	root_list(dir, "hwmon", on_chip, &c);
}

static int hwmon_probe(const struct source_context *context, struct probe *p)
{
	struct rails_count n = rails_count(context, hwmon_scan);

	if (!n.channels)
		return probe_absent(p, -ENODEV,
				    "bind the board's power monitor (see docs/recording.md, rails)",
				    "no power, energy, current or voltage channel");
	return probe_found(p, "%u channels on %u chips", n.channels, n.devices);
}

static int hwmon_start(struct source_context *context, void **state)
{
	*state = rails_start(context, SOURCE_hwmon, hwmon_scan);
	return *state ? 0 : -ENOMEM;
}

static void hwmon_stop(void *state)
{
	rails_stop(state);
}

const struct source source_hwmon = { hwmon_probe, hwmon_start, hwmon_stop };
