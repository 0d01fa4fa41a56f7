/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The power that rails show between two instants. */
#ifndef GCHINTCTL_METER_H
#define GCHINTCTL_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../gchintd/reader.h"
#include "../gchintd/rail.h"

#define METER_RAILS 64

/**
 * struct meter_rail - a channel of power or energy
 * @name: as gchintctl status and recordings call it
 * @energy: it counts uJ; else it shows uW
 * @part: of another channel, as a core's zone is of a package
 * @taken: what it shows is added up
 * @step: the least difference of two readings that was seen, uJ or uW; 0 none yet
 */
struct meter_rail {
	char name[96];
	bool energy, part, taken;
	double scale, step;
	int64_t offset;
	uint64_t range;
	struct reading reading;
	/* Of the window. */
	double last, sum;
	uint64_t first_ns, last_ns, unsure_ns; /* the widest bracket of these two */
	unsigned int looks;
};

/**
 * struct meter - the rails of a machine
 * @denied: more that we may not read
 */
struct meter {
	struct meter_rail rail[METER_RAILS];
	unsigned int nr, denied;
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
 * meter_choose - take what shows the CPUs, without being told
 *
 * All packages of powercap, none of their parts; else the only rail that there is.
 * Returns false, and takes none, if that leaves a choice.
 */
bool meter_choose(struct meter *m);

/* A window begins: an energy counter's at its next change. 0 or -errno. */
int meter_begin(struct meter *m);
/* In the middle, every few ms: rails of power are averaged over these looks. */
int meter_look(struct meter *m);
/**
 * meter_end - the window ends
 * @m: the rails
 * @microwatts: of all that are taken
 * @resolution: what they cannot tell apart in this window, uW
 */
int meter_end(struct meter *m, double *microwatts, double *resolution);

#endif
