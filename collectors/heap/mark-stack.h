/* SPDX-License-Identifier: MIT */
/*
 * The mark stack, of bounded or growing size, and what happens when it is full.
 *
 * grow doubles it. reserve maps the worst case (one entry for the smallest object of
 * the whole heap) and lets demand paging find what is needed, as Dalvik does. The
 * others keep the configured size: a marked object that does not fit is left to a
 * recovery pass, by dirtying its card (card*) or by a flag alone (scan-all, and a stack
 * that should grow but cannot). Each has a flag of its own, because each needs another
 * recovery: a pass over the cards does not find what is on none. Source: the mark-stack
 * overflow seed, sections 2.1 and 3.
 */
#ifndef GC_MARK_STACK_H
#define GC_MARK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GC_MARK_QUEUE 8
#define GC_MARK_PARTS 16

struct gc_heap;

/* The references [next, end) of a long array, which wait to be visited */
struct gc_mark_part {
	void *array;
	uint32_t next, end;
};

struct gc_mark_stack {
	void **base, **top;
	void **limit; /* watermark that pushes are checked against; rises by a page */
	void **end; /* end of the mapping */
	size_t mapped; /* bytes */
	bool on_cards; /* grey objects were left on dirty cards since a pass over them began */
	bool filtered; /* the filter left grey objects to cards that were dirty already, since then */
	bool dropped; /* grey objects are nowhere: scan all marked objects to find them */
	bool lossy; /* it overflowed in this cycle, so marked objects were miscounted */
	bool filter; /* objects on dirty cards are not pushed */
	/*
	 * Popped objects wait in this ring while their headers are fetched from memory; the oldest one
	 * behind the place @at. Places are counted in bytes.
	 */
	size_t at, queued;
	void *queue[GC_MARK_QUEUE];
	int mode; /* enum gc_overflow */
	/*
	 * Arrays whose references from @next on are yet to be visited, split= at a time and only
	 * when the stack is empty: neither a step nor the stack grows with the array's length.
	 */
	struct gc_mark_part part[GC_MARK_PARTS];
	unsigned int parts;
};

/* How a marker follows references */
enum gc_marker_mode {
	GC_MARK_ALONE, /* and all words are references or NULL */
	GC_MARK_MIXED, /* alone, and words may be none */
	GC_MARK_SHARED, /* other threads mark at the same time */
	GC_MARK_FILTER, /* with a finger, or a filter of the stack */
	GC_MARK_MOVE, /* objects move as they are marked */
};

/**
 * struct gc_marker - a thread that marks in place: its stack and counters
 * @objects, @bytes: scanned for the first time
 * @dirty, @cards, @rescanned: cards cleaned, cards scanned, and objects scanned on them or again
 */
struct gc_marker {
	struct gc_heap *heap;
	struct gc_mark_stack *stack;
	enum gc_marker_mode mode;
	uint64_t objects, bytes;
	uint64_t dirty, cards, rescanned;
};

static inline void gc_marker_reset(struct gc_marker *k)
{
	k->objects = k->bytes = k->dirty = k->cards = k->rescanned = 0;
}

int gc_mark_stack_init(struct gc_mark_stack *s, size_t bytes, int mode, size_t heap_bytes);
void gc_mark_stack_fini(struct gc_mark_stack *s);
/* Out of line: the stack is full. True when @obj was pushed after all. */
bool gc_mark_stack_full(struct gc_heap *heap, struct gc_mark_stack *s, void *obj);
/* Maximum of bytes in use since the last gc_mark_stack_rest(), rounded up to pages. */
size_t gc_mark_stack_peak(const struct gc_mark_stack *s);
/* After a cycle: empty the stack, return all but the lowest few pages to the system. */
void gc_mark_stack_rest(struct gc_mark_stack *s);

/* The place of the ring that is @bytes behind the place *@at */
static inline __attribute__((always_inline)) void **gc_mark_place(struct gc_mark_stack *s,
								  size_t at, size_t bytes)
{
	return (void **)((char *)s->queue + (at + bytes) % sizeof(s->queue));
}

/* The place of the oldest object of the ring, which is not empty; it is taken, or replaced. */
static inline __attribute__((always_inline)) void **gc_mark_oldest(struct gc_mark_stack *s,
								   size_t *at)
{
	*at = (*at + sizeof(void *)) % sizeof(s->queue);
	return (void **)((char *)s->queue + *at);
}

/*
 * The stack's base if the ring is full, and stays so while the object popped from the stack replaces
 * the oldest one; else an address that no top is above: see gc_mark_pop()
 */
static inline void **gc_mark_full(const struct gc_mark_stack *s)
{
	return s->queued == sizeof(s->queue) ? s->base : (void **)UINTPTR_MAX;
}

/*
 * The next object to scan, through the ring that hides the latency of its header. If the stack has
 * few objects, as where a list is marked, they are not kept waiting for others.
 */
static inline void *gc_mark_pop(struct gc_mark_stack *s)
{
	void *obj;

	while (s->top > s->base && s->queued < sizeof(s->queue)) {
		void *next = *--s->top;

		__builtin_prefetch(next);
		s->queued += sizeof(void *);
		*gc_mark_place(s, s->at, s->queued) = next;
	}
	if (!s->queued)
		return NULL;
	obj = *gc_mark_oldest(s, &s->at);
	s->queued -= sizeof(void *);
	/* Full again, so that a loop need not look */
	if (s->top > s->base) {
		void *next = *--s->top;

		__builtin_prefetch(next);
		s->queued += sizeof(void *);
		*gc_mark_place(s, s->at, s->queued) = next;
	}
	return obj;
}

/* Put off the @length references of @array; false: no place is free. */
static inline bool gc_mark_put_off(struct gc_mark_stack *s, void *array, uint32_t length)
{
	if (s->parts == GC_MARK_PARTS)
		return false;
	s->part[s->parts++] = (struct gc_mark_part){ array, 0, length };
	return true;
}

/* Up to @most references of the array put off last into @step; false: there is none. */
static inline bool gc_mark_next_part(struct gc_mark_stack *s, uint64_t most,
				     struct gc_mark_part *step)
{
	struct gc_mark_part *p;

	if (!s->parts)
		return false;
	p = &s->part[s->parts - 1];
	*step = *p;
	if (step->end - step->next > most)
		step->end = step->next + (uint32_t)most;
	p->next = step->end;
	s->parts -= p->next == p->end;
	return true;
}

#endif
