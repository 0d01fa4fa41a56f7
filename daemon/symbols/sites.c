// SPDX-License-Identifier: GPL-2.0-or-later
#include "sites.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../common/regular.h"
#include "elf-file.h"

#define NOTE_USDT    3 /* type of a note of provider "stapsdt" */
#define TABLE_FORMAT 0x3b /* of .eh_frame_hdr: 32 bits, relative to its own address */
#define CODE_ALIGN   16 /* functions; parts that the compiler moved out of them follow each other */

/* The addresses of all functions, which a file has for exceptions even if it was stripped. */
struct function_table {
	const char *base; /* pairs of 32 bits: function, description */
	uint64_t address;
	uint32_t nr;
};

static bool file_open(const char *path, struct elf_file *f)
{
	struct stat st;
	int fd = regular_open(path, 0, &st);

	*f = (struct elf_file){ .base = NULL };
	if (fd < 0)
		return false;
	if (st.st_size > 0) {
		f->size = (size_t)st.st_size;
		f->base = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (f->base == MAP_FAILED)
			f->base = NULL;
	}
	close(fd);
	return f->base;
}

static void file_close(struct elf_file *f)
{
	if (f->base)
		munmap(f->base, f->size);
}

static const ElfW(Phdr) * file_segments(const struct elf_file *f, unsigned int *nr)
{
	const ElfW(Ehdr) *head = elf_file_range(f, 0, sizeof(*head));

	*nr = head ? head->e_phnum : 0;
	return head && head->e_phentsize == sizeof(ElfW(Phdr)) &&
			       !(head->e_phoff % sizeof(void *)) ?
		       elf_file_range(f, head->e_phoff, (uint64_t)*nr * sizeof(ElfW(Phdr))) :
		       NULL;
}

/* The offset in the file of an address; 0 if there is none. */
static uint64_t file_offset(const struct elf_file *f, uint64_t address)
{
	unsigned int nr;
	const ElfW(Phdr) *p = file_segments(f, &nr);

	for (unsigned int i = 0; p && i < nr; i++)
		if (p[i].p_type == PT_LOAD && address >= p[i].p_vaddr &&
		    address - p[i].p_vaddr < p[i].p_filesz)
			return address - p[i].p_vaddr + p[i].p_offset;
	return 0;
}

/* The contents of a section that is in the file. */
static const char *section_bytes(const struct elf_file *f, const ElfW(Shdr) * s)
{
	return s && s->sh_type != SHT_NOBITS ? elf_file_range(f, s->sh_offset, s->sh_size) : NULL;
}

static size_t site_add(struct site *site, size_t nr, uint64_t offset, uint64_t semaphore)
{
	for (size_t i = 0; i < nr; i++)
		if (site[i].offset == offset)
			return nr;
	if (!offset || nr == SITES_MAX)
		return nr;
	site[nr] = (struct site){ .offset = offset, .semaphore = semaphore };
	return nr + 1;
}

/* NAME, or NAME.constprop.0 and the like; NAME.cold and NAME.part.0 are parts of another function. */
static bool symbol_is(const char *symbol, const char *name)
{
	const size_t length = strlen(name);

	return !strncmp(symbol, name, length) &&
	       (!symbol[length] || !strncmp(symbol + length, ".constprop.", 11) ||
		!strncmp(symbol + length, ".isra.", 6) ||
		!strncmp(symbol + length, ".lto_priv.", 10));
}

/* @symbols: the file, or the one with its debugging symbols. */
static size_t symbols_find_sites(const struct elf_file *f, const struct elf_file *symbols,
				 const char *name, struct site *site)
{
	unsigned int sections;
	const ElfW(Shdr) *s = elf_file_sections(symbols, &sections);
	size_t nr = 0;

	for (unsigned int i = 0; s && i < sections; i++) {
		const ElfW(Sym) * sym;

		if ((s[i].sh_type != SHT_SYMTAB && s[i].sh_type != SHT_DYNSYM) ||
		    s[i].sh_link >= sections || s[i].sh_offset % sizeof(void *))
			continue;
		sym = elf_file_range(symbols, s[i].sh_offset, s[i].sh_size);
		for (size_t k = 0; sym && k < s[i].sh_size / sizeof(*sym); k++) {
			const unsigned int type = sym[k].st_info & 0xf;
			const char *text;

			if (sym[k].st_shndx == SHN_UNDEF ||
			    (type != STT_FUNC && type != STT_NOTYPE))
				continue;
			text = elf_file_string(symbols, &s[s[i].sh_link], sym[k].st_name);
			if (text && symbol_is(text, name))
				nr = site_add(site, nr, file_offset(f, sym[k].st_value), 0);
		}
	}
	return nr;
}

/* Debian's packages of debugging symbols have a file for each build. */
static bool debug_open(const struct elf_file *f, struct elf_file *debug)
{
	const ElfW(Shdr) *s = elf_file_section(f, ".note.gnu.build-id");
	const unsigned char *note = (const unsigned char *)section_bytes(f, s);
	char path[128];
	int n;

	/* Sizes of name and contents, type, "GNU". */
	if (!note || s->sh_size < 16 + 20)
		return false;
	n = snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%02x/", note[16]);
	for (unsigned int i = 17; i < 16 + 20; i++)
		n += snprintf(path + n, sizeof(path) - (size_t)n, "%02x", note[i]);
	snprintf(path + n, sizeof(path) - (size_t)n, ".debug");
	return file_open(path, debug);
}

static size_t function_find(const struct elf_file *f, const char *name, struct site *site,
			    char *why, size_t size)
{
	size_t nr = symbols_find_sites(f, f, name, site);
	struct elf_file debug;

	if (!nr && debug_open(f, &debug)) {
		nr = symbols_find_sites(f, &debug, name, site);
		file_close(&debug);
	}
	if (!nr && elf_file_section(f, ".symtab"))
		snprintf(why, size,
			 "it has no such function, which may have been inlined; nm lists those "
			 "that it has");
	else if (!nr)
		snprintf(why, size,
			 "it does not export such a function, and its other symbols were stripped; "
			 "install its debugging symbols, or name a text that the function uses, as "
			 "\"TEXT\"");
	return nr;
}

/*
 * A note: the lengths of its name and of its contents, its type, and both, each padded to 4 bytes. Of
 * a USDT probe the contents are its address, that of .stapsdt.base when it was linked, that of its
 * counter, and its provider, name and arguments as strings.
 */
static size_t usdt_find(const struct elf_file *f, const char *name, struct site *site, char *why,
			size_t size)
{
	const ElfW(Shdr) *s = elf_file_section(f, ".note.stapsdt");
	const ElfW(Shdr) *based = elf_file_section(f, ".stapsdt.base");
	const char *notes = section_bytes(f, s), *colon = strchr(name, ':');
	const size_t provider = (size_t)(colon - name), words = 3 * sizeof(ElfW(Addr));
	uint64_t at = 0, end = notes ? s->sh_size : 0;
	size_t nr = 0;

	while (end - at > 12) {
		uint32_t head[3];
		uint64_t contents;
		ElfW(Addr) word[3];
		const char *text;

		memcpy(head, notes + at, sizeof(head));
		contents = at + sizeof(head) + ((head[0] + 3ull) & ~3ull);
		if (head[1] > end || contents > end - head[1])
			break;
		at = contents + ((head[1] + 3ull) & ~3ull);
		if (at > end)
			at = end;
		if (head[2] != NOTE_USDT || head[1] <= words)
			continue;
		memcpy(word, notes + contents, sizeof(word));
		text = notes + contents + words;
		if (strnlen(text, head[1] - words) != provider || memcmp(text, name, provider) ||
		    head[1] - words < provider + strlen(colon) + 1 ||
		    strcmp(text + provider + 1, colon + 1) != 0)
			continue;
		if (based)
			for (int i = 0; i < 3; i += 2)
				word[i] += word[i] ? based->sh_addr - word[1] : 0;
		nr = site_add(site, nr, file_offset(f, word[0]),
			      word[2] ? file_offset(f, word[2]) : 0);
	}
	if (!nr)
		snprintf(why, size,
			 "it has no such USDT probe; readelf -n lists those that it has");
	return nr;
}

static bool functions_read(const struct elf_file *f, struct function_table *t)
{
	const ElfW(Shdr) *s = elf_file_section(f, ".eh_frame_hdr");
	const char *bytes = section_bytes(f, s);

	/* Version, and formats of the next two words, which are of 32 bits, and of the table. */
	if (!bytes || s->sh_size < 12 || bytes[0] != 1 || (bytes[1] & 0xf) != 0xb ||
	    bytes[2] != 3 || bytes[3] != TABLE_FORMAT)
		return false;
	memcpy(&t->nr, bytes + 8, sizeof(t->nr));
	t->base = bytes + 12;
	t->address = s->sh_addr;
	return t->nr && t->nr <= (s->sh_size - 12) / 8;
}

static uint64_t functions_start(const struct function_table *t, uint32_t i)
{
	int32_t relative;

	memcpy(&relative, t->base + 8 * (size_t)i, sizeof(relative));
	return t->address + (uint64_t)(int64_t)relative;
}

/* The function that contains an address; @end receives where the next one begins. 0: none. */
static uint64_t functions_at(const struct function_table *t, uint64_t address, uint64_t *end)
{
	uint32_t low = 0, high = t->nr;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (functions_start(t, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	*end = low < t->nr ? functions_start(t, low) : UINT64_MAX;
	return low ? functions_start(t, low - 1) : 0;
}

/* Some code: where it is, and what it is for. */
struct code {
	const unsigned char *bytes;
	uint64_t size, address;
	unsigned int machine;
};

static uint64_t code_relative(const struct code *c, uint64_t at)
{
	int32_t distance;

	memcpy(&distance, c->bytes + at, sizeof(distance));
	return c->address + at + 4 + (uint64_t)(int64_t)distance;
}

/* x86-64: lea ADDRESS(%rip), REGISTER, or mov $ADDRESS, REGISTER. */
static bool x86_takes_address(const struct code *c, uint64_t at, uint64_t address)
{
	const unsigned char *b = c->bytes + at;
	uint32_t immediate;

	if (at + 7 <= c->size && (b[0] & 0xfb) == 0x48 && b[1] == 0x8d && (b[2] & 0xc7) == 0x05)
		return code_relative(c, at + 3) == address;
	if ((b[0] & 0xf8) != 0xb8 || at + 5 > c->size)
		return false;
	memcpy(&immediate, b + 1, sizeof(immediate));
	return immediate == address;
}

/* Jumps of 32 bits: always, or on a condition. */
static bool x86_jumps_into(const struct code *c, uint64_t at, uint64_t start, uint64_t end)
{
	const unsigned char *b = c->bytes + at;
	uint64_t to;

	if (b[0] == 0xe9 && at + 5 <= c->size)
		to = code_relative(c, at + 1);
	else if (b[0] == 0x0f && at + 6 <= c->size && (b[1] & 0xf0) == 0x80)
		to = code_relative(c, at + 2);
	else
		return false;
	return to >= start && to < end;
}

static uint32_t arm64_word(const struct code *c, uint64_t at)
{
	uint32_t word;

	memcpy(&word, c->bytes + at, sizeof(word));
	return word;
}

/* arm64: adrp REGISTER, PAGE, and add of the rest within the next instructions. */
static bool arm64_takes_address(const struct code *c, uint64_t at, uint64_t address)
{
	const uint32_t adrp = at + 4 <= c->size ? arm64_word(c, at) : 0;
	const uint32_t pages = (adrp >> 3 & 0x1ffffc) | (adrp >> 29 & 3);
	const int64_t distance = ((int64_t)((uint64_t)pages << 43) >> 43) * 4096;

	if ((adrp & 0x9f000000) != 0x90000000 ||
	    ((c->address + at) & ~0xfffull) + (uint64_t)distance != (address & ~0xfffull))
		return false;
	for (uint64_t next = at + 4; next <= at + 32 && next + 4 <= c->size; next += 4) {
		const uint32_t add = arm64_word(c, next);

		/* Of 64 bits, not shifted, from the same register. */
		if ((add & 0xffc00000) == 0x91000000 && (add >> 5 & 0x1f) == (adrp & 0x1f) &&
		    (add >> 10 & 0xfff) == (address & 0xfff))
			return true;
	}
	return false;
}

static bool arm64_jumps_into(const struct code *c, uint64_t at, uint64_t start, uint64_t end)
{
	const uint32_t b = at + 4 <= c->size ? arm64_word(c, at) : 0;
	const uint64_t to = c->address + at + (uint64_t)((int64_t)((uint64_t)b << 38) >> 38) * 4;

	return (b & 0xfc000000) == 0x14000000 && to >= start && to < end;
}

static bool code_uses(const struct code *c, uint64_t at, uint64_t address)
{
	return c->machine == EM_X86_64 ? x86_takes_address(c, at, address) :
					 arm64_takes_address(c, at, address);
}

static bool code_jumps_into(const struct code *c, uint64_t at, uint64_t start, uint64_t end)
{
	return c->machine == EM_X86_64 ? x86_jumps_into(c, at, start, end) :
					 arm64_jumps_into(c, at, start, end);
}

/*
 * The compiler moves code that is rarely executed out of its function, to where such parts follow
 * each other. Returns the function that jumps into the part, or the part if none does.
 */
static uint64_t function_of_part(const struct function_table *t, const struct code *c,
				 uint64_t start, uint64_t end)
{
	const uint64_t step = c->machine == EM_X86_64 ? 1 : 4;
	uint64_t function, next;

	if (start % CODE_ALIGN)
		for (uint64_t at = 0; at < c->size; at += step) {
			if (!code_jumps_into(c, at, start, end))
				continue;
			function = functions_at(t, c->address + at, &next);
			if (function && function != start && !(function % CODE_ALIGN))
				return function;
		}
	return start;
}

/* A direct call, or the jump of a function that ends with a call. */
static bool code_calls(const struct code *c, uint64_t at, uint64_t function)
{
	uint32_t word;

	if (c->machine == EM_X86_64)
		return at + 5 <= c->size && (c->bytes[at] & 0xfe) == 0xe8 &&
		       code_relative(c, at + 1) == function;
	word = at + 4 <= c->size ? arm64_word(c, at) : 0;
	return (word & 0x7c000000) == 0x14000000 &&
	       c->address + at + (uint64_t)((int64_t)((uint64_t)word << 38) >> 38) * 4 == function;
}

/* Adds the functions with code that refers to @address in this way, without the one that is there. */
static size_t functions_find_sites(const struct elf_file *f, const struct function_table *t,
				   bool (*code_refers)(const struct code *, uint64_t at,
						       uint64_t address),
				   uint64_t address, struct site *site, size_t nr)
{
	const ElfW(Ehdr) *head = elf_file_range(f, 0, sizeof(*head));
	const uint64_t step = head->e_machine == EM_X86_64 ? 1 : 4;
	unsigned int sections;
	const ElfW(Shdr) *s = elf_file_sections(f, &sections);

	for (unsigned int i = 0; s && i < sections; i++) {
		const struct code c = {
			.bytes = s[i].sh_flags & SHF_EXECINSTR ?
					 (const unsigned char *)section_bytes(f, &s[i]) :
					 NULL,
			.size = s[i].sh_size,
			.address = s[i].sh_addr,
			.machine = head->e_machine,
		};
		uint64_t start, end;

		for (uint64_t at = 0; c.bytes && at < c.size; at += step) {
			if (!code_refers(&c, at, address))
				continue;
			start = functions_at(t, c.address + at, &end);
			if (start)
				start = function_of_part(t, &c, start, end);
			if (start && start != address)
				nr = site_add(site, nr, file_offset(f, start), 0);
		}
	}
	return nr;
}

/* Copies a text with \a, \n, \t and \\ as in C. Returns its length. */
static size_t text_unescape(char *to, const char *from, size_t length)
{
	size_t n = 0;

	for (size_t i = 0; i < length; i++) {
		const char next = from[i] == '\\' && i + 1 < length ? from[i + 1] : '\0';

		to[n++] = next == 'n' ? '\n' : next == 't' ? '\t' : next == 'a' ? '\a' : from[i];
		i += next == 'n' || next == 't' || next == 'a' || next == '\\';
	}
	return n;
}

/* @name: with its quotes. The string may be at several addresses. */
static size_t text_find(const struct elf_file *f, const char *name, struct site *site, char *why,
			size_t size)
{
	const ElfW(Ehdr) *head = elf_file_range(f, 0, sizeof(*head));
	size_t length = strlen(name) - 2;
	unsigned int sections;
	const ElfW(Shdr) *s = elf_file_sections(f, &sections);
	struct function_table t;
	char text[256] = "";
	bool there = false;
	size_t nr = 0;

	if (head->e_machine != EM_X86_64 && head->e_machine != EM_AARCH64) {
		snprintf(why, size, "users of a text are found in code of x86-64 and arm64 alone");
		return 0;
	}
	if (!functions_read(f, &t)) {
		snprintf(why, size, "it has no table of its functions (.eh_frame_hdr)");
		return 0;
	}
	if (length >= sizeof(text))
		return 0;
	length = text_unescape(text, name + 1, length);
	for (unsigned int i = 0; s && i < sections; i++) {
		const char *bytes = s[i].sh_flags & (SHF_EXECINSTR | SHF_WRITE) ||
						    !(s[i].sh_flags & SHF_ALLOC) ?
					    NULL :
					    section_bytes(f, &s[i]);
		const char *at = bytes, *end = bytes ? bytes + s[i].sh_size : NULL;

		/* From its first byte on, with the zero that ends it. */
		while (at && (at = memmem(at, (size_t)(end - at), text, length + 1))) {
			if (at == bytes || !at[-1]) {
				there = true;
				nr = functions_find_sites(f, &t, code_uses,
							  s[i].sh_addr + (uint64_t)(at - bytes),
							  site, nr);
			}
			at++;
		}
	}
	if (nr == 1)
		return nr;
	if (nr)
		snprintf(why, size, "%zu functions use that text; name another one", nr);
	else
		snprintf(why, size, "%s; strings lists its texts",
			 there ? "no code uses that text" : "it has no such text");
	return 0;
}

/* The address of what is at an offset in the file; 0 if there is none. */
static uint64_t file_address(const struct elf_file *f, uint64_t offset)
{
	unsigned int nr;
	const ElfW(Phdr) *p = file_segments(f, &nr);

	for (unsigned int i = 0; p && i < nr; i++)
		if (p[i].p_type == PT_LOAD && offset >= p[i].p_offset &&
		    offset - p[i].p_offset < p[i].p_filesz)
			return offset - p[i].p_offset + p[i].p_vaddr;
	return 0;
}

/* @name: of the function that is called, or its text */
static size_t caller_find(const struct elf_file *f, const char *name, struct site *site, char *why,
			  size_t size)
{
	const ElfW(Ehdr) *head = elf_file_range(f, 0, sizeof(*head));
	struct function_table t;
	size_t nr = *name == '"' ? text_find(f, name, site, why, size) :
				   function_find(f, name, site, why, size);

	if (!nr)
		return 0;
	if ((head->e_machine != EM_X86_64 && head->e_machine != EM_AARCH64) ||
	    !functions_read(f, &t)) {
		snprintf(why, size,
			 "callers are found in code of x86-64 and arm64 with a table of its "
			 "functions (.eh_frame_hdr) alone");
		return 0;
	}
	if (nr == 1)
		nr = functions_find_sites(f, &t, code_calls, file_address(f, site[0].offset), site,
					  0);
	if (nr == 1)
		return nr;
	snprintf(why, size,
		 nr ? "%zu functions call that one; name another one" :
		      "no code calls that function directly",
		 nr);
	return 0;
}

size_t sites_find(const char *path, const char *name, struct site site[SITES_MAX], char *why,
		  size_t size)
{
	struct elf_file f;
	unsigned int sections;
	size_t nr = 0;

	if (!file_open(path, &f)) {
		snprintf(why, size, "it cannot be read");
		return 0;
	}
	if (!elf_file_sections(&f, &sections))
		snprintf(why, size, "it is no program of this machine");
	else if (*name == '^')
		nr = caller_find(&f, name + 1, site, why, size);
	else if (*name == '"')
		nr = text_find(&f, name, site, why, size);
	else if (strchr(name, ':'))
		nr = usdt_find(&f, name, site, why, size);
	else
		nr = function_find(&f, name, site, why, size);
	file_close(&f);
	return nr;
}

/* Of these a file needs, or has, one that its exceptions go through. */
static bool symbol_is_unwinder(const char *symbol)
{
	return !strcmp(symbol, "__cxa_throw") || !strcmp(symbol, "__gxx_personality_v0") ||
	       !strcmp(symbol, "rust_eh_personality") || !strcmp(symbol, "_Unwind_RaiseException");
}

bool sites_throw(const char *path)
{
	struct elf_file f;
	unsigned int sections = 0;
	const ElfW(Shdr) * s;
	bool found = false;

	if (!file_open(path, &f))
		return false;
	s = elf_file_sections(&f, &sections);
	for (unsigned int i = 0; s && !found && i < sections; i++) {
		const ElfW(Sym) * sym;

		if ((s[i].sh_type != SHT_SYMTAB && s[i].sh_type != SHT_DYNSYM) ||
		    s[i].sh_link >= sections || s[i].sh_offset % sizeof(void *))
			continue;
		sym = elf_file_range(&f, s[i].sh_offset, s[i].sh_size);
		for (size_t k = 0; sym && !found && k < s[i].sh_size / sizeof(*sym); k++) {
			const char *text = elf_file_string(&f, &s[s[i].sh_link], sym[k].st_name);

			found = text && symbol_is_unwinder(text);
		}
	}
	file_close(&f);
	return found;
}
