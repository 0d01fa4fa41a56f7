/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a rail feeds, from its driver, its channel and its label: one table, which
 * docs/recording.md ("What a rail feeds") shows. Pure.
 */
#ifndef RECORDING_READER_RAIL_ROLE_H
#define RECORDING_READER_RAIL_ROLE_H

#include <stdbool.h>
#include <stddef.h>

/* In the order in which the headline takes them; from RAIL_ROLE_MEMORY on it takes none. */
enum rail_role {
	RAIL_ROLE_PACKAGE, /* a CPU package */
	RAIL_ROLE_CPU, /* cores, a cluster, or their supply */
	RAIL_ROLE_MACHINE, /* the whole machine, or its input */
	RAIL_ROLE_OTHER, /* not known */
	RAIL_ROLE_MEMORY,
	RAIL_ROLE_GPU,
	RAIL_ROLE_DEVICE, /* a disk, a display, a radio, one output of a power supply */
	RAIL_ROLE_BATTERY, /* or a charger: its power is no consumption */
	RAIL_ROLES
};

/**
 * rail_role - what a rail feeds
 * @source: hwmon, iio, power, powercap or regulator
 * @name: of the rail, "CHIP-DEVICE:CHANNEL"
 * @label: what the board calls it; "" if it has none
 */
enum rail_role rail_role(const char *source, const char *name, const char *label);

/* "a GPU", "a battery"; NULL where it needs no word. */
const char *rail_role_text(enum rail_role role);

/* Whether its energy can be that of threads on CPUs. */
bool rail_role_has_threads(enum rail_role role);

#endif
