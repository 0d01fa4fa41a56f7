/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Firefox Profiler's processed profile (src/types/profile.ts of its source): phases are
 * markers of their thread; rails and frequencies are counters. Times are milliseconds since
 * the recording began.
 */
#ifndef GCHINTCTL_FIREFOX_H
#define GCHINTCTL_FIREFOX_H

#include <stdio.h>

#include "../common/json.h"
#include "run.h"
#include "threads.h"

/* meta.categories: classes of phases by their own number, then what is no phase. */
enum {
	FIREFOX_OTHER = CLASS_NONE, /* what the format calls the default */
	FIREFOX_GOVERNOR = CLASS_NR,
	FIREFOX_METHOD,
	FIREFOX_NATIVE,
	FIREFOX_KERNEL,
	FIREFOX_CATEGORIES
};

/* Subcategories: of classes, by phase; of the last three, where nobody told the phase. */
#define FIREFOX_IN_PHASE(phase)	 ((phase)*2 - 1)
#define FIREFOX_IN_KERNEL(phase) ((phase)*2)
#define FIREFOX_PHASE_UNKNOWN	 1

/* shared.stringArray: kinds of phase, reasons of decisions, and these behind them. */
enum {
	FIREFOX_REASONS = RUN_GROUPS,
	FIREFOX_MARK = FIREFOX_REASONS + GCHINT_REASON_NR + 1,
	FIREFOX_STRINGS
};

/**
 * struct firefox - one that is being written
 * @j: to where
 * @phase: of the run, all of them, by thread and then by their begin
 */
struct firefox {
	const struct run *run;
	struct json j;
	struct threads *names;
	struct run_phase **phase;
};

/* False without memory, which is told; firefox_close() is to be called all the same. */
bool firefox_open(struct firefox *x, const struct run *run, FILE *f);
void firefox_close(struct firefox *x);

double firefox_ms(const struct run *run, uint64_t t);

/*
 * firefox_begin - up to the libraries, of which there are none
 * @seconds: of CPU time that a sample stands for; 0 not known, or there are none
 *
 * What follows, until firefox_end(): firefox_shared(), a list "threads", firefox_counters().
 */
void firefox_begin(struct firefox *x, double seconds);
void firefox_end(struct firefox *x);

/* The first FIREFOX_STRINGS of the list, which is left open. */
void firefox_strings(struct firefox *x);

/* How many of phase[@first] and on are of its thread. */
size_t firefox_phases_of_thread(const struct firefox *x, size_t first);
/* Up to its samples, its name being that of @t. */
void firefox_thread(struct firefox *x, int32_t tgid, int32_t tid, uint64_t t);
void firefox_no_samples(struct firefox *x);
/* Markers of @nr phases from phase[@first] on, and the end of the thread. */
void firefox_phases(struct firefox *x, size_t first, size_t nr);
/* A thread of the machine's: marks, CPUs that go and come, decisions. */
void firefox_instants(struct firefox *x);

/* False without memory for all of them, which is told: the last ones are missing. */
bool firefox_counters(struct firefox *x);

#endif
