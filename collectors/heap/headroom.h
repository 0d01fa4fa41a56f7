/* SPDX-License-Identifier: MIT */
/* How much may still be allocated. */
#ifndef GC_HEADROOM_H
#define GC_HEADROOM_H

#include "heap.h"

/*
 * Bytes that may still be granted before a mutator waits for the collector: up to the soft
 * limit, or up to max= where only the daemon collects.
 */
uint64_t gc_headroom(const struct gc_heap *heap);
/* Bytes that may still be granted at most, regardless of the soft limit */
uint64_t gc_headroom_most(const struct gc_heap *heap);

#endif
