/* SPDX-License-Identifier: MIT */
/*
 * Which survivors of two collections are promoted out of the bump space: the policies of the
 * size-aware promotion seed (section 4) and its tuning by measured lifetimes (5.6).
 */
#ifndef GC_PROMOTE_H
#define GC_PROMOTE_H

#include "../heap/heap.h"

#define GC_SIZE_BUCKETS 8 /* up to 16, 32, 64, 128, 256, 512, 1024 bytes, and above */

struct gc_promotion {
	struct {
		uint32_t low, high;
	} range[16];
	unsigned int ranges;
	/*
	 * tuned: eligible objects that were held back, by size, and how many of those
	 * were met again at the next collection.
	 */
	uint64_t held[GC_SIZE_BUCKETS], met[GC_SIZE_BUCKETS];
	uint64_t held_now[GC_SIZE_BUCKETS];
	bool restrict_bucket[GC_SIZE_BUCKETS];
	uint64_t collections;
};

/* Parses ranges=; -EINVAL with @err. */
int gc_promotion_init(struct gc_promotion *p, const struct gc_options *opt, struct gc_error *err);
/* Is an eligible object of @size bytes to be promoted now? Called by copiers concurrently. */
bool gc_promotion_choose(const struct gc_heap *heap, struct gc_promotion *p, size_t size,
			 uint64_t *rng);
/* tuned: an object that was held back at the last collection is alive */
void gc_promotion_met(struct gc_promotion *p, size_t size);
/* A collection ended. */
void gc_promotion_end(struct gc_promotion *p);

#endif
