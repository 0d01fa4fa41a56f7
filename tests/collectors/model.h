/* SPDX-License-Identifier: MIT */
/*
 * Random programs on a heap, each step mirrored in a model on the C heap; the two are
 * compared as graphs.
 */
#ifndef MODEL_H
#define MODEL_H

#include <gchint/gc-listener.h>

/**
 * struct model_run - one random program
 * @options: of the heap
 * @seed: the program is the same for the same seed (one thread)
 * @steps: operations of each thread
 * @threads: mutators
 * @skip_barrier: store references without gc_write(), to see that it is caught
 * @other: options of a second heap, on which each thread works in turn; NULL: there is none
 * @forks: each thread forks now and then, and the child checks its copy of all heaps
 * @crowds: some objects lead to more others than a mark stack of 4 KiB holds
 * @disturbs: threads get signals, are canceled and replaced, and leave the callback before a refusal
 *	      by longjmp(); not with @other
 */
struct model_run {
	const char *options;
	uint64_t seed;
	unsigned int steps, threads;
	bool skip_barrier;
	const char *other;
	bool forks, crowds, disturbs;
	unsigned int canceled, handled, left; /* filled, as the statistics */
	struct gc_heap_stats stats;
};

/* 0; or 1 with a line on stderr that says what differs and how to run it again. */
int model_run(struct model_run *run);

#endif
