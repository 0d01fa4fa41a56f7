/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps addresses of a program to functions and lines of its source. */
#ifndef SYMBOLS_DWARF_H
#define SYMBOLS_DWARF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols.h"

struct dwarf;

/* @file is valid until dwarf_close(). */
struct dwarf_line {
	const char *file;
	int line; /* from 1 */
};

/* A function that the compiler inlined, and where it is called; valid until dwarf_close(). */
struct dwarf_inlined {
	const char *name; /* as the linker would have it, if that is known */
	struct dwarf_line call; /* .file NULL, .line 0: not known */
};

/**
 * dwarf_open - open the debugging information of an ELF file: its own, or what is installed
 * for it (/usr/lib/debug)
 * @path: must be a regular file, else NULL is returned
 *
 * Also returns NULL if the program was built without libdw. Nothing is downloaded.
 */
struct dwarf *dwarf_open(const char *path);
void dwarf_close(struct dwarf *s);
/*
 * The function at @address, also by symbols that were taken out of the file (a debug link, a build
 * ID, .gnu_debugdata). @found's name is valid until dwarf_close(). Returns false if there is none.
 */
bool dwarf_function(struct dwarf *s, uint64_t address, struct symbol *found);
/* @address is virtual, as in the file's own headers. Returns false if its line is unknown. */
bool dwarf_find(struct dwarf *s, uint64_t address, struct dwarf_line *source);
/* The functions inlined at @address, innermost first. Returns how many, at most @max. */
size_t dwarf_inlined(struct dwarf *s, uint64_t address, struct dwarf_inlined *inlined, size_t max);

#endif
