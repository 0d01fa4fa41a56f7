/* SPDX-License-Identifier: MIT */
/*
 * Weak references, ephemerons and finalizers. Every plan ends its tracing with gc_weak_process().
 */
#ifndef GC_WEAK_H
#define GC_WEAK_H

#include "../heap/heap.h"

typedef bool (*gc_alive_fn)(struct gc_heap *heap, void **ref); /* updates a moved reference */
/*
 * Note an object for which gc_object_visit() returned true. After -ENOMEM the caller has to call
 * gc_weak_hold(). Not thread-safe.
 */
int gc_weak_note(struct gc_heap *heap, void *obj);

/*
 * A tracer met @obj, whose header @word has GC_AWAITED: the key of an ephemeron is reached. Called
 * before it moves. Puts the header right and returns it. @shared: several threads trace
 */
uint64_t gc_weak_reach(struct gc_heap *heap, void *obj, uint64_t word, bool shared)
	__attribute__((cold));

/**
 * struct gc_weak_ops - how a plan traces references
 * @keep: visitor that keeps what a slot refers to, with @arg
 * @drain: traces until no object is grey; false: a deadline passed before that
 */
struct gc_weak_ops {
	gc_alive_fn alive;
	gc_visit_fn keep;
	void *arg;
	bool (*drain)(struct gc_heap *heap, const void *drain_arg);
	const void *drain_arg;
};

/*
 * Only dead references are left after it. False: @drain gave up, so the world may run until the
 * rest is marked; then roots and cards are due again, and after them this function.
 */
bool gc_weak_process(struct gc_heap *heap, const struct gc_weak_ops *ops);

#endif
