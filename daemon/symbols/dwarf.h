/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps addresses of a program to functions and lines of its source. */
#ifndef SYMBOLS_DWARF_H
#define SYMBOLS_DWARF_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols.h"

struct dwarf;

/* @file is valid until dwarf_close(). */
struct dwarf_line {
	const char *file;
	int line; /* from 1 */
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

#endif
