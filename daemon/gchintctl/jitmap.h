/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process said of the code that it made: perf-PID.map and jit-PID.dump. */
#ifndef GCHINTCTL_JITMAP_H
#define GCHINTCTL_JITMAP_H

#include "dwarf.h"
#include "places.h"
#include "symbols.h"

/**
 * struct jitmap - the names of one process, in its order
 * @timed: some came or went at an instant that is known
 *
 * Of zeroes: empty. Names point into what was read.
 */
struct jitmap {
	struct symbols symbols;
	struct places places; /* of these */
	bool timed;
};

/**
 * jitmap_perf - take the text of a perf-PID.map
 * @text: ends with a zero; is written into, and is the caller's
 *
 * "START SIZE NAME" a line, in hexadecimal. "0 0 @T" says from which instant on the next
 * one is there, and the name "[unloaded]" that nothing is.
 */
void jitmap_perf(struct jitmap *m, char *text);

/**
 * jitmap_dump - take a jit-PID.dump
 * @data: likewise the caller's; @size bytes
 *
 * The kernel's tools/perf/Documentation/jitdump-specification.txt. What is no such file, or
 * is of a machine of the other byte order, has no names; one that breaks off has those
 * before that.
 */
void jitmap_dump(struct jitmap *m, const char *data, size_t size);

/*
 * What has the address at that instant, unless something was put over a part of it later:
 * then it is not known what is left of it.
 */
const struct symbol *jitmap_find(const struct jitmap *m, uint64_t address, uint64_t t);
/* The line of an address in it; false: nobody said. */
bool jitmap_line(const struct symbol *symbol, uint64_t address, struct dwarf_line *line);
void jitmap_free(struct jitmap *m);

#endif
