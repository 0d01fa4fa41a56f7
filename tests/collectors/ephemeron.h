/* SPDX-License-Identifier: MIT */
/* A heap with a type that is an ephemeron and more, and one that is not. */
#ifndef EPHEMERON_H
#define EPHEMERON_H

#include "alone.h"

#define FIELDS 3
#define CHECKS ",verify=all,poison=1,max=64M"

struct object {
	struct gc_header header;
	struct object *field[FIELDS]; /* of a pair the first is its key, the second its value */
	uint64_t id;
};

struct array {
	struct gc_header header;
	void *item[];
};

static const struct gc_type *node, *pair, *array;

static bool start(const char *options)
{
	const struct gc_type_desc n = { .name = "node", .size = sizeof(struct object), .refs = 14 };
	const struct gc_type_desc p = {
		.name = "pair", .size = sizeof(struct object), .refs = 8, .ephemeron = true
	};
	const struct gc_type_desc a = { .name = "array", .size = 8, .tail = GC_TAIL_REFS };

	if (!open_heap(options))
		return false;
	node = gc_type_register(heap, &n, NULL);
	pair = gc_type_register(heap, &p, NULL);
	array = gc_type_register(heap, &a, NULL);
	return true;
}

#endif
