/* SPDX-License-Identifier: MIT */
/*
 * The mark stack, of bounded or growing size, and what happens when it is full.
 *
 * grow doubles it. reserve maps the worst case (one entry for the smallest object of
 * the whole heap) and lets demand paging find what is needed, as Dalvik does. The
 * others keep the size given: a marked object that finds no room is left for a
 * recovery pass, by a flag (scan-all) or by dirtying its card (card*). Source: the
 * mark-stack overflow seed, sections 2.1 and 3.
 */
#ifndef GC_MARK_STACK_H
#define GC_MARK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GC_MARK_QUEUE 8
#define GC_MARK_PARTS 16

struct gc_heap;

struct gc_mark_stack {
	void **base, **top;
	void **limit; /* watermark: pushes are checked against it, it rises by a page */
	void **end; /* of what is mapped */
	size_t mapped; /* bytes */
	bool overflowed; /* since the flag was last cleared */
	bool lossy; /* it overflowed in this cycle, so marked objects were miscounted */
	bool filter; /* objects on dirty cards are not pushed */
	unsigned int at; /* in queue[] */
	/* Popped objects wait here while their headers are fetched from memory. */
	void *queue[GC_MARK_QUEUE];
	int mode; /* enum gc_overflow */
	/*
	 * Arrays whose references wait to be visited from @next on, split= at a time and only
	 * when the stack is empty: so neither a step nor the stack grows with an array.
	 */
	struct {
		void *array;
		uint32_t next;
	} part[GC_MARK_PARTS];
	unsigned int parts;
};

int gc_mark_stack_init(struct gc_mark_stack *s, size_t bytes, int mode, size_t heap_bytes);
void gc_mark_stack_fini(struct gc_mark_stack *s);
/* Out of line: the stack is full. True when @obj was pushed after all. */
bool gc_mark_stack_full(struct gc_heap *heap, struct gc_mark_stack *s, void *obj);
/* Bytes of the deepest stack since the last rest, to a page. */
size_t gc_mark_stack_peak(const struct gc_mark_stack *s);
/* After a cycle: give pages above the lowest few back to the system. */
void gc_mark_stack_rest(struct gc_mark_stack *s);

#endif
