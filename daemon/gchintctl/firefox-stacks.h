/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of a profile for the Firefox Profiler: one table each of them, frames, functions. */
#ifndef GCHINTCTL_FIREFOX_STACKS_H
#define GCHINTCTL_FIREFOX_STACKS_H

#include "firefox.h"
#include "profile.h"
#include "tuples.h"

/**
 * struct firefox_stacks - what grows with distinct stacks, not with samples
 * @stacks: of a stack: the outer one, from 1, 0 none; its innermost frame
 * @frames: of a frame: function; category; subcategory; file, a name; line, 0 not known
 * @funcs: of a function: name; resource, from 1, 0 none; kind, of enum profile_kind
 * @resources: of an image: its name
 * @sources: of a file: its name
 */
struct firefox_stacks {
	const struct profile *p;
	struct tuples stacks, frames, funcs, resources, sources;
	uint32_t *source; /* of each function, while they are written */
};

void firefox_stacks_init(struct firefox_stacks *s, const struct profile *p);
void firefox_stacks_free(struct firefox_stacks *s);
/* The index of a sample's stack; TUPLES_FULL without memory. */
uint32_t firefox_stack_of(struct firefox_stacks *s, const struct profile_sample *sample);
/* The object "shared"; @s is NULL where nothing was sampled. False without memory. */
bool firefox_shared(struct firefox *x, struct firefox_stacks *s);

#endif
