// SPDX-License-Identifier: MIT
/*
 * Finding a broken heap: a re-trace from scratch with tables of its own, the check of
 * every reference of every live object (Dalvik's pre and post verification), and the
 * card table's invariant. All with the world stopped.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../heap/forward.h"
#include "../heap/plan.h"
#include "../space/pages.h"
#include "../thread/safepoint.h"
#include "ambiguous.h"
#include "trace.h"
#include "verify.h"

struct retrace {
	uint64_t *seen; /* biased */
	void *map;
	size_t size;
	struct gc_vector stack, ephemerons;
	uint64_t objects, bytes;
	const void *holder; /* the object whose fields are visited; NULL roots */
	bool after;
	gc_walk_fn walk; /* is called for each object; may be NULL */
	void *walk_arg;
};

static const char *type_name(struct gc_heap *heap, const void *obj)
{
	uint64_t index;

	if (!obj)
		return "a root";
	index = gc_type_index(gc_word(obj));
	return index && index < heap->roots.type_count ? heap->roots.types[index].name : "?";
}

static void error_record(struct gc_heap *heap, const char *what, const void *holder,
			 const void *ref)
{
	if (!heap->verification.error.code)
		gc_fail(&heap->verification.error, -EUCLEAN, "%s: %p (%s) refers to %p", what,
			holder, type_name(heap, holder), ref);
}

/* A word that is no reference, in a heap that has such */
static bool word_is_other(const struct gc_heap *heap, const void *word)
{
	return !word || (heap->roots.mixed && !gc_is_ref(heap, word));
}

static bool check_ref(struct gc_heap *heap, const void *holder, void *ref, bool after)
{
	uintptr_t addr = (uintptr_t)ref;
	unsigned int index;
	uint64_t word;

	if (addr < heap->base || addr >= heap->end || addr & 7) {
		error_record(heap, "reference outside the heap", holder, ref);
		return false;
	}
	if (!heap->plan->valid(heap, addr)) {
		error_record(heap, "reference to something that is not a live object", holder, ref);
		return false;
	}
	word = gc_word(ref);
	index = gc_type_index(word);
	if (!index || index >= heap->roots.type_count ||
	    (uint32_t)(word & ~(uint64_t)GC_AGE_MASK) !=
		    (uint32_t)heap->roots.types[index].pub.word) {
		error_record(heap, "object with a broken header", holder, ref);
		return false;
	}
	if (after && heap->plan->kept && !heap->plan->kept(heap, addr)) {
		error_record(heap, "reachable object not kept by the collection", holder, ref);
		return false;
	}
	return true;
}

static void retrace_slot(void **slot, void *arg)
{
	struct gc_heap *heap = arg;
	struct retrace *r = heap->verification.trace;
	void *ref = *slot;

	if (word_is_other(heap, ref) || !check_ref(heap, r->holder, ref, r->after) ||
	    !gc_bit_take(r->seen, (uintptr_t)ref))
		return;
	r->objects++;
	if (gc_vector_push(&r->stack, ref))
		error_record(heap, "no memory to verify", r->holder, ref);
}

/* Visit strong references; weak ones are checked, but not followed. */
void gc_verify_scan(struct gc_heap *heap, void *obj, gc_visit_fn visit)
{
	uint64_t word = gc_word(obj);
	void **slot = gc_weak_slot(obj);

	if (!gc_object_visit(obj, gc_info(heap, word), word, visit, heap))
		return;
	if (!word_is_other(heap, slot[0]))
		check_ref(heap, obj, slot[0], false);
	if (gc_info(heap, word)->weak == GC_EPHEMERON && !word_is_other(heap, slot[1]))
		check_ref(heap, obj, slot[1], false);
}

void gc_verify_scan_clean(struct gc_heap *heap, void *obj, gc_visit_fn visit)
{
	uint64_t word = gc_word(obj);
	const struct gc_info *info = gc_info(heap, word);
	uintptr_t end = (uintptr_t)obj + gc_size(info, word);
	bool carded = gc_carded(info, word), dirty = false;

	for (uintptr_t at = (uintptr_t)obj; at < end && word >> 32 >= GC_CARDED_LENGTH;
	     at += GC_CARD) {
		dirty |= *gc_card(heap, at);
		if (carded && !*gc_card(heap, at))
			gc_card_elements(heap, obj, at, visit, heap);
	}
	/* Any card of another long object has it scanned as a whole. */
	if (!carded && !dirty)
		gc_verify_scan(heap, obj, visit);
}

static void retrace_drain(struct gc_heap *heap, struct retrace *r)
{
	while (r->stack.count && !heap->verification.error.code) {
		void *obj = r->stack.items[--r->stack.count];

		r->holder = obj;
		r->bytes += gc_object_size(heap, obj);
		if (r->walk)
			r->walk(obj, &gc_info(heap, gc_word(obj))->pub, gc_object_size(heap, obj),
				r->walk_arg);
		gc_verify_scan(heap, obj, retrace_slot);
		if (gc_info(heap, gc_word(obj))->weak == GC_EPHEMERON &&
		    gc_vector_push(&r->ephemerons, obj))
			error_record(heap, "no memory to verify", obj, NULL);
	}
}

/* The definition of ephemerons instead of the collectors' algorithm: repeat until no change. */
static bool retrace_values(struct gc_heap *heap, struct retrace *r)
{
	uint64_t before = r->objects;

	for (size_t i = 0; i < r->ephemerons.count && !heap->verification.error.code; i++) {
		void *obj = r->ephemerons.items[i], **slot = gc_weak_slot(obj);

		if (!slot[0] ||
		    (!word_is_other(heap, slot[0]) && !gc_bit_test(r->seen, (uintptr_t)slot[0])))
			continue;
		r->holder = obj;
		retrace_slot(&slot[1], heap);
		retrace_drain(heap, r);
	}
	return r->objects > before && !heap->verification.error.code;
}

static void retrace_run(struct gc_heap *heap, struct retrace *r)
{
	r->size = gc_align((heap->end - heap->base) / 64, GC_PAGE);
	r->map = mmap(NULL, r->size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r->map == MAP_FAILED) {
		error_record(heap, "no memory to verify", NULL, NULL);
		return;
	}
	r->seen = (uint64_t *)r->map - (heap->base >> GC_WORD_SHIFT);
	heap->verification.trace = r;
	gc_all_roots(heap, retrace_slot, heap);
	gc_ambiguous_roots(heap, retrace_slot, heap);
	if (heap->roots.noted_lost)
		error_record(heap, "no memory to verify", NULL, NULL);
	retrace_drain(heap, r);
	while (retrace_values(heap, r))
		;
	heap->verification.trace = NULL;
	free(r->stack.items);
	free(r->ephemerons.items);
	munmap(r->map, r->size);
}

static void verify_heap(struct gc_heap *heap, bool after)
{
	struct retrace r = { .after = after };
	struct gc_cycle *c = &heap->cycle;

	heap->verification.error.code = 0;
	if (heap->plan->index)
		heap->plan->index(heap);
	retrace_run(heap, &r);
	gc_stat_add(&heap->stats.verifications, 1);
	/* A major collection in a stopped world leaves no floating garbage. */
	if (after && !heap->verification.error.code && c->exact && r.objects != c->marked_objects)
		gc_fail(&heap->verification.error, -EUCLEAN,
			"%llu objects are reachable, the collection kept %llu",
			(unsigned long long)r.objects, (unsigned long long)c->marked_objects);
}

static void error_die(struct gc_heap *heap, const char *when)
{
	if (heap->verification.error.code)
		gc_die(heap, "%s: %s", when, heap->verification.error.text);
}

static void flush_all(struct gc_heap *heap)
{
	for (struct gc_thread *t = heap->mutators.first; t; t = t->next)
		heap->plan->flush(t);
}

void gc_verify_walk(struct gc_heap *heap, gc_walk_fn walk, void *arg)
{
	struct retrace r = { .walk = walk, .walk_arg = arg };

	flush_all(heap);
	gc_ambiguous_note(heap);
	heap->verification.error.code = 0;
	if (heap->plan->index)
		heap->plan->index(heap);
	retrace_run(heap, &r);
}

struct dump {
	struct gc_heap *heap;
	void (*line)(const char *text, void *arg);
	void *arg;
	const void *from; /* the object whose references are listed; NULL: the roots */
};

static void dump_slot(void **slot, void *arg)
{
	const struct dump *d = arg;
	char text[64];

	if (word_is_other(d->heap, *slot))
		return;
	if (d->from)
		snprintf(text, sizeof(text), "ref %p %p", d->from, *slot);
	else
		snprintf(text, sizeof(text), "root %p", *slot);
	d->line(text, d->arg);
}

static void dump_weak(const struct dump *d, const char *what, void *word)
{
	char text[80];

	if (word_is_other(d->heap, word))
		return;
	snprintf(text, sizeof(text), "%s %p %p", what, d->from, word);
	d->line(text, d->arg);
}

static void dump_object(void *obj, const struct gc_type *type, size_t bytes, void *arg)
{
	struct dump *d = arg;
	uint64_t word = gc_word(obj);
	char text[256];

	(void)type;
	snprintf(text, sizeof(text), "object %p %zu %s", obj, bytes, type_name(d->heap, obj));
	d->line(text, d->arg);
	d->from = obj;
	if (!gc_object_visit(obj, gc_info(d->heap, word), word, dump_slot, d))
		return;
	if (gc_info(d->heap, word)->weak == GC_WEAK) {
		dump_weak(d, "weak", gc_weak_slot(obj)[0]);
	} else {
		dump_weak(d, "key", gc_weak_slot(obj)[0]);
		dump_weak(d, "value", gc_weak_slot(obj)[1]);
	}
}

void gc_verify_dump(struct gc_heap *heap, void (*line)(const char *text, void *arg), void *arg)
{
	struct dump d = { .heap = heap, .line = line, .arg = arg };

	flush_all(heap);
	gc_ambiguous_note(heap);
	gc_all_roots(heap, dump_slot, &d);
	gc_ambiguous_roots(heap, dump_slot, &d);
	gc_verify_walk(heap, dump_object, &d);
}

void gc_verify_pre(struct gc_heap *heap)
{
	gc_world_stop(heap);
	flush_all(heap);
	gc_ambiguous_note(heap);
	verify_heap(heap, false);
	error_die(heap, "before the collection");
	gc_world_restart(heap);
}

/* Every live object, reachable or not: its references point to live objects. */
static void live_slot(void **slot, void *arg)
{
	struct gc_heap *heap = arg;

	if (!word_is_other(heap, *slot))
		check_ref(heap, heap->verification.holder, *slot, false);
}

void gc_verify_post(struct gc_heap *heap)
{
	uintptr_t end = gc_high(heap);

	if (heap->opt.verify & GC_VERIFY_TRACE) {
		verify_heap(heap, true);
		error_die(heap, "re-trace after the collection");
	}
	if (!(heap->opt.verify & GC_VERIFY_POST) || heap->plan->bump)
		return;
	for (uintptr_t at = heap->base; (at = gc_bit_next(heap->live, at, end)) < end; at += 8) {
		heap->verification.holder = (void *)at;
		gc_verify_scan(heap, (void *)at, live_slot);
		error_die(heap, "after the collection");
	}
}

static void white_slot(void **slot, void *arg)
{
	struct gc_heap *heap = arg;

	heap->verification.white |=
		!word_is_other(heap, *slot) && !gc_bit_test(heap->mark, (uintptr_t)*slot);
}

void gc_verify_young(void **slot, void *arg)
{
	struct gc_heap *heap = arg;

	heap->verification.white |=
		!word_is_other(heap, *slot) && !gc_in_pages(heap, (uintptr_t)*slot);
}

/*
 * A reference from a marked object to an unmarked one lies on a dirty card. In the remark
 * pause the marked objects are the scanned ones, at the start of a minor cycle the old ones.
 */
void gc_verify_cards(struct gc_heap *heap)
{
	uintptr_t end = gc_high(heap);

	if (heap->stack.top != heap->stack.base || heap->stack.queued)
		return; /* marking was interrupted: the grey are on the stack */
	gc_stat_add(&heap->stats.verifications, 1);
	for (uintptr_t at = heap->base; (at = gc_bit_next(heap->mark, at, end)) < end; at += 8) {
		if (*gc_card(heap, at) || !gc_word((void *)at))
			continue;
		heap->verification.white = false;
		gc_verify_scan_clean(heap, (void *)at, white_slot);
		if (heap->verification.white)
			gc_die(heap,
			       "card table: %p (%s) is marked, refers to an unmarked object "
			       "and its card is clean: a store missed its write barrier",
			       (void *)at, type_name(heap, (void *)at));
	}
}

void gc_verify_now(struct gc_heap *heap)
{
	flush_all(heap);
	gc_ambiguous_note(heap);
	verify_heap(heap, false);
}
