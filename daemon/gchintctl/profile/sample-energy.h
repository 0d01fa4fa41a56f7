/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The energy of a profile's samples: measured on a rail and attributed to them, or modelled.
 *
 * A rail only gives the energy between two readings. A sample gets the share of its active part
 * that its CPU time has in that of all CPUs of the rail, as attribution.h weighs it. The idle and
 * shared part belongs to no sample. If that is not known, the share is by time alone, of all of
 * the energy, as if the sample's CPU were the only one.
 */
#ifndef GCHINTCTL_SAMPLE_ENERGY_H
#define GCHINTCTL_SAMPLE_ENERGY_H

#include "../../analysis/attribution.h"
#include "profile.h"

/* What was not known, so that the share of a sample is by time alone. */
enum profile_lack {
	PROFILE_LACK_FREQUENCY,
	PROFILE_LACK_IDLE,
	PROFILE_LACKS
};

/**
 * struct profile_energy - energy of each sample of a profile
 * @how: "measured" or "modelled"; NULL if no energy is known
 * @what: name of the rail, or source of the model
 * @rail: @what is a rail
 * @joules: energy of each sample; NAN not known
 * @interval: interval of each sample between two readings, from 1; 0 outside of all readings
 * @most: upper bound of the energy of anything within an interval; INFINITY if not bounded
 * @weighed: number of samples with a share by CPU time, weighed as @weight says
 * @idle_joules: idle and shared part of the intervals of these
 * @lack: number of samples with a share by time alone, by what was not known
 */
struct profile_energy {
	const char *how;
	char what[96];
	bool rail;
	double *joules;
	uint32_t *interval;
	double *most;
	size_t weighed, lack[PROFILE_LACKS];
	enum attribution_weight weight;
	double idle_joules;
};

/* Returns false without memory, after reporting it. Call profile_energy_free() in either case. */
bool profile_energy(const struct profile *p, struct profile_energy *e);
void profile_energy_free(struct profile_energy *e);

#endif
