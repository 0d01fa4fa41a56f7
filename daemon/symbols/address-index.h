/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An index from addresses to the ranges that may contain them, the newest first. */
#ifndef SYMBOLS_ADDRESS_INDEX_H
#define SYMBOLS_ADDRESS_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not a valid number of a range: marks the end of a walk */
#define PLACES_NONE UINT32_MAX

/* Granularity of the index in bytes */
#define PLACES_PAGE UINT64_C(4096)

struct place;

/**
 * struct places - ranges of addresses, hashed by the pages that they cover
 *
 * All zeroes is the empty index. A lookup visits the ranges that touch the page of the address,
 * and all very large ranges.
 */
struct places {
	struct place *list;
	uint32_t *heads;
	uint32_t nr, room;
};

/**
 * struct places_walk - iterates over the ranges of one page, newest first
 *
 * It visits every range that covers an address of the page, and others too: the caller checks.
 */
struct places_walk {
	const struct places *p;
	uint64_t page;
	uint32_t near, far;
};

/**
 * places_add - add a range
 * @number: must be higher than that of every range added before
 * @size: not 0; the range must not wrap around
 *
 * Returns false without memory; the range is not added then.
 */
bool places_add(struct places *p, uint32_t number, uint64_t start, uint64_t size);
/* Starts a walk over the ranges in the page of @address. */
struct places_walk places_at(const struct places *p, uint64_t address);
/* Returns the number of the next range; PLACES_NONE at the end. */
uint32_t places_next(struct places_walk *w);
void places_free(struct places *p);

#endif
