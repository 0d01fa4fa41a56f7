/* SPDX-License-Identifier: MIT */
/* Code that the plans over size-class blocks and large objects share. */
#ifndef GC_INPLACE_H
#define GC_INPLACE_H

#include "../heap/heap.h"
#include "../heap/plan.h"
#include "../space/blocks.h"

int gc_inplace_init(struct gc_heap *heap, struct gc_error *err);
void gc_inplace_fini(struct gc_heap *heap);
uintptr_t gc_inplace_alloc(struct gc_thread *t, size_t bytes, bool force);
void gc_inplace_flush(struct gc_thread *t);
bool gc_inplace_valid(struct gc_heap *heap, uintptr_t addr);
size_t gc_inplace_footprint(const struct gc_heap *heap);

/* Sweep all: blocks batch by batch, then large objects. */
void gc_inplace_sweep(struct gc_heap *heap);
/* Finish the sweep that a lazy plan left, before mark bits change. */
void gc_inplace_sweep_rest(struct gc_heap *heap);
/*
 * World stopped, after marking: take back runs, turn the mark bits into the live bits, and
 * restart the budget from the live bytes.
 */
void gc_inplace_turn_over(struct gc_heap *heap);

#define GC_INPLACE                                                                                 \
	.in_place = true, .pins = true, .init = gc_inplace_init, .fini = gc_inplace_fini,          \
	.alloc = gc_inplace_alloc, .flush = gc_inplace_flush, .valid = gc_inplace_valid,           \
	.sweep = gc_blocks_sweep, .footprint = gc_inplace_footprint, .release = gc_pages_release

#endif
