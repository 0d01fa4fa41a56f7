/* SPDX-License-Identifier: MIT */
/* Finding a broken heap. */
#ifndef GC_VERIFY_H
#define GC_VERIFY_H

#include "../heap/heap.h"

void gc_verify_pre(struct gc_heap *heap);
void gc_verify_post(struct gc_heap *heap);
void gc_verify_cards(struct gc_heap *heap);
/* World stopped: check the whole heap; errors are reported in verify_error. */
void gc_verify_now(struct gc_heap *heap);
/* The same, and call @walk for each reachable object, or @line with each line of a dump. */
void gc_verify_walk(struct gc_heap *heap, gc_walk_fn walk, void *arg);
void gc_verify_dump(struct gc_heap *heap, void (*line)(const char *text, void *arg), void *arg);
/*
 * For the plans' own card tables: visit the strong references of @obj; a visitor that sets
 * heap->verification.white when one leads out of the pages.
 */
void gc_verify_scan(struct gc_heap *heap, void *obj, gc_visit_fn visit);
/* The same for an object whose first card is clean, without what other dirty cards of it cover */
void gc_verify_scan_clean(struct gc_heap *heap, void *obj, gc_visit_fn visit);
void gc_verify_young(void **slot, void *heap);

#endif
