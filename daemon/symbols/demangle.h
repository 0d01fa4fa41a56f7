/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names as the source has them, of the linker's names of C++ and Rust. */
#ifndef SYMBOLS_DEMANGLE_H
#define SYMBOLS_DEMANGLE_H

/*
 * "app::Widget<unsigned long>::render(unsigned long)" of its mangled name; NULL if @name is not
 * mangled, or was built without libiberty. To be freed.
 */
char *demangle(const char *name);

#endif
