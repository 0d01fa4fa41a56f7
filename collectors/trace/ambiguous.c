// SPDX-License-Identifier: MIT
/*
 * A word refers to an object if the heap's own tables say so: the page belongs to a block of cells,
 * a block of lines or a large object, and the cell has its live bit, or the lines were handed out
 * and a walk over their objects ends at this one. No word is followed because it looks like an
 * address.
 */
#include "ambiguous.h"

#include <errno.h>
#include <stdlib.h>

#include "../heap/plan.h"
#include "../space/blocks.h"
#include "../space/lines.h"
#include "../thread/stack.h"

/* The object, if any, whose memory includes @addr: the world is stopped. */
static uintptr_t object_around(struct gc_heap *heap, uintptr_t addr, const uint64_t *starts)
{
	struct gc_pages *p = heap->pages;
	uint32_t page;

	if (!gc_in_pages(heap, addr) || addr >= gc_high(heap))
		return 0;
	page = gc_page_of(p, addr);
	if (p->table[page].kind == GC_PAGE_CONT)
		page -= p->table[page].count;
	switch (p->table[page].kind) {
	case GC_PAGE_BLOCK:
		return gc_blocks_around(heap, page, addr);
	case GC_PAGE_LINES:
		return gc_lines_around(heap, page, addr, starts);
	case GC_PAGE_LARGE:
		addr = gc_page_address(p, page);
		return gc_bit_test(starts, addr) ? addr : 0;
	default:
		return 0;
	}
}

/* struct words - a scan of ranges of words */
struct words {
	struct gc_heap *heap;
	const uint64_t *starts;
	bool hold, note;
};

static void object_found(const struct words *w, void *obj)
{
	struct gc_heap *heap = w->heap;

	if (w->hold && GC_NEEDED(19))
		gc_marker_hold(&heap->marker, obj);
	else if (w->hold)
		gc_marker_visit(&obj, &heap->marker);
	if (w->note && gc_vector_push(&heap->roots.noted, obj))
		heap->roots.noted_lost = true;
}

static __attribute__((no_sanitize("address", "thread", "undefined"))) void
words_scan(const uintptr_t *words, size_t count, void *arg)
{
	const struct words *w = arg;
	uintptr_t last = 0;

	for (size_t i = 0; i < count; i++) {
		uintptr_t word = words[i], obj;

		if (word - w->heap->base >= w->heap->pages_end - w->heap->base)
			continue;
		obj = object_around(w->heap, word, w->starts);
		if (!obj || obj == last || (!GC_NEEDED(18) && obj != word))
			continue;
		last = obj;
		object_found(w, (void *)obj);
	}
}

static void stacks_scan(struct words *w)
{
	struct gc_heap *heap = w->heap;

	heap->roots.noted.count = 0;
	heap->roots.noted_lost = false;
	if (heap->opt.stack != GC_STACK_CONSERVATIVE)
		return;
	for (struct gc_thread *t = heap->mutators.first; t; t = t->next)
		if (heap->blocks)
			gc_blocks_note(t);
	for (struct gc_thread *t = heap->mutators.first; t; t = t->next)
		gc_stack_words(t->stack, words_scan, w);
	pthread_mutex_lock(&heap->roots.lock);
	for (struct gc_word_range *r = heap->roots.ranges; r; r = r->next)
		words_scan(r->words, r->count, w);
	pthread_mutex_unlock(&heap->roots.lock);
}

static void pinned_hold(void **slot, void *marker)
{
	gc_marker_hold(marker, *slot);
}

void gc_ambiguous_hold(struct gc_heap *heap, const uint64_t *starts)
{
	struct words w = { heap, starts, true, heap->opt.verify != 0 };

	stacks_scan(&w);
	if (!w.note)
		heap->roots.noted.count = 0;
	if (!gc_lines_move(heap) || !GC_NEEDED(20))
		return;
	pthread_mutex_lock(&heap->roots.lock);
	gc_pinned_roots(heap, pinned_hold, &heap->marker);
	pthread_mutex_unlock(&heap->roots.lock);
}

void gc_ambiguous_note(struct gc_heap *heap)
{
	struct words w = { heap, heap->live, false, true };

	stacks_scan(&w);
}

void gc_ambiguous_roots(struct gc_heap *heap, gc_visit_fn visit, void *arg)
{
	for (size_t i = 0; i < heap->roots.noted.count; i++)
		visit(&heap->roots.noted.items[i], arg);
}

/* ---- pinned objects: a table of addresses, whose size is a power of two, at most half full ---- */

static struct gc_pinned *pinned_at(const struct gc_pinned *table, size_t room, const void *obj)
{
	size_t i = (uintptr_t)obj / 8 * 0x9e3779b97f4a7c15u >> 32;

	for (i &= room - 1; table[i].obj && table[i].obj != obj; i = (i + 1) & (room - 1))
		;
	return (struct gc_pinned *)&table[i];
}

/* Move all entries that count to a table which they fill by a quarter. */
static int pinned_resize(struct gc_roots *r)
{
	struct gc_pinned *table;
	size_t room = 16;

	while (room < 4 * (r->pinned_objects + 1))
		room *= 2;
	table = calloc(room, sizeof(*table));
	if (!table)
		return -ENOMEM;
	r->pinned_used = 0;
	for (size_t i = 0; i < r->pinned_room; i++) {
		if (!r->pinned[i].count)
			continue;
		*pinned_at(table, room, r->pinned[i].obj) = r->pinned[i];
		r->pinned_used++;
	}
	free(r->pinned);
	r->pinned = table;
	r->pinned_room = room;
	return 0;
}

int gc_pinned_add(struct gc_heap *heap, void *obj)
{
	struct gc_roots *r = &heap->roots;
	struct gc_pinned *at;

	if (2 * (r->pinned_used + 1) > r->pinned_room && pinned_resize(r))
		return -ENOMEM;
	at = pinned_at(r->pinned, r->pinned_room, obj);
	r->pinned_used += !at->obj;
	r->pinned_objects += !at->count;
	at->obj = obj;
	at->count++;
	return 0;
}

int gc_pinned_remove(struct gc_heap *heap, void *obj)
{
	struct gc_roots *r = &heap->roots;
	struct gc_pinned *at = r->pinned_room ? pinned_at(r->pinned, r->pinned_room, obj) : NULL;

	if (!at || !at->count)
		return -ENOENT;
	/* The entry stays, so that others are found behind it. */
	at->count--;
	r->pinned_objects -= !at->count;
	return 0;
}

void gc_pinned_roots(struct gc_heap *heap, gc_visit_fn visit, void *arg)
{
	for (size_t i = 0; i < heap->roots.pinned_room; i++)
		if (heap->roots.pinned[i].count)
			visit(&heap->roots.pinned[i].obj, arg);
}
