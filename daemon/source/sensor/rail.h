/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rails: channels that are one number in one file (or the product of two). A sensor source
 * finds them; this samples them: on one timer, each read bracketed by two readings of the
 * clock, so that the instant of a sample is known to half the bracket. A rail that cannot
 * be read is recorded as NULL once, and scans look for it again.
 */
#ifndef SOURCE_RAIL_H
#define SOURCE_RAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "../../recording/schema.h"
#include "../context.h"
#include "pmu.h"

struct rails;

/**
 * struct rail_desc - one channel
 * @name: unique in the recording, "CHIP-DEVICE:CHANNEL"
 * @label: what the board calls it, or NULL
 * @kind: what it measures
 * @path: file to read
 * @event: a perf counter that is read instead of a file; @path describes it
 * @factor: second file, or NULL: the value is the product of both
 * @scale: the number read, times this, is uW, uJ, uV or uA
 * @offset: added to the number read, before @scale
 * @range: of a counter that wraps, in its own unit; 0 none
 * @slow: record only changes, and one sample a second
 * @cpus: the CPUs, such as "0,4", if it feeds one core alone; else NULL
 * @update_ns: of a counter: how far its value may lag; of a power: for how long it is a mean; 0
 *	not known
 * @max_w: of a counter: highest power of the rail; 0 not known
 * @status: "power/runtime_status" of the device, or NULL: a suspended device is not read,
 *	because that would wake it
 * @derived: how the value is computed, or NULL if it is read as it is
 */
struct rail_desc {
	const char *name, *label;
	enum rail_kind kind;
	const char *path, *factor;
	struct pmu_event event;
	double scale;
	int64_t offset;
	uint64_t range;
	bool slow;
	const char *cpus;
	uint64_t update_ns;
	double max_w;
	const char *status;
	const char *derived;
};

/* Enumerates channels and calls rails_add() for each. */
typedef void (*rails_scan_fn)(struct rails *rails);

/**
 * struct rails_count - what a scan finds
 * @channels: all of them
 * @denied: those that we may not read
 * @cores: those that feed one core
 * @devices: distinct devices, by the part of the name before ':'
 */
struct rails_count {
	unsigned int channels, denied, cores, devices;
};

/* For a probe: runs @scan, but only counts. */
struct rails_count rails_count(const struct source_context *context, rails_scan_fn scan);

/* Runs @scan and calls @fn for each channel, whose strings are valid during the call. */
void rails_list(const struct source_context *context, rails_scan_fn scan,
		void (*fn)(void *data, const struct rail_desc *desc), void *data);

/**
 * rails_start - scan and begin to sample
 * @context: the context
 * @id: the source; its period, budget and pattern are the configuration's
 * @scan: finds the channels; called again when one is missing
 *
 * Returns NULL without memory.
 */
struct rails *rails_start(struct source_context *context, enum source_id id, rails_scan_fn scan);
void rails_stop(struct rails *rails);

const struct source_context *rails_context(const struct rails *rails);
/* Adds a channel, or restores one that was missing. */
void rails_add(struct rails *rails, const struct rail_desc *desc);
/*
 * Defines a channel that is sampled by other means (a buffer); returns its number for
 * records, or -1 if the configuration's pattern excludes it.
 */
int rails_define(struct source_context *context, enum source_id id, const struct rail_desc *desc,
		 uint64_t period_ns);

/* Frees the numbers, at the end. */
void rails_forget(struct source_context *context);

#endif
