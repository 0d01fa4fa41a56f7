// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: temperatures, cooling devices and throttle counts, as they change. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../daemon/recording/queue.h"
#include "faults.h"
#include "place.h"
#include "records.h"

#define THERMAL	 "sys/class/thermal/"
#define CPU(n)	 "sys/devices/system/cpu/cpu" #n "/"
#define THROTTLE "thermal_throttle/core_throttle_count"

static void look_at(uint64_t t)
{
	faults.at_ns = t;
	watched_at(0)->fn(watched_at(0)->data, 0);
}

static void probe_check(struct source_context *context)
{
	const struct source *thermal = source_table[SOURCE_thermal];

	text_is(place_probe(thermal, context),
		"-19 'no thermal zone, cooling device or throttle count' ''",
		"a board without thermal sources");
	place_file(CPU(0) THROTTLE, "3\n");
	text_is(place_probe(thermal, context), "0 '0 zones, 0 cooling devices' ''",
		"a board with a throttle count");
	place_gone(CPU(0) THROTTLE);
	place_file(THERMAL "cooling_device4/cur_state", "1\n");
	text_is(place_probe(thermal, context), "0 '0 zones, 1 cooling devices' ''",
		"a board with a cooling device");
	place_gone(THERMAL "cooling_device4");
	place_file(THERMAL "thermal_zone0/temp", "-5000\n");
	place_file(THERMAL "thermal_zone0/type", "cpu\n");
	text_is(place_probe(thermal, context), "0 '1 zones, 0 cooling devices' ''",
		"a board with a zone");
}

static void changes_check(struct source_context *context)
{
	const struct source *thermal = source_table[SOURCE_thermal];
	void *state = NULL;

	place_file(THERMAL "cooling_device0/cur_state", "0\n");
	place_file(THERMAL "cooling_device1/type", "no state\n");
	place_file(THERMAL "other0/temp", "1\n");
	place_file(THERMAL "thermal_zone1/temp", "x\n");
	place_file(CPU(0) THROTTLE, "3\n");
	place_file(CPU(1) "online", "1\n");
	place_file(CPU(2) THROTTLE, "4\n");
	context->config.source[SOURCE_thermal].period_ms = 110;
	faults.at_ns = 1000;
	watched_forget();
	CHECK(!thermal->start(context, &state) && watched_count() == 1 &&
		      watched_at(0)->period_ns == 110000000,
	      "zones are read once per period");
	records_are(context->queue,
		    "sensor 1 'cooling' 'cooling_device0' "
		    "'sys/class/thermal/cooling_device0/cur_state'\n"
		    "sensor 2 'zone' 'cpu' 'sys/class/thermal/thermal_zone0/temp'\n"
		    "sensor 3 'throttle' 'cpu0' "
		    "'sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count'\n"
		    "sensor 4 'throttle' 'cpu2' "
		    "'sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_count'\n"
		    "thermal 1000: 1 of kind 1 0\n"
		    "thermal 1000: 2 of kind 0 -5000\n"
		    "thermal 1000: 3 of kind 2 3\n"
		    "thermal 1000: 4 of kind 2 4\n",
		    "each readable value is a sensor");
	look_at(2000);
	place_file(CPU(2) THROTTLE, "5\n");
	look_at(3000);
	place_gone(THERMAL "cooling_device0");
	place_file(THERMAL "thermal_zone0/temp", "6000\n");
	look_at(4000);
	place_file(THERMAL "thermal_zone0/temp", "7000\n");
	thermal->stop(state);
	records_are(context->queue,
		    "thermal 3000: 4 of kind 2 5\n"
		    "thermal 4000: 2 of kind 0 6000\n"
		    "thermal 4000: 2 of kind 0 7000\n",
		    "sensors are recorded when they change, and at the end");
	CHECK(!watched_open(), "no watch remains");
}

static void many_check(struct source_context *context)
{
	const struct source *thermal = source_table[SOURCE_thermal];
	unsigned int sensors = 0;
	void *state = NULL;
	char path[80];

	for (int i = 100; i < 360; i++) {
		snprintf(path, sizeof(path), THERMAL "thermal_zone%d", i);
		if (symlink("thermal_zone0", path))
			abort();
	}
	watched_forget();
	CHECK(!thermal->start(context, &state), "a machine of many zones");
	for (size_t i = 0; i < queue_fill(context->queue); i++) {
		const struct record *r = queue_peek(context->queue, i);

		if (r->type != RECORD_DEFINE)
			continue;
		sensors += r->define->kind == DEFINE_THERMAL;
		definition_free(r->define);
	}
	queue_consume(context->queue, queue_fill(context->queue));
	CHECK(sensors == 256, "the number of sensors is limited");
	thermal->stop(state);
	records_are(context->queue, "", "unchanged sensors are not recorded");
}

void unit_thermal(void)
{
	struct place place;
	struct source_context context;

	if (!place_enter(&place))
		return;
	place_context(&context);
	probe_check(&context);
	changes_check(&context);
	many_check(&context);
	faults.at_ns = 0;
	place_context_free(&context);
	place_leave(&place);
}
