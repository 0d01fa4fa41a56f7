/* SPDX-License-Identifier: MIT */
/* How much may still be allocated. */
#ifndef GC_HEADROOM_H
#define GC_HEADROOM_H

#include "heap.h"

/*
 * Bytes that may still be granted before a mutator waits for the collector. The limit is
 * where it does, unless the daemon alone collects: then mutators go on up to max=.
 */
uint64_t gc_headroom(const struct gc_heap *heap);
/* Bytes that the heap could give at most, whatever the soft limit says */
uint64_t gc_headroom_most(const struct gc_heap *heap);

#endif
