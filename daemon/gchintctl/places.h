/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of a growing list of stretches lie where, the newest first. */
#ifndef GCHINTCTL_PLACES_H
#define GCHINTCTL_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What no stretch has for its number, and what is at the end of a walk */
#define PLACES_NONE UINT32_MAX

/* Bytes that are looked up together */
#define PLACES_PAGE UINT64_C(4096)

struct place;

/**
 * struct places - stretches of addresses by the pages that they lie in
 *
 * Of zeroes: empty. Finding one costs what lies in a page, and what is very large.
 */
struct places {
	struct place *list;
	uint32_t *heads;
	uint32_t nr, room;
};

/**
 * struct places_walk - those of one page, from the newest on
 *
 * All that have an address of the page are among them, and some that do not.
 */
struct places_walk {
	const struct places *p;
	uint64_t page;
	uint32_t near, far;
};

/**
 * places_add - the next stretch
 * @number: higher than all before
 * @size: not 0, nor past the last address
 *
 * False at the end of memory: it is not there then.
 */
bool places_add(struct places *p, uint32_t number, uint64_t start, uint64_t size);
/* Those of the page that has the address. */
struct places_walk places_at(const struct places *p, uint64_t address);
/* The number of the next; PLACES_NONE: that was all. */
uint32_t places_next(struct places_walk *w);
void places_free(struct places *p);

#endif
