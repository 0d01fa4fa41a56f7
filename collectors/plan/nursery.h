/* SPDX-License-Identifier: MIT */
/*
 * How much mutators allocate before a generational copying collection. Pure: bytes in, a size
 * out, so that equal runs are equal.
 *
 * As little as the cache holds, unless more lets more of it die: doubled while a noticeable part
 * survives and the last doubling left less alive, and back where it did not.
 */
#ifndef GC_NURSERY_H
#define GC_NURSERY_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct gc_nursery - the size and what it was learned from
 * @least, @most: bounds of @size
 * @size: bytes to allocate before the next collection
 * @allocated, @kept, @seen: bytes allocated and survived, and collections, at this size
 * @before: part that survived at half the size, while the doubling is on trial; else negative
 * @rest: collections until a doubling is tried again
 * @patience: the rest after the next doubling that is for nothing
 */
struct gc_nursery {
	uint64_t least, most, size;
	uint64_t allocated, kept;
	unsigned int seen, rest, patience;
	double before;
};

void gc_nursery_init(struct gc_nursery *n, uint64_t least, uint64_t most);
/* @least for more mutators than before, or fewer */
void gc_nursery_bound(struct gc_nursery *n, uint64_t least);
/* A collection ended that @kept bytes survived of @allocated since the one before. */
void gc_nursery_end(struct gc_nursery *n, uint64_t allocated, uint64_t kept);

/* Bytes of cache that one core has to itself: 1 to 4 MiB */
uint64_t gc_nursery_cache(void);

#endif
