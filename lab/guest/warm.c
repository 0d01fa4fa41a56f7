// SPDX-License-Identifier: MIT
/*
 * LAB_WARM=BYTES: marks the instant at which the program has allocated this much. The time
 * before it, with the start of the process and the first collections, is excluded from the
 * measured energy and time. The bound is an amount of work, so all governors are measured on
 * equal work.
 *
 * The time after the last mutator has detached is excluded as well: a load with requests computes
 * its latencies then, which takes up to a fifth of the run.
 */
#include "warm.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "mark.h"

#define EVERY 16 /* slow allocations between two checks */

static const struct gc_heap *heap;
static uint64_t bound;
static _Atomic uint32_t calls;
static atomic_flag done = ATOMIC_FLAG_INIT;
static _Atomic int mutators;

void warm_watch(const struct gc_heap *watched)
{
	const char *text = getenv("LAB_WARM");

	bound = text ? strtoull(text, NULL, 10) : 0;
	heap = watched;
}

void *__real_gc_alloc_slow(struct gc_mutator *m, const struct gc_type *type, size_t bytes);
void *__wrap_gc_alloc_slow(struct gc_mutator *m, const struct gc_type *type, size_t bytes);

void *__wrap_gc_alloc_slow(struct gc_mutator *m, const struct gc_type *type, size_t bytes)
{
	struct gc_heap_stats s;

	if (bound && atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed) % EVERY == 0) {
		gc_heap_stats(heap, &s);
		if (s.allocated_bytes >= bound) {
			bound = 0;
			if (!atomic_flag_test_and_set(&done))
				MARK(MARK_WARM);
		}
	}
	return __real_gc_alloc_slow(m, type, bytes);
}

int __real_gc_mutator_attach(struct gc_heap *of, struct gc_mutator **out);
int __wrap_gc_mutator_attach(struct gc_heap *of, struct gc_mutator **out);

int __wrap_gc_mutator_attach(struct gc_heap *of, struct gc_mutator **out)
{
	int err = __real_gc_mutator_attach(of, out);

	if (!err)
		atomic_fetch_add(&mutators, 1);
	return err;
}

void __real_gc_mutator_detach(struct gc_mutator *m);
void __wrap_gc_mutator_detach(struct gc_mutator *m);

void __wrap_gc_mutator_detach(struct gc_mutator *m)
{
	__real_gc_mutator_detach(m);
	if (atomic_fetch_sub(&mutators, 1) == 1)
		MARK(MARK_OVER);
}
