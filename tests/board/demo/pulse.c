// SPDX-License-Identifier: MIT
/*
 * pulse [REQUESTS] - a small server on the Boehm collector: a large live heap, every 200 ms a
 * request that allocates, and between two of them, at low load, a collection. It does not use
 * gchint itself.
 */
#include <gc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LIVE_DEPTH    17
#define REQUEST_DEPTH 12
#define REQUEST_TREES 12

struct tree {
	struct tree *left, *right;
};

static struct tree *grow(int depth)
{
	struct tree *t = GC_MALLOC(sizeof(*t));

	if (!t) {
		fprintf(stderr, "pulse: out of memory\n");
		exit(1);
	}
	if (depth) {
		t->left = grow(depth - 1);
		t->right = grow(depth - 1);
	}
	return t;
}

static unsigned int count(const struct tree *t)
{
	return t ? 1 + count(t->left) + count(t->right) : 0;
}

int main(int argc, char **argv)
{
	const struct timespec pause = { 0, 100 * 1000 * 1000 };
	int requests = argc > 1 ? atoi(argv[1]) : 20;
	struct tree *live;
	int i, j;

	GC_INIT();
	live = grow(LIVE_DEPTH);
	for (i = 0; i < requests; i++) {
		for (j = 0; j < REQUEST_TREES; j++)
			if (count(grow(REQUEST_DEPTH)) != (2u << REQUEST_DEPTH) - 1)
				return 1;
		nanosleep(&pause, NULL);
		GC_gcollect();
		nanosleep(&pause, NULL);
	}
	printf("pulse: %d requests, %u live nodes, %lu collections\n", requests, count(live),
	       (unsigned long)GC_get_gc_no());
	return 0;
}
