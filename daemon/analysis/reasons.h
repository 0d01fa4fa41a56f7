/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording knows of a process, for findings.h; and what a pause did to the heap. */
#ifndef ANALYSIS_REASONS_H
#define ANALYSIS_REASONS_H

#include "../recording/reader/recording.h"
#include "advice.h"
#include "findings.h"

/**
 * struct reasons - the findings about one process
 * @tgid: the process, of several the one that was paused for the longest
 * @found: the findings
 * @nr: their number
 * @sentence: all of them; "" for none
 * @advised: there is advice
 * @advice: what would reduce the paused time
 */
struct reasons {
	int32_t tgid;
	struct finding found[FINDING_NR];
	size_t nr;
	char sentence[FINDINGS_SENTENCE];
	bool advised;
	struct advice advice;
};

/**
 * struct reasons_program - what is known of a program beyond its recording
 * @runtime: the adapter's name; NULL: as far as the name of its process shows it
 * @settings: its arguments and its environment, NULL-terminated; NULL: not known
 * @change: a setting to predict, as in struct advice; NULL: the best one
 */
struct reasons_program {
	const char *runtime;
	const char *const *settings;
	const char *change;
};

/* Returns false without memory, after reporting it. */
bool reasons_of(const struct recording *rec, struct reasons *reasons);

/* The same of a program of which more is known. */
bool reasons_of_program(const struct recording *rec, const struct reasons_program *program,
			struct reasons *reasons);

/* All of a recording's collections of which something about the heap is known. */
struct collections {
	struct findings_collection *collection; /* by process, then by heap, then by @t1 */
	int32_t *tgid;
	uint32_t *cause; /* GCHINT_CAUSE_* */
	size_t nr;
};

/* Returns false without memory, after reporting it; else call collections_free(). */
bool collections_of(const struct recording *rec, struct collections *c);
void collections_free(struct collections *c);

#endif
