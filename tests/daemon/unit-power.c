// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: energy counters of perf's power PMUs, on a machine that may have none: their files
 * are made here, and perf_event_open() returns a pipe for each counter.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../daemon/recording/queue.h"
#include "../../daemon/source/metrics.h"
#include "../../daemon/source/sensor/rail.h"
#include "faults.h"
#include "place.h"
#include "records.h"

#define PMU(n) "sys/bus/event_source/devices/" #n "/"
#define CPU(n) "sys/devices/system/cpu/cpu" #n "/topology/"

#define EACH_READ                                                                                  \
	"'CLOCK_MONOTONIC' 'each read is between two readings of the clock: "                      \
	"samples.error_ns'\n"

bool unit_power_asked;

static char asked[1024];
static int refused; /* with which errno */
static int count[2][8]; /* of power_core and power, by CPU: the pipe that gets its count */

static void counter_set(int pmu, int cpu, uint64_t value)
{
	if (write(count[pmu][cpu], &value, sizeof(value)) != sizeof(value))
		CHECK(false, "a counter counts");
}

long unit_power_open(const struct perf_event_attr *attr, int tid, int cpu, int group,
		     unsigned long flags)
{
	const size_t at = strlen(asked);
	int ends[2];

	snprintf(asked + at, sizeof(asked) - at,
		 "type %u, event %" PRIu64 ", cpu %d: %d %d %lu%s\n", attr->type,
		 (uint64_t)attr->config, cpu, tid, group, flags,
		 attr->disabled || attr->sample_period || attr->read_format ? ", more" : "");
	errno = refused;
	if (errno || pipe2(ends, O_NONBLOCK))
		return -1;
	/* Those of a previous source ended with it. */
	if (count[attr->type - 21][cpu])
		close(count[attr->type - 21][cpu]);
	count[attr->type - 21][cpu] = ends[1];
	counter_set((int)attr->type - 21, cpu, 0);
	return ends[0];
}

static void timer_run(uint64_t t)
{
	faults.at_ns = t;
	faults.ahead_ns = 0;
	watched_at(0)->fn(watched_at(0)->data, 0);
}

static void *source_start(struct source_context *context)
{
	void *state = NULL;

	asked[0] = '\0';
	watched_forget();
	faults.at_ns = 1000;
	CHECK(!source_table[SOURCE_power]->start(context, &state),
	      "perf's energy counters start as a source");
	return state;
}

static void pmus_make(void)
{
	place_file(PMU(power_core) "type", "21\n");
	place_file(PMU(power_core) "cpumask", "0-1\n");
	place_file(PMU(power_core) "format/event", "config:0-7\n");
	place_file(PMU(power_core) "events/energy-core", "event=0x1\n");
	place_file(PMU(power_core) "events/energy-core.scale", "2.3283064365386962890625e-10\n");
	place_file(PMU(power_core) "events/energy-core.unit", "Joules\n");
	/* Of two threads; with the older file only; of unknown topology. */
	place_file(CPU(0) "core_cpus_list", "0,4\n");
	place_file(CPU(0) "thread_siblings_list", "9\n");
	place_file(PMU(power) "type", "22\n");
	place_file(PMU(power) "cpumask", "0\n");
	place_file(PMU(power) "format/event", "config:8-15\n");
	place_file(PMU(power) "events/energy-pkg", "event=0x02\n");
	place_file(PMU(power) "events/energy-pkg.scale", "0.5\n");
	place_file(PMU(power) "events/energy-pkg.unit", "Joules\n");
	/* Without a unit, or without an event. */
	place_file(PMU(power) "events/energy-gpu", "event=0x04\n");
	place_file(PMU(power) "events/energy-gpu.scale", "1\n");
	place_file(PMU(power) "events/energy-psys", "event=0x05\n");
	place_file(PMU(power) "events/energy-psys.scale", "1\n");
	place_file(PMU(power) "events/energy-psys.unit", "Volts\n");
	place_file(PMU(power) "events/energy-ram", "event=0x03,umask=1\n");
	place_file(PMU(power) "events/energy-ram.scale", "1\n");
	place_file(PMU(power) "events/energy-ram.unit", "Joules\n");
	place_file(PMU(power) "events/voltage", "event=0x06\n");
	/* And a PMU that does not count for a CPU. */
	place_file(PMU(powerless) "type", "23\n");
	place_file(PMU(powerless) "events/energy-pkg", "event=0x02\n");
	place_file(PMU(cpu) "type", "4\n");
	place_file(PMU(cpu) "cpumask", "0\n");
	place_file(PMU(cpu) "events/energy-pkg", "event=0x02\n");
}

static void probe_check(struct source_context *context)
{
	const struct source *power = source_table[SOURCE_power];

	text_is(place_probe(power, context),
		"-19 'no energy counter of perf's that powercap does not have' ''",
		"a machine without perf's energy counters");
	pmus_make();
	text_is(place_probe(power, context),
		"0 '3 energy counters of perf's, 2 of them of a core' ''",
		"a machine with three of perf's energy counters");
	for (int i = 0; i < 2; i++) {
		refused = i ? EPERM : EACCES;
		text_is(place_probe(power, context),
			"-13 '3 energy counters of perf's, which we may not open' 'run as root or "
			"with CAP_PERFMON'",
			"perf's energy counters are not permitted");
	}
	refused = ENOENT;
	text_is(place_probe(power, context),
		"0 '3 energy counters of perf's, 2 of them of a core' ''",
		"other failures are reported when a counter is opened");
	refused = 0;
	place_file("sys/class/powercap/intel-rapl/enabled", "1\n");
	place_file("sys/class/powercap/intel-rapl:0/energy_uj", "1\n");
	text_is(place_probe(power, context),
		"0 '2 energy counters of perf's, 2 of them of a core' ''",
		"a package counter that powercap has is left out");
	context->config.source[SOURCE_powercap].enabled = false;
	text_is(place_probe(power, context),
		"0 '3 energy counters of perf's, 2 of them of a core' ''",
		"a package counter is used if powercap is disabled");
	context->config.source[SOURCE_powercap].enabled = true;
	place_gone("sys/class/powercap/intel-rapl:0");
}

static void rails_check(struct source_context *context)
{
	char *text = NULL;
	size_t size;
	void *state;

	place_file(CPU(1) "thread_siblings_list", "1,5\n");
	context->config.source[SOURCE_power].period_ms = 40;
	state = source_start(context);
	CHECK(watched_count() == 1 && watched_at(0)->period_ns == 40000000,
	      "perf's energy counters are read once per period");
	text_is(asked,
		"type 22, event 512, cpu 0: -1 -1 8\n"
		"type 21, event 1, cpu 0: -1 -1 8\n"
		"type 21, event 1, cpu 1: -1 -1 8\n",
		"each counter is opened for its CPU and any task");
	counter_set(0, 0, 1ull << 32);
	counter_set(0, 1, 3ull << 32);
	counter_set(1, 0, 6);
	timer_run(2000);
	counter_set(0, 0, 5ull << 31);
	timer_run(3000);
	records_are(context->queue,
		    "rail 1 40000000 1000000 'power-0:energy-pkg' 'energy' 'uJ' 'power' "
		    "'sys/bus/event_source/devices/power/events/energy-pkg'\n"
		    "rail 2 40000000 1000000 'power_core-0:energy-core' 'core of CPU 0,4' 'energy' "
		    "'uJ' "
		    "'power' 'sys/bus/event_source/devices/power_core/events/energy-core' '0,4'\n"
		    "rail 3 40000000 1000000 'power_core-1:energy-core' 'core of CPU 1,5' 'energy' "
		    "'uJ' "
		    "'power' 'sys/bus/event_source/devices/power_core/events/energy-core' '1,5'\n"
		    "clock 0 'power' " EACH_READ "sample 1000: rail 1 0 +- 1\n"
		    "sample 1000: rail 2 0 +- 1\n"
		    "sample 1000: rail 3 0 +- 1\n"
		    "sample 2000: rail 1 3000000 +- 1\n"
		    "sample 2000: rail 2 1000000 +- 1\n"
		    "sample 2000: rail 3 3000000 +- 1\n"
		    "sample 3000: rail 1 ? +- 0\n"
		    "sample 3000: rail 2 2500000 +- 1\n"
		    "sample 3000: rail 3 ? +- 0\n",
		    "each core is a rail, in joules by the PMU's scale");
	text = metrics_text(context->metrics, NULL, NULL, METRICS_FOR_GROUP, METRICS_PROMETHEUS,
			    &size);
	CHECK(text && !strstr(text, "} 2.5") &&
		      strstr(text, "energy-core\",label=\"core of CPU 0,4\"} 1\n"),
	      "public metrics show whole joules of perf's counters");
	free(text);
	/* Its CPU is offline: nothing can be read, no value is known, and that is reported. */
	close(count[0][0]);
	count[0][0] = 0;
	timer_run(4000);
	records_are(context->queue,
		    "sample 4000: rail 1 ? +- 0\n"
		    "note 4 'power' 'power_core-0:energy-core: its CPU went offline: its value is "
		    "unknown from here'\n"
		    "sample 4000: rail 2 ? +- 0\n"
		    "sample 4000: rail 3 ? +- 0\n",
		    "a core that went offline is unknown");
	source_table[SOURCE_power]->stop(state);
	CHECK(!watched_open(), "no watch remains");
	refused = ENOENT;
	strcpy(context->config.source[SOURCE_power].match, "*pkg");
	state = source_start(context);
	records_are(context->queue,
		    "note 4 'power' 'power-0:energy-pkg: sys/bus/event_source/devices/power/events/"
		    "energy-pkg: No such file or directory'\n"
		    "rail 1 40000000 1000000 'power-0:energy-pkg' 'energy' 'uJ' 'power' "
		    "'sys/bus/event_source/devices/power/events/energy-pkg'\n"
		    "clock 0 'power' " EACH_READ,
		    "a counter that cannot be opened is reported and is a rail");
	refused = 0;
	timer_run(3000000000);
	counter_set(1, 0, 8);
	timer_run(3000000001);
	records_are(context->queue,
		    "note 5 'power' 'power-0:energy-pkg: back'\n"
		    "sample 3000000001: rail 1 4000000 +- 1\n",
		    "it is opened again later and counts");
	source_table[SOURCE_power]->stop(state);
	strcpy(context->config.source[SOURCE_power].match, "*");
}

void unit_power(void)
{
	struct place place;
	struct source_context context;

	if (!place_enter(&place))
		return;
	unit_power_asked = true;
	place_context(&context);
	place_low(true);
	probe_check(&context);
	rails_check(&context);
	faults.at_ns = 0;
	faults.ahead_ns = 0;
	place_low(false);
	place_context_free(&context);
	place_leave(&place);
	for (int i = 0; i < 16; i++)
		if (count[i / 8][i % 8])
			close(count[i / 8][i % 8]);
	unit_power_asked = false;
}
