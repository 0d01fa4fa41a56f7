// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf's power PMUs: energy counters of packages and, where the processor has them, of
 * single cores (power_core). The kernel extends them past their wrap. Package counters are
 * used only where powercap has none, since both read the same registers.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/cpus.h"
#include "../../common/text.h"
#include "../source.h"
#include "pmu.h"
#include "rail.h"
#include "rapl.h"

struct pmu {
	struct rails *rails;
	const char *name, *sysfs;
	char dir[300];
	uint32_t type;
	bool core; /* each counter is of one core */
	uint8_t cpu[CPUS_MAX]; /* on which its counters are read */
};

static bool zone_is_readable(const char *sysfs, const char *zone)
{
	char path[320];

	snprintf(path, sizeof(path), "%s/class/powercap/%s/energy_uj", sysfs, zone);
	return !root_access(path, R_OK);
}

static int power_on_zone(void *data, const char *zone)
{
	return zone_is_readable(data, zone);
}

/* Whether the powercap source records the counters of packages. */
static bool powercap_has_packages(const struct source_context *context)
{
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/class/powercap", context->root.sysfs);
	return context->config.source[SOURCE_powercap].enabled &&
	       root_list(dir, "", power_on_zone, (void *)context->root.sysfs) > 0;
}

/* Places "event=0x2" in the bits that format/event names; other terms are not supported. */
static int event_read_config(const struct pmu *p, const char *event, uint64_t *config)
{
	unsigned int shift = 0;
	char text[64];
	int end = 0;

	if (root_read(text, sizeof(text), "%s/events/%s", p->dir, event) <= 0 ||
	    sscanf(text, "event=%" SCNi64 "%n", (int64_t *)config, &end) != 1 || text[end])
		return -EINVAL;
	if (root_read(text, sizeof(text), "%s/format/event", p->dir) > 0 &&
	    (sscanf(text, "config:%u", &shift) != 1 || shift > 63))
		return -EINVAL;
	*config <<= shift;
	return 0;
}

/* Energy of one count in uJ; 0 if the kernel does not say. */
static double event_read_scale(const struct pmu *p, const char *event)
{
	char text[64];

	if (root_read(text, sizeof(text), "%s/events/%s.unit", p->dir, event) <= 0 ||
	    strcmp(text, "Joules") ||
	    root_read(text, sizeof(text), "%s/events/%s.scale", p->dir, event) <= 0)
		return 0;
	return strtod(text, NULL) * 1e6;
}

/* CPUs of the core of @cpu, all of which the counter on @cpu covers. */
static void core_read_cpus(const struct pmu *p, int cpu, char *list, size_t size)
{
	static const char *const files[] = { "core_cpus_list", "thread_siblings_list" };

	for (size_t i = 0; i < 2; i++)
		if (root_read(list, size, "%s/devices/system/cpu/cpu%d/topology/%s", p->sysfs, cpu,
			      files[i]) > 0)
			return;
	snprintf(list, size, "%d", cpu);
}

static void counter_add(struct pmu *p, const char *event, int cpu, uint64_t config, double scale)
{
	char name[128], path[400], core[64], label[80];

	snprintf(name, sizeof(name), "%.32s-%d:%.48s", p->name, cpu, event);
	snprintf(path, sizeof(path), "%s/events/%.64s", p->dir, event);
	core_read_cpus(p, cpu, core, sizeof(core));
	snprintf(label, sizeof(label), "core of CPU %s", core);
	rails_add(p->rails, &(struct rail_desc){
				    .name = name,
				    .label = p->core ? label : NULL,
				    .kind = RAIL_ENERGY,
				    .path = path,
				    .event = { p->type, config, cpu },
				    .scale = scale,
				    .cpus = p->core ? core : NULL,
				    .update_ns = RAPL_UPDATE_NS,
			    });
}

static int power_on_event(void *data, const char *event)
{
	struct pmu *p = data;
	uint64_t config;
	double scale;

	if (strchr(event, '.') || event_read_config(p, event, &config))
		return 0;
	scale = event_read_scale(p, event);
	for (int cpu = 0; cpu < CPUS_MAX && scale > 0; cpu++)
		if (p->cpu[cpu])
			counter_add(p, event, cpu, config, scale);
	return 0;
}

static int on_pmu(void *data, const char *name)
{
	struct pmu *p = data;
	char text[4096];
	uint64_t type;

	p->name = name;
	p->core = !strcmp(name, "power_core");
	snprintf(p->dir, sizeof(p->dir), "%s/bus/event_source/devices/%s", p->sysfs, name);
	if (root_u64(&type, "%s/type", p->dir) || !type || type > UINT32_MAX ||
	    root_read(text, sizeof(text), "%s/cpumask", p->dir) <= 0 ||
	    text_cpulist(text, p->cpu, CPUS_MAX) <= 0)
		return 0;
	if (!p->core && powercap_has_packages(rails_context(p->rails)))
		return 0;
	p->type = (uint32_t)type;
	snprintf(text, sizeof(text), "%s/events", p->dir);
	root_list(text, "energy-", power_on_event, p);
	return 0;
}

static void power_scan(struct rails *rails)
{
	struct pmu p = { .rails = rails, .sysfs = rails_context(rails)->root.sysfs };
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/bus/event_source/devices", p.sysfs);
	root_list(dir, "power", on_pmu, &p);
}

static int power_probe(const struct source_context *context, struct probe *p)
{
	struct rails_count n = rails_count(context, power_scan);

	if (!n.channels)
		return probe_absent(p, -ENODEV, "",
				    "no energy counter of perf's that powercap does not have");
	if (n.denied == n.channels)
		return probe_absent(p, -EACCES, "run as root or with CAP_PERFMON",
				    "%u energy counters of perf's, which we may not open",
				    n.channels);
	return probe_found(p, "%u energy counters of perf's, %u of them of a core", n.channels,
			   n.cores);
}

static int power_start(struct source_context *context, void **state)
{
	*state = rails_start(context, SOURCE_power, power_scan);
	return *state ? 0 : -ENOMEM;
}

static void power_stop(void *state)
{
	rails_stop(state);
}

const struct source source_power = { power_probe, power_start, power_stop };
