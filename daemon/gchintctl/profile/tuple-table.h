/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Distinct tuples of numbers, indexed in the order in which they were entered. */
#ifndef GCHINTCTL_TUPLE_TABLE_H
#define GCHINTCTL_TUPLE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct tuples - initialise with { .width = numbers per tuple }
 * @nr: number of distinct tuples
 */
struct tuples {
	unsigned int width;
	size_t nr;
	uint32_t *number; /* tuple by tuple */
	uint32_t *slot; /* by hash: an index, from 1; 0 free */
	size_t slots;
};

#define TUPLES_FULL UINT32_MAX

/* Enters a tuple unless it is there; returns its index, or TUPLES_FULL without memory. */
uint32_t tuples_enter(struct tuples *t, const uint32_t *tuple);
const uint32_t *tuples_at(const struct tuples *t, size_t index);
void tuples_free(struct tuples *t);

#endif
