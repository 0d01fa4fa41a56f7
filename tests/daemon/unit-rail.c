// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: rails, from the files of sensors to their samples. The clock is fixed or advances by
 * a step at each reading, so that the duration of a read is deterministic.
 */
#include "unit.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../daemon/common/clock.h"
#include "../../daemon/recording/queue.h"
#include "../../daemon/source/sensor/rail.h"
#include "../../daemon/source/sensor/reader.h"
#include "faults.h"
#include "place.h"
#include "records.h"

#define CHIP(n)	  "sys/class/hwmon/hwmon" #n "/"
#define DEVICE(n) "sys/bus/iio/devices/iio:device" #n "/"
#define ZONE(n)	  "sys/class/powercap/" #n "/"
#define RAPL	  "sys/class/powercap/intel-rapl:1/"
#define SUPPLY(n) "sys/class/regulator/regulator." #n "/"

#define EACH_READ                                                                                  \
	"'CLOCK_MONOTONIC' 'each read is between two readings of the clock: "                      \
	"samples.error_ns'\n"

static void look_at(uint64_t t)
{
	faults.at_ns = t;
	faults.ahead_ns = 0;
	watched_at(0)->fn(watched_at(0)->data, 0);
}

/* Without reading the clock, which the thread reads. */
static void has_read(unsigned int watch)
{
	struct pollfd p = { .fd = watched_at(watch)->fd, .events = POLLIN };

	CHECK(poll(&p, 1, 250000) == 1, "the thread has read");
}

/* Its readings are taken. */
static void read_by_thread(unsigned int watch)
{
	has_read(watch);
	watched_at(watch)->fn(watched_at(watch)->data, EPOLLIN);
}

static void queue_forget(struct queue *q)
{
	for (size_t i = 0; i < queue_fill(q); i++)
		if (queue_peek(q, i)->type == RECORD_DEFINE)
			definition_free(queue_peek(q, i)->define);
	queue_consume(q, queue_fill(q));
}

/* Names of channels, as chips and their drivers define them. */
static void channels_check(struct source_context *context)
{
	void *state;

	text_is(place_probe(source_table[SOURCE_hwmon], context),
		"-19 'no power, energy, current or voltage channel' 'bind the board's power "
		"monitor (see docs/recording.md, rails)'",
		"a board without chips");
	place_file(CHIP(0) "name", "meter\n");
	mkdir("devices", 0755);
	if (symlink("../../../devices/0-0060", CHIP(0) "device"))
		abort();
	place_file(CHIP(0) "power2_input", "5\n");
	place_file(CHIP(0) "power2_average", "6\n");
	place_file(CHIP(0) "power3_average", "7\n");
	place_file(CHIP(0) "power3_label", "mean\n");
	place_file(CHIP(0) "power9999_input", "8\n");
	place_file(CHIP(0) "power10000_input", "9\n");
	place_file(CHIP(0) "power_input", "9\n");
	place_file(CHIP(0) "power4_inputs", "9\n");
	place_file(CHIP(0) "temp1_input", "9\n");
	place_file(CHIP(0) "energy1_input", "9007199254740993\n");
	place_file(CHIP(0) "curr1_input", "11\n");
	place_file(CHIP(0) "in1_input", "12\n");
	place_file(CHIP(0) "in1_average", "12\n");
	/* Without a name, a device and a power: the product, by label or number. */
	place_file(CHIP(1) "curr0_alarm", "0\n");
	place_file(CHIP(1) "curr0_input", "3\n");
	place_file(CHIP(1) "in0_input", "5\n");
	place_file(CHIP(1) "curr1_input", "3\n");
	place_file(CHIP(1) "curr2_input", "3\n");
	place_file(CHIP(1) "curr2_label", "iout\n");
	place_file(CHIP(1) "in31_input", "7\n");
	place_file(CHIP(1) "in31_label", "vout\n");
	place_file(CHIP(1) "in30_label", "iout\n");
	place_file(CHIP(1) "curr3_input", "3\n");
	place_file(CHIP(1) "curr3_label", "iother\n");
	place_file(CHIP(1) "in3_input", "3\n");
	place_file(CHIP(1) "curr4_input", "3\n");
	place_file(CHIP(1) "curr4_label", "out\n");
	place_file(CHIP(1) "in4_label", "vut\n");
	place_file(CHIP(1) "curr5_input", "3\n");
	place_file(CHIP(1) "curr5_label", "ifar\n");
	place_file(CHIP(1) "in32_label", "vfar\n");
	text_is(place_probe(source_table[SOURCE_hwmon], context), "0 '17 channels on 2 chips' ''",
		"a board with two chips");
	context->config.source[SOURCE_hwmon].period_ms = 60;
	state = place_start(context, SOURCE_hwmon);
	CHECK(watched_count() == 1 && watched_at(0)->period_ns == 60000000,
	      "rails are read once per period");
	records_are(context->queue,
		    "rail 1 60000000 'meter-0-0060:curr1' 'current' 'uA' 'hwmon' "
		    "'sys/class/hwmon/hwmon0/curr1_input'\n"
		    "rail 2 60000000 'meter-0-0060:energy1' 'energy' 'uJ' 'hwmon' "
		    "'sys/class/hwmon/hwmon0/energy1_input'\n"
		    "rail 3 60000000 'meter-0-0060:in1' 'voltage' 'uV' 'hwmon' "
		    "'sys/class/hwmon/hwmon0/in1_input'\n"
		    "rail 4 60000000 'meter-0-0060:power2' 'power' 'uW' 'hwmon' "
		    "'sys/class/hwmon/hwmon0/power2_input'\n"
		    "rail 5 60000000 'meter-0-0060:power3' 'mean' 'power' 'uW' 'hwmon' "
		    "'sys/class/hwmon/hwmon0/power3_average'\n"
		    "rail 6 60000000 'meter-0-0060:power9999' 'power' 'uW' 'hwmon' "
		    "'sys/class/hwmon/hwmon0/power9999_input'\n"
		    "rail 7 60000000 'hwmon1:curr0' 'current' 'uA' 'hwmon' "
		    "'sys/class/hwmon/hwmon1/curr0_input'\n"
		    "rail 8 60000000 'hwmon1:curr1' 'current' 'uA' 'hwmon' "
		    "'sys/class/hwmon/hwmon1/curr1_input'\n"
		    "rail 9 60000000 'hwmon1:curr2' 'iout' 'current' 'uA' 'hwmon' "
		    "'sys/class/hwmon/hwmon1/curr2_input'\n"
		    "rail 10 60000000 'hwmon1:curr3' 'iother' 'current' 'uA' 'hwmon' "
		    "'sys/class/hwmon/hwmon1/curr3_input'\n"
		    "rail 11 60000000 'hwmon1:curr4' 'out' 'current' 'uA' 'hwmon' "
		    "'sys/class/hwmon/hwmon1/curr4_input'\n"
		    "rail 12 60000000 'hwmon1:curr5' 'ifar' 'current' 'uA' 'hwmon' "
		    "'sys/class/hwmon/hwmon1/curr5_input'\n"
		    "rail 13 60000000 'hwmon1:in0' 'voltage' 'uV' 'hwmon' "
		    "'sys/class/hwmon/hwmon1/in0_input'\n"
		    "rail 14 60000000 'hwmon1:in3' 'voltage' 'uV' 'hwmon' "
		    "'sys/class/hwmon/hwmon1/in3_input'\n"
		    "rail 15 60000000 'hwmon1:in31' 'vout' 'voltage' 'uV' 'hwmon' "
		    "'sys/class/hwmon/hwmon1/in31_input'\n"
		    "rail 16 60000000 'hwmon1:curr0xin0' 'power' 'uW' 'hwmon' "
		    "'sys/class/hwmon/hwmon1/curr0_input' 'curr0 x in0'\n"
		    "rail 17 60000000 'hwmon1:curr2xin31' 'iout' 'power' 'uW' 'hwmon' "
		    "'sys/class/hwmon/hwmon1/curr2_input' 'curr2 x in31'\n"
		    "clock 0 'hwmon' " EACH_READ "sample 1000: rail 1 11000 +- 1\n"
		    "sample 1000: rail 2 9007199254740993 +- 1\n"
		    "sample 1000: rail 3 12000 +- 1\n"
		    "sample 1000: rail 4 5 +- 1\n"
		    "sample 1000: rail 5 7 +- 1\n"
		    "sample 1000: rail 6 8 +- 1\n"
		    "sample 1000: rail 7 3000 +- 1\n"
		    "sample 1000: rail 8 3000 +- 1\n"
		    "sample 1000: rail 9 3000 +- 1\n"
		    "sample 1000: rail 10 3000 +- 1\n"
		    "sample 1000: rail 11 3000 +- 1\n"
		    "sample 1000: rail 12 3000 +- 1\n"
		    "sample 1000: rail 13 5000 +- 1\n"
		    "sample 1000: rail 14 3000 +- 1\n"
		    "sample 1000: rail 15 7000 +- 1\n"
		    "sample 1000: rail 16 15 +- 1\n"
		    "sample 1000: rail 17 21 +- 1\n",
		    "each channel is named by chip and label, in micro-units");
	place_stop(SOURCE_hwmon, state);
	place_gone("sys/class/hwmon");
}

/* A rail that has no value now, disappears, and comes back. */
static void loss_check(struct source_context *context)
{
	static const int waits[] = { EAGAIN, EBUSY, ENODATA, ETIMEDOUT };
	void *state;

	place_file(CHIP(0) "name", "chip\n");
	place_file(CHIP(0) "curr1_input", "3\n");
	place_file(CHIP(0) "in1_input", "5\n");
	strcpy(context->config.source[SOURCE_hwmon].match, "*x*");
	state = place_start(context, SOURCE_hwmon);
	queue_forget(context->queue);
	for (size_t i = 0; i < 4; i++) {
		faults.read = waits[i];
		look_at(2000 + i);
	}
	faults.read = 0;
	place_file(CHIP(0) "in1_input", "");
	look_at(3000);
	place_file(CHIP(0) "in1_input", "6\n");
	look_at(4000);
	records_are(context->queue,
		    "sample 2000: rail 18 ? +- 0\n"
		    "sample 2001: rail 18 ? +- 0\n"
		    "sample 2002: rail 18 ? +- 0\n"
		    "sample 2003: rail 18 ? +- 0\n"
		    "sample 3000: rail 18 ? +- 0\n"
		    "sample 4000: rail 18 18 +- 1\n",
		    "a sensor without a value has one later");
	place_file(CHIP(0) "in1_input", "x\n");
	look_at(5000);
	look_at(6000);
	place_file(CHIP(0) "in1_input", "7\n");
	look_at(2000005999);
	look_at(2000006000);
	records_are(context->queue,
		    "note 4 'hwmon' 'chip:curr1xin1: Invalid argument: its value is unknown from "
		    "here'\n"
		    "sample 5000: rail 18 ? +- 0\n"
		    "note 5 'hwmon' 'chip:curr1xin1: back'\n",
		    "a failing sensor is reported, and its return");
	look_at(2000006001);
	records_are(context->queue, "sample 2000006001: rail 18 21 +- 1\n",
		    "the sensor is read again");
	faults.read = EIO;
	look_at(2000006002);
	faults.read = 0;
	place_file(CHIP(0) "curr1_input", "x\n");
	look_at(4000005999);
	look_at(4000006000);
	place_file(CHIP(0) "curr1_input", "4\n");
	look_at(6000005999);
	records_are(context->queue,
		    "note 4 'hwmon' 'chip:curr1xin1: Input/output error: its value is unknown "
		    "from here'\n"
		    "sample 2000006002: rail 18 ? +- 0\n",
		    "it is retried every two seconds and used when readable");
	place_gone(CHIP(0) "in1_input");
	look_at(6000006000);
	place_file(CHIP(0) "in1_input", "8\n");
	look_at(8000006000);
	look_at(8000006001);
	records_are(context->queue,
		    "note 5 'hwmon' 'chip:curr1xin1: back'\n"
		    "sample 8000006001: rail 18 32 +- 1\n",
		    "it needs both of its files");
	place_stop(SOURCE_hwmon, state);
	/* One that never existed. */
	place_gone(CHIP(0) "curr1_input");
	mkdir(CHIP(0) "curr1_input", 0755);
	strcpy(context->config.source[SOURCE_hwmon].match, "*:curr1");
	state = place_start(context, SOURCE_hwmon);
	records_are(context->queue,
		    "rail 19 60000000 'chip:curr1' 'current' 'uA' 'hwmon' "
		    "'sys/class/hwmon/hwmon0/curr1_input'\n"
		    "clock 0 'hwmon' " EACH_READ
		    "note 4 'hwmon' 'chip:curr1: Is a directory: its value is unknown from here'\n"
		    "sample 1000: rail 19 ? +- 0\n",
		    "a channel that cannot be read is reported");
	place_stop(SOURCE_hwmon, state);
	place_gone("sys/class/hwmon");
	strcpy(context->config.source[SOURCE_hwmon].match, "*");
}

/* A dangling link. */
static void link_check(struct source_context *context)
{
	int lowest = dup(STDOUT_FILENO), next;
	void *state;

	close(lowest);
	place_file(CHIP(0) "name", "chip\n");
	place_file(CHIP(0) "curr1_input", "3\n");
	/* Its name exists, its target does not. */
	if (symlink("/proc/self/fd/9999", CHIP(0) "power1_input"))
		abort();
	state = place_start(context, SOURCE_hwmon);
	records_are(context->queue,
		    "rail 19 60000000 'chip:curr1' 'current' 'uA' 'hwmon' "
		    "'sys/class/hwmon/hwmon0/curr1_input'\n"
		    "note 4 'hwmon' 'chip:power1: sys/class/hwmon/hwmon0/power1_input: No such "
		    "file or directory'\n"
		    "rail 20 60000000 'chip:power1' 'power' 'uW' 'hwmon' "
		    "'sys/class/hwmon/hwmon0/power1_input'\n"
		    "clock 0 'hwmon' " EACH_READ "sample 1000: rail 19 3000 +- 1\n",
		    "a channel that cannot be opened is reported and is a rail");
	place_stop(SOURCE_hwmon, state);
	next = dup(STDOUT_FILENO);
	close(next);
	CHECK(next == lowest, "no file stays open");
	place_gone("sys/class/hwmon");
}

/* A read that exceeds its share of the period: after 16 in a row it doubles. */
static void budget_check(struct source_context *context)
{
	void *state;

	place_file(CHIP(0) "name", "chip\n");
	place_file(CHIP(0) "curr1_input", "3\n");
	context->config.source[SOURCE_hwmon].period_ms = 10;
	context->config.source[SOURCE_hwmon].budget_percent = 6;
	state = place_start(context, SOURCE_hwmon);
	queue_forget(context->queue);
	/* Three clock reads per sample: 600 us are 6 % of 10 ms. */
	faults.leap_ns = 200000;
	for (int i = 0; i < 20; i++)
		look_at(1000);
	CHECK(watched_at(0)->period_ns == 10000000, "reads within the budget keep the period");
	faults.leap_ns = 200001;
	for (int i = 0; i < 15; i++)
		look_at(1000);
	faults.leap_ns = 200000;
	look_at(1000);
	faults.leap_ns = 200001;
	for (int i = 0; i < 15; i++)
		look_at(1000);
	CHECK(watched_at(0)->period_ns == 10000000, "an occasional slow read keeps the period");
	queue_forget(context->queue);
	look_at(1000);
	faults.leap_ns = 0;
	faults.ahead_ns = 0;
	CHECK(watched_at(0)->period_ns == 20000000,
	      "sixteen slow reads in a row double the period");
	records_are(context->queue,
		    "sample 501002: rail 19 3000 +- 100001\n"
		    "note 5 'hwmon' 'sampling 1 rails takes 0.6 ms, over 6 % of the period: now "
		    "every 20 ms'\n",
		    "the longer period is reported");
	faults.leap_ns = 240000;
	for (int i = 0; i < 16; i++)
		look_at(1000);
	faults.leap_ns = 0;
	faults.ahead_ns = 0;
	CHECK(watched_at(0)->period_ns == 20000000, "the longer period has a larger budget");
	queue_forget(context->queue);
	place_stop(SOURCE_hwmon, state);
	context->config.source[SOURCE_hwmon].period_ms = 60;
	context->config.source[SOURCE_hwmon].budget_percent = 5;
}

/* Rails behind a slow bus are read by a thread. */
static void reader_check(struct source_context *context)
{
	void *state;

	place_file(CHIP(0) "in2_input", "5\n");
	context->config.source[SOURCE_hwmon].budget_percent = 100;
	state = place_start(context, SOURCE_hwmon);
	queue_forget(context->queue);
	faults.leap_ns = 250000;
	look_at(1000);
	look_at(1000);
	look_at(1000);
	faults.leap_ns = 250001;
	look_at(1000);
	faults.leap_ns = 250000;
	look_at(1000);
	faults.leap_ns = 250001;
	look_at(1000);
	CHECK(watched_count() == 1, "250 us is not slow, nor is a single longer read");
	queue_forget(context->queue);
	look_at(1000);
	records_are(context->queue,
		    "sample 626002: rail 19 3000 +- 125001\n"
		    "note 6 'hwmon' 'chip:curr1 takes over 250 us to read: slow rails are read by "
		    "a thread'\n"
		    "sample 1376005: rail 21 5000 +- 125001\n",
		    "the second slow read in a row is reported");
	CHECK(watched_count() == 2 && watched_at(1)->events == EPOLLIN,
	      "slow rails have one thread");
	faults.leap_ns = 0;
	look_at(2000);
	has_read(1);
	look_at(3000);
	records_are(context->queue, "", "the thread then reads that rail");
	read_by_thread(1);
	records_are(context->queue,
		    "sample 2000: rail 19 3000 +- 1\n"
		    "sample 2000: rail 21 5000 +- 1\n",
		    "one list is read at a time");
	watched_at(1)->fn(watched_at(1)->data, EPOLLIN);
	records_are(context->queue, "", "a reading is taken once");
	place_file(CHIP(0) "curr1_input", "x\n");
	look_at(4000);
	read_by_thread(1);
	look_at(5000);
	read_by_thread(1);
	records_are(context->queue,
		    "note 4 'hwmon' 'chip:curr1: Invalid argument: its value is unknown from "
		    "here'\n"
		    "sample 4000: rail 19 ? +- 0\n"
		    "sample 4000: rail 21 5000 +- 1\n"
		    "sample 5000: rail 21 5000 +- 1\n",
		    "the thread's errors are reported as usual");
	place_stop(SOURCE_hwmon, state);
	queue_forget(context->queue);
	place_gone("sys/class/hwmon");
	context->config.source[SOURCE_hwmon].budget_percent = 5;
}

static void counters_check(struct source_context *context)
{
	const struct source *powercap = source_table[SOURCE_powercap];
	void *state;

	text_is(place_probe(powercap, context),
		"-19 'no powercap energy counter' 'modprobe intel_rapl_msr, on a machine that has "
		"it'",
		"a machine without energy counters");
	place_file(ZONE(a) "energy_uj", "999900\n");
	place_file(ZONE(a) "name", "package-0\n");
	place_file(ZONE(a) "max_energy_range_uj", "1000000\n");
	place_file(RAPL "energy_uj", "900\n");
	place_file(ZONE(c) "name", "no counter\n");
	text_is(place_probe(powercap, context), "0 '2 energy counters' ''",
		"a board with two chips");
	if (!geteuid()) {
		chmod(".", 0755);
		chmod(ZONE(a) "energy_uj", 0400);
		if (!seteuid(65534)) {
			text_is(place_probe(powercap, context), "0 '2 energy counters' ''",
				"one of two energy counters is not accessible");
			if (seteuid(0) || chmod(RAPL "energy_uj", 0400) || seteuid(65534))
				abort();
			text_is(place_probe(powercap, context),
				"-13 '2 energy counters, readable by root only' 'run as root or "
				"with CAP_DAC_READ_SEARCH, as the unit does'",
				"both energy counters are not accessible");
			if (seteuid(0))
				abort();
		}
	}
	context->config.source[SOURCE_powercap].period_ms = 70;
	state = place_start(context, SOURCE_powercap);
	CHECK(watched_at(0)->period_ns == 70000000, "counters are read once per period");
	place_file(ZONE(a) "energy_uj", "100\n");
	place_file(RAPL "energy_uj", "100\n");
	look_at(2000);
	place_file(ZONE(a) "energy_uj", "100\n");
	look_at(3000);
	place_file(ZONE(a) "energy_uj", "99\n");
	look_at(4000);
	place_file(ZONE(a) "energy_uj", "299\n");
	look_at(5000);
	/* 1 J takes 250 us at 4 kW, the most that is taken as possible. */
	look_at(254999);
	place_file(ZONE(a) "energy_uj", "300\n");
	look_at(505000);
	records_are(context->queue,
		    "rail 22 70000000 1000000 'a' 'package-0' 'energy' 'uJ' 'powercap' "
		    "'sys/class/powercap/a/energy_uj'\n"
		    "rail 23 70000000 1000000 'intel-rapl:1' 'energy' 'uJ' 'powercap' "
		    "'sys/class/powercap/intel-rapl:1/energy_uj'\n"
		    "clock 0 'powercap' " EACH_READ "sample 1000: rail 22 999900 +- 1\n"
		    "sample 1000: rail 23 900 +- 1\n"
		    "sample 2000: rail 22 1000100 +- 1\n"
		    "note 4 'powercap' 'intel-rapl:1: its counter went back from 900 "
		    "to 100 in 0.000 s, which is no wrap: it was reset, and its energy "
		    "meanwhile is unknown'\n"
		    "sample 2000: rail 23 ? +- 0\n"
		    "sample 2000: rail 23 900 +- 1\n"
		    "sample 3000: rail 22 1000100 +- 1\n"
		    "sample 3000: rail 23 900 +- 1\n"
		    "note 4 'powercap' 'a: its counter went back from 100 to 99 in "
		    "0.000 s, which is no wrap: it was reset, and its energy meanwhile "
		    "is unknown'\n"
		    "sample 4000: rail 22 ? +- 0\n"
		    "sample 4000: rail 22 1000100 +- 1\n"
		    "sample 4000: rail 23 900 +- 1\n"
		    "sample 5000: rail 22 1000300 +- 1\n"
		    "sample 5000: rail 23 900 +- 1\n"
		    "sample 254999: rail 22 1000300 +- 1\n"
		    "sample 254999: rail 23 900 +- 1\n"
		    "note 4 'powercap' 'a: not read for 0.000 s, in which its counter "
		    "may have wrapped twice: its energy meanwhile is unknown'\n"
		    "sample 505000: rail 22 ? +- 0\n"
		    "sample 505000: rail 22 1000300 +- 1\n"
		    "sample 505000: rail 23 900 +- 1\n",
		    "a counter continues after a possible wrap; after any other step back it is "
		    "unknown");
	place_stop(SOURCE_powercap, state);
}

/* A counter with a range of 262 kJ on a rail of 40 W: a step back that no wrap explains. */
static void resets_check(struct source_context *context)
{
	void *state;

	place_file(RAPL "max_energy_range_uj", "262143328850\n");
	place_file(RAPL "energy_uj", "100000000000\n");
	place_file(RAPL "constraint_0_power_limit_uw", "15000000\n");
	place_file(RAPL "constraint_1_max_power_uw", "40000000\n");
	strcpy(context->config.source[SOURCE_powercap].match, "intel*");
	state = place_start(context, SOURCE_powercap);
	queue_forget(context->queue);
	place_file(RAPL "energy_uj", "5000\n");
	look_at(70001000);
	place_file(RAPL "energy_uj", "7000\n");
	look_at(140001000);
	records_are(context->queue,
		    "note 4 'powercap' 'intel-rapl:1: its counter went back from "
		    "100000000000 to 5000 in 0.070 s, which is no wrap: it was reset, "
		    "and its energy meanwhile is unknown'\n"
		    "sample 70001000: rail 23 ? +- 0\n"
		    "sample 70001000: rail 23 100000000000 +- 1\n"
		    "sample 140001000: rail 23 100000002000 +- 1\n",
		    "a counter that was reset adds no range");
	/* 80 W, twice the highest limit: 262143.32885 J take 3276.8 s. */
	look_at(3270000000000);
	records_are(context->queue, "sample 3270000000000: rail 23 100000002000 +- 1\n",
		    "a long gap without a possible wrap is known");
	look_at(6550000000000);
	records_are(context->queue,
		    "note 4 'powercap' 'intel-rapl:1: not read for 3280.000 s, in "
		    "which its counter may have wrapped twice: its energy meanwhile is "
		    "unknown'\n"
		    "sample 6550000000000: rail 23 ? +- 0\n"
		    "sample 6550000000000: rail 23 100000002000 +- 1\n",
		    "a gap in which the counter may have wrapped unseen is not");
	faults.slept_ns = 99999999;
	look_at(6550070000000);
	records_are(context->queue, "sample 6550070000000: rail 23 100000002000 +- 1\n",
		    "clocks that differ a little were read late");
	faults.slept_ns += 100000000;
	place_file(RAPL "energy_uj", "9000\n");
	look_at(6550140000000);
	place_file(RAPL "energy_uj", "9500\n");
	look_at(6550210000000);
	records_are(context->queue,
		    "note 5 'powercap' 'the machine was suspended for 0.100 s: the "
		    "energy meanwhile is unknown'\n"
		    "sample 6550140000000: rail 23 ? +- 0\n"
		    "sample 6550140000000: rail 23 100000002000 +- 1\n"
		    "sample 6550210000000: rail 23 100000002500 +- 1\n",
		    "energy across a suspend is unknown");
	faults.slept_ns = 0;
	place_stop(SOURCE_powercap, state);
	/* One that does not count at all. */
	state = place_start(context, SOURCE_powercap);
	queue_forget(context->queue);
	look_at(10000000999);
	records_are(context->queue, "sample 10000000999: rail 23 9500 +- 1\n",
		    "a counter that has not moved yet is recorded");
	look_at(10000001000);
	look_at(20000001000);
	records_are(context->queue,
		    "note 4 'powercap' 'intel-rapl:1: its counter has not moved for 10 "
		    "s: it does not count here, and its energy is unknown'\n"
		    "sample 10000001000: rail 23 9500 +- 1\n"
		    "sample 20000001000: rail 23 9500 +- 1\n",
		    "a counter that never moves is reported once");
	place_stop(SOURCE_powercap, state);
	place_gone("sys/class/powercap");
	strcpy(context->config.source[SOURCE_powercap].match, "*");
}

/* A device that sleeps is not woken, and one that refuses for a while is not lost. */
static void sleepers_check(struct source_context *context)
{
	void *state;

	strcpy(context->config.source[SOURCE_hwmon].match, "*");
	place_file(CHIP(0) "name", "gpu\n");
	place_file(CHIP(0) "power1_average", "7\n");
	place_file(CHIP(0) "device/power/runtime_status", "suspended\n");
	state = place_start(context, SOURCE_hwmon);
	place_file(CHIP(0) "power1_average", "x\n");
	look_at(2000);
	records_are(context->queue,
		    "rail 31 60000000 'gpu:power1' 'power' 'uW' 'hwmon' "
		    "'sys/class/hwmon/hwmon0/power1_average'\n"
		    "clock 0 'hwmon' " EACH_READ
		    "note 6 'hwmon' 'gpu:power1: its device sleeps and is not read: "
		    "its value is unknown until it wakes'\n"
		    "sample 1000: rail 31 ? +- 0\n",
		    "a suspended device is not read");
	place_file(CHIP(0) "power1_average", "9\n");
	place_file(CHIP(0) "device/power/runtime_status", "active\n");
	look_at(3000);
	faults.read = EPERM;
	look_at(4000);
	look_at(5000);
	faults.read = 0;
	look_at(6000);
	faults.read = EPERM;
	look_at(7000);
	faults.read = 0;
	records_are(context->queue,
		    "sample 3000: rail 31 9 +- 1\n"
		    "note 5 'hwmon' 'gpu:power1: Operation not permitted: its value is "
		    "unknown while its device refuses to be read'\n"
		    "sample 4000: rail 31 ? +- 0\n"
		    "sample 5000: rail 31 ? +- 0\n"
		    "sample 6000: rail 31 9 +- 1\n"
		    "sample 7000: rail 31 ? +- 0\n",
		    "a device that refuses is reported once and stays");
	place_file(CHIP(0) "device/power/runtime_status", "suspended\n");
	look_at(8000);
	look_at(9000);
	place_file(CHIP(0) "device/power/runtime_status", "active\n");
	look_at(10000);
	records_are(context->queue,
		    "note 6 'hwmon' 'gpu:power1: its device sleeps and is not read: "
		    "its value is unknown until it wakes'\n"
		    "sample 8000: rail 31 ? +- 0\n"
		    "sample 10000: rail 31 9 +- 1\n",
		    "it is read again when it wakes");
	place_stop(SOURCE_hwmon, state);
	place_gone("sys/class/hwmon");
}

static void regulators_check(struct source_context *context)
{
	const struct source *regulator = source_table[SOURCE_regulator];
	void *state;

	text_is(place_probe(regulator, context), "-19 'no regulator reports its voltage' ''",
		"a board without regulators");
	place_file(SUPPLY(1) "name", "core\n");
	place_file(SUPPLY(1) "microvolts", "900000\n");
	place_file(SUPPLY(2) "name", "silent\n");
	place_file(SUPPLY(3) "microvolts", "1\n");
	text_is(place_probe(regulator, context), "0 '2 set voltages' ''", "a board with two chips");
	context->config.source[SOURCE_regulator].period_ms = 80;
	strcpy(context->config.source[SOURCE_regulator].match, "*core");
	state = place_start(context, SOURCE_regulator);
	CHECK(watched_at(0)->period_ns == 80000000, "supplies are read once per period");
	look_at(1000000999);
	place_file(SUPPLY(1) "microvolts", "850000\n");
	look_at(1000000999);
	look_at(2000000998);
	look_at(2000000999);
	place_file(SUPPLY(1) "microvolts", "");
	look_at(2000001000);
	look_at(2000001001);
	records_are(context->queue,
		    "rail 24 80000000 'regulator.1:core' 'core' 'voltage' 'uV' 'regulator' "
		    "'sys/class/regulator/regulator.1/microvolts' 'set, not measured'\n"
		    "clock 0 'regulator' " EACH_READ "sample 1000: rail 24 900000 +- 1\n"
		    "sample 1000000999: rail 24 850000 +- 1\n"
		    "sample 2000000999: rail 24 850000 +- 1\n"
		    "sample 2000001000: rail 24 ? +- 0\n",
		    "a set voltage is recorded when it changes, and once a second");
	place_stop(SOURCE_regulator, state);
	strcpy(context->config.source[SOURCE_regulator].match, "regulator.3:*");
	state = place_start(context, SOURCE_regulator);
	records_are(context->queue,
		    "rail 25 80000000 'regulator.3:regulator.3' 'regulator.3' 'voltage' 'uV' "
		    "'regulator' 'sys/class/regulator/regulator.3/microvolts' 'set, not "
		    "measured'\n"
		    "clock 0 'regulator' " EACH_READ "sample 1000: rail 25 1 +- 1\n",
		    "a regulator without a name is named by its number");
	place_stop(SOURCE_regulator, state);
}

static void devices_check(struct source_context *context)
{
	const struct source *iio = source_table[SOURCE_iio];
	void *state;

	context->config.iio_buffered = false;
	text_is(place_probe(iio, context), "-19 'no power, energy, current or voltage channel' ''",
		"a board without IIO devices");
	place_file(DEVICE(3) "name", "ina226\n");
	place_file(DEVICE(3) "in_power2_raw", "40\n");
	place_file(DEVICE(3) "in_power2_scale", "25\n");
	place_file(DEVICE(3) "in_power_scale", "99\n");
	place_file(DEVICE(3) "in_power2_offset", "-2\n");
	place_file(DEVICE(3) "in_power2_label", "core\n");
	place_file(DEVICE(3) "in_voltage1_raw", "800\n");
	place_file(DEVICE(3) "in_voltage1_scale", "x\n");
	place_file(DEVICE(3) "in_voltage_scale", "1.25\n");
	place_file(DEVICE(3) "in_voltage_offset", "8\n");
	place_file(DEVICE(3) "in_current3_input", "7\n");
	place_file(DEVICE(3) "in_current3_scale", "5\n");
	place_file(DEVICE(3) "in_energy4_raw", "2\n");
	place_file(DEVICE(3) "in_energy4_rawer", "2\n");
	place_file(DEVICE(3) "in_energy5_inputs", "2\n");
	place_file(DEVICE(3) "in_temp_raw", "2\n");
	place_file(DEVICE(3) "out_voltage0_raw", "2\n");
	place_file(DEVICE(12) "in_voltage0-voltage1_raw", "3\n");
	place_file("sys/bus/iio/devices/trigger0/in_voltage0_raw", "2\n");
	text_is(place_probe(iio, context), "0 '5 channels on 2 devices' ''",
		"a board with two chips");
	context->config.source[SOURCE_iio].period_ms = 90;
	state = place_start(context, SOURCE_iio);
	CHECK(watched_at(0)->period_ns == 90000000 && !context->iio_buffers,
	      "devices are read once per period");
	records_are(context->queue,
		    "rail 26 90000000 'ina226-3:current3' 'current' 'uA' 'iio' "
		    "'sys/bus/iio/devices/iio:device3/in_current3_input'\n"
		    "rail 27 90000000 'ina226-3:energy4' 'energy' 'uJ' 'iio' "
		    "'sys/bus/iio/devices/iio:device3/in_energy4_raw'\n"
		    "rail 28 90000000 'ina226-3:power2' 'core' 'power' 'uW' 'iio' "
		    "'sys/bus/iio/devices/iio:device3/in_power2_raw'\n"
		    "rail 29 90000000 'ina226-3:voltage1' 'voltage' 'uV' 'iio' "
		    "'sys/bus/iio/devices/iio:device3/in_voltage1_raw'\n"
		    "rail 30 90000000 'iio-12:voltage0-voltage1' 'voltage' 'uV' 'iio' "
		    "'sys/bus/iio/devices/iio:device12/in_voltage0-voltage1_raw'\n"
		    "clock 0 'iio' " EACH_READ "sample 1000: rail 26 7000 +- 1\n"
		    "sample 1000: rail 27 2000000 +- 1\n"
		    "sample 1000: rail 28 950000 +- 1\n"
		    "sample 1000: rail 29 1010000 +- 1\n"
		    "sample 1000: rail 30 3000 +- 1\n",
		    "each channel has its own scale and offset, or its type's");
	place_stop(SOURCE_iio, state);
}

void unit_rail(void)
{
	struct place place;
	struct source_context context;

	if (!place_enter(&place))
		return;
	place_context(&context);
	place_low(true);
	channels_check(&context);
	loss_check(&context);
	link_check(&context);
	budget_check(&context);
	reader_check(&context);
	counters_check(&context);
	resets_check(&context);
	regulators_check(&context);
	devices_check(&context);
	sleepers_check(&context);
	faults.at_ns = 0;
	faults.ahead_ns = 0;
	place_low(false);
	place_context_free(&context);
	place_leave(&place);
}
