// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The probed functions, and what an entry of each means (Go's runtime/mgc.go):
 *
 *   gcBgMarkStartWorkers   a cycle begins; the next stop of the world is its own
 *   stopTheWorldWithSema   after that: the stop for sweep termination
 *   startTheWorldWithSema  the stop ends
 *   stopTheWorldWithSema   otherwise: the next probe shows what the stop is for
 *   gcMarkTermination      the stop is for mark termination
 *   gcBgMarkWorker.func2   a worker begins to mark on this thread
 *   gcBgMarkWorker.func1   the worker parks
 *   gcMarkDone             the worker found nothing more to mark
 *
 * Only entries are probed: a return probe changes the return address on the stack, which Go
 * reads when it moves stacks. A function whose stack grows is entered twice, which is harmless.
 */
#include "go.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

#include "../../common/clock.h"
#include "../ctl.h"
#include "probes.h"
#include "ring-writer.h"

enum at {
	AT_CYCLE,
	AT_STOP,
	AT_START,
	AT_TERMINATION,
	AT_MARK,
	AT_PARK,
	AT_DONE,
	AT_NR
};

static const char *const functions[AT_NR] = {
	[AT_CYCLE] = "runtime.gcBgMarkStartWorkers",
	[AT_STOP] = "runtime.stopTheWorldWithSema",
	[AT_START] = "runtime.startTheWorldWithSema",
	[AT_TERMINATION] = "runtime.gcMarkTermination",
	[AT_MARK] = "runtime.gcBgMarkWorker.func2",
	[AT_PARK] = "runtime.gcBgMarkWorker.func1",
	[AT_DONE] = "runtime.gcMarkDone",
};

struct image {
	const char *base;
	size_t size;
};

static const void *image_at(const struct image *m, uint64_t offset, uint64_t length)
{
	return offset <= m->size && length <= m->size - offset ? m->base + offset : NULL;
}

/*
 * Go's table of functions since 1.18 (magic f0) and 1.20 (f1); stripped programs have it, too.
 * In position-independent programs, linkers other than Go's put it into a section with other
 * data.
 */
struct table {
	uint32_t magic;
	uint8_t zero[2], quantum, pointer;
	uint64_t functions, files, text, names, units, paths, values, functab;
};

#define TABLE_ALIGN 32 /* as Go's linker aligns it */

struct entry {
	uint32_t offset, function; /* relative to the text, relative to functab */
};

static bool image_find_section(const struct image *m, const char *name, ElfW(Shdr) * found)
{
	const ElfW(Ehdr) *elf = image_at(m, 0, sizeof(*elf));
	const ElfW(Shdr) * s, *names;
	const char *text;

	s = elf && !memcmp(elf, ELFMAG, SELFMAG) && !(elf->e_shoff % 8) ?
		    image_at(m, elf->e_shoff, (uint64_t)elf->e_shnum * sizeof(*s)) :
		    NULL;
	if (!s || elf->e_shstrndx >= elf->e_shnum)
		return false;
	names = &s[elf->e_shstrndx];
	for (unsigned int i = 0; i < elf->e_shnum; i++) {
		text = s[i].sh_name < names->sh_size ?
			       image_at(m, names->sh_offset + s[i].sh_name, strlen(name) + 1) :
			       NULL;
		if (text && !memcmp(text, name, strlen(name) + 1)) {
			*found = s[i];
			return true;
		}
	}
	return false;
}

/* Returns the file offset of an address, or 0 if no executable segment contains it. */
static uint64_t image_file_offset(const struct image *m, uint64_t address)
{
	const ElfW(Ehdr) *elf = image_at(m, 0, sizeof(*elf));
	const ElfW(Phdr) *p =
		elf->e_phoff % 8 ? NULL :
				   image_at(m, elf->e_phoff, (uint64_t)elf->e_phnum * sizeof(*p));

	for (unsigned int i = 0; p && i < elf->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && (p[i].p_flags & PF_X) && address >= p[i].p_vaddr &&
		    address - p[i].p_vaddr < p[i].p_filesz)
			return address - p[i].p_vaddr + p[i].p_offset;
	return 0;
}

static bool table_is_valid(const struct table *t)
{
	return (t->magic == 0xfffffff0 || t->magic == 0xfffffff1) && !t->zero[0] && !t->zero[1] &&
	       t->pointer == 8;
}

/*
 * @size: receives an upper bound of the table's size; @address: its address, if the program is
 * not position-independent or not loaded elsewhere. Returns NULL if there is no known table.
 */
static const struct table *table_find(const struct image *m, uint64_t *size, uint64_t *address)
{
	static const char *const sections[] = { ".gopclntab", ".data.rel.ro.gopclntab",
						".data.rel.ro" };
	const struct table *t;
	const char *base;
	ElfW(Shdr) s;

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (!image_find_section(m, sections[i], &s) || s.sh_offset % 8)
			continue;
		base = image_at(m, s.sh_offset, s.sh_size);
		for (uint64_t o = 0; base && o < s.sh_size && s.sh_size - o >= sizeof(*t);
		     o += TABLE_ALIGN) {
			t = (const void *)(base + o);
			if (!table_is_valid(t))
				continue;
			*size = s.sh_size - o;
			*address = s.sh_addr + o;
			return t;
		}
	}
	return NULL;
}

/*
 * The first words of the runtime's own description of the program (moduledata in Go's
 * runtime/symtab.go), in this order since Go 1.16. Arrays have an address and two lengths.
 */
enum module_word {
	MODULE_TABLE = 0,
	MODULE_NAMES = 1,
	MODULE_FUNCTAB = 13,
	MODULE_FIRST_PC = 20,
	MODULE_LAST_PC = 21,
	MODULE_TEXT = 22,
	MODULE_TEXT_END = 23
};

static const ElfW(Shdr) * image_section(const struct image *m, unsigned int i)
{
	const ElfW(Ehdr) *elf = image_at(m, 0, sizeof(*elf));
	const ElfW(Shdr) *s =
		elf && !(elf->e_shoff % 8) ?
			image_at(m, elf->e_shoff, (uint64_t)elf->e_shnum * sizeof(*s)) :
			NULL;

	return s && i < elf->e_shnum ? &s[i] : NULL;
}

/* The contents of a section of this type and these flags as an array of such elements, or NULL. */
static const void *section_array(const struct image *m, const ElfW(Shdr) * s, uint32_t type,
				 uint64_t flags, size_t element, uint64_t *count)
{
	if (s->sh_type != type || (s->sh_flags & flags) != flags || s->sh_offset % 8)
		return NULL;
	*count = s->sh_size / element;
	return image_at(m, s->sh_offset, s->sh_size);
}

static bool rela_is_relative(const ElfW(Rela) * r)
{
	return !ELF64_R_SYM(r->r_info);
}

/* The word at an address after the program was loaded: linkers leave those empty that they relocate. */
static uint64_t image_word(const struct image *m, uint64_t address)
{
	const ElfW(Shdr) * s;
	uint64_t n, word = 0;

	for (unsigned int i = 0; (s = image_section(m, i)); i++) {
		const uint64_t *w = section_array(m, s, SHT_PROGBITS, SHF_ALLOC, sizeof(*w), &n);

		if (w && address >= s->sh_addr && !((address - s->sh_addr) % 8) &&
		    (address - s->sh_addr) / 8 < n)
			word = w[(address - s->sh_addr) / 8];
	}
	for (unsigned int i = 0; !word && (s = image_section(m, i)); i++) {
		const ElfW(Rela) *r = section_array(m, s, SHT_RELA, SHF_ALLOC, sizeof(*r), &n);

		for (uint64_t k = 0; r && k < n; k++)
			if (r[k].r_offset == address && rela_is_relative(&r[k]))
				word = (uint64_t)r[k].r_addend;
	}
	return word;
}

/* Returns the address of the code by the module at this address, or 0 if none is there. */
static uint64_t module_text(const struct image *m, uint64_t module, const struct table *t,
			    uint64_t table)
{
	uint64_t text = image_word(m, module + 8 * MODULE_TEXT);

	if (image_word(m, module + 8 * MODULE_TABLE) != table ||
	    image_word(m, module + 8 * MODULE_NAMES) != table + t->names ||
	    image_word(m, module + 8 * MODULE_FUNCTAB) != table + t->functab ||
	    image_word(m, module + 8 * MODULE_FIRST_PC) < text ||
	    image_word(m, module + 8 * MODULE_LAST_PC) >
		    image_word(m, module + 8 * MODULE_TEXT_END))
		return 0;
	return text;
}

/*
 * Since Go 1.26 the table does not contain the address of the code, which its module has: a module
 * is where a word has the table's address, and the next ones those of the table's parts.
 */
static uint64_t table_find_text(const struct image *m, const struct table *t, uint64_t table)
{
	const ElfW(Shdr) * s;
	uint64_t n, text = 0;

	for (unsigned int i = 0; !text && (s = image_section(m, i)); i++) {
		const uint64_t *w = section_array(m, s, SHT_PROGBITS, SHF_WRITE, sizeof(*w), &n);

		for (uint64_t k = 0; w && !text && k < n; k++)
			if (w[k] == table)
				text = module_text(m, s->sh_addr + 8 * k, t, table);
	}
	for (unsigned int i = 0; !text && (s = image_section(m, i)); i++) {
		const ElfW(Rela) *r = section_array(m, s, SHT_RELA, SHF_ALLOC, sizeof(*r), &n);

		for (uint64_t k = 0; r && !text && k < n; k++)
			if ((uint64_t)r[k].r_addend == table && rela_is_relative(&r[k]))
				text = module_text(m, r[k].r_offset, t, table);
	}
	return text;
}

/* Returns NULL if all functions were found, else the reason. */
static const char *table_find_functions(const struct image *m, uint64_t *offset)
{
	uint64_t size, table, text;
	const struct table *t = table_find(m, &size, &table);
	const char *base = (const char *)t;
	const struct entry *e;
	unsigned int found = 0;

	if (!t)
		return "its table of functions is not supported: only that of 64-bit programs of "
		       "Go 1.18 and newer is";
	if (t->functab > size || t->functab % 4 || t->functions > (size - t->functab) / sizeof(*e))
		return "its table of functions is damaged";
	text = t->text ? t->text : table_find_text(m, t, table);
	if (!text)
		return "the address of its code is neither in its table of functions nor in its "
		       "runtime's data";
	e = (const void *)(base + t->functab);
	for (uint64_t i = 0; i < t->functions; i++) {
		uint64_t name;
		int32_t shift;

		if (e[i].function > size - t->functab || size - t->functab - e[i].function < 8)
			return "its table of functions is damaged";
		memcpy(&shift, base + t->functab + e[i].function + 4, sizeof(shift));
		name = t->names + (uint64_t)(int64_t)shift;
		for (unsigned int n = 0; n < AT_NR; n++) {
			size_t length = strlen(functions[n]) + 1;

			if (name > size || size - name < length ||
			    memcmp(base + name, functions[n], length))
				continue;
			offset[n] = image_file_offset(m, text + e[i].offset);
		}
	}
	/* A damaged table may have one twice. */
	for (unsigned int n = 0; n < AT_NR; n++)
		found += offset[n] != 0;
	return found == AT_NR ? NULL : "its runtime has not the functions that are probed";
}

static const char *file_find_functions(const char *path, uint64_t *offset)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *why = "it cannot be read";
	struct image m = { NULL, 0 };
	struct stat st;

	if (fd < 0)
		return why;
	if (!fstat(fd, &st) && st.st_size >= (off_t)sizeof(ElfW(Ehdr))) {
		m.size = (size_t)st.st_size;
		m.base = mmap(NULL, m.size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (m.base != MAP_FAILED) {
			why = table_find_functions(&m, offset);
			munmap((void *)(uintptr_t)m.base, m.size);
		}
	}
	close(fd);
	return why;
}

static const char *probes_error_text(int error)
{
	return error == EACCES || error == EPERM ? "root or CAP_SYS_ADMIN is needed for that" :
						   strerror(error);
}

bool go_check(const char *path, char *why, size_t size)
{
	uint64_t offset[AT_NR] = { 0 };
	const char *reason = file_find_functions(path, offset);
	struct probes *p;

	if (reason) {
		snprintf(why, size, "a Go program, but %s", reason);
		return false;
	}
	p = probes_open(path, offset, AT_NR);
	if (!p) {
		snprintf(why, size, "a Go program, which is seen by uprobes: %s",
			 probes_error_text(errno));
		return false;
	}
	probes_close(p);
	return true;
}

struct sidecar {
	const struct child *child;
	const char *socket;
	uint64_t offset[AT_NR];
	struct probes *probes;
	struct ring_writer writer;
	bool marking[RING_LEASES];
	bool cycle, stopped, paused;
	struct probe_hit stop;
};

static void phase_report(struct sidecar *c, const struct probe_hit *h, pid_t tid,
			 unsigned int phase, unsigned int flags)
{
	struct probe_hit of = *h;

	of.tid = tid;
	ring_writer_phase(&c->writer, &of, ring_writer_slot(&c->writer, &of), phase, flags,
			  GCHINT_CAUSE_UNKNOWN);
}

static void worker_report_mark(struct sidecar *c, const struct probe_hit *h, bool begins)
{
	uint32_t slot = ring_writer_slot(&c->writer, h);

	if (slot == RING_LEASES || c->marking[slot] == begins)
		return;
	c->marking[slot] = begins;
	ring_writer_phase(&c->writer, h, slot, begins ? GCHINT_PHASE_MARK : GCHINT_PHASE_NONE,
			  begins ? GCHINT_F_CONCURRENT : 0, GCHINT_CAUSE_UNKNOWN);
}

static void on_hit(void *data, const struct probe_hit *h)
{
	struct sidecar *c = data;

	if (h->pid != c->writer.ring->pid)
		return;
	switch ((enum at)h->probe) {
	case AT_CYCLE:
		c->cycle = true;
		break;
	case AT_STOP:
		c->stop = *h;
		c->stopped = true;
		c->paused = c->cycle;
		if (c->paused)
			phase_report(c, h, h->tid, GCHINT_PHASE_SWEEP, GCHINT_F_STW);
		break;
	case AT_TERMINATION:
		if (!c->stopped || c->paused)
			break;
		c->paused = true;
		phase_report(c, &c->stop, c->stop.tid, GCHINT_PHASE_REMARK, GCHINT_F_STW);
		break;
	case AT_START:
		if (c->paused)
			phase_report(c, h, c->stop.tid, GCHINT_PHASE_NONE, 0);
		c->cycle = false;
		c->stopped = false;
		c->paused = false;
		break;
	case AT_MARK:
		worker_report_mark(c, h, true);
		break;
	case AT_PARK:
	case AT_DONE:
		worker_report_mark(c, h, false);
		break;
	case AT_NR:
		break;
	}
}

/*
 * Runs in the child before it executes the program, because a recorder expects the ring from the
 * program's own process.
 */
static void sidecar_setup_child(void *data)
{
	struct sidecar *c = data;
	int ret;

	if (c->child->setup)
		c->child->setup(c->child->data);
	c->writer.ring->pid = getpid();
	ret = ring_writer_send(&c->writer, c->socket, false, true);
	if (ret)
		ctl_error("%s: %s: the recorder cannot be reached, nothing is recorded", c->socket,
			  strerror(-ret));
}

static void sidecar_drain(struct sidecar *c, bool last)
{
	uint64_t lost = c->probes ? probes_read(c->probes, last, on_hit, c) : 0;

	if (lost)
		ring_writer_lose(&c->writer, lost);
}

static void sidecar_poll(void *data)
{
	struct sidecar *c = data;

	sidecar_drain(c, false);
	if (c->child->poll)
		c->child->poll(c->child->data);
}

int go_run(const char *path, const struct child *child, const char *socket)
{
	struct sidecar *c = calloc(1, sizeof(*c));
	struct child with = *child;
	int status;

	if (!c || !ring_writer_open(&c->writer, 0)) {
		ctl_error("not enough memory or file descriptors");
		return CTL_FAILED;
	}
	strcpy(c->writer.ring->runtime, "go");
	c->child = child;
	c->socket = socket;
	file_find_functions(path, c->offset);
	c->probes = probes_open(path, c->offset, AT_NR);
	if (!c->probes)
		ctl_error("uprobes: %s", probes_error_text(errno));
	with.setup = sidecar_setup_child;
	with.poll = sidecar_poll;
	with.data = c;
	status = child_run(&with);
	sidecar_drain(c, true);
	ring_writer_end(&c->writer, clock_now());
	/* If this process is the recorder itself, it counts the last events here. */
	if (child->poll)
		child->poll(child->data);
	if (c->probes)
		probes_close(c->probes);
	ring_writer_close(&c->writer);
	free(c);
	return status;
}
