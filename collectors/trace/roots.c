// SPDX-License-Identifier: MIT
/* Registration of types and roots, and the visits of roots. */
#include <errno.h>
#include <stdlib.h>

#include "ambiguous.h"
#include "trace.h"

void gc_thread_roots(struct gc_thread *t, gc_visit_fn visit, void *arg)
{
	for (struct gc_frame *frame = t->m.frames; frame; frame = frame->prev) {
		void **slot = (void **)(frame + 1);

		for (size_t i = 0; i < frame->count; i++)
			visit(&slot[i], arg);
	}
	if (t->roots)
		t->roots(visit, arg, t->roots_arg);
}

static void visit_finalized(struct gc_heap *heap, gc_visit_fn visit, void *arg)
{
	for (size_t i = heap->weak.finalized_next; i < heap->weak.finalized.count; i++)
		visit(&heap->weak.finalized.items[i], arg);
}

void gc_finalized_roots(struct gc_heap *heap, gc_visit_fn visit, void *arg)
{
	pthread_mutex_lock(&heap->roots.lock);
	visit_finalized(heap, visit, arg);
	pthread_mutex_unlock(&heap->roots.lock);
}

void gc_global_roots(struct gc_heap *heap, gc_visit_fn visit, void *arg)
{
	struct gc_root_callback roots;
	size_t more;

	pthread_mutex_lock(&heap->roots.lock);
	for (struct gc_root_array *a = heap->roots.arrays; a; a = a->next)
		for (size_t i = 0; i < a->count; i++)
			visit(&a->slots[i], arg);
	visit_finalized(heap, visit, arg);
	gc_pinned_roots(heap, visit, arg);
	roots = heap->roots.callback;
	more = heap->roots.added_count;
	pthread_mutex_unlock(&heap->roots.lock);
	if (roots.fn)
		roots.fn(visit, arg, roots.arg);
	/* Threads that are not attached may add and remove callbacks meanwhile. */
	for (size_t i = 0; i < more; i++) {
		pthread_mutex_lock(&heap->roots.lock);
		roots = heap->roots.added[i];
		pthread_mutex_unlock(&heap->roots.lock);
		if (roots.fn)
			roots.fn(visit, arg, roots.arg);
	}
}

bool gc_roots_registered(struct gc_heap *heap)
{
	bool any;

	pthread_mutex_lock(&heap->roots.lock);
	any = heap->roots.callback.fn || heap->roots.added_count || heap->roots.arrays ||
	      heap->roots.pinned_objects;
	pthread_mutex_unlock(&heap->roots.lock);
	return any;
}

void gc_all_roots(struct gc_heap *heap, gc_visit_fn visit, void *arg)
{
	for (struct gc_thread *t = heap->mutators.first; t; t = t->next)
		gc_thread_roots(t, visit, arg);
	gc_global_roots(heap, visit, arg);
}

int gc_roots_add(struct gc_heap *heap, void **slots, size_t count)
{
	struct gc_root_array *a = malloc(sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->slots = slots;
	a->count = count;
	pthread_mutex_lock(&heap->roots.lock);
	a->next = heap->roots.arrays;
	heap->roots.arrays = a;
	pthread_mutex_unlock(&heap->roots.lock);
	return 0;
}

int gc_roots_remove(struct gc_heap *heap, void **slots)
{
	struct gc_root_array **link, *a = NULL;

	pthread_mutex_lock(&heap->roots.lock);
	for (link = &heap->roots.arrays; *link; link = &(*link)->next) {
		if ((*link)->slots == slots) {
			a = *link;
			*link = a->next;
			break;
		}
	}
	pthread_mutex_unlock(&heap->roots.lock);
	free(a);
	return a ? 0 : -ENOENT;
}

int gc_words_add(struct gc_heap *heap, const void *start, size_t bytes)
{
	uintptr_t first = gc_align((uintptr_t)start, sizeof(void *));
	uintptr_t end = ((uintptr_t)start + bytes) & ~(sizeof(void *) - 1);
	struct gc_word_range *r;

	if (heap->opt.stack != GC_STACK_CONSERVATIVE)
		return -EOPNOTSUPP;
	r = malloc(sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->start = start;
	r->words = (const uintptr_t *)first;
	r->count = end > first ? (end - first) / sizeof(void *) : 0;
	pthread_mutex_lock(&heap->roots.lock);
	r->next = heap->roots.ranges;
	heap->roots.ranges = r;
	pthread_mutex_unlock(&heap->roots.lock);
	return 0;
}

int gc_words_remove(struct gc_heap *heap, const void *start)
{
	struct gc_word_range **link, *r;

	pthread_mutex_lock(&heap->roots.lock);
	for (link = &heap->roots.ranges; *link && (*link)->start != start; link = &(*link)->next)
		;
	r = *link;
	if (r)
		*link = r->next;
	pthread_mutex_unlock(&heap->roots.lock);
	free(r);
	return r ? 0 : -ENOENT;
}

void gc_roots_callback(struct gc_heap *heap, gc_roots_fn fn, void *arg)
{
	pthread_mutex_lock(&heap->roots.lock);
	heap->roots.callback.fn = fn;
	heap->roots.callback.arg = arg;
	pthread_mutex_unlock(&heap->roots.lock);
}

/* The place of @fn with @arg, or NULL; roots.lock is held. */
static struct gc_root_callback *callback_at(struct gc_heap *heap, gc_roots_fn fn, const void *arg)
{
	for (size_t i = 0; i < heap->roots.added_count; i++)
		if (heap->roots.added[i].fn == fn && (!fn || heap->roots.added[i].arg == arg))
			return &heap->roots.added[i];
	return NULL;
}

int gc_roots_callback_add(struct gc_heap *heap, gc_roots_fn fn, void *arg)
{
	struct gc_root_callback *at, *grown;
	int ret = 0;

	pthread_mutex_lock(&heap->roots.lock);
	at = callback_at(heap, NULL, NULL);
	if (callback_at(heap, fn, arg)) {
		ret = -EEXIST;
	} else if (!at) {
		grown = realloc(heap->roots.added, (heap->roots.added_count + 1) * sizeof(*grown));
		if (grown) {
			heap->roots.added = grown;
			at = &grown[heap->roots.added_count++];
		} else {
			ret = -ENOMEM;
		}
	}
	if (!ret)
		*at = (struct gc_root_callback){ fn, arg };
	pthread_mutex_unlock(&heap->roots.lock);
	return ret;
}

int gc_roots_callback_remove(struct gc_heap *heap, gc_roots_fn fn, void *arg)
{
	struct gc_root_callback *at;

	pthread_mutex_lock(&heap->roots.lock);
	at = callback_at(heap, fn, arg);
	if (at)
		at->fn = NULL;
	pthread_mutex_unlock(&heap->roots.lock);
	return at ? 0 : -ENOENT;
}

void gc_mutator_roots_callback(struct gc_mutator *m,
			       void (*fn)(gc_visit_fn visit, void *visit_arg, void *arg), void *arg)
{
	struct gc_thread *t = gc_thread(m);

	t->roots = fn;
	t->roots_arg = arg;
}

/* The part of the header word that encodes the type's shape; 0: it has none */
static uint64_t shape_of(const struct gc_type_desc *desc)
{
	uint64_t refs = desc->refs >> sizeof(struct gc_header) / sizeof(void *);
	unsigned int count = (unsigned int)__builtin_popcountll(refs);

	if (desc->tail != GC_TAIL_NONE || desc->trace || desc->weak || desc->ephemeron ||
	    desc->size > GC_SMALL_MAX || count > GC_SHAPE_MOST || refs != (1ULL << count) - 1)
		return 0;
	return gc_align(desc->size, 8) / 8 << 24 | (count + 1) << GC_SHAPE_SHIFT;
}

const struct gc_type *gc_type_add(struct gc_heap *heap, const struct gc_type_desc *desc,
				  struct gc_error *err)
{
	const char *name = desc->name ? desc->name : "?";
	size_t words = (desc->size + sizeof(void *) - 1) / sizeof(void *);
	uint64_t header = (1ULL << sizeof(struct gc_header) / sizeof(void *)) - 1;
	struct gc_info *info = NULL;

	if (desc->size < sizeof(struct gc_header) || desc->size > 1u << 30) {
		gc_fail(err, -EINVAL, "type %s: size %u; give 8 to 1G, the header included", name,
			desc->size);
		return NULL;
	}
	if (desc->refs & header || (words < 64 && desc->refs >> words)) {
		gc_fail(err, -EINVAL, "type %s: refs names words outside the fields", name);
		return NULL;
	}
	if (desc->weak &&
	    (desc->size < sizeof(struct gc_header) + sizeof(void *) || desc->refs & (header + 1))) {
		gc_fail(err, -EINVAL, "type %s: a weak type's first field is the referent alone",
			name);
		return NULL;
	}
	if (desc->ephemeron &&
	    (desc->weak || desc->size < sizeof(struct gc_header) + 2 * sizeof(void *) ||
	     desc->refs & 3 * (header + 1))) {
		gc_fail(err, -EINVAL,
			"type %s: an ephemeron's first two fields are key and value alone", name);
		return NULL;
	}
	if (desc->tail == GC_TAIL_DATA && !desc->elem_size) {
		gc_fail(err, -EINVAL, "type %s: elem_size 0; give the bytes of an element", name);
		return NULL;
	}
	pthread_mutex_lock(&heap->roots.lock);
	if (heap->roots.type_count < GC_MAX_TYPES)
		info = &heap->roots.types[heap->roots.type_count];
	if (info) {
		info->name = strdup(name);
		info->pub.word = (uint64_t)heap->roots.type_count << 8 | shape_of(desc);
		info->pub.size = desc->tail == GC_TAIL_REFS ?
					 (uint32_t)gc_align(desc->size, sizeof(void *)) :
					 desc->size;
		info->pub.elem_size = desc->tail == GC_TAIL_REFS ? sizeof(void *) :
				      desc->tail == GC_TAIL_DATA ? desc->elem_size :
								   0;
		info->refs = desc->refs;
		info->tail = (uint8_t)desc->tail;
		info->trace = desc->trace;
		info->weak = desc->weak ? GC_WEAK : desc->ephemeron ? GC_EPHEMERON : GC_STRONG;
		info->lasting = desc->ephemeron && desc->lasting;
		info->scanned =
			info->refs || desc->trace || info->weak || desc->tail == GC_TAIL_REFS;
		heap->roots.type_count++;
	}
	pthread_mutex_unlock(&heap->roots.lock);
	if (!info) {
		gc_fail(err, -ENOSPC, "type %s: more than %u types", name, GC_MAX_TYPES);
		return NULL;
	}
	return &info->pub;
}
