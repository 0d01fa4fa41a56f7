// SPDX-License-Identifier: MIT
/*
 * profiler=64K: a whole collection every so many bytes, to measure lifetimes as the
 * Dalvik seed's Table 1 does: the share of bytes that died before 128, 256 and 512 KiB
 * more were allocated. The objects born between two collections are a cohort; a bitmap
 * each remembers the last of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "mark.h"

#define COHORTS 9

struct cohort {
	uint64_t *bits; /* biased */
	uint64_t born_bytes, born_at; /* value of heap->granted */
	unsigned int looked; /* of the three ages */
	bool used;
};

struct gc_profiler {
	void *map;
	size_t size, each;
	struct cohort cohort[COHORTS];
	unsigned int next;
};

int gc_profiler_init(struct gc_heap *heap)
{
	struct gc_profiler *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	heap->profiler = p;
	p->each = gc_align((heap->end - heap->base) / 64, GC_PAGE);
	p->size = p->each * COHORTS;
	p->map = mmap(NULL, p->size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p->map == MAP_FAILED) {
		p->map = NULL;
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < COHORTS; i++)
		p->cohort[i].bits =
			(uint64_t *)((char *)p->map + i * p->each) - (heap->base >> GC_WORD_SHIFT);
	return 0;
}

void gc_profiler_fini(struct gc_heap *heap)
{
	if (heap->profiler && heap->profiler->map)
		munmap(heap->profiler->map, heap->profiler->size);
	free(heap->profiler);
	heap->profiler = NULL;
}

static uint64_t bytes_in(struct gc_heap *heap, uint64_t word, size_t index)
{
	uint64_t bytes = 0;

	for (; word; word &= word - 1) {
		uintptr_t at = ((uintptr_t)index << GC_WORD_SHIFT) +
			       ((uintptr_t)__builtin_ctzll(word) << 3);

		bytes += gc_object_size(heap, (void *)at);
	}
	return bytes;
}

/* The cohort's dead are taken out of its bitmap; bytes still alive. */
static uint64_t survivors(struct gc_heap *heap, struct cohort *c)
{
	size_t last = gc_high(heap) >> GC_WORD_SHIFT;
	uint64_t bytes = 0;

	for (size_t i = heap->base >> GC_WORD_SHIFT; i < last; i++) {
		if (!c->bits[i])
			continue;
		c->bits[i] &= heap->mark[i];
		bytes += bytes_in(heap, c->bits[i], i);
	}
	return bytes;
}

/* Objects in the live bits and not among the last collection's survivors */
static void born(struct gc_heap *heap, struct cohort *c)
{
	size_t last = gc_high(heap) >> GC_WORD_SHIFT;

	c->born_bytes = 0;
	for (size_t i = heap->base >> GC_WORD_SHIFT; i < last; i++) {
		c->bits[i] = heap->live[i] & ~heap->survivor[i];
		if (c->bits[i])
			c->born_bytes += bytes_in(heap, c->bits[i], i);
	}
	c->born_at = heap->granted;
	c->looked = 0;
	c->used = true;
}

/* World stopped, live bits exact, marking done, before the bitmaps change places. */
void gc_profiler_cycle(struct gc_heap *heap)
{
	static const uint64_t ages[] = { 128 << 10, 256 << 10, 512 << 10 };
	struct gc_heap_stats *s = &heap->stats;
	uint64_t *const count[] = { &s->lifetime_128k, &s->lifetime_256k, &s->lifetime_512k };
	struct gc_profiler *p = heap->profiler;
	uint64_t step = (uint64_t)heap->opt.profiler;
	size_t first = heap->base >> GC_WORD_SHIFT, last = gc_high(heap) >> GC_WORD_SHIFT;

	born(heap, &p->cohort[p->next]);
	p->next = (p->next + 1) % COHORTS;
	for (unsigned int i = 0; i < COHORTS; i++) {
		struct cohort *c = &p->cohort[i];
		uint64_t age;

		if (!c->used)
			continue;
		/* its members were born up to one step before the cohort was closed */
		age = heap->granted - c->born_at + step;
		while (c->used && c->looked < 3 && age >= ages[c->looked]) {
			*count[c->looked] += c->born_bytes - survivors(heap, c);
			if (c->looked++ == 0)
				s->lifetime_bytes += c->born_bytes;
		}
		if (c->looked == 3)
			c->used = false;
	}
	memcpy(&heap->survivor[first], &heap->mark[first], (last - first) * sizeof(uint64_t));
}
