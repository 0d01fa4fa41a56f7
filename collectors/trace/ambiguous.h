/* SPDX-License-Identifier: MIT */
/*
 * Objects that do not move and stay alive because of what is no precise reference: words of stacks
 * and registers (stack=conservative), which may be numbers as well, and gc_object_pin().
 */
#ifndef GC_AMBIGUOUS_H
#define GC_AMBIGUOUS_H

#include "marker.h"

/*
 * World stopped, after the mark bits were prepared and before any other root: mark the objects that
 * stacks refer to, and those that are pinned where others may move. @starts: bitmap of the objects
 * that the last collection left.
 */
void gc_ambiguous_hold(struct gc_heap *heap, const uint64_t *starts);
/* World stopped, runs flushed: note the objects that stacks refer to, for gc_ambiguous_roots(). */
void gc_ambiguous_note(struct gc_heap *heap);
/* Visit the objects that were noted or, with verify=, held last. */
void gc_ambiguous_roots(struct gc_heap *heap, gc_visit_fn visit, void *arg);

/* Pinned objects, as roots; roots.lock is held. */
void gc_pinned_roots(struct gc_heap *heap, gc_visit_fn visit, void *arg);
int gc_pinned_add(struct gc_heap *heap, void *obj);
int gc_pinned_remove(struct gc_heap *heap, void *obj);

#endif
