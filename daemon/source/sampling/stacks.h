/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call chains, recorded once each however often they occur. */
#ifndef SOURCE_STACKS_H
#define SOURCE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../context.h"

#define STACKS 65536 /* entries of the hash table; a power of two */

struct stacks {
	uint32_t count; /* recorded so far */
	struct {
		uint64_t hash;
		uint32_t id;
	} stack[STACKS];
};

/*
 * The number of a call chain, innermost address first; a new one is recorded. 0: empty. @cut: it is
 * deeper than the kernel takes, which "+" at its end says.
 */
uint32_t stacks_id(struct stacks *s, struct source_context *context, const uint64_t *frame,
		   size_t nr, bool cut);

#endif
