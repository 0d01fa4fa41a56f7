/* SPDX-License-Identifier: MIT */
/* Heap sizing. The rules are pure: bytes, bytes per nanosecond, nanoseconds. */
#ifndef GC_SIZING_H
#define GC_SIZING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct gc_sizing_in - input of a rule after a collection
 * @live: bytes that survived
 * @heap, @max, @util, @minfree, @maxfree, @delta, @ahead: the options of these names
 * @alloc_rate: bytes per ns that mutators allocate
 * @gc_rate: bytes per ns that the collector marks
 * @gc_ns: how long a cycle takes until its memory is usable
 */
struct gc_sizing_in {
	double live, heap, max, util, minfree, maxfree, delta, ahead;
	double alloc_rate, gc_rate, gc_ns;
};

/** struct gc_sizing_out - limit, and start of the concurrent cycle (infinite: none) */
struct gc_sizing_out {
	double soft, start;
};

/* gc_sizing_rule() - @rule is enum gc_sizing_rule */
void gc_sizing_rule(int rule, const struct gc_sizing_in *in, struct gc_sizing_out *out);

struct gc_heap;
void gc_sizing_init(struct gc_heap *heap);
/* After a cycle that took @gc_ns, and @cpu_ns of CPU time, until its memory was usable */
void gc_sizing_after(struct gc_heap *heap, uint64_t gc_ns, uint64_t cpu_ns);
/* Raise the soft limit by what @bytes more need; false if max= or a fixed size forbids it. */
bool gc_sizing_grow(struct gc_heap *heap, size_t bytes);

#endif
