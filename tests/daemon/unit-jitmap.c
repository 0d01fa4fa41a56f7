// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: a runtime's dump of its JIT code: names, lines, moved code, and truncated or invalid
 * files.
 */
#include "unit.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../daemon/symbols/jitmap.h"

#define LOAD  0
#define MOVE  1
#define DEBUG 2
#define CLOSE 3

/* A dump that grows; numbers are appended in their memory representation. */
static char dump[4096];
static size_t used;

static void dump_put(const void *data, size_t size)
{
	memcpy(dump + used, data, size);
	used += size;
}

static void dump_put_u32(uint32_t value)
{
	dump_put(&value, sizeof(value));
}

static void dump_put_u64(uint64_t value)
{
	dump_put(&value, sizeof(value));
}

/* @more: additional bytes of a later version's header */
static void dump_begin(uint64_t flags, uint32_t more)
{
	used = 0;
	dump_put_u32(0x4a695444);
	dump_put_u32(1);
	dump_put_u32(40 + more);
	dump_put_u32(62);
	dump_put_u32(0);
	dump_put_u32(10);
	dump_put_u64(0);
	dump_put_u64(flags);
	dump_put("........", more);
}

static void record_begin(uint32_t id, uint64_t t, size_t body)
{
	dump_put_u32(id);
	dump_put_u32((uint32_t)(16 + body));
	dump_put_u64(t);
}

static void record_load(uint64_t t, uint64_t address, uint64_t size, const char *name)
{
	record_begin(LOAD, t, 40 + strlen(name) + 1 + 4);
	dump_put_u64(0);
	dump_put_u64(0);
	dump_put_u64(address);
	dump_put_u64(size);
	dump_put_u64(1);
	dump_put(name, strlen(name) + 1);
	dump_put("code", 4);
}

static void record_move(uint64_t t, uint64_t from, uint64_t to, uint64_t size)
{
	record_begin(MOVE, t, 48);
	dump_put_u64(0);
	dump_put_u64(0);
	dump_put_u64(from);
	dump_put_u64(to);
	dump_put_u64(size);
	dump_put_u64(1);
}

static void record_debug(uint64_t address, uint64_t entries, size_t size)
{
	record_begin(DEBUG, 0, 16 + size);
	dump_put_u64(address);
	dump_put_u64(entries);
}

static void entry_put(uint64_t address, uint32_t line, const char *file)
{
	dump_put_u64(address);
	dump_put_u32(line);
	dump_put_u32(0);
	dump_put(file, strlen(file) + 1);
}

/* "NAME+OFFSET FILE:LINE" of an address at an instant. */
static const char *address_name(const struct jitmap *m, uint64_t address, uint64_t t)
{
	static char text[128];
	const struct symbol *s = jitmap_find(m, address, t);
	struct dwarf_line line;

	if (!s)
		return "?";
	if (jitmap_line(s, address, &line))
		snprintf(text, sizeof(text), "%s+%u %s:%d", s->name,
			 (unsigned int)(address - s->start), line.file, line.line);
	else
		snprintf(text, sizeof(text), "%s+%u", s->name, (unsigned int)(address - s->start));
	return text;
}

static bool name_is(const char *got, const char *want)
{
	if (!strcmp(got, want))
		return true;
	printf("# %s, not %s\n", got, want);
	return false;
}

/* Two functions, of which the first has lines, in its file and in an inlined one. */
static void dump_make(uint64_t shift, uint64_t last)
{
	dump_begin(0, 0);
	record_debug(0x1000, 4, 4 * 16 + 5 + 2 + 5 + 2);
	entry_put(0x1000 + shift, 3, "a.js");
	entry_put(0x1010 + shift, 5, "\xff");
	entry_put(0x1020 + shift, 40, "b.js");
	entry_put(last + shift, 41, "\xff");
	record_load(100, 0x1000, 0x100, "first");
	record_load(200, 0x2000, 0x80, "second");
}

static void lines_check(void)
{
	struct jitmap m = { 0 };

	dump_make(0, 0x1030);
	jitmap_dump(&m, dump, used);
	CHECK(name_is(address_name(&m, 0x1000, 150), "first+0 a.js:3") &&
		      name_is(address_name(&m, 0x100f, 150), "first+15 a.js:3") &&
		      name_is(address_name(&m, 0x1010, 150), "first+16 a.js:5") &&
		      name_is(address_name(&m, 0x1025, 150), "first+37 b.js:40") &&
		      name_is(address_name(&m, 0x10ff, 150), "first+255 b.js:41"),
	      "a dump has lines, also of the previous file");
	CHECK(name_is(address_name(&m, 0x2000, 250), "second+0") &&
		      name_is(address_name(&m, 0x2080, 250), "?"),
	      "code without lines, and its end");
	CHECK(name_is(address_name(&m, 0x1000, 99), "?") &&
		      name_is(address_name(&m, 0x2000, 199), "?") && m.timed,
	      "code does not exist before its load");
	jitmap_free(&m);

	m = (struct jitmap){ 0 };
	dump_make(64, 0x10f0);
	jitmap_dump(&m, dump, used);
	CHECK(name_is(address_name(&m, 0x100f, 150), "first+15 a.js:3") &&
		      name_is(address_name(&m, 0x1010, 150), "first+16 a.js:5") &&
		      name_is(address_name(&m, 0x10f0, 150), "first+240 b.js:41"),
	      "lines are counted from a header of 64 bytes");
	jitmap_free(&m);
}

static void moves_check(void)
{
	struct jitmap m = { 0 };

	dump_make(0, 0x1030);
	record_move(300, 0x1000, 0x5000, 0x100);
	/* Of absent code, and from the middle of another. */
	record_move(310, 0x9000, 0xa000, 0x10);
	record_move(320, 0x2010, 0xb000, 0x10);
	record_move(330, 0x2000, UINT64_MAX - 0x10, 0x80);
	jitmap_dump(&m, dump, used);
	CHECK(name_is(address_name(&m, 0x1010, 299), "first+16 a.js:5") &&
		      name_is(address_name(&m, 0x1010, 300), "?") &&
		      name_is(address_name(&m, 0x5010, 299), "?") &&
		      name_is(address_name(&m, 0x5010, 300), "first+16 a.js:5"),
	      "code that moves keeps its lines");
	CHECK(name_is(address_name(&m, 0xa000, 400), "?") &&
		      name_is(address_name(&m, 0xb000, 400), "?") &&
		      name_is(address_name(&m, 0x2000, 400), "second+0"),
	      "an invalid move is ignored");
	jitmap_free(&m);

	m = (struct jitmap){ 0 };
	dump_begin(0, 0);
	record_load(100, 0x1000, 0x100, "under");
	record_load(200, 0x1080, 0x100, "over");
	jitmap_dump(&m, dump, used);
	CHECK(name_is(address_name(&m, 0x1010, 150), "under+16") &&
		      name_is(address_name(&m, 0x1010, 250), "?") &&
		      name_is(address_name(&m, 0x1090, 250), "over+16"),
	      "code that is overwritten is unknown");
	jitmap_free(&m);
}

/* A foreign clock; a later version's header; records after the end. */
static void heads_check(void)
{
	struct jitmap m = { 0 };

	dump_begin(1, 8);
	record_load(1u << 30, 0x1000, 0x100, "first");
	record_move(1u << 31, 0x1000, 0x5000, 0x100);
	record_begin(CLOSE, 5, 0);
	record_load(6, 0x3000, 0x100, "behind");
	jitmap_dump(&m, dump, used);
	CHECK(name_is(address_name(&m, 0x1000, 1), "first+0") &&
		      name_is(address_name(&m, 0x5000, 1), "?") && !m.timed &&
		      name_is(address_name(&m, 0x3000, 9), "?"),
	      "a dump with another clock, a longer header and an end record");
	jitmap_free(&m);

	for (int i = 0; i < 3; i++) {
		m = (struct jitmap){ 0 };
		dump_begin(0, 0);
		record_load(1, 0x1000, 0x100, "first");
		dump[i * 4] ^= i == 2 ? 41 : 1;
		jitmap_dump(&m, dump, used);
		CHECK(!m.symbols.nr, "a missing dump has no names");
		jitmap_free(&m);
	}
}

/* Lines of other code, an invalid record, an unterminated name. */
static void oddities_check(void)
{
	struct jitmap m = { 0 };

	dump_begin(0, 0);
	record_debug(0x7000, 1, 16 + 5);
	entry_put(0x7000, 1, "c.js");
	record_load(1, 0x1000, 0x100, "other");
	record_load(1, 0x7000, 0x100, "late");
	record_load(1, 0x8000, 0, "empty");
	record_load(1, UINT64_MAX - 4, 0x100, "round");
	record_load(1, 0x8100, 0x10, "");
	record_begin(99, 1, 8);
	dump_put_u64(0);
	record_debug(0xc000, 1, 16 + 5 + 16 + 2 + 16 + 3);
	entry_put(0xc000, 7, "\xff");
	entry_put(0xc001, 0, "d.js");
	dump_put("0123456789abcdefabc", 19);
	record_load(1, 0xc000, 0x100, "nowhere");
	jitmap_dump(&m, dump, used);
	CHECK(name_is(address_name(&m, 0x1000, 9), "other+0") &&
		      name_is(address_name(&m, 0x7000, 9), "late+0") && m.symbols.nr == 3,
	      "lines belong to the next code record");
	CHECK(name_is(address_name(&m, 0xc000, 9), "nowhere+0") &&
		      name_is(address_name(&m, 0xc010, 9), "nowhere+16"),
	      "invalid line entries are ignored");
	jitmap_free(&m);
}

/* Whatever is missing at its end: the records before it are there, and no more is read. */
static void cuts_check(void)
{
	size_t whole, first = 0;
	bool good = true;

	dump_make(0, 0x1030);
	whole = used;
	for (size_t size = 0; size <= whole; size++) {
		struct jitmap m = { 0 };
		char *copy = malloc(size + !size);

		if (!copy)
			abort();
		memcpy(copy, dump, size);
		jitmap_dump(&m, copy, size);
		if (m.symbols.nr && !first)
			first = size;
		good &= m.symbols.nr == (size == whole ? 2 : first ? 1 : 0);
		jitmap_free(&m);
		free(copy);
	}
	CHECK(good && first > 40 && first < whole, "a truncated dump keeps its complete records");
}

/* As the header specifies, by a linear search. */
static const struct symbol *symbol_seek(const struct symbols *all, uint64_t address, uint64_t t)
{
	const struct symbol *s = NULL;

	for (size_t i = 0; i < all->nr; i++) {
		const struct symbol *k = &all->list[i];

		if (k->t <= t && address >= k->start && address - k->start < k->size)
			s = k;
	}
	for (const struct symbol *k = s; k && ++k < all->list + all->nr;)
		if (k->t <= t && k->start < s->start + s->size && s->start < k->start + k->size)
			return NULL;
	return s;
}

/* Overlapping small and large symbols, which are found by their pages. */
static void many_check(void)
{
	static char text[2000 * 48];
	uint32_t found = 0, none = 0, wrong = 0;
	struct jitmap m = { 0 };
	char *end = text;
	uint64_t x = 1;

	for (unsigned int i = 0; i < 2000; i++) {
		uint64_t start, size;

		x = x * 6364136223846793005 + 1442695040888963407;
		start = 0x10000 + (x >> 40) % 0x80000;
		size = 1 + (x >> 20) % (i % 50 ? 0x300 : 0x1f000);
		if (!(i % 500))
			start = 0, size = UINT64_MAX;
		end += sprintf(end, "0 0 @%u\n%llx %llx n\n", i / 2 + 1, (unsigned long long)start,
			       (unsigned long long)size);
	}
	jitmap_perf(&m, text);
	for (unsigned int i = 0; i < 20000; i++) {
		const struct symbol *s;

		x = x * 6364136223846793005 + 1442695040888963407;
		s = symbol_seek(&m.symbols, 0xf000 + (x >> 40) % 0xa0000, (x >> 20) % 1100);
		wrong += s != jitmap_find(&m, 0xf000 + (x >> 40) % 0xa0000, (x >> 20) % 1100);
		found += s != NULL;
		none += s == NULL;
	}
	CHECK(m.symbols.nr == 2000 && !wrong && found > 1000 && none > 1000,
	      "the newest of overlapping symbols is found unless partly covered");
	jitmap_free(&m);
}

/* A list of the maximum length, without any memory behind it. */
static void full_check(void)
{
	struct symbols s = { .nr = 16 << 20 };

	CHECK(!symbols_add(&s, (struct symbol){ .size = 1 }) && s.nr == 16 << 20 && !s.list,
	      "at most sixteen million symbols are kept");
}

/* A symbol that is announced at each call is kept once, and comes back after it was gone. */
static void repeats_check(void)
{
	char text[] = "0 0 @1\n7000 8 one\n0 0 @2\n7000 8 one\n0 0 @3\n7000 8 one\n"
		      "0 0 @4\n7000 8 [unloaded]\n0 0 @5\n7000 8 one\n0 0 @6\n7004 8 over\n"
		      "0 0 @7\n7000 8 one\n0 0 @8\n8ff8 10 wide\n0 0 @9\n8ff8 10 wide\n";
	struct jitmap m = { 0 };

	jitmap_perf(&m, text);
	CHECK(m.symbols.nr == 7, "a repeated symbol is kept once unless it was covered");
	CHECK(jitmap_find(&m, 0x7000, 3) && !jitmap_find(&m, 0x7000, 4) &&
		      jitmap_find(&m, 0x7000, 5) && !jitmap_find(&m, 0x7000, 6) &&
		      jitmap_find(&m, 0x7000, 7),
	      "lookups find the symbol of that instant");
	jitmap_free(&m);
}

/* What Node.js wrote, by maps/make: the names differ by version, and code is moved and compiled again. */
static void of_node(void)
{
	static const struct {
		const char *file, *name;
		unsigned int lines;
		struct {
			uint64_t address;
			const char *name;
		} at[4];
	} all[] = {
		{ "maps/node-18.map",
		  "functions of Node.js 18 have their names",
		  20,
		  { { 0x7fb564650c08, "LazyCompile:*heavy loops.js:4+8" },
		    { 0x7fb56464f540, "LazyCompile:*heavy loops.js:4+0" },
		    { 0x7fb56464f901, "Function:^middle loops.js:9+1" },
		    { 0x7fb5e45098cb, "Builtin:RegExpCapture1Getter+11" } } },
		{ "maps/node-20.map",
		  "functions of Node.js 20 have their names",
		  20,
		  { { 0x7f427b1d04c0, "JS:*heavy loops.js:4:15+0" },
		    { 0x7f427b1c3040,
		      "JS:^copyPrototype node:internal/per_context/primordials:121:23+0" },
		    { 0x3d4927d37396, "JS:~heavy loops.js:4:15+0" },
		    { 0x7f42fb0c0b8c, "?" } } },
		{ "maps/node-24.map",
		  "functions of Node.js 24 have their names",
		  24,
		  { { 0x7f6adc005ac0, "JS:*'light loops.js:14:15+0" },
		    { 0x7f6adc040041, "JS:+'middle loops.js:9:16+1" },
		    { 0x7f6adc003a00, "JS:+heavy loops.js:4:15+0" },
		    { 0x7f6b1f58d3f8, "?" } } },
	};
	char text[2048];

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct jitmap m = { 0 };
		FILE *f = fopen(all[i].file, "re");
		bool good = f;

		text[f ? fread(text, 1, sizeof(text) - 1, f) : 0] = '\0';
		if (f)
			fclose(f);
		jitmap_perf(&m, text);
		good = good && m.symbols.nr == all[i].lines;
		for (size_t k = 0; k < sizeof(all[i].at) / sizeof(all[i].at[0]); k++)
			good = name_is(address_name(&m, all[i].at[k].address, 1),
				       all[i].at[k].name) &&
			       good;
		CHECK(good, all[i].name);
		jitmap_free(&m);
	}
}

void unit_jitmap(void)
{
	of_node();
	full_check();
	repeats_check();
	many_check();
	lines_check();
	moves_check();
	heads_check();
	oddities_check();
	cuts_check();
}
