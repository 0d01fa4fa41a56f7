/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call chains, one row for each however often it is seen. */
#ifndef GCHINTD_STACKS_H
#define GCHINTD_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "../host.h"

#define STACKS 65536 /* distinct ones that are remembered; a power of two */

struct stacks {
	uint32_t told; /* so far */
	struct {
		uint64_t hash;
		uint32_t id;
	} stack[STACKS];
};

/* The number of a chain of addresses, the innermost first, which is told if it is new; 0: none. */
uint32_t stacks_id(struct stacks *s, struct host *host, const uint64_t *frame, size_t nr);

#endif
