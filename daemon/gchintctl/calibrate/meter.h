/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mean power of rails between two instants. */
#ifndef GCHINTCTL_METER_H
#define GCHINTCTL_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../source/sensor/rail.h"
#include "../../source/sensor/reader.h"

#define METER_RAILS 256

/**
 * struct meter_rail - a channel of power or energy
 * @name: as in gchintctl status and recordings
 * @energy: it counts uJ; else it reads uW
 * @part: included in another channel, as a core's zone is in a package
 * @platform: includes other channels, as psys does the packages
 * @taken: included in the sum
 * @step: smallest difference of two readings so far, uJ or uW; 0: none yet
 */
struct meter_rail {
	char name[96];
	bool energy, part, platform, taken;
	double scale, step;
	int64_t offset;
	uint64_t range;
	struct reading reading;
	/* The current window. */
	double last, sum;
	uint64_t first_ns, last_ns, unsure_ns; /* largest uncertainty of these two */
	unsigned int samples;
	uint64_t read_ns; /* when @last was read */
};

/**
 * struct meter - the rails of a machine
 * @denied: number of further rails that we may not read
 * @left: number of further rails without a place; reported
 */
struct meter {
	struct meter_rail rail[METER_RAILS];
	unsigned int nr, denied, left;
};

/* Finds all rails; none is taken yet. */
void meter_find(struct meter *m, const struct root *root);
void meter_close(struct meter *m);

/**
 * meter_take - take a rail by name
 *
 * Returns false if there is none of that name.
 */
bool meter_take(struct meter *m, const char *name);

/**
 * meter_choose - take the rails of the CPUs by rule
 *
 * Takes all packages of powercap without their parts, else the only rail if there is just one.
 * Returns false, and takes none, if there is neither.
 */
bool meter_choose(struct meter *m);

/* Begins a window; for an energy counter at its next change. Returns 0 or -errno. */
int meter_begin(struct meter *m);
/* Call every few ms during the window: power rails are averaged over these samples. */
int meter_sample(struct meter *m);
/**
 * meter_end - end the window
 * @m: the rails
 * @microwatts: receives the total power of the taken rails
 * @resolution: receives the smallest difference that this window can resolve, uW
 */
int meter_end(struct meter *m, double *microwatts, double *resolution);

#endif
