// SPDX-License-Identifier: MIT
/*
 * profiler=64K: a whole collection every so many bytes, to measure lifetimes as the
 * Dalvik seed's Table 1 does: the share of bytes that died before 128, 256 and 512 KiB
 * more were allocated. The objects allocated between two collections are a cohort; the last
 * cohorts have a bitmap each.
 *
 * Every collection removes dead objects from all cohorts: their cells may hold objects of a
 * later cohort at the next one. Between two collections the share is interpolated by the
 * mean age of the cohort, as its members were allocated one after the other.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "../space/pages.h"
#include "profiler.h"

#define COHORTS 16
#define AGES	3

struct cohort {
	uint64_t *bits; /* biased */
	uint64_t opened, closed; /* values of heap->budget.granted: its members were born between */
	double born; /* bytes */
	double age, dead; /* at the last collection: mean age, bytes that were dead */
	double died[AGES]; /* bytes that died before each age */
	unsigned int measured; /* number of ages measured */
	bool used;
};

struct gc_profiler {
	void *map;
	size_t size, each;
	struct cohort cohort[COHORTS];
	unsigned int next;
	uint64_t opened; /* the cohort being born: heap->budget.granted when it began */
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

/* Remove dead objects from the cohort's bitmap; returns bytes that are alive. */
static uint64_t cohort_count_live(struct gc_heap *heap, struct cohort *c)
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

/* Fill the cohort with live objects that are not survivors of the last collection. */
static void cohort_fill(struct gc_heap *heap, struct cohort *c, uint64_t opened)
{
	size_t last = gc_high(heap) >> GC_WORD_SHIFT;
	uint64_t bytes = 0;

	for (size_t i = heap->base >> GC_WORD_SHIFT; i < last; i++) {
		c->bits[i] = heap->live[i] & ~heap->survivor[i];
		if (c->bits[i])
			bytes += bytes_in(heap, c->bits[i], i);
	}
	c->born = (double)bytes;
	c->opened = opened;
	c->closed = heap->budget.granted;
	c->age = c->dead = 0;
	c->measured = 0;
	c->used = bytes > 0;
}

static void cohort_measure(struct gc_heap *heap, struct cohort *c)
{
	static const double ages[AGES] = { 128 << 10, 256 << 10, 512 << 10 };
	double age = (double)heap->budget.granted - ((double)c->opened + (double)c->closed) / 2;
	double dead = c->born - (double)cohort_count_live(heap, c);
	struct gc_heap_stats *s = &heap->stats;

	for (; c->measured < AGES && age >= ages[c->measured]; c->measured++)
		c->died[c->measured] =
			c->dead + (dead - c->dead) * (ages[c->measured] - c->age) / (age - c->age);
	c->age = age;
	c->dead = dead;
	if (c->measured < AGES)
		return;
	c->used = false;
	gc_stat_add(&s->lifetime_bytes, (uint64_t)c->born);
	gc_stat_add(&s->lifetime_128k, (uint64_t)c->died[0]);
	gc_stat_add(&s->lifetime_256k, (uint64_t)c->died[1]);
	gc_stat_add(&s->lifetime_512k, (uint64_t)c->died[2]);
}

/*
 * World stopped, runs flushed, live bits exact, marking done, before the bitmaps change
 * places. A cohort whose place is reused before it is old enough is not counted at all.
 */
void gc_profiler_cycle(struct gc_heap *heap)
{
	size_t first = heap->base >> GC_WORD_SHIFT, last = gc_high(heap) >> GC_WORD_SHIFT;
	struct gc_profiler *p = heap->profiler;

	cohort_fill(heap, &p->cohort[p->next], p->opened);
	p->opened = heap->budget.granted;
	p->next = (p->next + 1) % COHORTS;
	for (unsigned int i = 0; i < COHORTS; i++)
		if (p->cohort[i].used)
			cohort_measure(heap, &p->cohort[i]);
	memcpy(&heap->survivor[first], &heap->mark[first], (last - first) * sizeof(uint64_t));
}
