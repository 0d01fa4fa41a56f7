// SPDX-License-Identifier: GPL-2.0-or-later
#include "elf.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../common/regular.h"
#include "elf-file.h"
#include "mapping.h"
#include "stubs.h"

struct elf {
	char *path;
	struct elf_file file;
	struct symbols functions;
	char *stubs; /* names of those among them */
	struct symbol separate; /* the last one found in debugging information */
	struct dwarf *dwarf; /* NULL: not opened yet, or none */
	bool asked;
};

/* Of several names at one address the public one: malloc, not __libc_malloc or a local alias. */
static unsigned int symbol_rank(const ElfW(Sym) * sym, const char *name)
{
	const size_t private = strspn(name, "_");

	return (sym->st_info >> 4 != STB_LOCAL ? 8 : 0) +
	       (private < 4 ? 4 - (unsigned int)private : 0);
}

/*
 * Assembly has functions without a type and a size: each one extends to the next symbol. Labels of
 * the compiler (.L) and of the architecture ($x), and those of data, are none.
 */
static bool symbol_is_bare(const struct elf *e, const ElfW(Sym) * sym, const char *name)
{
	const unsigned int type = sym->st_info & 0xf;
	unsigned int nr;
	const ElfW(Shdr) *s = elf_file_sections(&e->file, &nr);

	return s && !sym->st_size && (type == STT_NOTYPE || type == STT_FUNC) &&
	       sym->st_shndx < nr && s[sym->st_shndx].sh_flags & SHF_EXECINSTR && *name &&
	       *name != '.' && *name != '$';
}

/* Gives symbols without a size theirs, and leaves out those within another one. */
static void symbols_bound(struct elf *e)
{
	unsigned int nr;
	const ElfW(Shdr) *section = elf_file_sections(&e->file, &nr);
	struct symbols *f = &e->functions;
	uint64_t covered = 0;
	size_t kept = 0;

	for (size_t i = 0; i < f->nr; i++) {
		struct symbol s = f->list[i];
		size_t next = i;
		bool sized = s.size;

		while (next < f->nr && f->list[next].start == s.start)
			sized = f->list[next++].size || sized;
		if (!s.size && (sized || s.start < covered || i + 1 < next))
			continue;
		for (unsigned int k = 0; !s.size && k < nr; k++)
			if (section[k].sh_flags & SHF_EXECINSTR && s.start >= section[k].sh_addr &&
			    s.start - section[k].sh_addr < section[k].sh_size)
				s.size = section[k].sh_addr + section[k].sh_size - s.start;
		if (!f->list[i].size && next < f->nr && f->list[next].start - s.start < s.size)
			s.size = f->list[next].start - s.start;
		if (!s.size)
			continue;
		if (s.start + s.size > covered)
			covered = s.start + s.size;
		f->list[kept++] = s;
	}
	f->nr = kept;
}

static void section_read_symbols(struct elf *e, const ElfW(Shdr) * section,
				 const ElfW(Shdr) * strings)
{
	const ElfW(Sym) *sym = elf_file_range(&e->file, section->sh_offset, section->sh_size);
	const char *text = elf_file_range(&e->file, strings->sh_offset, strings->sh_size);

	for (size_t i = 0; sym && text && i < section->sh_size / sizeof(*sym); i++) {
		const uint64_t at = sym[i].st_name;

		if (sym[i].st_shndx == SHN_UNDEF || at >= strings->sh_size ||
		    !memchr(text + at, '\0', strings->sh_size - at))
			continue;
		/* Exported symbols alone do not say where a function without a size ends. */
		if (((sym[i].st_info & 0xf) != STT_FUNC || !sym[i].st_size) &&
		    (section->sh_type != SHT_SYMTAB || !symbol_is_bare(e, &sym[i], text + at)))
			continue;
		symbols_add(&e->functions,
			    (struct symbol){ .start = sym[i].st_value,
					     .size = sym[i].st_size,
					     .name = text + at,
					     .rank = symbol_rank(&sym[i], text + at) });
	}
}

static void elf_read_symbols(struct elf *e)
{
	unsigned int nr;
	const ElfW(Shdr) *s = elf_file_sections(&e->file, &nr);

	for (unsigned int i = 0; s && i < nr; i++)
		if ((s[i].sh_type == SHT_SYMTAB || s[i].sh_type == SHT_DYNSYM) &&
		    !(s[i].sh_offset % sizeof(void *)) && s[i].sh_link < nr)
			section_read_symbols(e, &s[i], &s[s[i].sh_link]);
	e->stubs = stubs_read(&e->file, &e->functions);
	symbols_sort(&e->functions);
	symbols_bound(e);
}

/*
 * The kernel maps its own library into each process, without a file: ours is the same, if it is of
 * the same class. Returns false if this process has none.
 */
static bool elf_copy_vdso(struct elf *e)
{
	const char *from = (const char *)getauxval(AT_SYSINFO_EHDR);
	char line[4352];
	FILE *f = from ? fopen("/proc/self/maps", "re") : NULL;
	struct mapping m;

	while (f && fgets(line, sizeof(line), f))
		if (mapping_parse(line, &m) && m.start == (uint64_t)(uintptr_t)from) {
			e->file.size = (size_t)(m.end - m.start);
			e->file.base = mmap(NULL, e->file.size, PROT_READ | PROT_WRITE,
					    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (e->file.base == MAP_FAILED)
				e->file.base = NULL;
			else
				memcpy(e->file.base, from, e->file.size);
		}
	if (f)
		fclose(f);
	/* There is no file with debugging information of it. */
	e->asked = true;
	return e->file.base;
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
	if (!strcmp(path, ELF_VDSO)) {
		if (elf_copy_vdso(e))
			elf_read_symbols(e);
		return e;
	}
	fd = regular_open(path, 0, &st);
	if (fd >= 0 && st.st_size) {
		e->file.base = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		e->file.size = (size_t)st.st_size;
		if (e->file.base == MAP_FAILED)
			e->file.base = NULL;
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
	if (e->file.base)
		munmap(e->file.base, e->file.size);
	symbols_free(&e->functions);
	free(e->stubs);
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
	const ElfW(Ehdr) *head = e->file.base ? elf_file_range(&e->file, 0, sizeof(*head)) : NULL;
	const ElfW(Phdr) *p = head && head->e_phentsize == sizeof(*p) ?
				      elf_file_range(&e->file, head->e_phoff,
						     (uint64_t)head->e_phnum * sizeof(*p)) :
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

size_t elf_inlined(struct elf *e, uint64_t address, struct dwarf_inlined *inlined, size_t max)
{
	return elf_dwarf(e) ? dwarf_inlined(e->dwarf, address, inlined, max) : 0;
}
