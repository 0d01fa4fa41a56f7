// SPDX-License-Identifier: GPL-2.0-or-later
#include "jitmap.h"

#include <stdlib.h>
#include <string.h>

#include "perf-map.h"

#define UNLOADED "[unloaded]"

/* Returns false if memory runs out. */
static bool jitmap_add(struct jitmap *m, struct symbol s)
{
	if (!symbols_add(&m->symbols, s))
		return false;
	if (places_add(&m->places, (uint32_t)(m->symbols.nr - 1), s.start, s.size))
		return true;
	m->symbols.nr--;
	return false;
}

static bool symbol_overlaps(const struct symbol *a, const struct symbol *b)
{
	return a->start < b->start + b->size && b->start < a->start + a->size;
}

/* ---- perf-PID.map -------------------------------------------------------- */

/*
 * True if the map has this symbol already. A runtime that writes a symbol again at each call
 * would otherwise make each lookup walk a long list.
 */
static bool symbol_is_repeat(const struct jitmap *m, const struct symbol *s)
{
	struct places_walk w = places_at(&m->places, s->start);
	const struct symbol *was;
	uint32_t i;

	/*
	 * Only the first page is searched for overlaps, so a symbol that spans pages never counts.
	 */
	if (!s->t || (s->start ^ (s->start + s->size - 1)) / PLACES_PAGE)
		return false;
	while ((i = places_next(&w)) != PLACES_NONE) {
		was = &m->symbols.list[i];
		if (symbol_overlaps(was, s))
			return was->start == s->start && was->size == s->size &&
			       !strcmp(was->name, s->name);
	}
	return false;
}

void jitmap_perf(struct jitmap *m, char *text)
{
	char *line;
	uint64_t t = 0;

	while ((line = strsep(&text, "\n"))) {
		struct symbol s;

		if (!perf_map_parse_line(line, &s))
			continue;
		if (!s.start && !s.size && *s.name == '@') {
			t = strtoull(s.name + 1, NULL, 10);
			m->timed |= t != 0;
			continue;
		}
		s.t = t;
		t = 0;
		if (s.size && !symbol_is_repeat(m, &s) && !jitmap_add(m, s))
			break;
	}
}

/* ---- jit-PID.dump -------------------------------------------------------- */

#define DUMP_MAGIC   0x4a695444 /* "JiTD" */
#define DUMP_VERSION 1
#define DUMP_TSC     1 /* flag: times are of a hardware counter, not of a clock */

enum {
	RECORD_LOAD,
	RECORD_MOVE,
	RECORD_DEBUG,
	RECORD_CLOSE
};

struct dump_head {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t t, flags;
};

struct record {
	uint32_t id, size;
	uint64_t t;
};

struct load {
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
	/* followed by the name with its NUL, then the code */
};

struct move {
	uint32_t pid, tid;
	uint64_t vma, from, to, size, index;
};

/* Followed by entries: a struct entry each, then the file with its NUL, or SAME. */
struct debug {
	uint64_t address, entries;
};

struct entry {
	uint64_t address;
	int32_t line, discriminator;
};

#define SAME "\xff" /* the file of the entry before */

/*
 * V8 adds the 64 bytes of the ELF header that perf would put before the code. Such a dump is
 * recognised by entries behind the end of the code, which no other runtime writes.
 */
#define SHIFT 64

struct dump {
	struct jitmap *m;
	uint64_t shift;
	const char *lines; /* of the last debug record; the load that it belongs to follows */
	size_t lines_size;
	uint64_t lines_of;
	bool clocked;
};

/*
 * Reads the entry at *@at and its file, which may be SAME. Returns false at the end, or if the
 * entry is truncated.
 */
static bool lines_next_entry(const char *lines, size_t size, size_t *at, struct entry *e,
			     const char **file)
{
	const char *end;

	if (size - *at <= sizeof(*e))
		return false;
	memcpy(e, lines + *at, sizeof(*e));
	*file = lines + *at + sizeof(*e);
	end = memchr(*file, '\0', size - *at - sizeof(*e));
	if (!end)
		return false;
	*at = (size_t)(end + 1 - lines);
	return true;
}

static void dump_detect_shift(struct dump *d, const struct symbol *s)
{
	const char *file;
	struct entry e;
	size_t at = 0;

	while (s->lines && lines_next_entry(s->lines, s->lines_size, &at, &e, &file))
		if (e.address >= s->start + s->size)
			d->shift = SHIFT;
}

static void dump_load(struct dump *d, const struct record *r, const char *body, size_t size)
{
	struct symbol s = { .t = d->clocked ? r->t : 0 };
	struct load load;

	if (size <= sizeof(load))
		return;
	memcpy(&load, body, sizeof(load));
	s.start = s.lines_at = load.address;
	s.size = load.size;
	s.name = body + sizeof(load);
	if (!s.size || s.start + s.size < s.start || !*s.name ||
	    !memchr(s.name, '\0', size - sizeof(load)))
		return;
	if (d->lines && d->lines_of == load.address) {
		s.lines = d->lines;
		s.lines_size = d->lines_size;
		dump_detect_shift(d, &s);
	}
	d->lines = NULL;
	d->m->timed |= s.t != 0;
	jitmap_add(d->m, s);
}

/* From now on the code is at its new address, and nothing is at the old one. */
static void dump_move(struct dump *d, const struct record *r, const char *body, size_t size)
{
	const struct symbol *was;
	struct symbol s, gone;
	struct move move;

	if (size < sizeof(move) || !d->clocked)
		return;
	memcpy(&move, body, sizeof(move));
	was = jitmap_find(d->m, move.from, r->t);
	if (!was || was->start != move.from || move.to + was->size < move.to)
		return;
	s = gone = *was;
	s.t = gone.t = r->t;
	s.start = move.to;
	gone.name = UNLOADED;
	if (jitmap_add(d->m, gone))
		jitmap_add(d->m, s);
}

static void dump_debug(struct dump *d, const char *body, size_t size)
{
	struct debug debug;

	if (size < sizeof(debug))
		return;
	memcpy(&debug, body, sizeof(debug));
	d->lines = body + sizeof(debug);
	d->lines_size = size - sizeof(debug);
	d->lines_of = debug.address;
}

void jitmap_dump(struct jitmap *m, const char *data, size_t size)
{
	const size_t first = m->symbols.nr;
	struct dump d = { .m = m };
	struct dump_head head;
	struct record r;
	size_t at;

	if (size < sizeof(head))
		return;
	memcpy(&head, data, sizeof(head));
	if (head.magic != DUMP_MAGIC || head.version != DUMP_VERSION || head.size < sizeof(head))
		return;
	d.clocked = !(head.flags & DUMP_TSC);
	for (at = head.size; at < size && size - at >= sizeof(r); at += r.size) {
		const char *body = data + at + sizeof(r);

		memcpy(&r, data + at, sizeof(r));
		if (r.size < sizeof(r) || r.size > size - at || r.id == RECORD_CLOSE)
			break;
		if (r.id == RECORD_LOAD)
			dump_load(&d, &r, body, r.size - sizeof(r));
		else if (r.id == RECORD_MOVE)
			dump_move(&d, &r, body, r.size - sizeof(r));
		else if (r.id == RECORD_DEBUG)
			dump_debug(&d, body, r.size - sizeof(r));
	}
	for (size_t i = first; i < m->symbols.nr; i++)
		m->symbols.list[i].lines_at += d.shift;
}

/* ---- both ---------------------------------------------------------------- */

static bool symbol_covers(const struct symbol *s, uint64_t address, uint64_t t)
{
	return s->t <= t && address - s->start < s->size && address >= s->start;
}

/* True if a newer symbol overlaps @list[@i] at that instant. */
static bool symbol_is_overlaid(const struct jitmap *m, uint32_t i, uint64_t t)
{
	const struct symbol *list = m->symbols.list, *s = &list[i];
	uint32_t k;

	/* For a symbol with more pages than there are symbols, checking all symbols is cheaper. */
	if (s->size / PLACES_PAGE > m->symbols.nr) {
		for (k = i + 1; k < m->symbols.nr; k++)
			if (list[k].t <= t && symbol_overlaps(&list[k], s))
				return true;
		return false;
	}
	for (uint64_t at = s->start; at - s->start < s->size; at = (at | (PLACES_PAGE - 1)) + 1) {
		struct places_walk w = places_at(&m->places, at);

		while ((k = places_next(&w)) != PLACES_NONE && k > i)
			if (list[k].t <= t && symbol_overlaps(&list[k], s))
				return true;
	}
	return false;
}

const struct symbol *jitmap_find(const struct jitmap *m, uint64_t address, uint64_t t)
{
	const struct symbol *list = m->symbols.list;
	struct places_walk w = places_at(&m->places, address);
	uint32_t i;

	while ((i = places_next(&w)) != PLACES_NONE && !symbol_covers(&list[i], address, t))
		;
	if (i == PLACES_NONE || symbol_is_overlaid(m, i, t))
		return NULL;
	return strcmp(list[i].name, UNLOADED) ? &list[i] : NULL;
}

bool jitmap_line(const struct symbol *symbol, uint64_t address, struct dwarf_line *line)
{
	const uint64_t want = address - symbol->start + symbol->lines_at;
	const char *file, *named = NULL;
	uint64_t best = 0;
	struct entry e;
	size_t at = 0;

	*line = (struct dwarf_line){ NULL, 0 };
	while (symbol->lines &&
	       lines_next_entry(symbol->lines, symbol->lines_size, &at, &e, &file)) {
		if (strcmp(file, SAME))
			named = file;
		if (e.address > want || e.address < best || !named || !*named)
			continue;
		best = e.address;
		*line = (struct dwarf_line){ named, e.line };
	}
	return line->file && line->line > 0;
}

void jitmap_free(struct jitmap *m)
{
	symbols_free(&m->symbols);
	places_free(&m->places);
}
