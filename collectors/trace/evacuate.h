/* SPDX-License-Identifier: MIT */
/*
 * Evacuation, for every plan with a from-space: a reference into it is replaced by the object's new
 * address, and what was not copied yet is.
 *
 * A header whose bit 0 is set is the object's new address. GC_BUSY alone is a claim: the
 * thread that stored it copies the object and then stores the address with release; all
 * others wait for that. Bits 1 and 2 of a header count an object's copies, up to three.
 *
 * All is forced inline with constant hooks: a plan has a loop for a single thread, without atomic
 * operations, and one for several threads. There are two paths to gc_copy_object(): of objects with
 * a shape within the loop, and of all others through gc_copy_other().
 */
#ifndef GC_EVACUATE_H
#define GC_EVACUATE_H

#include "../heap/forward.h"
#include "copy.h"

#define GC_BUSY 1u

#define GC_COPY_AGES 1u /* in @how: copies of an object are counted in its header */

/**
 * struct gc_copy_ops - hooks of a plan; a constant, so that the calls are inlined
 * @promote: returns memory outside the bump spaces for an object, or NULL to keep it there;
 *	     may be NULL
 * @outside: follows a reference out of the bump spaces; true: the object is to be scanned
 * @scanned: called for a scanned object; @young: it refers to to-space; may be NULL
 *
 * @how is passed on to them, for what the plan knows when it compiles a loop.
 */
struct gc_copy_ops {
	void *(*promote)(struct gc_copier *c, void *ref, uint64_t word, size_t size,
			 unsigned int how, bool shared);
	bool (*outside)(struct gc_copier *c, void *ref, unsigned int how, bool shared);
	void (*scanned)(struct gc_copier *c, void *obj, bool young, unsigned int how);
};

/* Copies of a copier's pointers, which a loop keeps in registers: of its stack and its piece */
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

/* An object that does not fit is found again by gc_copy_recover(). */
gc_inline void gc_copy_push(struct gc_copier *c, struct gc_copy_regs *r, void *obj)
{
	if (likely(r->top < r->limit)) {
		*r->top++ = obj;
		return;
	}
	gc_copy_put(c, r);
	gc_mark_stack_full(c->heap, c->stack, obj);
	gc_copy_get(c, r);
}

gc_inline void *gc_copy_room(struct gc_copier *c, struct gc_copy_regs *r, size_t size)
{
	uintptr_t at = r->at;

	if (likely(at + size <= r->end)) {
		r->at += size;
		return (void *)at;
	}
	c->at = at;
	at = gc_copy_refill(c, size);
	r->at = c->at;
	r->end = c->limit;
	return (void *)at;
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

/* Is @ref the address of an object in from-space? Not a word with one of the low bits set. */
gc_inline bool gc_copy_from(const struct gc_copier *c, const void *ref)
{
	uintptr_t at = (uintptr_t)ref - c->from;

	return (at >> GC_GRANULE_SHIFT | at << (8 * sizeof(at) - GC_GRANULE_SHIFT)) < c->granules;
}

/* Is @ref in to-space? True also of some words that are no references, which does no harm. */
gc_inline bool gc_copy_young(const struct gc_copier *c, const void *ref)
{
	return (uintptr_t)ref - c->into < c->span;
}

/*
 * Evacuate the object of @size bytes behind @ref, whose header was @word; where several threads
 * copy, this one has claimed it. @refs: it has references; @shaped: it has a shape, so it is small.
 * Returns its new address.
 */
gc_inline void *gc_copy_object(struct gc_copier *c, struct gc_copy_regs *r, bool *young, void *ref,
			       uint64_t word, size_t size, bool refs, const bool shaped,
			       const struct gc_copy_ops *ops, const unsigned int how,
			       const bool shared)
{
	void *to = ops->promote ? ops->promote(c, ref, word, size, how, shared) : NULL;

	if (to) {
		word &= ~(uint64_t)GC_AGE_MASK;
	} else {
		to = gc_copy_room(c, r, size);
		if (how & GC_COPY_AGES)
			word = gc_older(word);
		*young = true;
	}
	if (shaped)
		gc_copy_fields(to, ref, size);
	else
		gc_copy_words((char *)to + 8, (char *)ref + 8, size - 8);
	((struct gc_header *)to)->word = word;
	__atomic_store_n(&((struct gc_header *)ref)->word, (uintptr_t)to | GC_FORWARDED,
			 shared ? __ATOMIC_RELEASE : __ATOMIC_RELAXED);
	c->objects++;
	if (refs)
		gc_copy_push(c, r, to);
	return to;
}

/* The same for an object without a shape. Not inlined: the loop has more registers. */
static __attribute__((noinline, unused)) void *
gc_copy_other(struct gc_copier *c, void *ref, uint64_t word, const struct gc_copy_ops *ops,
	      const unsigned int how, const bool shared)
{
	size_t size = gc_copy_unshaped(c->heap, ref, word);
	bool refs = size & 1;
	struct gc_copy_regs r;
	void *to;

	/* While ephemerons wait, one thread copies, and the header of a key has changed. */
	if (!shared)
		word = gc_word(ref);
	gc_copy_get(c, &r);
	to = gc_copy_object(c, &r, &c->young, ref, word, size - refs, refs, false, ops, how,
			    shared);
	gc_copy_put(c, &r);
	return to;
}

enum gc_copy_found {
	GC_FOUND_DONE, /* nothing is left to be done */
	GC_FOUND_GREY, /* it does not move, and is to be scanned */
	GC_FOUND_OWN, /* this thread is to evacuate it */
};

/*
 * Follow the reference *@ref, and update it if the object was copied before. *@word: header of what
 * is to be evacuated; *@young is set when the object is in to-space.
 */
gc_inline enum gc_copy_found gc_copy_find(struct gc_copier *c, void **ref, uint64_t *word,
					  bool *young, const struct gc_copy_ops *ops,
					  const unsigned int how, const bool shared)
{
	uint64_t *header;

	if (unlikely(!gc_copy_from(c, *ref))) {
		if (!gc_copy_young(c, *ref))
			return ops->outside(c, *ref, how, shared) ? GC_FOUND_GREY : GC_FOUND_DONE;
		*young = true;
		return GC_FOUND_DONE;
	}
	header = &((struct gc_header *)*ref)->word;
	*word = __atomic_load_n(header, shared ? __ATOMIC_ACQUIRE : __ATOMIC_RELAXED);
	if (!(*word & GC_FORWARDED) &&
	    (!shared || __atomic_compare_exchange_n(header, word, (uint64_t)GC_BUSY, false,
						    __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)))
		return GC_FOUND_OWN;
	if (shared && unlikely(*word == GC_BUSY))
		*word = gc_copy_await(*ref);
	*ref = (void *)(uintptr_t)(*word & ~(uint64_t)GC_FORWARDED);
	if (ops->scanned)
		*young |= gc_copy_young(c, *ref);
	return GC_FOUND_DONE;
}

/* Evacuate an object that has a shape. */
gc_inline void *gc_copy_shaped(struct gc_copier *c, struct gc_copy_regs *r, bool *young, void *ref,
			       uint64_t word, const struct gc_copy_ops *ops, const unsigned int how,
			       const bool shared)
{
	size_t size = gc_shape_granules(word) << GC_GRANULE_SHIFT;
	bool refs = gc_shape_refs(word) > sizeof(struct gc_header);

	return gc_copy_object(c, r, young, ref, word, size, refs, true, ops, how, shared);
}

/* A visitor's work: follow the reference in @slot, if there is one. */
gc_inline void gc_copy_slot(struct gc_copier *c, void **slot, const struct gc_copy_ops *ops,
			    const unsigned int how, const bool shared)
{
	enum gc_copy_found found;
	struct gc_copy_regs r;
	void *ref = *slot;
	uint64_t word = 0; /* set where it is read, which gcc -O1 does not see */

	if (!ref)
		return;
	found = gc_copy_find(c, &ref, &word, &c->young, ops, how, shared);
	if (found == GC_FOUND_OWN && unlikely(!gc_shape_refs(word))) {
		ref = gc_copy_other(c, ref, word, ops, how, shared);
	} else if (found != GC_FOUND_DONE) {
		gc_copy_get(c, &r);
		if (found == GC_FOUND_GREY)
			gc_copy_push(c, &r, ref);
		else
			ref = gc_copy_shaped(c, &r, &c->young, ref, word, ops, how, shared);
		gc_copy_put(c, &r);
	}
	*slot = ref;
}

/* The same for a loop. @any: what @how is for objects without a shape. */
gc_inline void gc_copy_ref(struct gc_copier *c, struct gc_copy_regs *r, bool *young, void **slot,
			   const struct gc_copy_ops *ops, const unsigned int how,
			   const unsigned int any, const bool shared)
{
	void *ref = *slot;
	uint64_t word;

	if (!ref)
		return;
	switch (gc_copy_find(c, &ref, &word, young, ops, how, shared)) {
	case GC_FOUND_DONE:
		break;
	case GC_FOUND_GREY:
		gc_copy_push(c, r, ref);
		break;
	case GC_FOUND_OWN:
		if (likely(gc_shape_refs(word))) {
			ref = gc_copy_shaped(c, r, young, ref, word, ops, how, shared);
			break;
		}
		gc_copy_put(c, r);
		ref = gc_copy_other(c, ref, word, ops, any, shared);
		gc_copy_get(c, r);
		if (ops->scanned)
			*young |= gc_copy_young(c, ref);
		break;
	}
	*slot = ref;
}

/* Scan an object of any type. @visit is the plan's gc_copy_slot(); its argument is the copier. */
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

/*
 * Copy until no object is grey. Objects with a shape are scanned and copied here with @how, all
 * others by @scan, the plan's gc_copy_scan(), and with @any.
 */
gc_inline void gc_copy_loop(struct gc_copier *c, const bool shared, const struct gc_copy_ops *ops,
			    const unsigned int how, const unsigned int any,
			    void (*scan)(struct gc_copier *c, void *obj, bool shared))
{
	struct gc_copy_regs r;

	/* In memory: the registers are needed for pointers. */
	c->left = GC_HELP_GIVE;
	do {
		gc_copy_get(c, &r);
		while (r.top > r.base) {
			void *obj = *--r.top, **first = (void **)((char *)obj + 8), **slot;
			size_t refs = gc_shape_refs(gc_word(obj));
			bool young = false;

			slot = (void **)((char *)obj + refs) - 1;
			if (unlikely(!refs)) {
				gc_copy_put(c, &r);
				scan(c, obj, shared);
				gc_copy_get(c, &r);
			}
			/*
			 * From the last one, so that what the first one leads to is copied first: in the
			 * order of addresses in which programs will follow them.
			 */
			for (; slot >= first; slot--)
				gc_copy_ref(c, &r, &young, slot, ops, how, any, shared);
			if (refs && ops->scanned)
				ops->scanned(c, obj, young, how);
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
