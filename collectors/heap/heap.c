// SPDX-License-Identifier: MIT
#include "heap.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "plan.h"

#define LOCK_SPINS 1000

void gc_die(struct gc_heap *heap, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "gchint-gc: plan=%s cycle %llu seed=%lld: ", heap->plan->name,
		(unsigned long long)heap->cycle.number, (long long)heap->opt.seed);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n  re-run with: %s\n", heap->opt_text);
	abort();
}

void gc_space_lock(struct gc_heap *heap)
{
	bool got = false;
	uint64_t begin;

	if (likely(!pthread_mutex_trylock(&heap->space_lock)))
		return;
	begin = gc_now();
	/* The lock is held for microseconds: sleeping and waking up would take longer. */
	for (int i = 0; i < LOCK_SPINS && !got; i++) {
		gc_relax();
		got = !pthread_mutex_trylock(&heap->space_lock);
	}
	if (!got)
		pthread_mutex_lock(&heap->space_lock);
	gc_count(&heap->stats.contentions, 1);
	gc_count(&heap->stats.contention_ns, gc_now() - begin);
}

int gc_vector_push(struct gc_vector *v, void *item)
{
	if (v->count == v->room) {
		size_t room = v->room ? 2 * v->room : 64;
		void **items = realloc(v->items, room * sizeof(void *));

		if (!items)
			return -ENOMEM;
		v->items = items;
		v->room = room;
	}
	v->items[v->count++] = item;
	return 0;
}
