// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: names of rails where the kernel has few names, or none. */
#include "unit.h"

#include "../../daemon/recording/queue.h"
#include "../../daemon/recording/schema.h"
#include "faults.h"
#include "place.h"
#include "records.h"

#define CHIP(n)	  "sys/class/hwmon/hwmon" #n "/"
#define DEVICE(n) "sys/bus/iio/devices/iio:device" #n "/"
#define ZONE(n)	  "sys/class/powercap/" #n "/"
#define SUPPLY(n) "sys/class/regulator/regulator." #n "/"

#define EACH_READ                                                                                  \
	"'CLOCK_MONOTONIC' 'each read is between two readings of the clock: "                      \
	"samples.error_ns'\n"

/* A name of one letter is valid, an empty one is not. */
static void names_check(struct source_context *context)
{
	void *state;

	place_file(CHIP(4) "name", "m\n");
	place_file(CHIP(4) "in1_input", "1\n");
	place_file(CHIP(5) "name", "\n");
	place_file(CHIP(5) "curr2_input", "2\n");
	place_file(CHIP(5) "curr2_label", "\n");
	place_file(CHIP(5) "in2_input", "3\n");
	state = place_start(context, SOURCE_hwmon);
	records_are(context->queue,
		    "rail 1 50000000 'm:in1' 'voltage' 'uV' 'hwmon' "
		    "'sys/class/hwmon/hwmon4/in1_input'\n"
		    "rail 2 50000000 'hwmon5:curr2' 'current' 'uA' 'hwmon' "
		    "'sys/class/hwmon/hwmon5/curr2_input'\n"
		    "rail 3 50000000 'hwmon5:in2' 'voltage' 'uV' 'hwmon' "
		    "'sys/class/hwmon/hwmon5/in2_input'\n"
		    "rail 4 50000000 'hwmon5:curr2xin2' 'power' 'uW' 'hwmon' "
		    "'sys/class/hwmon/hwmon5/curr2_input' 'curr2 x in2'\n"
		    "clock 0 'hwmon' " EACH_READ "sample 1000: rail 1 1000 +- 1\n"
		    "sample 1000: rail 2 2000 +- 1\n"
		    "sample 1000: rail 3 3000 +- 1\n"
		    "sample 1000: rail 4 6 +- 1\n",
		    "a chip's name of one letter, and an empty one");
	place_stop(SOURCE_hwmon, state);
	place_file(ZONE(p) "energy_uj", "1\n");
	place_file(ZONE(p) "name", "z\n");
	place_file(SUPPLY(5) "name", "v\n");
	place_file(SUPPLY(5) "microvolts", "5\n");
	place_file(SUPPLY(6) "name", "\n");
	place_file(SUPPLY(6) "microvolts", "6\n");
	place_file(DEVICE(7) "name", "d\n");
	place_file(DEVICE(7) "in_power1_raw", "1\n");
	place_file(DEVICE(7) "in_power1_label", "l\n");
	place_file(DEVICE(7) "in_power1_scale", "3\n");
	place_file(DEVICE(8) "name", "\n");
	place_file(DEVICE(8) "in_power1_raw", "1\n");
	place_file(DEVICE(8) "in_power_scale", "2\n");
	state = place_start(context, SOURCE_powercap);
	records_are(context->queue,
		    "rail 5 50000000 'p' 'z' 'energy' 'uJ' 'powercap' "
		    "'sys/class/powercap/p/energy_uj'\n"
		    "clock 0 'powercap' " EACH_READ "sample 1000: rail 5 1 +- 1\n",
		    "a counter's name of one letter, and an empty one");
	place_stop(SOURCE_powercap, state);
	state = place_start(context, SOURCE_regulator);
	records_are(context->queue,
		    "rail 6 50000000 'regulator.5:v' 'v' 'voltage' 'uV' 'regulator' "
		    "'sys/class/regulator/regulator.5/microvolts' 'set, not measured'\n"
		    "rail 7 50000000 'regulator.6:regulator.6' 'regulator.6' 'voltage' 'uV' "
		    "'regulator' 'sys/class/regulator/regulator.6/microvolts' 'set, not "
		    "measured'\n"
		    "clock 0 'regulator' " EACH_READ "sample 1000: rail 6 5 +- 1\n"
		    "sample 1000: rail 7 6 +- 1\n",
		    "a regulator's name of one letter, and an empty one");
	place_stop(SOURCE_regulator, state);
	state = place_start(context, SOURCE_iio);
	records_are(context->queue,
		    "rail 8 50000000 'd-7:power1' 'l' 'power' 'uW' 'iio' "
		    "'sys/bus/iio/devices/iio:device7/in_power1_raw'\n"
		    "rail 9 50000000 'iio-8:power1' 'power' 'uW' 'iio' "
		    "'sys/bus/iio/devices/iio:device8/in_power1_raw'\n"
		    "clock 0 'iio' " EACH_READ "sample 1000: rail 8 3000 +- 1\n"
		    "sample 1000: rail 9 2000 +- 1\n",
		    "a device's name of one letter, and scales of one digit");
	place_stop(SOURCE_iio, state);
}

static void kinds_return(void)
{
	bool same = true;

	for (int kind = 0; kind < RAIL_OTHER; kind++)
		same = same &&
		       rail_kind_of(rail_kind_name((enum rail_kind)kind)) == (enum rail_kind)kind;
	CHECK(same && rail_kind_of("charge") == RAIL_OTHER && rail_kind_of("") == RAIL_OTHER,
	      "a kind of rails is read as it is written, another one as other");
}

void unit_names(void)
{
	struct place place;
	struct source_context context;

	if (!place_enter(&place))
		return;
	place_context(&context);
	place_low(true);
	context.config.iio_buffered = false;
	for (int i = 0; i < SOURCE_NR; i++)
		context.config.source[i].period_ms = 50;
	names_check(&context);
	faults.at_ns = 0;
	place_low(false);
	place_context_free(&context);
	place_leave(&place);
	kinds_return();
}
