/* SPDX-License-Identifier: MIT */
/*
 * How much mutators allocate before a generational copying collection. Pure: from bytes to a
 * size, so that runs are reproducible.
 *
 * As much as the cache holds, unless a larger nursery lets a larger part die: it is doubled while
 * a noticeable part survives and each doubling reduces that part, and else halved again.
 */
#ifndef GC_NURSERY_H
#define GC_NURSERY_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct gc_nursery - the size and the measurements that it is based on
 * @least, @most: bounds of @size
 * @size: bytes to allocate before the next collection
 * @allocated, @kept, @seen: bytes allocated and survived, and collections, at this size
 * @before: part that survived at half the size, while a doubling is being tried; else negative
 * @rest: collections until a doubling is tried again
 * @patience: value of @rest after the next doubling that does not pay off
 */
struct gc_nursery {
	uint64_t least, most, size;
	uint64_t allocated, kept;
	unsigned int seen, rest, patience;
	double before;
};

void gc_nursery_init(struct gc_nursery *n, uint64_t least, uint64_t most);
/* Change @least, for another number of mutators. */
void gc_nursery_bound(struct gc_nursery *n, uint64_t least);
/* A collection ended: @kept bytes survived of those @allocated since the one before. */
void gc_nursery_end(struct gc_nursery *n, uint64_t allocated, uint64_t kept);

/* Bytes of private cache of a core, clamped to 1 to 4 MiB */
uint64_t gc_nursery_cache(void);

#endif
