// SPDX-License-Identifier: GPL-2.0-or-later
#include "stubs.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where the address of a function is, and whose. */
struct slot {
	uint64_t at;
	const char *name;
};

struct slots {
	struct slot *list;
	size_t nr;
};

static int by_address(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Those of the dynamic symbols that relocations fill in. */
static void slots_add(const struct elf_file *f, const char *section, struct slots *s)
{
	const ElfW(Shdr) *rel = elf_file_section(f, section), *symbols, *strings, *all;
	const char *list, *syms;
	struct slot *more;
	unsigned int nr;
	ElfW(Rela) r;
	ElfW(Sym) sym;

	all = elf_file_sections(f, &nr);
	symbols = rel && rel->sh_link < nr ? &all[rel->sh_link] : NULL;
	strings = symbols && symbols->sh_link < nr ? &all[symbols->sh_link] : NULL;
	list = strings ? elf_file_range(f, rel->sh_offset, rel->sh_size) : NULL;
	syms = list ? elf_file_range(f, symbols->sh_offset, symbols->sh_size) : NULL;
	more = syms ? realloc(s->list, (s->nr + rel->sh_size / sizeof(r) + 1) * sizeof(*more)) :
		      NULL;
	if (!more)
		return;
	s->list = more;
	for (size_t i = 0; i < rel->sh_size / sizeof(r); i++) {
		const char *name;

		memcpy(&r, list + i * sizeof(r), sizeof(r));
		if (!ELF64_R_SYM(r.r_info) ||
		    ELF64_R_SYM(r.r_info) >= symbols->sh_size / sizeof(sym))
			continue;
		memcpy(&sym, syms + ELF64_R_SYM(r.r_info) * sizeof(sym), sizeof(sym));
		name = elf_file_string(f, strings, sym.st_name);
		if (name && *name)
			s->list[s->nr++] = (struct slot){ r.r_offset, name };
	}
}

/*
 * The slot through which the code jumps: x86-64's jmp *slot(%rip), perhaps behind endbr64 or bnd;
 * AArch64's adrp x16, page and ldr x17, [x16, rest]. Their order does not show reliably whose stub
 * it is: in the C library's own file it is not that of its relocations. 0: no such code.
 */
static uint64_t stub_slot(unsigned int machine, const unsigned char *code, uint64_t size,
			  uint64_t address)
{
	uint32_t adrp, ldr;
	int32_t rest;

	if (machine == EM_X86_64) {
		for (unsigned int i = 0; i + 6 <= size && i <= 5; i++)
			if (code[i] == 0xff && code[i + 1] == 0x25) {
				memcpy(&rest, code + i + 2, sizeof(rest));
				return address + i + 6 + (uint64_t)(int64_t)rest;
			}
		return 0;
	}
	if (size < 8)
		return 0;
	memcpy(&adrp, code, sizeof(adrp));
	memcpy(&ldr, code + 4, sizeof(ldr));
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return 0;
	/* 21 bits with a sign: two low ones, and the others. */
	rest = (int32_t)((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3));
	rest = rest & 0x100000 ? rest - 0x200000 : rest;
	return (address & ~(uint64_t)0xfff) + (uint64_t)((int64_t)rest * 4096) +
	       (uint64_t)(ldr >> 10 & 0xfff) * 8;
}

static void section_read_stubs(const struct elf_file *f, unsigned int machine, const char *section,
			       const struct slots *slots, struct symbols *to, FILE *names)
{
	const ElfW(Shdr) *s = elf_file_section(f, section);
	const unsigned char *code = s ? elf_file_range(f, s->sh_offset, s->sh_size) : NULL;
	/* .plt.got of x86-64 has stubs of half the size, unless they are marked as targets. */
	const uint64_t each = s && (s->sh_entsize == 8 || s->sh_entsize == 16) ? s->sh_entsize : 16;
	const uint64_t step = machine == EM_X86_64 ? each : 4;

	for (uint64_t i = 0; code && i + each <= s->sh_size; i += step) {
		const struct slot wanted = { stub_slot(machine, code + i, each, s->sh_addr + i),
					     "" };
		const struct slot *found = wanted.at ? bsearch(&wanted, slots->list, slots->nr,
							       sizeof(wanted), by_address) :
						       NULL;

		/* The place of its name for now: the memory moves while names are added. */
		if (found && symbols_add(to, (struct symbol){ .start = s->sh_addr + i,
							      .size = each,
							      .lines_at = (uint64_t)ftell(names) }))
			fprintf(names, "%s@plt%c", found->name, '\0');
	}
}

char *stubs_read(const struct elf_file *f, struct symbols *to)
{
	static const char *const sections[] = { ".plt", ".plt.sec", ".plt.got" };
	const ElfW(Ehdr) *head = elf_file_range(f, 0, sizeof(*head));
	const size_t before = to->nr;
	struct slots slots = { NULL, 0 };
	char *text = NULL;
	size_t length;
	FILE *names;

	if (!head || sizeof(void *) != 8 ||
	    (head->e_machine != EM_X86_64 && head->e_machine != EM_AARCH64))
		return NULL;
	slots_add(f, ".rela.plt", &slots);
	slots_add(f, ".rela.dyn", &slots);
	names = slots.nr ? open_memstream(&text, &length) : NULL;
	if (names) {
		qsort(slots.list, slots.nr, sizeof(*slots.list), by_address);
		for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
			section_read_stubs(f, head->e_machine, sections[i], &slots, to, names);
		if (fclose(names)) {
			to->nr = before;
			free(text);
			text = NULL;
		}
	}
	for (size_t i = before; text && i < to->nr; i++) {
		to->list[i].name = text + to->list[i].lines_at;
		to->list[i].lines_at = 0;
	}
	free(slots.list);
	return text;
}
