/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which line of a source an address of a program comes from. */
#ifndef GCHINTCTL_DWARF_H
#define GCHINTCTL_DWARF_H

#include <stdbool.h>
#include <stdint.h>

struct dwarf;

/* @file is good until dwarf_close(). */
struct dwarf_line {
	const char *file;
	int line; /* from 1 */
};

/**
 * dwarf_open - the debugging information of an ELF file, its own or what is installed
 * for it (/usr/lib/debug)
 * @path: a regular file, or NULL comes back
 *
 * NULL without the library that reads it (libdw) as well. Nothing is fetched.
 */
struct dwarf *dwarf_open(const char *path);
void dwarf_close(struct dwarf *s);
/* Of an address as the file's own headers have it; false: it does not tell. */
bool dwarf_find(struct dwarf *s, uint64_t address, struct dwarf_line *source);

#endif
