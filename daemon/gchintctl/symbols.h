/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of stretches of addresses. */
#ifndef GCHINTCTL_SYMBOLS_H
#define GCHINTCTL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct symbol - a stretch that has a name
 * @t: from when on; 0 always
 * @name: its list does not own it
 * @lines: of its source, as a jit-PID.dump has them; NULL none
 * @lines_size: bytes of @lines
 * @lines_at: what is @start to @lines
 */
struct symbol {
	uint64_t start, size, t;
	const char *name;
	const char *lines;
	size_t lines_size;
	uint64_t lines_at;
};

/* Of zeroes: empty. */
struct symbols {
	struct symbol *list;
	size_t nr;
};

/* False at the end of memory, or of what is taken at most. */
bool symbols_add(struct symbols *s, struct symbol symbol);
/* By their begins, which symbols_find() wants. */
void symbols_sort(struct symbols *s);
/* The one that has @at in it; NULL in a gap. */
const struct symbol *symbols_find(const struct symbols *s, uint64_t at);
void symbols_free(struct symbols *s);

#endif
