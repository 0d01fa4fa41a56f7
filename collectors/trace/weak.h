/* SPDX-License-Identifier: MIT */
/*
 * Weak references, ephemerons and finalizers. Every plan ends its tracing with gc_weak_process().
 */
#ifndef GC_WEAK_H
#define GC_WEAK_H

#include "../heap/heap.h"

typedef bool (*gc_alive_fn)(struct gc_heap *heap, void **ref); /* updates a moved reference */
/*
 * Note an object for which gc_scan() returned true. After -ENOMEM the caller has to call
 * gc_weak_hold(). Not thread-safe.
 */
int gc_weak_note(struct gc_heap *heap, void *obj);
void gc_weak_process(struct gc_heap *heap, gc_alive_fn alive, gc_visit_fn keep, void *keep_arg,
		     void (*drain)(struct gc_heap *));

#endif
