// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Regulators: the voltage that each supply is set to, e.g. the core voltage that follows
 * the frequency. The rail is recorded as set, not measured.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "../source.h"
#include "rail.h"

static int on_regulator(void *data, const char *entry)
{
	struct rails *rails = data;
	const char *sysfs = rails_context(rails)->root.sysfs;
	char path[320], name[64], rail[128];

	snprintf(path, sizeof(path), "%s/class/regulator/%s/microvolts", sysfs, entry);
	if (root_access(path, F_OK))
		return 0;
	if (root_read(name, sizeof(name), "%s/class/regulator/%s/name", sysfs, entry) <= 0)
		snprintf(name, sizeof(name), "%s", entry);
	snprintf(rail, sizeof(rail), "%s:%s", entry, name);
	rails_add(rails, &(struct rail_desc){
				 .name = rail,
				 .label = name,
				 .kind = RAIL_VOLTAGE,
				 .path = path,
				 .scale = 1,
				 .slow = true,
				 .derived = "set, not measured",
			 });
	return 0;
}

static void regulator_scan(struct rails *rails)
{
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/class/regulator", rails_context(rails)->root.sysfs);
	root_list(dir, "regulator", on_regulator, rails);
}

static int regulator_probe(const struct source_context *context, struct probe *p)
{
	struct rails_count n = rails_count(context, regulator_scan);

	if (!n.channels)
		return probe_absent(p, -ENODEV, "", "no regulator reports its voltage");
	return probe_found(p, "%u set voltages", n.channels);
}

static int regulator_start(struct source_context *context, void **state)
{
	*state = rails_start(context, SOURCE_regulator, regulator_scan);
	return *state ? 0 : -ENOMEM;
}

static void regulator_stop(void *state)
{
	rails_stop(state);
}

const struct source source_regulator = { regulator_probe, regulator_start, regulator_stop };
