// SPDX-License-Identifier: MIT
#include "heap.h"
int gc_profiler_init(struct gc_heap *heap) { (void)heap; return 0; }
void gc_profiler_fini(struct gc_heap *heap) { (void)heap; }
void gc_profiler_cycle(struct gc_heap *heap) { (void)heap; }
