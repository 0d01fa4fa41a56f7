// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: a Go program's file, of which the input changes words and the length: no other
 * input would get beyond its first headers.
 */
#include "../../../daemon/gchintctl/launch/go.c"

#define SECTIONS  0x200
#define STRINGS	  0x380
#define TABLE	  0x400
#define FUNCTAB	  0x100 /* from the table on */
#define NAMES	  0x200
#define MODULE	  0x800
#define RELA	  0x900
#define FILE_OF	  0xa00
#define TABLE_AT  0x500400 /* addresses */
#define MODULE_AT 0x600000
#define TEXT	  0x400000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void file_set(char *file, size_t at, uint64_t value, size_t size)
{
	memcpy(file + at, &value, size);
}

/* As Go 1.26 makes it. Its module is in the file or in the relocations. */
static void file_make(char *file, bool relocated)
{
	const ElfW(Ehdr) elf = { .e_ident = ELFMAG,
				 .e_phoff = sizeof(elf),
				 .e_phnum = 1,
				 .e_shoff = SECTIONS,
				 .e_shnum = 5,
				 .e_shstrndx = 2 };
	const ElfW(Phdr)
		code = { .p_type = PT_LOAD, .p_flags = PF_X, .p_vaddr = TEXT, .p_filesz = 0x1000 };
	const ElfW(Shdr) sections[5] = {
		[1] = { .sh_name = 1, .sh_addr = TABLE_AT, .sh_offset = TABLE, .sh_size = 0x400 },
		[2] = { .sh_offset = STRINGS, .sh_size = 16 },
		[3] = { .sh_type = SHT_PROGBITS,
			.sh_flags = SHF_ALLOC | SHF_WRITE,
			.sh_addr = MODULE_AT,
			.sh_offset = MODULE,
			.sh_size = 8 * (MODULE_TEXT_END + 1) },
		[4] = { .sh_type = SHT_RELA,
			.sh_flags = SHF_ALLOC,
			.sh_offset = RELA,
			.sh_size = 7 * sizeof(ElfW(Rela)) },
	};
	const struct {
		unsigned int word;
		uint64_t address;
	} words[] = {
		{ MODULE_TABLE, TABLE_AT },
		{ MODULE_NAMES, TABLE_AT + NAMES },
		{ MODULE_FUNCTAB, TABLE_AT + FUNCTAB },
		{ MODULE_FIRST_PC, TEXT },
		{ MODULE_LAST_PC, TEXT + 0x1000 },
		{ MODULE_TEXT, TEXT },
		{ MODULE_TEXT_END, TEXT + 0x1000 },
	};
	size_t name = 1;

	memcpy(file, &elf, sizeof(elf));
	memcpy(file + sizeof(elf), &code, sizeof(code));
	memcpy(file + SECTIONS, sections, sizeof(sections));
	strcpy(file + STRINGS + 1, ".gopclntab");
	file_set(file, TABLE, 0xfffffff1, 4);
	file[TABLE + 6] = 1;
	file[TABLE + 7] = 8;
	file_set(file, TABLE + 8, AT_NR, 8);
	file_set(file, TABLE + 32, NAMES, 8);
	file_set(file, TABLE + 64, FUNCTAB, 8);
	for (size_t i = 0; i < AT_NR; i++) {
		file_set(file, TABLE + FUNCTAB + 8 * i, 16 * (i + 1), 4);
		file_set(file, TABLE + FUNCTAB + 8 * i + 4, 0x80 + 16 * i, 4);
		file_set(file, TABLE + FUNCTAB + 0x80 + 16 * i + 4, name, 4);
		strcpy(file + TABLE + NAMES + name, functions[i]);
		name += strlen(functions[i]) + 1;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const ElfW(Rela) r = { .r_offset = MODULE_AT + 8 * words[i].word,
				       .r_addend = (int64_t)words[i].address };

		if (relocated)
			memcpy(file + RELA + i * sizeof(r), &r, sizeof(r));
		else
			file_set(file, MODULE + 8 * words[i].word, words[i].address, 8);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t widths[] = { 1, 2, 4, 8 };
	uint64_t offset[AT_NR] = { 0 };
	char file[FILE_OF] = "";
	struct image m;
	uint16_t at;
	char *exact;

	if (!size)
		return 0;
	file_make(file, data[0] & 1);
	m.size = data[0] & 2 ? sizeof(file) : 0;
	/* An offset, a width, and the word; the last offset may be the length. */
	for (data++, size--; size > sizeof(at) + 8;
	     data += sizeof(at) + 9, size -= sizeof(at) + 9) {
		const size_t width = widths[data[sizeof(at)] % 4];

		memcpy(&at, data, sizeof(at));
		if (at <= sizeof(file) - width)
			memcpy(file + at, data + sizeof(at) + 1, width);
	}
	if (!m.size) {
		at = sizeof(file);
		if (size >= sizeof(at))
			memcpy(&at, data, sizeof(at));
		m.size = at < sizeof(file) ? at : sizeof(file);
	}
	if (m.size < sizeof(ElfW(Ehdr)))
		return 0;
	exact = malloc(m.size);
	if (exact) {
		memcpy(exact, file, m.size);
		m.base = exact;
		if (!table_find_functions(&m, offset))
			for (int i = 0; i < AT_NR; i++)
				if (!offset[i])
					abort();
	}
	free(exact);
	return 0;
}

/* The rest of go.c is not run. */
struct probes *probes_open(const char *path, const uint64_t *offset, unsigned int count)
{
	(void)path;
	(void)offset;
	(void)count;
	return NULL;
}

void probes_close(struct probes *p)
{
	(void)p;
}

uint64_t probes_read(struct probes *p, bool last,
		     void (*hit)(void *data, const struct probe_hit *hit), void *data)
{
	(void)p;
	(void)last;
	(void)hit;
	(void)data;
	return 0;
}

int child_run(const struct child *child)
{
	(void)child;
	return -1;
}

void ctl_error(const char *fmt, ...)
{
	(void)fmt;
}
