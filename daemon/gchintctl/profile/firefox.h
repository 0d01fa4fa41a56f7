/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Firefox Profiler's processed profile (src/types/profile.ts of its source): phases are
 * markers of their thread; rails and frequencies are counters. Times are milliseconds since
 * the recording began.
 */
#ifndef GCHINTCTL_FIREFOX_H
#define GCHINTCTL_FIREFOX_H

#include <stdio.h>

#include "../../common/json.h"
#include "../../recording/reader/recording.h"
#include "../../recording/reader/threads.h"

/* meta.categories: the phase classes by their number, then categories outside of phases. */
enum {
	FIREFOX_OTHER = CLASS_NONE, /* the format's default */
	FIREFOX_GOVERNOR = CLASS_NR,
	FIREFOX_METHOD,
	FIREFOX_NATIVE,
	FIREFOX_KERNEL,
	FIREFOX_CATEGORIES
};

/* Subcategories: per phase in a phase class; unknown phase in the last three categories. */
#define FIREFOX_IN_PHASE(phase)	 ((phase)*2 - 1)
#define FIREFOX_IN_KERNEL(phase) ((phase)*2)
#define FIREFOX_PHASE_UNKNOWN	 1

/* shared.stringArray: names of phase groups, of decision reasons, and of annotations. */
enum {
	FIREFOX_REASONS = PHASE_GROUPS,
	FIREFOX_MARK = FIREFOX_REASONS + GCHINT_REASON_NR + 1,
	FIREFOX_STRINGS
};

/**
 * struct firefox - a profile that is being written
 * @j: the output
 * @phase: all phases of the run, sorted by thread, then by begin
 */
struct firefox {
	const struct recording *rec;
	struct json j;
	struct threads *names;
	struct recording_phase **phase;
};

/* Returns false and prints an error if memory runs out. Call firefox_close() in either case. */
bool firefox_open(struct firefox *x, const struct recording *rec, FILE *f);
void firefox_close(struct firefox *x);

double firefox_ms(const struct recording *rec, uint64_t t);

/*
 * firefox_begin - write the profile up to its list of libraries, which is empty
 * @seconds: CPU time that a sample stands for; 0: unknown, or no samples
 *
 * Write after it, in this order: firefox_shared(), a list "threads", firefox_counters(),
 * firefox_end().
 */
void firefox_begin(struct firefox *x, double seconds);
void firefox_end(struct firefox *x);

/* Writes the first FIREFOX_STRINGS strings of the list, which stays open. */
void firefox_strings(struct firefox *x);

/* Returns how many phases from phase[@first] on belong to its thread. */
size_t firefox_phases_of_thread(const struct firefox *x, size_t first);
/* Writes a thread up to its samples, with the name that it had at @t. */
void firefox_thread(struct firefox *x, int32_t tgid, int32_t tid, uint64_t t);
void firefox_no_samples(struct firefox *x);
/* Writes markers of @nr phases from phase[@first] on, and ends the thread. */
void firefox_phases(struct firefox *x, size_t first, size_t nr);
/* Writes a thread for the machine: annotations, CPU hotplug, governor decisions. */
void firefox_instants(struct firefox *x);

/* Returns false and prints an error if memory runs out; the last counters are then missing. */
bool firefox_counters(struct firefox *x);

#endif
