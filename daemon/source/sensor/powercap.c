// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * powercap (RAPL and the like): energy counters of zones, extended past their wrap. Since
 * kernel 5.10 only root may read the counters (CVE-2020-8694).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../source.h"
#include "rail.h"
#include "rapl.h"
#include "scans.h"

#define CONSTRAINTS 4 /* long term, short term, peak, and one to spare */

/* W that a zone may draw for a short time; 0 if its constraints do not say. */
static double zone_max_power(const char *sysfs, const char *zone)
{
	static const char *const files[] = { "max_power_uw", "power_limit_uw" };
	uint64_t most = 0, uw;

	for (unsigned int i = 0; i < 2 * CONSTRAINTS; i++)
		if (!root_u64(&uw, "%s/class/powercap/%s/constraint_%u_%s", sysfs, zone, i / 2,
			      files[i % 2]) &&
		    uw > most)
			most = uw;
	/* Limits are of means: peaks of some ms may be twice as high. */
	return 2 * (double)most * 1e-6;
}

static int powercap_on_zone(void *data, const char *entry)
{
	struct rails *rails = data;
	const char *sysfs = rails_context(rails)->root.sysfs;
	char path[320], label[64], name[96];
	uint64_t range = 0;

	snprintf(path, sizeof(path), "%s/class/powercap/%s/energy_uj", sysfs, entry);
	if (root_access(path, F_OK))
		return 0;
	if (root_read(label, sizeof(label), "%s/class/powercap/%s/name", sysfs, entry) <= 0)
		label[0] = '\0';
	root_u64(&range, "%s/class/powercap/%s/max_energy_range_uj", sysfs, entry);
	snprintf(name, sizeof(name), "%s", entry);
	rails_add(rails, &(struct rail_desc){
				 .name = name,
				 .label = *label ? label : NULL,
				 .kind = RAIL_ENERGY,
				 .path = path,
				 .scale = 1,
				 .range = range,
				 .update_ns = strncmp(entry, "intel-rapl", 10) ? 0 : RAPL_UPDATE_NS,
				 .max_w = zone_max_power(sysfs, entry),
			 });
	return 0;
}

void powercap_scan(struct rails *rails)
{
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/class/powercap", rails_context(rails)->root.sysfs);
	root_list(dir, "", powercap_on_zone, rails);
}

static int powercap_probe(const struct source_context *context, struct probe *p)
{
	struct rails_count n = rails_count(context, powercap_scan);

	if (!n.channels)
		return probe_absent(p, -ENODEV, "modprobe intel_rapl_msr, on a machine that has it",
				    "no powercap energy counter");
	if (n.denied == n.channels)
		return probe_absent(p, -EACCES,
				    "run as root or with CAP_DAC_READ_SEARCH, as the unit does",
				    "%u energy counters, readable by root only", n.channels);
	return probe_found(p, "%u energy counters", n.channels);
}

static int powercap_start(struct source_context *context, void **state)
{
	*state = rails_start(context, SOURCE_powercap, powercap_scan);
	return *state ? 0 : -ENOMEM;
}

static void powercap_stop(void *state)
{
	rails_stop(state);
}

const struct source source_powercap = { powercap_probe, powercap_start, powercap_stop };
