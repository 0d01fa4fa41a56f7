/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stubs of the linker (.plt), by which functions of another file are called. They have no symbol,
 * and in code that calls much they take a good part of the time.
 */
#ifndef SYMBOLS_STUBS_H
#define SYMBOLS_STUBS_H

#include "elf-file.h"
#include "symbols.h"

/*
 * Adds the stubs of an x86-64 or AArch64 file to @to, named as by others: "malloc@plt". Returns the
 * memory of their names, to be freed after @to; NULL without stubs or memory.
 */
char *stubs_read(const struct elf_file *f, struct symbols *to);

#endif
