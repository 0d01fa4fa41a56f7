/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which addresses of a process are methods of a name that is wanted, while it runs: by the
 * file in perf's format that it writes. Names of what is recorded are put in later, elsewhere.
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

/* Whether the method at @address, or what was there last, is like one of @list. */
bool methods_want(struct methods *m, int32_t pid, const char *list, uint64_t address);
void methods_forget(struct methods *m);

#endif
