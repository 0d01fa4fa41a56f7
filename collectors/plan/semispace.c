// SPDX-License-Identifier: MIT
/*
 * semispace: stop the world and copy what is reachable to the other half. Large objects
 * stay where they are and are marked.
 */
#include <errno.h>

#include "copying.h"

static size_t capacity(const struct gc_options *opt)
{
	return gc_align((size_t)opt->max / 2, 1 << 20);
}

static size_t space(const struct gc_options *opt)
{
	return 2 * capacity(opt);
}

static int init(struct gc_heap *heap, struct gc_error *err)
{
	if (gc_bump_init(heap, heap->pages_end, capacity(&heap->opt)) || gc_large_init(heap))
		return gc_fail(err, -ENOMEM, "no memory for the spaces' own state");
	return 0;
}

static void fini(struct gc_heap *heap)
{
	gc_bump_fini(heap);
	gc_large_fini(heap);
}

static uintptr_t alloc(struct gc_thread *t, size_t bytes, bool force)
{
	if (bytes > (size_t)t->heap->opt.large)
		return gc_large_alloc(t->heap, bytes, force);
	return gc_bump_alloc(t, bytes, force);
}

gc_inline void evacuate_slot(struct gc_heap *heap, void **slot)
{
	void *ref = *slot;
	const struct gc_info *info;
	uint64_t word;
	size_t size;
	void *to;

	if (!ref)
		return;
	word = gc_word(ref);
	if (!gc_bump_has(heap->bump, (uintptr_t)ref)) {
		if (gc_in_pages(heap, (uintptr_t)ref) && gc_bit_take(heap->mark, (uintptr_t)ref)) {
			heap->cycle.marked_objects++;
			heap->cycle.marked_bytes += gc_large_size(gc_object_size(heap, ref));
			if (gc_has_refs(gc_info(heap, word)))
				gc_grey(heap, ref);
		}
		return;
	}
	if (word & GC_FORWARDED) {
		*slot = (void *)(uintptr_t)(word & ~(uint64_t)GC_FORWARDED);
		return;
	}
	info = gc_info(heap, word);
	size = gc_size(info, word);
	to = (void *)gc_to_space(heap, size);
	gc_copy_words(to, ref, size);
	((struct gc_header *)ref)->word = (uintptr_t)to | GC_FORWARDED;
	heap->cycle.marked_objects++;
	if (gc_has_refs(info))
		gc_grey(heap, to);
	*slot = to;
}

static void visit(struct gc_heap *heap, void **slot)
{
	evacuate_slot(heap, slot);
}

static void drain(struct gc_heap *heap)
{
	struct gc_mark_stack *s = &heap->stack;

	while (s->top > s->base) {
		void *obj = *--s->top;
		uint64_t word = gc_word(obj);

		gc_scan(heap, obj, gc_info(heap, word), word, evacuate_slot);
		gc_phase_work(heap, heap->bump->to - heap->bump->start[!heap->bump->now]);
	}
}

static bool alive(struct gc_heap *heap, void **ref)
{
	uint64_t word;

	if (!gc_bump_has(heap->bump, (uintptr_t)*ref))
		return gc_bump_to(heap->bump, (uintptr_t)*ref) ||
		       gc_bit_test(heap->mark, (uintptr_t)*ref);
	word = gc_word(*ref);
	if (word & GC_FORWARDED)
		*ref = (void *)(uintptr_t)(word & ~(uint64_t)GC_FORWARDED);
	return word & GC_FORWARDED;
}

static void collect(struct gc_heap *heap)
{
	struct gc_cycle *c = &heap->cycle;
	uint64_t copied;

	gc_world_stop(heap);
	for (struct gc_thread *t = heap->threads; t; t = t->next)
		gc_bump_flush(t);
	gc_mark_prepare(heap, false);
	gc_bump_open(heap);
	gc_phase_begin(heap, GC_PHASE_COPY, gc_load(&heap->in_use));
	gc_all_roots(heap, visit);
	gc_phase_stop(heap, GC_EDGE(roots_done));
	drain(heap);
	gc_weak_process(heap, alive, visit, drain);
	copied = heap->bump->to - heap->bump->start[!heap->bump->now];
	heap->stats.copied_bytes += copied;
	c->marked_bytes += copied;
	c->live_bytes = c->marked_bytes;
	gc_phase_end(heap);
	gc_bump_flip(heap);
	gc_mark_swap(heap);
	__atomic_store_n(&heap->in_use, c->live_bytes, __ATOMIC_RELAXED);
	c->exact = true;
	if (heap->opt.verify & (GC_VERIFY_POST | GC_VERIFY_TRACE))
		gc_verify_post(heap);
	gc_phase_begin(heap, GC_PHASE_SWEEP, heap->large->bytes);
	gc_phase_work(heap, gc_large_sweep(heap));
	gc_phase_end(heap);
	gc_copying_keep_in_max(heap);
	gc_world_restart(heap);
}

static bool valid(struct gc_heap *heap, uintptr_t addr)
{
	if (gc_in_pages(heap, addr))
		return gc_large_valid(heap, addr);
	return gc_bump_has(heap->bump, addr) && gc_bit_test(heap->live, addr);
}

static size_t footprint(struct gc_heap *heap)
{
	return gc_pages_held(heap) + gc_bump_footprint(heap);
}

static size_t release(struct gc_heap *heap)
{
	return gc_pages_release(heap) + gc_bump_release(heap, 0);
}

const struct gc_plan gc_plan_semispace = {
	.name = "semispace",
	.summary = "stop-the-world copying between two halves",
	.bump = true,
	.reserve = true,
	.check = gc_copying_check,
	.space = space,
	.init = init,
	.fini = fini,
	.alloc = alloc,
	.flush = gc_bump_flush,
	.collect = collect,
	.index = gc_bump_index,
	.valid = valid,
	.footprint = footprint,
	.release = release,
};
