/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that the compiler inlined, from debugging information. */
#ifndef SYMBOLS_INLINES_H
#define SYMBOLS_INLINES_H

#include <elfutils/libdw.h>

#include "dwarf.h"

/* The functions of the compilation units that were asked for. All zeroes: none yet. */
struct inlines {
	struct inlines_unit *units;
};

/*
 * The functions inlined at @pc in the compilation unit @unit, innermost first. Returns how many, at
 * most @max: the outer ones are left out. Names and files live as long as the unit's Dwarf.
 */
size_t inlines_find(struct inlines *i, Dwarf_Die *unit, Dwarf_Addr pc,
		    struct dwarf_inlined *inlined, size_t max);
void inlines_free(struct inlines *i);

#endif
