/* SPDX-License-Identifier: MIT */
/*
 * Forwarding: if bit 0 of a header is set, the object moved and the rest is its new address.
 */
#ifndef GC_FORWARD_H
#define GC_FORWARD_H

#include "heap.h"

#define GC_FORWARDED 1u
#define GC_AGE_SHIFT 1
#define GC_AGE_MASK  (3u << GC_AGE_SHIFT)

gc_inline void gc_copy_words(void *to, const void *from, size_t bytes)
{
	size_t at = 0;

	if (bytes > 256) {
		memcpy(to, from, bytes);
		return;
	}
	/* Constant sizes compile to a load and a store each. */
	for (; at + 16 <= bytes; at += 16)
		memcpy((char *)to + at, (const char *)from + at, 16);
	if (bytes & 8)
		memcpy((char *)to + at, (const char *)from + at, 8);
}

/* The same for a small object of @bytes, without its header */
gc_inline void gc_copy_fields(void *to, const void *from, size_t bytes)
{
	size_t at = sizeof(struct gc_header);

	if (!(bytes & 8)) {
		memcpy((char *)to + at, (const char *)from + at, 8);
		at += 8;
	}
	for (; at < bytes; at += 16)
		memcpy((char *)to + at, (const char *)from + at, 16);
}

/* After copying: did the object move? If so, update the reference. */
gc_inline bool gc_copy_kept(void **ref)
{
	uint64_t word = gc_word(*ref);

	if (word & GC_FORWARDED)
		*ref = (void *)(uintptr_t)(word & ~(uint64_t)GC_FORWARDED);
	return word & GC_FORWARDED;
}

#endif
