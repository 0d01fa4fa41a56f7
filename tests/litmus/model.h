/* SPDX-License-Identifier: MIT */
/*
 * A memory that is as weak as C11 permits, for one writing and one reading thread: nothing is
 * visible but what coherence, release and acquire demand.
 *
 * The writer runs once, as its real code, and leaves the history of its stores to a piece of
 * memory. Then the reader runs again and again, each time with another choice of what its loads
 * return, until all were tried: any store that is not older than one it must already know. Store
 * buffers, reordered loads and stores, and lagging caches are all among these. The reader stores
 * nothing there, so no load needs a store that comes after it.
 */
#ifndef LITMUS_MODEL_H
#define LITMUS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** enum model_weak - an order that is left out, to see that it is needed */
enum model_weak {
	MODEL_AS_WRITTEN,
	MODEL_NO_RELEASE, /* store-release is a plain store */
	MODEL_NO_WRITER_FENCE, /* release fences do nothing */
	MODEL_NO_ACQUIRE, /* load-acquire is a plain load */
	MODEL_NO_READER_FENCE, /* acquire fences do nothing */
	MODEL_NO_CHAIN, /* a plain store after a release does not continue it */
};

/**
 * model_begin() - record the stores to a piece of memory from here on
 * @memory: at most 64 bytes
 * @weak: what to leave out
 * @torn: 64-bit accesses are two, as on a 32-bit machine
 * @stored: called after each store, with its location
 */
void model_begin(const void *memory, enum model_weak weak, bool torn,
		 void (*stored)(const volatile void *p));

/**
 * model_explore() - run a reader with everything that its loads may return
 * @reader: returns false to end it
 *
 * Return: number of runs.
 */
unsigned long model_explore(bool (*reader)(void));

void model_store(const volatile void *p, size_t size, uint64_t value, int order);
uint64_t model_load(const volatile void *p, size_t size, int order);
void model_fence(int order);

#endif
