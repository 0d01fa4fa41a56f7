// SPDX-License-Identifier: GPL-2.0-or-later
#include "dwarf.h"

#include <stdlib.h>
#include <unistd.h>

#ifdef HAVE_DW
#include <elfutils/libdwfl.h>

#include "../common/regular.h"
#include "inlines.h"

struct dwarf {
	Dwfl *dwfl;
	Dwfl_Module *module;
	GElf_Addr bias;
	struct inlines inlines;
};

static const Dwfl_Callbacks callbacks = {
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

struct dwarf *dwarf_open(const char *path)
{
	struct dwarf *s = calloc(1, sizeof(*s));
	struct stat st;
	int fd;

	if (!s)
		return NULL;
	/* libdwfl would query these servers, without a time limit. */
	unsetenv("DEBUGINFOD_URLS");
	s->dwfl = dwfl_begin(&callbacks);
	fd = s->dwfl ? regular_open(path, 0, &st) : -1;
	if (fd >= 0) {
		/* libdw owns the descriptor if it accepts the file. */
		s->module = dwfl_report_offline(s->dwfl, "", path, fd);
		if (!s->module)
			close(fd);
		dwfl_report_end(s->dwfl, NULL, NULL);
	}
	if (!s->module || !dwfl_module_getelf(s->module, &s->bias)) {
		dwarf_close(s);
		return NULL;
	}
	return s;
}

void dwarf_close(struct dwarf *s)
{
	if (s) {
		inlines_free(&s->inlines);
		dwfl_end(s->dwfl);
	}
	free(s);
}

bool dwarf_function(struct dwarf *s, uint64_t address, struct symbol *found)
{
	GElf_Off offset;
	GElf_Sym sym;
	const char *name =
		dwfl_module_addrinfo(s->module, s->bias + address, &offset, &sym, NULL, NULL, NULL);

	/* Otherwise it may be the nearest one before the address. */
	if (!name || GELF_ST_TYPE(sym.st_info) != STT_FUNC || offset >= sym.st_size)
		return false;
	*found = (struct symbol){ .start = address - offset, .size = sym.st_size, .name = name };
	return true;
}

bool dwarf_find(struct dwarf *s, uint64_t address, struct dwarf_line *source)
{
	Dwfl_Line *line = dwfl_module_getsrc(s->module, s->bias + address);

	source->file = line ? dwfl_lineinfo(line, NULL, &source->line, NULL, NULL, NULL) : NULL;
	/* Line 0 means that the address belongs to no line of the source. */
	return source->file && source->line > 0;
}

size_t dwarf_inlined(struct dwarf *s, uint64_t address, struct dwarf_inlined *inlined, size_t max)
{
	Dwarf_Addr bias;
	Dwarf_Die *unit = dwfl_module_addrdie(s->module, s->bias + address, &bias);

	return unit ? inlines_find(&s->inlines, unit, s->bias + address - bias, inlined, max) : 0;
}

#else

struct dwarf *dwarf_open(const char *path)
{
	(void)path;
	return NULL;
}

void dwarf_close(struct dwarf *s)
{
	(void)s;
}

bool dwarf_function(struct dwarf *s, uint64_t address, struct symbol *found)
{
	(void)s;
	(void)address;
	(void)found;
	return false;
}

bool dwarf_find(struct dwarf *s, uint64_t address, struct dwarf_line *source)
{
	(void)s;
	(void)address;
	(void)source;
	return false;
}

size_t dwarf_inlined(struct dwarf *s, uint64_t address, struct dwarf_inlined *inlined, size_t max)
{
	(void)s;
	(void)address;
	(void)inlined;
	(void)max;
	return 0;
}

#endif
