/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides at run time whether an address of a process is in a method that the filter
 * matches, by the names in its ring and in the file in perf's format that it writes. Names of recorded
 * addresses are resolved after the recording.
 */
#ifndef SOURCE_METHODS_H
#define SOURCE_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../common/ring.h"

struct span {
	uint64_t start, size;
	bool wanted;
};

/* All zero: nothing is known yet. */
struct methods {
	struct span *span; /* in the order in which they were read */
	size_t nr;
	int64_t read; /* bytes of the file */
	uint32_t received; /* bytes of the ring's names */
	const struct ring_reader *ring; /* may be NULL */
};

/* Whether the method at @address matches @list; of several spans, the last one read counts. */
bool methods_want(struct methods *m, int32_t pid, const char *list, uint64_t address);
/* Frees all spans, which are read again; the ring stays. */
void methods_forget(struct methods *m);

#endif
