// SPDX-License-Identifier: MIT
/*
 * Description: the state when a cycle begins and ends to pace mutators, the resulting headroom,
 * and when immix moves objects: out of which blocks, into how many.
 */
#include "alone.h"

#include <limits.h>
#include <heap/headroom.h>
#include <heap/heap.h>
#include <heap/plan.h>
#include <space/lines.h>
#include <space/pages.h>

#define MIB	(1ull << 20)
#define ROWS(a) (sizeof(a) / sizeof((a)[0]))

/* ---- pace ---------------------------------------------------------------- */

static bool paces(uint32_t on, uint32_t tight, uint64_t base, uint64_t room, uint64_t work,
		  uint64_t most)
{
	const struct gc_pace *p = &heap->budget.pace;

	return p->on == on && p->tight == tight && p->base == base && p->room == room &&
	       p->work == work && p->most == most;
}

static void spoil(void)
{
	heap->budget.pace = (struct gc_pace){ 0, 7, 7, 7, 7, 7, 7 };
	heap->budget.in_use = 10 * MIB;
	heap->budget.live_bytes = 4 * MIB;
	heap->budget.soft_limit = 18 * MIB;
}

static void pacing(void)
{
	static const struct {
		enum gc_kind kind;
		uint64_t live, last;
		uint64_t work, most;
	} rows[] = {
		{ GC_KIND_MAJOR, 4, 0, 5, 10 },	 { GC_KIND_MAJOR, 4, 6, 6 + 1, 10 },
		{ GC_KIND_MAJOR, 4, 8, 10, 10 }, { GC_KIND_MAJOR, 4, 9, 10, 10 },
		{ GC_KIND_MAJOR, 0, 0, 10, 10 }, { GC_KIND_MINOR, 4, 4, 5, 6 },
		{ GC_KIND_MINOR, 4, 8, 6, 6 },	 { GC_KIND_MINOR, 10, 8, 10, 10 },
		{ GC_KIND_MINOR, 12, 4, 5, 10 },
	};
	struct gc_pace *p = &heap->budget.pace;

	if (!open_heap("plan=gencms,policy=fg,trim=0,heap=32M,max=64M"))
		return;
	p = &heap->budget.pace;
	spoil();
	gc_pace_order(heap);
	ok(paces(1, 0, 10 * MIB, 8 * MIB, UINT64_MAX, UINT64_MAX) && !p->done,
	   "order: a sixteenth of the headroom until marking begins");
	ok(gc_pace_allowed(p) == 10 * MIB + MIB / 2, "order: gc_pace_allowed() agrees");
	ok(gc_headroom(heap) == 7 * MIB, "order: listeners see seven eighths as headroom");
	heap->budget.in_use = 17 * MIB;
	ok(gc_headroom(heap) == 0, "order: this headroom may be used up");
	for (size_t i = 0; i < ROWS(rows); i++) {
		uint64_t work = rows[i].last == 6 ? 15 * MIB / 2 : rows[i].work * MIB;

		spoil();
		heap->budget.live_bytes = rows[i].live * MIB;
		heap->sizing.marked_of[rows[i].kind] = rows[i].last * MIB;
		heap->cycle.kind = rows[i].kind;
		gc_pace_begin(heap);
		ok(paces(1, 0, 10 * MIB, 8 * MIB, work, rows[i].most * MIB) && !p->done,
		   "marking of kind %d, %d of 10 MiB live, %d marked by the last cycle",
		   (int)rows[i].kind, (int)rows[i].live, (int)rows[i].last);
	}
	spoil();
	gc_pace_tighten(heap, 14 * 1000);
	ok(paces(1, 1, 10 * MIB, 16 * 1000, 1, 1) && p->done == 1 &&
		   gc_pace_allowed(p) == 10 * MIB + 14 * 1000,
	   "a temporary bound allows its bytes");
	ok(gc_headroom(heap) == 8 * MIB, "a temporary bound does not change the headroom");
	*p = (struct gc_pace){ .base = MIB, .room = 16 };
	ok(gc_pace_allowed(p) == MIB + 14, "without anything to mark all is marked");
	p->on = 1;
	gc_pace_end(heap);
	ok(!p->on, "when memory is usable no mutator is paced");
	for (int i = 0; i < 2; i++) {
		heap->opt.pace = i;
		heap->opt.policy = i ? GC_POLICY_BG : GC_POLICY_FG;
		heap->gc.daemon_up = true;
		spoil();
		gc_pace_order(heap);
		gc_pace_begin(heap);
		gc_pace_tighten(heap, 14);
		heap->gc.daemon_up = false;
		ok(paces(0, 7, 7, 7, 7, 7) && p->done == 7, "%s: no mutator is paced",
		   i ? "the daemon alone collects" : "pace=0");
	}
	heap->opt.policy = GC_POLICY_FG;
	heap->budget.in_use = 0;
	stop();
}

static void headroom(void)
{
	static const struct {
		uint64_t used, soft;
		bool fixed, daemon_alone;
		uint64_t now, most; /* of max= 64 MiB */
	} rows[] = {
		{ 10, 18, false, false, 8, 54 }, { 18, 18, false, false, 0, 46 },
		{ 20, 18, false, false, 0, 44 }, { 10, 70, false, false, 54, 54 },
		{ 10, 18, true, false, 8, 8 },	 { 20, 18, true, false, 0, 0 },
		{ 10, 18, false, true, 54, 54 }, { 64, 64, false, false, 0, 0 },
	};

	if (!open_heap("plan=cms,policy=fg,trim=0,heap=32M,max=64M"))
		return;
	for (size_t i = 0; i < ROWS(rows); i++) {
		heap->budget.in_use = rows[i].used * MIB;
		heap->budget.soft_limit = rows[i].soft * MIB;
		heap->opt.sizing = rows[i].fixed ? GC_SIZING_FIXED : GC_SIZING_ART;
		heap->opt.policy = rows[i].daemon_alone ? GC_POLICY_BG : GC_POLICY_FG;
		heap->gc.daemon_up = rows[i].daemon_alone;
		ok(gc_headroom(heap) == rows[i].now * MIB &&
			   gc_headroom_most(heap) == rows[i].most * MIB,
		   "%d MiB used of %d%s%s: %d and at most %d are left", (int)rows[i].used,
		   (int)rows[i].soft, rows[i].fixed ? ", fixed" : "",
		   rows[i].daemon_alone ? ", the daemon alone" : "", (int)rows[i].now,
		   (int)rows[i].most);
	}
	heap->gc.daemon_up = false;
	heap->opt.policy = GC_POLICY_FG;
	heap->budget.in_use = 0;
	stop();
}

/* ---- moving -------------------------------------------------------------- */

#define LINES (GC_LINES_BYTES / GC_LINE)

static uint32_t block[3];

static bool leaves(int i)
{
	bool first = gc_lines_leaves(heap, gc_page_address(heap->pages, block[i])), same = true;

	for (uint32_t k = 0; k < GC_LINES_PAGES; k++)
		same &= gc_lines_leaves(heap, gc_page_address(heap->pages, block[i] + k)) == first;
	return same && first;
}

/* Three blocks half full, with 10, 5 and 1 holes, and room for some */
static void emptied(uint32_t room, const char *want)
{
	static const uint8_t holes[] = { 10, 5, 1 };
	struct gc_pages *p = heap->pages;
	const uint32_t used = p->used, most = p->most;
	char got[4] = "---";

	for (int i = 0; i < 3; i++) {
		p->table[block[i]].holes = holes[i];
		p->table[block[i]].cells = LINES / 2;
	}
	p->most = used + room;
	p->reserve = 9;
	gc_defrag_begin(heap);
	for (int i = 0; i < 3; i++)
		if (leaves(i))
			got[i] = 'x';
	ok(!strcmp(got, want) && heap->lines->moving == (want[0] == 'x') && !p->reserve,
	   "%u pages are free: of three blocks %s are emptied", (unsigned int)room, want);
	p->most = most;
	heap->cycle.cause = GC_CAUSE_ALLOC;
	gc_defrag_end(heap);
	ok(!heap->lines->moving && !leaves(0) && !leaves(1) && !leaves(2) &&
		   p->reserve == most / 40 / GC_LINES_PAGES * GC_LINES_PAGES,
	   "afterwards no block is emptied, and a fortieth is reserved again");
}

static void wanted(void)
{
	static const struct {
		int defrag;
		bool starved, sparse, full;
		enum gc_cause cause;
		uint64_t used, live; /* of 100 MiB */
		bool want;
	} rows[] = {
		{ GC_DEFRAG_ALWAYS, false, false, false, GC_CAUSE_ALLOC, 50, 50, true },
		{ GC_DEFRAG_NEVER, true, true, true, GC_CAUSE_OOM, 50, 50, false },
		{ GC_DEFRAG_AUTO, false, false, false, GC_CAUSE_ALLOC, 50, 50, false },
		{ GC_DEFRAG_AUTO, false, true, false, GC_CAUSE_ALLOC, 50, 50, true },
		{ GC_DEFRAG_AUTO, false, false, false, GC_CAUSE_OOM, 50, 50, true },
		/* a quarter of the room of 80 is lost, or less */
		{ GC_DEFRAG_AUTO, true, false, false, GC_CAUSE_ALLOC, 79, 20, true },
		{ GC_DEFRAG_AUTO, true, false, false, GC_CAUSE_ALLOC, 80, 20, false },
		{ GC_DEFRAG_AUTO, false, false, false, GC_CAUSE_ALLOC, 79, 20, false },
		/* less room than half of what is alive, and nearly all pages in use */
		{ GC_DEFRAG_AUTO, false, false, true, GC_CAUSE_ALLOC, 90, 68, true },
		{ GC_DEFRAG_AUTO, false, false, true, GC_CAUSE_ALLOC, 90, 60, false },
		{ GC_DEFRAG_AUTO, false, false, false, GC_CAUSE_ALLOC, 90, 68, false },
	};
	struct gc_pages *p = heap->pages;
	const uint32_t used = p->used, most = p->most;

	for (size_t i = 0; i < ROWS(rows); i++) {
		heap->opt.defrag = rows[i].defrag;
		p->starved = rows[i].starved;
		heap->lines->sparse = rows[i].sparse;
		heap->cycle.cause = rows[i].cause;
		heap->budget.soft_limit = 100 * MIB;
		heap->budget.in_use = rows[i].used * MIB;
		heap->budget.live_bytes = rows[i].live * MIB;
		/* Room for all three blocks */
		p->most = 8000;
		p->used = rows[i].full ? 7001 : 7000;
		gc_defrag_begin(heap);
		ok(heap->lines->moving == rows[i].want,
		   "defrag %d, %d MiB used, %d alive%s%s%s%s: %s", rows[i].defrag,
		   (int)rows[i].used, (int)rows[i].live, rows[i].starved ? ", starved" : "",
		   rows[i].sparse ? ", sparse" : "", rows[i].full ? ", full" : "",
		   rows[i].cause == GC_CAUSE_OOM ? ", out of memory" : "",
		   rows[i].want ? "objects move" : "nothing moves");
		heap->cycle.cause = GC_CAUSE_ALLOC;
		gc_defrag_end(heap);
	}
	p->used = used;
	p->most = most;
}

static void moving(void)
{
	const struct gc_type_desc d = { .name = "node", .size = 64, .refs = 2 };
	const struct gc_type *type;
	struct gc_pages *p;
	uint32_t n = 0;

	if (!open_heap("plan=immix,trim=0,heap=32M,max=64M"))
		return;
	type = gc_type_register(heap, &d, NULL);
	for (size_t i = 0; i < 3 * GC_LINES_BYTES / 64; i++)
		gc_alloc(m, type);
	heap->plan->flush(gc_thread(m));
	p = heap->pages;
	for (uint32_t i = 1; i < p->high && n < 3; i++)
		if (p->table[i].kind == GC_PAGE_LINES)
			block[n++] = i;
	if (ok(n == 3, "three blocks are filled")) {
		heap->opt.defrag = GC_DEFRAG_ALWAYS;
		emptied(0, "---");
		emptied(GC_LINES_PAGES - 1, "---");
		emptied(GC_LINES_PAGES, "xx-");
		emptied(2 * GC_LINES_PAGES - 1, "xx-");
		emptied(2 * GC_LINES_PAGES, "xxx");
		wanted();
	}
	gc_defrag_found(heap, 2000, 1000);
	ok(!heap->lines->sparse, "twice as many bytes on lines as in objects is not sparse");
	gc_defrag_found(heap, 2001, 1000);
	ok(heap->lines->sparse, "more than twice as many is sparse");
	p->reserve = 3;
	heap->cycle.cause = GC_CAUSE_OOM;
	gc_defrag_end(heap);
	ok(p->reserve == 3, "when memory ran out no reserve is kept");
	heap->opt.defrag = GC_DEFRAG_NEVER;
	heap->cycle.cause = GC_CAUSE_ALLOC;
	gc_defrag_end(heap);
	ok(!p->reserve, "where nothing moves no reserve is kept");
	heap->budget.in_use = 0;
	stop();
}

int main(void)
{
	pacing();
	headroom();
	moving();
	return done();
}
