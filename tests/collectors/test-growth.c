// SPDX-License-Identifier: MIT
/* Description: a walk over the mark bits while the heap grows stops only at marked objects. */
#include "tap.h"

#include <pthread.h>

#include <heap/heap.h>
#include <trace/mark.h>
#include <space/pages.h>

#define WALKS 2000000

static bool stop;

/* An empty heap that grows by a page and shrinks again */
static void *grow(void *arg)
{
	uint32_t *high = arg;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		__atomic_store_n(high, 1, __ATOMIC_RELAXED);
		__atomic_store_n(high, 2, __ATOMIC_RELAXED);
	}
	return NULL;
}

int main(void)
{
	struct gc_heap *heap;
	struct gc_error err;
	pthread_t thread;
	int met = 0;

	if (gc_heap_create(&heap, "plan=cms,profile=dalvik-4.3,heap=4M", NULL, &err)) {
		printf("Bail out! %s\n", err.text);
		return 1;
	}
	gc_mark_reset(heap);
	if (pthread_create(&thread, NULL, grow, &heap->pages->high))
		return 1;
	for (int i = 0; i < WALKS; i++) {
		uintptr_t at = heap->base;

		met += gc_mark_next(heap, &at);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	heap->pages->high = 0;
	if (!ok(!met, "the walk stops only at marked objects"))
		printf("# %d of %d walks\n", met, WALKS);
	gc_heap_destroy(heap);
	return done();
}
