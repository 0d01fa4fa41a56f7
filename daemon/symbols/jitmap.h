/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols of generated code, from the perf-PID.map and jit-PID.dump of a process. */
#ifndef SYMBOLS_JITMAP_H
#define SYMBOLS_JITMAP_H

#include "address-index.h"
#include "dwarf.h"
#include "symbols.h"

/**
 * struct jitmap - symbols of one process, in the order in which it wrote them
 * @timed: some symbols begin or end at a known instant
 *
 * A zeroed map is empty. Names point into the text and data that were read.
 */
struct jitmap {
	struct symbols symbols;
	struct places places; /* index of @symbols by address */
	bool timed;
};

/**
 * jitmap_perf - add the symbols of a perf-PID.map
 * @text: NUL-terminated, is modified; owned by the caller, must outlive the map
 *
 * Each line is "START SIZE NAME", the numbers in hexadecimal. A line "0 0 @T" gives the
 * instant at which the next symbol begins. The name "[unloaded]" means that no code is there.
 */
void jitmap_perf(struct jitmap *m, char *text);

/**
 * jitmap_dump - add the symbols of a jit-PID.dump
 * @data: @size bytes; owned by the caller, must outlive the map
 *
 * The format is in the kernel's tools/perf/Documentation/jitdump-specification.txt. A file of
 * another format or byte order has no symbols; a truncated one has those before its end.
 */
void jitmap_dump(struct jitmap *m, const char *data, size_t size);

/*
 * Returns the symbol at an address at that instant, or NULL. A symbol that a newer one overlaps
 * in part is not returned, because it is unknown what is left of it.
 */
const struct symbol *jitmap_find(const struct jitmap *m, uint64_t address, uint64_t t);
/* Finds the source line of an address in a symbol; returns false if it is unknown. */
bool jitmap_line(const struct symbol *symbol, uint64_t address, struct dwarf_line *line);
void jitmap_free(struct jitmap *m);

#endif
