// SPDX-License-Identifier: GPL-2.0-or-later
#include "jitmap.h"

#include <stdlib.h>
#include <string.h>

#define UNLOADED "[unloaded]"

/* False at the end of memory. */
static bool add(struct jitmap *m, struct symbol s)
{
	if (!symbols_add(&m->symbols, s))
		return false;
	if (places_add(&m->places, (uint32_t)(m->symbols.nr - 1), s.start, s.size))
		return true;
	m->symbols.nr--;
	return false;
}

static bool overlaps(const struct symbol *a, const struct symbol *b)
{
	return a->start < b->start + b->size && b->start < a->start + a->size;
}

/* ---- perf-PID.map -------------------------------------------------------- */

/* False for a line that says nothing. */
static bool parse_line(char *line, struct symbol *s)
{
	char *end;

	*s = (struct symbol){ .start = strtoull(line, &end, 16) };
	if (end == line || *end != ' ')
		return false;
	line = end + 1;
	s->size = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1])
		return false;
	s->name = end + 1;
	return s->start + s->size >= s->start;
}

/* Said again of what is there: who names at each call would make a long walk of each find. */
static bool again(const struct jitmap *m, const struct symbol *s)
{
	struct places_walk w = places_at(&m->places, s->start);
	const struct symbol *was;
	uint32_t i;

	/* What lies over it elsewhere than in the first page is not looked for. */
	if (!s->t || (s->start ^ (s->start + s->size - 1)) / PLACES_PAGE)
		return false;
	while ((i = places_next(&w)) != PLACES_NONE) {
		was = &m->symbols.list[i];
		if (overlaps(was, s))
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

		if (!parse_line(line, &s))
			continue;
		if (!s.start && !s.size && *s.name == '@') {
			t = strtoull(s.name + 1, NULL, 10);
			m->timed |= t != 0;
			continue;
		}
		s.t = t;
		t = 0;
		if (s.size && !again(m, &s) && !add(m, s))
			break;
	}
}

/* ---- jit-PID.dump -------------------------------------------------------- */

#define DUMP_MAGIC   0x4a695444 /* "JiTD" */
#define DUMP_VERSION 1
#define DUMP_TSC     1 /* flag: times are of a counter of the machine's, not of a clock */

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
	/* the name with its zero, then the code */
};

struct move {
	uint32_t pid, tid;
	uint64_t vma, from, to, size, index;
};

/* Entries follow: this, and the file with its zero, or SAME. */
struct debug {
	uint64_t address, entries;
};

struct entry {
	uint64_t address;
	int32_t line, discriminator;
};

#define SAME "\xff" /* as the entry before */

/*
 * V8 counts from 64 bytes before the code, where the header of the file would be that perf
 * makes of it. Nobody has a line behind the end of the code otherwise.
 */
#define SHIFT 64

struct dump {
	struct jitmap *m;
	uint64_t shift;
	const char *lines; /* that the next load may be of */
	size_t lines_size;
	uint64_t lines_of;
	bool clocked;
};

/* The entry at *@at and its file, which may be SAME; false at the end, or if it is cut off. */
static bool next_entry(const char *lines, size_t size, size_t *at, struct entry *e,
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

static void see_shift(struct dump *d, const struct symbol *s)
{
	const char *file;
	struct entry e;
	size_t at = 0;

	while (s->lines && next_entry(s->lines, s->lines_size, &at, &e, &file))
		if (e.address >= s->start + s->size)
			d->shift = SHIFT;
}

static void on_load(struct dump *d, const struct record *r, const char *body, size_t size)
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
		see_shift(d, &s);
	}
	d->lines = NULL;
	d->m->timed |= s.t != 0;
	add(d->m, s);
}

/* Gone from there, and here from now on. */
static void on_move(struct dump *d, const struct record *r, const char *body, size_t size)
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
	if (add(d->m, gone))
		add(d->m, s);
}

static void on_debug(struct dump *d, const char *body, size_t size)
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
			on_load(&d, &r, body, r.size - sizeof(r));
		else if (r.id == RECORD_MOVE)
			on_move(&d, &r, body, r.size - sizeof(r));
		else if (r.id == RECORD_DEBUG)
			on_debug(&d, body, r.size - sizeof(r));
	}
	for (size_t i = first; i < m->symbols.nr; i++)
		m->symbols.list[i].lines_at += d.shift;
}

/* ---- both ---------------------------------------------------------------- */

static bool covers(const struct symbol *s, uint64_t address, uint64_t t)
{
	return s->t <= t && address - s->start < s->size && address >= s->start;
}

/* Whether something lies over a part of @list[@i] that is newer, at that instant. */
static bool overlaid(const struct jitmap *m, uint32_t i, uint64_t t)
{
	const struct symbol *list = m->symbols.list, *s = &list[i];
	uint32_t k;

	/* To look at all names is less then. */
	if (s->size / PLACES_PAGE > m->symbols.nr) {
		for (k = i + 1; k < m->symbols.nr; k++)
			if (list[k].t <= t && overlaps(&list[k], s))
				return true;
		return false;
	}
	for (uint64_t at = s->start; at - s->start < s->size; at = (at | (PLACES_PAGE - 1)) + 1) {
		struct places_walk w = places_at(&m->places, at);

		while ((k = places_next(&w)) != PLACES_NONE && k > i)
			if (list[k].t <= t && overlaps(&list[k], s))
				return true;
	}
	return false;
}

const struct symbol *jitmap_find(const struct jitmap *m, uint64_t address, uint64_t t)
{
	const struct symbol *list = m->symbols.list;
	struct places_walk w = places_at(&m->places, address);
	uint32_t i;

	while ((i = places_next(&w)) != PLACES_NONE && !covers(&list[i], address, t))
		;
	if (i == PLACES_NONE || overlaid(m, i, t))
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
	while (symbol->lines && next_entry(symbol->lines, symbol->lines_size, &at, &e, &file)) {
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
