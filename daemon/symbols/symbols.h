/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of address ranges. */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct symbol - an address range that has a name
 * @t: the name is valid from this time on; 0 if it always was
 * @name: not owned by the list
 * @rank: of several names at one address that of the highest rank is found
 * @lines: source lines in the format of a jit-PID.dump, or NULL
 * @lines_size: bytes of @lines
 * @lines_at: the address by which @lines calls @start
 */
struct symbol {
	uint64_t start, size, t;
	const char *name;
	unsigned int rank;
	const char *lines;
	size_t lines_size;
	uint64_t lines_at;
};

/* All zeroes: an empty list. */
struct symbols {
	struct symbol *list;
	size_t nr;
};

/* False without memory, or if the list has its maximal length. */
bool symbols_add(struct symbols *s, struct symbol symbol);
/* Sorts by start address and rank; required before symbols_find(). */
void symbols_sort(struct symbols *s);
/* The symbol whose range contains @at, or NULL. */
const struct symbol *symbols_find(const struct symbols *s, uint64_t at);
void symbols_free(struct symbols *s);

#endif
