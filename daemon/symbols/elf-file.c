// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf-file.h"

#include <elf.h>
#include <string.h>

const void *elf_file_range(const struct elf_file *f, uint64_t offset, uint64_t length)
{
	return offset <= f->size && length <= f->size - offset ? f->base + offset : NULL;
}

const ElfW(Shdr) * elf_file_sections(const struct elf_file *f, unsigned int *nr)
{
	const ElfW(Ehdr) *head = elf_file_range(f, 0, sizeof(*head));

	*nr = 0;
	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    head->e_shentsize != sizeof(ElfW(Shdr)) || head->e_shoff % sizeof(void *))
		return NULL;
	*nr = head->e_shnum;
	return elf_file_range(f, head->e_shoff, (uint64_t)head->e_shnum * sizeof(ElfW(Shdr)));
}

const char *elf_file_string(const struct elf_file *f, const ElfW(Shdr) * strings, uint64_t at)
{
	const char *text = elf_file_range(f, strings->sh_offset, strings->sh_size);

	return text && at < strings->sh_size && memchr(text + at, '\0', strings->sh_size - at) ?
		       text + at :
		       NULL;
}

const ElfW(Shdr) * elf_file_section(const struct elf_file *f, const char *name)
{
	const ElfW(Ehdr) *head = elf_file_range(f, 0, sizeof(*head));
	unsigned int nr;
	const ElfW(Shdr) *s = elf_file_sections(f, &nr);

	for (unsigned int i = 0; s && head->e_shstrndx < nr && i < nr; i++) {
		const char *one = elf_file_string(f, &s[head->e_shstrndx], s[i].sh_name);

		if (one && !strcmp(one, name))
			return &s[i];
	}
	return NULL;
}
