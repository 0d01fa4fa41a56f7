/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An ELF file of this program's own class in memory. Nothing in it is trusted. */
#ifndef SYMBOLS_ELF_FILE_H
#define SYMBOLS_ELF_FILE_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file {
	char *base; /* NULL: cannot be read */
	size_t size;
};

/* @length bytes at @offset of the file; NULL if it is shorter. */
const void *elf_file_range(const struct elf_file *f, uint64_t offset, uint64_t length);
/* Its sections, and their number; NULL if it is no ELF file of this class. */
const ElfW(Shdr) * elf_file_sections(const struct elf_file *f, unsigned int *nr);
/* The first section of that name, or NULL. */
const ElfW(Shdr) * elf_file_section(const struct elf_file *f, const char *name);
/* The string at @at of the section @strings, or NULL. */
const char *elf_file_string(const struct elf_file *f, const ElfW(Shdr) * strings, uint64_t at);

#endif
