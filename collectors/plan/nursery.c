// SPDX-License-Identifier: MIT
#include "nursery.h"

#include <unistd.h>

#define PERIOD	 4 /* collections at one size before it is evaluated */
#define MUCH	 .04 /* if a larger part survives, try a larger nursery */
#define LITTLE	 .005 /* if a smaller part survives, use a smaller nursery */
#define PAYS	 .8 /* a doubling is kept if it reduces the surviving part by this factor or more */
#define PATIENCE 64

void gc_nursery_init(struct gc_nursery *n, uint64_t least, uint64_t most)
{
	*n = (struct gc_nursery){ .most = most, .before = -1, .patience = PERIOD };
	gc_nursery_bound(n, least);
}

void gc_nursery_bound(struct gc_nursery *n, uint64_t least)
{
	n->least = least < n->most ? least : n->most;
	if (n->size < n->least)
		n->size = n->least;
}

static void nursery_resize(struct gc_nursery *n, uint64_t size, double before)
{
	n->size = size < n->least ? n->least : size;
	n->before = before;
}

/* Adjust the size; @share is the part of the allocated bytes that survived. */
static void nursery_judge(struct gc_nursery *n, double share)
{
	if (n->before >= 0 && share > n->before * PAYS) {
		nursery_resize(n, n->size / 2, -1);
		n->rest = n->patience;
		n->patience = n->patience < PATIENCE ? 2 * n->patience : PATIENCE;
		return;
	}
	if (n->before >= 0)
		n->patience = PERIOD;
	n->before = -1;
	if (share > MUCH && 2 * n->size <= n->most && !n->rest)
		nursery_resize(n, 2 * n->size, share);
	else if (share < LITTLE)
		nursery_resize(n, n->size / 2, -1);
}

void gc_nursery_end(struct gc_nursery *n, uint64_t allocated, uint64_t kept)
{
	/* Ignore an early collection: objects had less time to die. */
	if (allocated < n->size / 2)
		return;
	n->allocated += allocated;
	n->kept += kept;
	n->rest -= n->rest > 0;
	if (++n->seen < PERIOD)
		return;
	nursery_judge(n, (double)n->kept / (double)n->allocated);
	n->allocated = n->kept = n->seen = 0;
}

uint64_t gc_nursery_cache(void)
{
	long bytes = -1;

#ifdef _SC_LEVEL2_CACHE_SIZE
	bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
	if (bytes <= 0)
		return 2u << 20;
	return bytes < 1 << 20 ? 1 << 20 : bytes > 4 << 20 ? 4 << 20 : (uint64_t)bytes;
}
