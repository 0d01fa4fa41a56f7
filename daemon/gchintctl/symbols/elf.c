// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf.h"

#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../common/regular.h"

struct elf {
	char *path;
	char *base; /* NULL: cannot be read */
	size_t size;
	struct symbols functions;
	struct symbol separate; /* the last one found in debugging information */
	struct dwarf *dwarf; /* NULL: not opened yet, or none */
	bool asked;
};

static const void *elf_range(const struct elf *e, uint64_t offset, uint64_t length)
{
	return offset <= e->size && length <= e->size - offset ? e->base + offset : NULL;
}

static void section_read_symbols(struct elf *e, const ElfW(Shdr) * section,
				 const ElfW(Shdr) * strings)
{
	const ElfW(Sym) *sym = elf_range(e, section->sh_offset, section->sh_size);
	const char *text = elf_range(e, strings->sh_offset, strings->sh_size);

	for (size_t i = 0; sym && text && i < section->sh_size / sizeof(*sym); i++) {
		const uint64_t at = sym[i].st_name;

		if ((sym[i].st_info & 0xf) != STT_FUNC || !sym[i].st_size ||
		    sym[i].st_shndx == SHN_UNDEF || at >= strings->sh_size ||
		    !memchr(text + at, '\0', strings->sh_size - at))
			continue;
		symbols_add(&e->functions, (struct symbol){ .start = sym[i].st_value,
							    .size = sym[i].st_size,
							    .name = text + at });
	}
}

static void elf_read_symbols(struct elf *e)
{
	const ElfW(Ehdr) *head = elf_range(e, 0, sizeof(*head));
	const ElfW(Shdr) * s;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    head->e_shentsize != sizeof(*s) || head->e_shoff % sizeof(void *))
		return;
	s = elf_range(e, head->e_shoff, (uint64_t)head->e_shnum * sizeof(*s));
	for (unsigned int i = 0; s && i < head->e_shnum; i++)
		if ((s[i].sh_type == SHT_SYMTAB || s[i].sh_type == SHT_DYNSYM) &&
		    !(s[i].sh_offset % sizeof(void *)) && s[i].sh_link < head->e_shnum)
			section_read_symbols(e, &s[i], &s[s[i].sh_link]);
	symbols_sort(&e->functions);
}

struct elf *elf_open(const char *path)
{
	struct elf *e = calloc(1, sizeof(*e));
	struct stat st;
	int fd;

	if (!e || !(e->path = strdup(path))) {
		free(e);
		return NULL;
	}
	fd = regular_open(path, 0, &st);
	if (fd >= 0 && st.st_size) {
		e->base = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		e->size = (size_t)st.st_size;
		if (e->base == MAP_FAILED)
			e->base = NULL;
		else
			elf_read_symbols(e);
	}
	if (fd >= 0)
		close(fd);
	return e;
}

void elf_close(struct elf *e)
{
	dwarf_close(e->dwarf);
	if (e->base)
		munmap(e->base, e->size);
	symbols_free(&e->functions);
	free(e->path);
	free(e);
}

const char *elf_path(const struct elf *e)
{
	return e->path;
}

static struct dwarf *elf_dwarf(struct elf *e)
{
	if (!e->asked)
		e->dwarf = dwarf_open(e->path);
	e->asked = true;
	return e->dwarf;
}

const struct symbol *elf_at(struct elf *e, uint64_t offset, uint64_t *address)
{
	const ElfW(Ehdr) *head = e->base ? elf_range(e, 0, sizeof(*head)) : NULL;
	const ElfW(Phdr) *p =
		head && head->e_phentsize == sizeof(*p) ?
			elf_range(e, head->e_phoff, (uint64_t)head->e_phnum * sizeof(*p)) :
			NULL;
	const struct symbol *s = NULL;

	for (unsigned int i = 0; p && i < head->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && offset >= p[i].p_offset &&
		    offset - p[i].p_offset < p[i].p_filesz) {
			*address = offset - p[i].p_offset + p[i].p_vaddr;
			s = symbols_find(&e->functions, *address);
			if (!s && elf_dwarf(e) && dwarf_function(e->dwarf, *address, &e->separate))
				s = &e->separate;
		}
	return s;
}

bool elf_line(struct elf *e, uint64_t address, struct dwarf_line *line)
{
	return elf_dwarf(e) && dwarf_find(e->dwarf, address, line);
}
