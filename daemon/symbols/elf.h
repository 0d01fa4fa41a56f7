/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of programs and libraries, by address. */
#ifndef SYMBOLS_ELF_H
#define SYMBOLS_ELF_H

#include "dwarf.h"
#include "symbols.h"

struct elf;

#define ELF_VDSO "[vdso]" /* the library that the kernel maps */

/* A file that cannot be read has no functions. NULL without memory. */
struct elf *elf_open(const char *path); /* or ELF_VDSO */
void elf_close(struct elf *e);
const char *elf_path(const struct elf *e);
/*
 * The function at an offset in the file, by its own symbols, else by those of its debugging
 * information; valid until the next call. @address receives its virtual address in the file.
 */
const struct symbol *elf_at(struct elf *e, uint64_t offset, uint64_t *address);
/* The source line of such an address; false if unknown. */
bool elf_line(struct elf *e, uint64_t address, struct dwarf_line *line);
/* As dwarf_inlined(). */
size_t elf_inlined(struct elf *e, uint64_t address, struct dwarf_inlined *inlined, size_t max);

#endif
