/* SPDX-License-Identifier: MIT */
/*
 * Bitmaps with one bit for each 8 bytes of heap. The pointer is biased: word
 * address >> 9 holds the bits of the 512 bytes around that address.
 */
#ifndef GC_BITS_H
#define GC_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GC_WORD_SHIFT 9 /* 64 bits of 8 bytes */

static inline uint64_t gc_bit(uintptr_t addr)
{
	return 1ULL << (addr >> 3 & 63);
}

static inline bool gc_bit_test(const uint64_t *bits, uintptr_t addr)
{
	return bits[addr >> GC_WORD_SHIFT] & gc_bit(addr);
}

static inline void gc_bit_set(uint64_t *bits, uintptr_t addr)
{
	bits[addr >> GC_WORD_SHIFT] |= gc_bit(addr);
}

/*
 * Sets the bit; true when it was clear. One marker at a time: not atomic. Written so that it
 * becomes a test and a set by bit number where a machine has them.
 */
static inline bool gc_bit_take(uint64_t *bits, uintptr_t addr)
{
	uint64_t *at = &bits[addr >> GC_WORD_SHIFT], word = *at;
	unsigned int n = addr >> 3 & 63;

	if (word >> n & 1)
		return false;
	*at = word | 1ULL << n;
	return true;
}

/* The same while other threads set bits, too. The plain load avoids most of the atomic ones. */
static inline bool gc_bit_take_shared(uint64_t *bits, uintptr_t addr)
{
	uint64_t *word = &bits[addr >> GC_WORD_SHIFT], bit = gc_bit(addr);

	if (__atomic_load_n(word, __ATOMIC_RELAXED) & bit)
		return false;
	return !(__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit);
}

/* First set bit at or after @addr and below @end as an address, or @end. */
static inline uintptr_t gc_bit_next(const uint64_t *bits, uintptr_t addr, uintptr_t end)
{
	uintptr_t i;
	uint64_t word;

	if (addr >= end)
		return end;
	i = addr >> GC_WORD_SHIFT;
	word = bits[i] & ~0ULL << (addr >> 3 & 63);
	while (!word) {
		i++;
		if (i << GC_WORD_SHIFT >= end)
			return end;
		word = bits[i];
	}
	addr = (i << GC_WORD_SHIFT) + ((uintptr_t)__builtin_ctzll(word) << 3);
	return addr < end ? addr : end;
}

/* Number of set bits in [addr, end), both multiples of 512. */
static inline size_t gc_bit_count(const uint64_t *bits, uintptr_t addr, uintptr_t end)
{
	size_t n = 0;

	for (uintptr_t i = addr >> GC_WORD_SHIFT; i < end >> GC_WORD_SHIFT; i++) {
		uint64_t x = bits[i];

		if (!x)
			continue;
		/* By hand: on CPUs without the instruction __builtin_popcountll() is a call. */
		x -= x >> 1 & 0x5555555555555555u;
		x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
		x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
		n += x * 0x0101010101010101u >> 56;
	}
	return n;
}

#endif
