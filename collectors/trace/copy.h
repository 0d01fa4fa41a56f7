/* SPDX-License-Identifier: MIT */
/*
 * Evacuation, for every plan that moves objects: a reference into from-space is replaced
 * by the object's new address. The world is stopped; several threads may share the work.
 *
 * A header whose bit 0 is set is the object's new address. GC_BUSY alone is a claim: the
 * thread that stored it copies the object and then stores the address with release; all
 * others wait for that. Bits 1 and 2 of a header count an object's copies, up to three.
 *
 * The loops are forced inline with constant arguments: each plan has two of its own, one
 * for a single thread, without atomic operations, and one for several threads.
 */
#ifndef GC_COPY_H
#define GC_COPY_H

#include "../heap/forward.h"
#include "../space/bump.h"
#include "../thread/help.h"
#include "trace.h"
#include "weak.h"

#define GC_BUSY 1u

/**
 * struct gc_copier - a thread that copies
 * @helper: its place among the helpers; NULL: it copies alone
 * @stack: copied objects that are not scanned yet; the first copier uses the heap's stack
 * @at, @limit: its piece of to-space
 * @from, @into, @span: both spaces, for the two range checks of each reference
 * @aged: objects in from-space below it were there at the last collection
 * @rng: for promotion; the first copier uses the heap's, so that a run with one thread repeats
 * @left: objects until work is offered to helpers and progress reported
 * @young: the object being scanned refers to the bump spaces
 * @objects, @bytes: copied or marked; @bytes only of what is not copied
 * @own: its runs in blocks, to promote into
 * @old_bytes: bytes in blocks that it promoted or marked
 * @promoted_bytes, @promoted: bytes and objects that it promoted
 */
struct gc_copier {
	struct gc_heap *heap;
	struct gc_helper *helper;
	struct gc_mark_stack *stack;
	uintptr_t at, limit;
	uintptr_t from, into;
	size_t span;
	uintptr_t aged;
	uint64_t *rng;
	unsigned int left;
	bool young, first;
	uint64_t objects, bytes;
	uint64_t old_bytes, promoted_bytes, promoted;
	struct gc_thread own;
	uint64_t own_rng;
};

/**
 * struct gc_copy_ops - hooks of a plan; a static constant, so that the calls are inlined
 * @ages: copies of an object are counted in its header
 * @which, @whole: for the plan's hooks: which objects are promoted, and whether objects outside the
 *		   bump spaces are traced; constants, so that a plan has loops without the rest
 * @promote: returns memory outside the bump spaces for an object, or NULL to keep it there;
 *	     may be NULL
 * @outside: follows a reference out of the bump spaces; true: the object is to be scanned
 * @scanned: called for a scanned object; @young: it refers to the bump spaces; may be NULL
 */
struct gc_copy_ops {
	bool ages, whole;
	unsigned int which;
	void *(*promote)(struct gc_copier *c, void *ref, uint64_t word, size_t size,
			 const struct gc_copy_ops *ops, bool shared);
	bool (*outside)(struct gc_copier *c, void *ref, const struct gc_copy_ops *ops, bool shared);
	void (*scanned)(struct gc_copier *c, void *obj, bool young);
};

/* Create workers= copiers and the worker threads, after gc_help_init(); 0 or -ENOMEM */
int gc_workers_init(struct gc_heap *heap);
void gc_workers_fini(struct gc_heap *heap);
/* A fork is under way: keep the threads away from the state that they share. */
void gc_workers_lock(struct gc_heap *heap);
void gc_workers_unlock(struct gc_heap *heap);
/* In the child, with the lock: there are none until gc_copy_begin() starts them again. */
void gc_workers_forked(struct gc_heap *heap);
/* World stopped, after gc_bump_open(): reset all copiers. */
void gc_copy_begin(struct gc_heap *heap);
/* The collecting thread's copier */
struct gc_copier *gc_copy_first(struct gc_heap *heap);
/*
 * Run @drain on this thread and on the helpers that join in time, until no object is grey.
 * False, with nothing done, if there are no helpers.
 */
bool gc_copy_share(struct gc_heap *heap, void (*drain)(struct gc_copier *c));
/*
 * For the collecting thread alone, with an empty stack. If a stack dropped objects, scan all copied
 * objects and all objects in the pages whose bit in @old is set, and return true: a stack may
 * have dropped some again. Scanning an object twice is harmless.
 */
bool gc_copy_recover(struct gc_heap *heap, const uint64_t *old,
		     void (*scan)(struct gc_copier *c, void *obj),
		     void (*drain)(struct gc_heap *heap));
/* Copying is done: return pieces of to-space and runs. The first copier holds the sums. */
struct gc_copier *gc_copy_end(struct gc_heap *heap);

/* Out of line: take a new piece, or memory for a single object outside of the piece. */
uintptr_t gc_copy_refill(struct gc_copier *c, size_t size);
/* Another thread is copying the object: wait for its new header. */
uint64_t gc_copy_await(void *ref);
/*
 * Bytes of an object without a shape, and 1 if it has references; awaited as the key of an
 * ephemeron, it is noted.
 */
size_t gc_copy_unshaped(struct gc_heap *heap, void *ref, uint64_t word);
bool gc_copy_note_weak(struct gc_copier *c, void *obj);
void gc_copy_progress(struct gc_copier *c);

gc_inline bool gc_has_refs(const struct gc_info *info)
{
	return info->refs || info->tail == GC_TAIL_REFS || info->trace || info->weak;
}

gc_inline void gc_grey(struct gc_copier *c, void *obj)
{
	struct gc_mark_stack *s = c->stack;

	/* An object that does not fit is found again by gc_copy_recover(). */
	if (likely(s->top < s->limit))
		*s->top++ = obj;
	else
		gc_mark_stack_full(c->heap, s, obj);
}

gc_inline uintptr_t gc_copy_room(struct gc_copier *c, size_t size)
{
	uintptr_t at = c->at;

	if (unlikely(c->limit - at < size))
		return gc_copy_refill(c, size);
	c->at = at + size;
	return at;
}

gc_inline uint64_t gc_older(uint64_t word)
{
	return (word & GC_AGE_MASK) == GC_AGE_MASK ? word : word + (1u << GC_AGE_SHIFT);
}

/* Sets a bit of a table that copiers share; true when it was clear. */
gc_inline bool gc_copy_take(uint64_t *bits, uintptr_t addr, const bool shared)
{
	return shared ? gc_bit_take_shared(bits, addr) : gc_bit_take(bits, addr);
}

/* Copies the object behind @ref, whose header was @word. */
gc_inline void *gc_copy_object(struct gc_copier *c, void *ref, uint64_t word,
			       const struct gc_copy_ops *ops, const bool shared)
{
	size_t refs = gc_shape_refs(word), size = gc_shape_granules(word) << GC_GRANULE_SHIFT;
	bool grey = refs > sizeof(struct gc_header);
	void *to;

	if (unlikely(!refs)) {
		size = gc_copy_unshaped(c->heap, ref, word);
		grey = size & 1;
		size -= grey;
		/* While ephemerons wait, one thread copies. */
		if (!shared)
			word = gc_word(ref);
	}
	to = ops->promote ? ops->promote(c, ref, word, size, ops, shared) : NULL;
	if (to) {
		word &= ~(uint64_t)GC_AGE_MASK;
	} else {
		to = (void *)gc_copy_room(c, size);
		if (ops->ages)
			word = gc_older(word);
	}
	gc_copy_words((char *)to + 8, (char *)ref + 8, size - 8);
	((struct gc_header *)to)->word = word;
	__atomic_store_n(&((struct gc_header *)ref)->word, (uintptr_t)to | GC_FORWARDED,
			 shared ? __ATOMIC_RELEASE : __ATOMIC_RELAXED);
	c->objects++;
	if (grey)
		gc_grey(c, to);
	return to;
}

gc_inline void gc_copy_slot(struct gc_copier *c, void **slot, const struct gc_copy_ops *ops,
			    const bool shared)
{
	uint64_t *header, word;
	void *ref = *slot;

	if (!ref)
		return;
	if ((uintptr_t)ref - c->from >= c->span) {
		if ((uintptr_t)ref - c->into < c->span)
			c->young = true;
		else if (ops->outside(c, ref, ops, shared))
			gc_grey(c, ref);
		return;
	}
	header = &((struct gc_header *)ref)->word;
	word = __atomic_load_n(header, shared ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED);
	if (!(word & GC_FORWARDED) &&
	    (!shared || __atomic_compare_exchange_n(header, &word, (uint64_t)GC_BUSY, false,
						    __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))) {
		ref = gc_copy_object(c, ref, word, ops, shared);
	} else {
		if (shared && unlikely(word == GC_BUSY))
			word = gc_copy_await(ref);
		ref = (void *)(uintptr_t)(word & ~(uint64_t)GC_FORWARDED);
	}
	*slot = ref;
	if (ops->scanned)
		c->young |= (uintptr_t)ref - c->into < c->span;
}

/* Copy an object without a shape, on one thread. Not inlined: the loop has more registers. */
static __attribute__((noinline, unused)) void *gc_copy_other(struct gc_copier *c, void *ref,
							     const struct gc_copy_ops *ops)
{
	gc_copy_slot(c, &ref, ops, false);
	return ref;
}

/* @visit is the plan's gc_copy_slot(); its argument is the copier. */
gc_inline void gc_copy_scan(struct gc_copier *c, void *obj, gc_visit_fn visit)
{
	uint64_t word = gc_word(obj);
	size_t refs = gc_shape_refs(word);

	if (likely(refs)) {
		for (size_t at = sizeof(struct gc_header); at < refs; at += sizeof(void *))
			visit((void **)((char *)obj + at), c);
		return;
	}
	if (gc_object_visit(obj, gc_info(c->heap, word), word, visit, c) &&
	    !gc_copy_note_weak(c, obj))
		gc_weak_hold(gc_info(c->heap, word), obj, visit, c);
}

/* Copies of the stack's and the piece's pointers, which a loop keeps in registers */
struct gc_copy_regs {
	void **top, **limit, **base;
	uintptr_t at, end;
};

gc_inline void gc_copy_get(const struct gc_copier *c, struct gc_copy_regs *r)
{
	const struct gc_mark_stack *s = c->stack;

	*r = (struct gc_copy_regs){ s->top, s->limit, s->base, c->at, c->limit };
}

gc_inline void gc_copy_put(struct gc_copier *c, const struct gc_copy_regs *r)
{
	c->stack->top = r->top;
	c->at = r->at;
}

/* gc_copy_slot() for a loop: returns the new reference; sets *@young if it is to a bump space. */
gc_inline void *gc_copy_ref(struct gc_copier *c, struct gc_copy_regs *r, void *ref, bool *young,
			    const struct gc_copy_ops *ops, const bool shared)
{
	uint64_t *header = &((struct gc_header *)ref)->word, word;
	size_t refs, size;
	void *to = NULL;

	if (unlikely((uintptr_t)ref - c->from >= c->span)) {
		if ((uintptr_t)ref - c->into < c->span) {
			*young = true;
		} else {
			gc_copy_put(c, r);
			if (ops->outside(c, ref, ops, shared))
				gc_grey(c, ref);
			gc_copy_get(c, r);
		}
		return ref;
	}
	word = __atomic_load_n(header, shared ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED);
	refs = gc_shape_refs(word);
	if (!shared && word & GC_FORWARDED) {
		ref = (void *)(uintptr_t)(word & ~(uint64_t)GC_FORWARDED);
		if (ops->scanned)
			*young |= (uintptr_t)ref - c->into < c->span;
	} else if (unlikely(!refs || shared)) {
		/* Objects without a shape, or that other threads may claim */
		gc_copy_put(c, r);
		if (shared)
			gc_copy_slot(c, &ref, ops, true);
		else
			ref = gc_copy_other(c, ref, ops);
		gc_copy_get(c, r);
		if (ops->scanned)
			*young |= (uintptr_t)ref - c->into < c->span;
	} else {
		size = gc_shape_granules(word) << GC_GRANULE_SHIFT;
		if (ops->promote)
			to = ops->promote(c, ref, word, size, ops, shared);
		if (to) {
			word &= ~(uint64_t)GC_AGE_MASK;
		} else {
			if (likely(r->at + size <= r->end)) {
				to = (void *)r->at;
				r->at += size;
			} else {
				c->at = r->at;
				to = (void *)gc_copy_refill(c, size);
				r->at = c->at;
				r->end = c->limit;
			}
			if (ops->ages)
				word = gc_older(word);
			*young = true;
		}
		gc_copy_fields(to, ref, size);
		((struct gc_header *)to)->word = word;
		*header = (uintptr_t)to | GC_FORWARDED;
		c->objects++;
		ref = to;
		if (refs > sizeof(struct gc_header)) {
			if (likely(r->top < r->limit)) {
				*r->top++ = to;
			} else {
				gc_copy_put(c, r);
				gc_mark_stack_full(c->heap, c->stack, to);
				gc_copy_get(c, r);
			}
		}
	}
	return ref;
}

/*
 * Copy until no object is grey. Objects with a shape are scanned here, all others by @scan, the
 * plan's gc_copy_scan().
 */
gc_inline void gc_copy_loop(struct gc_copier *c, const bool shared, const struct gc_copy_ops *ops,
			    void (*scan)(struct gc_copier *c, void *obj, const bool shared))
{
	struct gc_copy_regs r;

	/* In memory: the registers are needed for pointers. */
	c->left = GC_HELP_GIVE;
	do {
		gc_copy_get(c, &r);
		while (r.top > r.base) {
			void *obj = *--r.top, **slot = (void **)((char *)obj + 8), **end;
			size_t refs = gc_shape_refs(gc_word(obj));
			bool young = false;

			end = (void **)((char *)obj + refs);
			if (unlikely(!refs)) {
				gc_copy_put(c, &r);
				scan(c, obj, shared);
				gc_copy_get(c, &r);
			}
			for (; slot < end; slot++) {
				void *ref = *slot;

				if (ref)
					*slot = gc_copy_ref(c, &r, ref, &young, ops, shared);
			}
			if (refs && ops->scanned)
				ops->scanned(c, obj, young);
			if (likely(--c->left))
				continue;
			c->left = GC_HELP_GIVE;
			gc_copy_put(c, &r);
			if (shared)
				gc_help_give(c->helper);
			if (c->first)
				gc_copy_progress(c);
			gc_copy_get(c, &r);
		}
		gc_copy_put(c, &r);
	} while (shared && gc_help_more(c->helper));
}

#endif
