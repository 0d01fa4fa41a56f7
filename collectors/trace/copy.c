// SPDX-License-Identifier: MIT
#include "copy.h"

#include <sched.h>

#include "../listener/phase.h"
#include "../space/blocks.h"
#include "evacuate.h"
#include "workers.h"

#define SPINS 64
#define PIECE GC_CHUNK
#define SMALL (PIECE / 16) /* a piece with fewer bytes left is replaced by a new one */

struct gc_copier *gc_copy_first(struct gc_heap *heap)
{
	return heap->workers->copier[0];
}

void gc_copy_begin(struct gc_heap *heap)
{
	struct gc_workers *workers = heap->workers;
	struct gc_bump *b = heap->bump;

	gc_workers_restore(heap);
	for (unsigned int i = 0; i < workers->copiers; i++) {
		struct gc_copier *c = workers->copier[i];

		c->from = b->start[b->now];
		c->into = b->start[!b->now];
		c->span = b->span;
		c->granules = b->span >> GC_GRANULE_SHIFT;
		c->aged = b->aged;
		c->at = c->limit = 0;
		c->mixed = heap->roots.mixed;
		c->young = false;
		c->objects = c->bytes = c->old_bytes = c->promoted_bytes = c->promoted = 0;
	}
}

static void helper_run(struct gc_helper *k)
{
	struct gc_workers *workers = k->mark.heap->workers;

	workers->loop(workers->copier[gc_help_index(k)]);
}

bool gc_copy_share(struct gc_heap *heap, void (*drain)(struct gc_copier *c))
{
	struct gc_heap_stats *s = &heap->stats;

	if (!heap->help)
		return false;
	heap->workers->loop = drain;
	if (!gc_help_share(heap, helper_run))
		return false;
	for (struct gc_helper *k = gc_help_next(heap, NULL); k; k = gc_help_next(heap, k)) {
		heap->stack.dropped |= k->mark.stack->dropped;
		if (!k->first)
			k->mark.stack->dropped = false;
		if (!k->mutator)
			continue;
		gc_stat_add(&s->helps, 1);
		gc_stat_add(&s->helped_objects, heap->workers->copier[gc_help_index(k)]->objects);
	}
	return true;
}

/* Return the rest of a piece to the space, or clear it so that it reads as a hole. */
static void piece_return(struct gc_copier *c)
{
	struct gc_bump *b = c->heap->bump;
	uintptr_t limit = c->limit;

	if (!__atomic_compare_exchange_n(&b->to, &limit, c->at, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		memset((void *)c->at, 0, c->limit - c->at);
	c->at = c->limit = 0;
}

struct gc_copier *gc_copy_end(struct gc_heap *heap)
{
	struct gc_copier *first = gc_copy_first(heap);
	struct gc_workers *workers = heap->workers;

	/* From the last one: only the piece taken last can be returned to the space. */
	for (unsigned int i = workers->copiers; i-- > 0;) {
		struct gc_copier *c = workers->copier[i];

		if (c->limit)
			piece_return(c);
		if (heap->blocks)
			gc_blocks_flush(&c->own);
		if (c == first)
			continue;
		first->objects += c->objects;
		first->bytes += c->bytes;
		first->old_bytes += c->old_bytes;
		first->promoted_bytes += c->promoted_bytes;
		first->promoted += c->promoted;
		gc_mark_stack_rest(c->stack);
	}
	heap->cycle.marked_objects += first->objects;
	heap->cycle.marked_bytes += first->bytes;
	return first;
}

static uintptr_t space_take(struct gc_copier *c, size_t bytes)
{
	struct gc_bump *b = c->heap->bump;
	uintptr_t at = __atomic_fetch_add(&b->to, bytes, __ATOMIC_RELAXED);

	/*
	 * Holes are at most a sixteenth, and the span has that much to spare. So this happens only
	 * if an object's length was overwritten.
	 */
	if (at + bytes > c->into + c->span)
		gc_die(c->heap,
		       "more bytes were copied than the space has: a header was overwritten");
	return at;
}

uintptr_t gc_copy_refill(struct gc_copier *c, size_t size)
{
	uintptr_t at;

	if (size > PIECE / 4 || c->limit - c->at >= SMALL)
		return space_take(c, size);
	at = space_take(c, PIECE);
	/* Adjacent pieces are joined. */
	if (at != c->limit) {
		if (c->limit)
			memset((void *)c->at, 0, c->limit - c->at);
		c->at = at;
	}
	c->limit = at + PIECE;
	at = c->at;
	c->at += size;
	return at;
}

uint64_t gc_copy_await(void *ref)
{
	uint64_t *header = &((struct gc_header *)ref)->word, word;

	for (unsigned int round = 0;; round++) {
		word = __atomic_load_n(header, __ATOMIC_ACQUIRE);
		if (word != GC_BUSY)
			return word;
		if (round > SPINS)
			sched_yield();
	}
}

size_t gc_copy_unshaped(struct gc_heap *heap, void *ref, uint64_t word)
{
	const struct gc_info *info = gc_info(heap, word);

	if (unlikely(word & GC_AWAITED))
		gc_weak_reach(heap, ref, word, false);
	return gc_size(info, word) + info->scanned;
}

bool gc_copy_note_weak(struct gc_copier *c, void *obj)
{
	struct gc_heap *heap = c->heap;
	int ret;

	if (heap->help)
		gc_help_lock(heap);
	ret = gc_weak_note(heap, obj);
	if (heap->help)
		gc_help_unlock(heap);
	return !ret;
}

bool gc_copy_recover(struct gc_heap *heap, const uint64_t *old,
		     void (*scan)(struct gc_copier *c, void *obj, bool shared),
		     void (*drain)(struct gc_copier *c))
{
	struct gc_copier *first = gc_copy_first(heap);
	struct gc_workers *workers = heap->workers;
	uintptr_t at = first->into, end = heap->bump->to;

	if (!heap->stack.dropped)
		return false;
	heap->stack.dropped = false;
	/* The rest of a piece holds stale data: clear it, so that it reads as a hole. */
	for (unsigned int i = 0; i < workers->copiers; i++) {
		struct gc_copier *c = workers->copier[i];

		if (c->limit)
			memset((void *)c->at, 0, c->limit - c->at);
	}
	while (at < end) {
		if (!gc_word((void *)at)) {
			at += 8;
			continue;
		}
		gc_stat_add(&heap->stats.rescanned_objects, 1);
		scan(first, (void *)at, false);
		drain(first);
		at += gc_object_size(heap, (void *)at);
	}
	end = gc_high(heap);
	for (at = heap->base; (at = gc_bit_next(old, at, end)) < end; at += 8) {
		gc_stat_add(&heap->stats.rescanned_objects, 1);
		scan(first, (void *)at, false);
		drain(first);
	}
	return true;
}

void gc_copy_progress(struct gc_copier *c)
{
	const struct gc_bump *b = c->heap->bump;

	gc_phase_work(c->heap, __atomic_load_n(&b->to, __ATOMIC_RELAXED) - c->into);
}
