/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording knows of a process, for findings.h; and what a pause did to the heap. */
#ifndef ANALYSIS_REASONS_H
#define ANALYSIS_REASONS_H

#include "../recording/reader/recording.h"
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

/* Returns false without memory, after reporting it. */
bool reasons_of(const struct recording *rec, struct reasons *reasons);

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
