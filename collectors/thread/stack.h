/* SPDX-License-Identifier: MIT */
/*
 * A thread's machine stack, for stack=conservative: where it is, and what the thread had on it and
 * in registers when it last stopped, parked or began to collect.
 */
#ifndef GC_STACK_H
#define GC_STACK_H

#include "../heap/heap.h"

#define GC_STACK_SAVED 64 /* words: more than the frames of the functions that save them */

/**
 * struct gc_stack - a mutator's stack, which grows downwards
 * @low, @high: bounds
 * @saved, @count: copy of the lowest words in use, with all registers that calls preserve. The
 *	  functions that had them may have returned since
 * @next: address behind those words; the rest, up to @high, is read in place. 0: the thread ran on
 *	  another stack
 * @fake: the frames of locals that the address sanitizer keeps elsewhere, or NULL
 */
struct gc_stack {
	uintptr_t low, high;
	uintptr_t saved[GC_STACK_SAVED];
	unsigned int count;
	uintptr_t next;
	void *fake;
};

/* The stack of the calling thread; 0, or a negative errno when it is not known. */
int gc_stack_create(struct gc_stack **out);
/* Save what the calling thread, whose stack it is, has now. */
void gc_stack_save(struct gc_stack *s);

/* typedef gc_words_fn - is called with a range of words that may be references */
typedef void (*gc_words_fn)(const uintptr_t *words, size_t count, void *arg);

/* Call @fn with all words that the thread had when they were saved; it is stopped. */
void gc_stack_words(const struct gc_stack *s, gc_words_fn fn, void *arg);

#endif
