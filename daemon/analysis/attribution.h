/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Energy of a rail attributed to the threads that ran in phases. This is another figure than the
 * energy of the rail while a phase was open (energy.h), which includes what everything else on
 * the rail drew meanwhile.
 *
 * Of each interval between two readings the idle and shared part is set apart: what the rail
 * draws with all its CPUs asleep. The rest, the active part, is divided by CPU time: that of a
 * phase's threads over that of all CPUs that the rail feeds. CPU time is weighed by the power of
 * a busy CPU of that type at its frequency where the recording has it (energy model,
 * calibration), else by its frequency, else not at all.
 *
 * Bounds are of the same figure. They allow for the CPU time that readings leave open, for the
 * steps of the counter, for the uncertainty of the idle part, and for code that draws more or
 * less than other code at the same frequency.
 */
#ifndef ANALYSIS_ATTRIBUTION_H
#define ANALYSIS_ATTRIBUTION_H

#include "../recording/reader/recording.h"
#include "energy.h"

/* How CPU time is weighed. */
enum attribution_weight {
	WEIGHT_POWER,
	WEIGHT_FREQUENCY,
	WEIGHT_NONE
};

/* Why there is no figure. */
enum attribution_lack {
	ATTRIBUTION_KNOWN,
	ATTRIBUTION_NO_ENERGY, /* the rail's energy is not known */
	ATTRIBUTION_NO_THREADS, /* the rail feeds a GPU, a battery or a device */
	ATTRIBUTION_NO_IDLE, /* the recording has no idle states of the rail's CPUs */
	ATTRIBUTION_NO_MEMORY /* reported */
};

/**
 * struct attribution - energy of a rail by what ran on its CPUs
 * @lack: if not ATTRIBUTION_KNOWN, nothing else is valid
 * @part: by group; [0] is all CPU time outside of phases, also of other programs. Only the
 *	members joules, low, high, ns (the CPU time) and unknown_ns are used
 * @idle: the idle and shared part
 * @idle_w: its power, W, with its bounds in @idle_low_w and @idle_high_w
 * @total: J, over the intervals known
 * @weight: how CPU time is weighed; of @powers if by power
 * @threads: where the CPU time of threads comes from; "" if they are taken to run in phases
 * @intervals: intervals that are attributed, of which @open have no CPU time of other threads
 * @unknown: intervals whose energy or idle time is not known
 */
struct attribution {
	enum attribution_lack lack;
	struct energy_part part[PHASE_GROUPS];
	struct energy_part idle;
	double idle_w, idle_low_w, idle_high_w;
	double total;
	enum attribution_weight weight;
	char powers[64];
	const char *threads;
	size_t intervals, unknown;
};

struct rail_attribution;

/**
 * rail_attribution_of - prepare a rail: how CPU time is weighed, and its idle part
 * @rec: the recording
 * @rail: index of rec->rail
 * @lack: receives the reason if there is none
 *
 * Returns NULL if the rail's energy cannot be attributed; rail_attribution_free() accepts NULL.
 */
struct rail_attribution *rail_attribution_of(const struct recording *rec, size_t rail,
					     enum attribution_lack *lack);
void rail_attribution_free(struct rail_attribution *a);

/**
 * struct attributed_interval - the energy between two readings
 * @known: the rest is valid
 * @joules: energy of the interval, J, and its bounds
 * @active: its active part, J, and its bounds
 * @busy: weighed CPU time of all CPUs of the rail, and its bounds
 */
struct attributed_interval {
	bool known;
	double joules, low, high;
	double active, active_low, active_high;
	double busy, busy_low, busy_high;
};

/* Of the interval between reading @i and the next one; @i is below rail_attribution_intervals(). */
void rail_attribution_interval(const struct rail_attribution *a, size_t i,
			       struct attributed_interval *v);
size_t rail_attribution_intervals(const struct rail_attribution *a);
/* Weight of a CPU that is busy for @ns at a frequency; 0 not known. */
double rail_attribution_weight(const struct rail_attribution *a, int cpu, uint32_t khz, double ns);
enum attribution_weight rail_attribution_how(const struct rail_attribution *a);
double rail_attribution_idle_w(const struct rail_attribution *a);

/* Attributes the energy of rec->rail[@rail]; @group as in energy_segments(). */
void attribution_of(const struct recording *rec, size_t rail, const uint16_t *group,
		    struct attribution *a);

/* The same for all rails that feed one core each, added up. Returns their number. */
size_t attribution_of_cores(const struct recording *rec, const uint16_t *group,
			    struct attribution *a);

/* "by CPU time, weighed by power (energy_model); CPU time of threads: ..." */
const char *attribution_how(const struct attribution *a, char *buf, size_t size);
/* Why there is no figure, in words. */
const char *attribution_lack_text(enum attribution_lack lack);

#endif
