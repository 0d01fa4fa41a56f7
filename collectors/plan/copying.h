/* SPDX-License-Identifier: MIT */
/*
 * Evacuation, as the copying plans share it: a reference into from-space is replaced by
 * the object's new address, others may be marked. Forced inline, so that each plan has
 * its own loop; the world is stopped throughout.
 *
 * A forwarded object's header is its new address with bit 0 set. Bits 1 to 3 of a
 * header count the copies of an object, for promote=tuned.
 */
#ifndef GC_COPYING_H
#define GC_COPYING_H

#include "../mech/mark.h"
#include "../mech/plan.h"
#include "../space/bump.h"
#include "../space/large.h"

#define GC_FORWARDED 1u
#define GC_AGE_SHIFT 1
#define GC_AGE_MASK  (7u << GC_AGE_SHIFT)

gc_inline void gc_copy_words(void *to, const void *from, size_t bytes)
{
	uint64_t *t = to;
	const uint64_t *f = from;

	if (bytes > 256) {
		memcpy(to, from, bytes);
		return;
	}
	for (size_t i = 0; i < bytes / 8; i++)
		t[i] = f[i];
}

gc_inline bool gc_has_refs(const struct gc_info *info)
{
	return info->refs || info->tail == GC_TAIL_REFS || info->trace || info->weak;
}

gc_inline void gc_grey(struct gc_heap *heap, void *obj)
{
	if (likely(heap->stack.top < heap->stack.limit))
		*heap->stack.top++ = obj;
	else if (!gc_mark_stack_full(heap, &heap->stack, obj))
		gc_die(heap, "no memory for the mark stack");
}

/* To-space always has room: it is as large as what is copied from. */
gc_inline uintptr_t gc_to_space(struct gc_heap *heap, size_t size)
{
	uintptr_t at = heap->bump->to;

	heap->bump->to += size;
	return at;
}

gc_inline uint64_t gc_older(uint64_t word)
{
	return (word & GC_AGE_MASK) == GC_AGE_MASK ? word : word + (1u << GC_AGE_SHIFT);
}

/*
 * After a collection: as blocks and large objects grow, the bump spaces give up what they
 * will not reach again.
 */
void gc_copying_keep_in_max(struct gc_heap *heap);

/* A refusal: the copying plans have no recovery pass, their mark stack must grow. */
int gc_copying_check(struct gc_options *opt, struct gc_error *err);

#endif
