/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of stacks, frames and functions of a profile for the Firefox Profiler. */
#ifndef GCHINTCTL_FIREFOX_STACKS_H
#define GCHINTCTL_FIREFOX_STACKS_H

#include "firefox.h"
#include "profile.h"
#include "tuple-table.h"

/**
 * struct firefox_stacks - tables that grow with distinct stacks, not with samples
 * @stacks: per stack: index + 1 of the outer stack (0: none); its innermost frame
 * @frames: per frame: function; category; subcategory; file, a name; line (0: unknown)
 * @funcs: per function: name; resource index + 1 (0: none); enum profile_kind
 * @resources: per image: its name
 * @sources: per file: its name
 */
struct firefox_stacks {
	const struct profile *p;
	struct tuples stacks, frames, funcs, resources, sources;
	uint32_t *source; /* per function, set while the tables are written */
};

void firefox_stacks_init(struct firefox_stacks *s, const struct profile *p);
void firefox_stacks_free(struct firefox_stacks *s);
/* Returns the index of a sample's stack, or TUPLES_FULL if memory runs out. */
uint32_t firefox_stack_of(struct firefox_stacks *s, const struct profile_sample *sample);
/*
 * Writes the object "shared"; @s is NULL if nothing was sampled. Returns false if memory runs
 * out.
 */
bool firefox_shared(struct firefox *x, struct firefox_stacks *s);

#endif
