/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of a recording's pauses, and its longest stops with the CPU frequency during each. A stop is
 * a pause (struct recording_pause), or the wait of one thread for a collection that other threads do.
 */
#ifndef ANALYSIS_PAUSES_H
#define ANALYSIS_PAUSES_H

#include "../recording/reader/recording.h"

/* By how much a reading of the heap may precede, or follow, the pause of its collection. */
#define PAUSES_READING_NS 1000000

#define PAUSE_CONCURRENT 4

/**
 * struct pause - one pause or wait, with what was recorded around it
 * @t0: begin
 * @t1: end
 * @phase: the longest phase of the pause, or the wait
 * @source: the pause of the recording; NULL if this is a wait
 * @awaited: for a wait: the phase of another thread of the process that overlaps it for the
 *	longest; NULL if there is none, or if the pause is not a wait
 * @khz: time-weighted mean frequency of its CPU during the pause, or of the CPU of @awaited
 *	for a wait; 0 not known
 * @top_khz: highest frequency of that CPU's policy; 0 not known
 * @before: bytes in use at the first reading of the heap in a pause; RECORDING_UNKNOWN
 * @after: bytes in use at the last one after a collection; RECORDING_UNKNOWN
 * @most: bytes to which that heap may grow; RECORDING_UNKNOWN
 * @freed: objects that its collections freed; RECORDING_UNKNOWN
 * @generation: the oldest that was collected; UINT32_MAX not known
 * @waited: whether it is known how long threads of the process waited for a CPU in it
 * @wait_least: at least so long, ns, added up over them
 * @wait_most: at most
 * @method: what the process ran last before it, by its samples; "" not known
 * @comm: name of its thread; "" not known
 * @concurrent: groups of the phases of other threads that overlap it, each once
 * @nr_concurrent: number of groups in @concurrent
 */
struct pause {
	uint64_t t0, t1;
	const struct recording_phase *phase, *awaited;
	const struct recording_pause *source;
	double khz;
	uint32_t top_khz;
	int64_t before, after, most, freed;
	uint32_t generation;
	bool waited;
	double wait_least, wait_most;
	char method[128];
	char comm[32];
	uint16_t concurrent[PAUSE_CONCURRENT];
	size_t nr_concurrent;
};

/**
 * struct pauses_sum - the pauses of a recording in numbers; lengths in ns
 * @count: how many
 * @processes: how many processes had one
 * @paused: total length. Pauses of one process do not overlap, those of several may
 * @longest: length of the longest
 * @p50: median; percentiles are by nearest rank
 * @p95: 95th percentile
 * @p99: 99th percentile
 * @half: pauses of this length or longer are half of @paused: the median weighted by time
 * @halves: how many these are
 */
struct pauses_sum {
	size_t count, processes, halves;
	uint64_t paused, longest, p50, p95, p99, half;
};

/* Of the process @tgid, or of all for PAUSES_ALL. All zero without memory, after reporting it. */
#define PAUSES_ALL INT32_MIN
struct pauses_sum pauses_sum(const struct recording *rec, int32_t tgid);

/**
 * struct pauses_list - the longest pauses of a recording, and the longest waits of single threads
 * @pause: the longest first
 * @pauses: their number
 * @wait: waits for a collection by other threads, the longest first
 * @waits: their number
 */
struct pauses_list {
	struct pause *pause, *wait;
	size_t pauses, waits;
};

/**
 * pauses_longest - find the longest pauses and waits of a recording
 * @rec: the recording
 * @wanted: how many of each at most
 * @list: receives them; for pauses_list_free()
 *
 * Returns false without memory, after reporting it.
 */
bool pauses_longest(const struct recording *rec, size_t wanted, struct pauses_list *list);
void pauses_list_free(struct pauses_list *list);

/*
 * Lower bound in ms of the pause's length with its CPU at the highest frequency throughout.
 * It is a bound because only computation scales with the frequency; memory accesses do not.
 * NAN if either frequency is not known.
 */
double pause_at_top(const struct pause *p);

/*
 * How much earlier, in ms, the awaited collection would have to begin for there to be no wait:
 * a wait lasts as long as the rest of that collection. NAN if the pause is not a wait, or if the
 * awaited phase is not known.
 */
double pause_earlier(const struct pause *p);

#endif
