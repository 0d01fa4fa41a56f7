/* SPDX-License-Identifier: MIT */
/* policy=adaptive. */
#ifndef GC_ADAPT_H
#define GC_ADAPT_H

#include "../heap/heap.h"

int gc_adapt_init(struct gc_heap *heap);
void gc_adapt_fini(struct gc_heap *heap);
/*
 * A cycle ended; the caller still has the right to collect. @ns: wall-clock time until the memory that it
 * freed could be allocated; @cpu_ns: CPU time of all marking threads
 */
void gc_adapt_cycle(struct gc_heap *heap, uint64_t ns, uint64_t cpu_ns);
/* A mutator is at the soft limit: raise the limit (true), or collect? */
bool gc_adapt_grow(struct gc_heap *heap);

#endif
