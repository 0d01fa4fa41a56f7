// SPDX-License-Identifier: MIT
#include "heap.h"
int gc_adapt_init(struct gc_heap *heap) { (void)heap; return 0; }
void gc_adapt_fini(struct gc_heap *heap) { (void)heap; }
void gc_adapt_cycle(struct gc_heap *heap) { (void)heap; }
bool gc_adapt_grow(struct gc_heap *heap) { (void)heap; return false; }
