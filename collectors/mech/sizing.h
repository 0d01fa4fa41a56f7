/* SPDX-License-Identifier: MIT */
/* Heap sizing as pure functions: bytes, bytes per nanosecond, nanoseconds. */
#ifndef GC_SIZING_H
#define GC_SIZING_H

/**
 * struct gc_sizing_in - what a rule may look at after a collection
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

#endif
