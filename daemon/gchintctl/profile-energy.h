/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The energy of a profile's samples: of a rail, spread over them, or of a model.
 *
 * Between two readings of a rail its energy is known, and no more. A sample has that part of
 * it that its CPU time has of all that the rail's CPUs spent awake, each stretch weighed by
 * what a busy CPU draws at its frequency: what is drawn by all, and asleep, goes along. Where
 * that is not known it has the part by time, as if its CPU were the only one.
 */
#ifndef GCHINTCTL_PROFILE_ENERGY_H
#define GCHINTCTL_PROFILE_ENERGY_H

#include "profile.h"

/* Why samples had their part by time alone. */
enum profile_lack {
	PROFILE_LACK_POWER,
	PROFILE_LACK_FREQUENCY,
	PROFILE_LACK_IDLE,
	PROFILE_LACKS
};

/**
 * struct profile_energy - of each sample
 * @how: "measured" or "modelled"; NULL where nothing is known
 * @what: the rail's name; or who told the model
 * @rail: it is a rail
 * @joules: of each sample; NAN not known
 * @interval: of each sample: between which two readings, from 1; 0 none
 * @most: of each interval: what anything in it can have at the most, INFINITY not bounded
 * @weighed: samples whose part is by frequency and idle states
 * @lack: samples whose part is by time, by what is not known
 */
struct profile_energy {
	const char *how;
	char what[96];
	bool rail;
	double *joules;
	uint32_t *interval;
	double *most;
	size_t weighed, lack[PROFILE_LACKS];
};

/* False without memory, which is told; profile_energy_free() is to be called all the same. */
bool profile_energy(const struct profile *p, struct profile_energy *e);
void profile_energy_free(struct profile_energy *e);

#endif
