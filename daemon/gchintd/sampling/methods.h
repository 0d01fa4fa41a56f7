/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decides at run time whether an address of a process is in a method that the filter
 * matches, by the file in perf's format that the process writes. Names of recorded
 * addresses are resolved after the recording.
 */
#ifndef GCHINTD_METHODS_H
#define GCHINTD_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
	uint64_t start, size;
	bool wanted;
};

/* All zero: nothing is known yet. */
struct methods {
	struct span *span; /* in the order of the file */
	size_t nr;
	int64_t read; /* bytes of the file */
};

/* Whether the method at @address matches @list; of several spans, the last in the file counts. */
bool methods_want(struct methods *m, int32_t pid, const char *list, uint64_t address);
void methods_forget(struct methods *m);

#endif
