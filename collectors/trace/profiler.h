/* SPDX-License-Identifier: MIT */
/* profiler=: measures object lifetimes by cohorts. */
#ifndef GC_PROFILER_H
#define GC_PROFILER_H

#include "../heap/heap.h"

int gc_profiler_init(struct gc_heap *heap);
void gc_profiler_fini(struct gc_heap *heap);
void gc_profiler_cycle(struct gc_heap *heap);

#endif
