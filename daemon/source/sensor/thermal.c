// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Thermal: temperatures of zones, states of cooling devices (a cpufreq cooling
 * device above 0 is throttling), and x86's throttle counts. Changes only.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../source.h"

#define SENSORS 256

struct sensor {
	char path[192];
	enum record_thermal_kind kind;
	int64_t value;
	bool seen;
};

struct thermal {
	struct source_context *context;
	struct watch *timer;
	struct sensor *sensor;
	unsigned int nr;
};

static void sensor_add(struct thermal *t, enum record_thermal_kind kind, const char *name,
		       const char *path)
{
	static const char *const kinds[] = { "zone", "cooling", "throttle" };
	const char *strings[] = { kinds[kind], name, path };
	const int64_t id = t->nr + 1;
	struct sensor *more;
	int64_t v;

	if (t->nr == SENSORS || root_s64(&v, "%s", path))
		return;
	more = realloc(t->sensor, (t->nr + 1) * sizeof(*more));
	if (!more)
		return;
	t->sensor = more;
	t->sensor[t->nr] = (struct sensor){ .kind = kind };
	snprintf(t->sensor[t->nr].path, sizeof(t->sensor[t->nr].path), "%s", path);
	t->nr++;
	context_define(t->context, definition_new(DEFINE_THERMAL, clock_now(), &id, 1, strings, 3));
}

static int on_thermal(void *data, const char *entry)
{
	struct thermal *t = data;
	const char *sysfs = t->context->root.sysfs;
	bool zone = !strncmp(entry, "thermal_zone", 12);
	char type[64], path[192];

	if (!zone && strncmp(entry, "cooling_device", 14))
		return 0;
	if (root_read(type, sizeof(type), "%s/class/thermal/%s/type", sysfs, entry) <= 0)
		snprintf(type, sizeof(type), "%.63s", entry);
	snprintf(path, sizeof(path), "%.100s/class/thermal/%.40s/%s", sysfs, entry,
		 zone ? "temp" : "cur_state");
	sensor_add(t, zone ? THERMAL_ZONE : THERMAL_COOLING, type, path);
	return 0;
}

static int thermal_on_cpu(void *data, const char *entry)
{
	struct thermal *t = data;
	char path[192];

	snprintf(path, sizeof(path), "%.100s/devices/system/cpu/%.20s/%s", t->context->root.sysfs,
		 entry, "thermal_throttle/core_throttle_count");
	sensor_add(t, THERMAL_THROTTLE, entry, path);
	return 0;
}

static void thermal_scan(struct thermal *t)
{
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/class/thermal", t->context->root.sysfs);
	root_list(dir, "", on_thermal, t);
	snprintf(dir, sizeof(dir), "%s/devices/system/cpu", t->context->root.sysfs);
	root_list(dir, "cpu", thermal_on_cpu, t);
}

static void thermal_on_timer(void *data, uint32_t events)
{
	struct thermal *t = data;

	(void)events;
	for (unsigned int i = 0; i < t->nr; i++) {
		struct sensor *s = &t->sensor[i];
		struct record r = { .t = clock_now(), .type = RECORD_THERMAL };
		int64_t v;

		if (root_s64(&v, "%s", s->path) || (s->seen && v == s->value))
			continue;
		s->value = v;
		s->seen = true;
		r.thermal = (struct record_thermal){ .value = v, .sensor = i + 1, .kind = s->kind };
		context_record(t->context, &r);
	}
}

static void thermal_stop(void *state)
{
	struct thermal *t = state;

	thermal_on_timer(t, 0);
	watch_free(t->timer);
	free(t->sensor);
	free(t);
}

static int thermal_start(struct source_context *context, void **state)
{
	struct thermal *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->context = context;
	t->timer = loop_timer(context->loop,
			      context->config.source[SOURCE_thermal].period_ms * NSEC_PER_MSEC,
			      thermal_on_timer, t);
	if (!t->timer) {
		free(t);
		return -ENOMEM;
	}
	thermal_scan(t);
	thermal_on_timer(t, 0);
	*state = t;
	return 0;
}

static int entry_count(void *data, const char *entry)
{
	(void)entry;
	++*(unsigned int *)data;
	return 0;
}

static int thermal_probe(const struct source_context *context, struct probe *p)
{
	unsigned int zones = 0, devices = 0;
	uint64_t count;
	char dir[300];

	snprintf(dir, sizeof(dir), "%s/class/thermal", context->root.sysfs);
	root_list(dir, "thermal_zone", entry_count, &zones);
	root_list(dir, "cooling_device", entry_count, &devices);
	if (!zones && !devices &&
	    root_u64(&count, "%s/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
		     context->root.sysfs))
		return probe_absent(p, -ENODEV, "",
				    "no thermal zone, cooling device or throttle count");
	return probe_found(p, "%u zones, %u cooling devices", zones, devices);
}

const struct source source_thermal = { thermal_probe, thermal_start, thermal_stop };
