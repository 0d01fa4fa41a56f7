// SPDX-License-Identifier: MIT
/*
 * Description: pages are allocated as the simplest allocator would: the lowest run that is long
 * enough, none above max=, none twice. Pages that may be other than zero, pages returned to the
 * system and the whole page table are compared after each step of a random program; cleared runs
 * are zero. Pages that are locked in memory cannot be returned, and are not taken for zero later.
 */
#include "alone.h"

#include <space/pages.h>

#include <errno.h>
#include <sys/mman.h>

#define STEPS 20000
#define MOST  1024 /* pages that a model holds */

static struct {
	uint32_t run[MOST]; /* pages of the run that begins here, 0 none */
	uint8_t kind[MOST];
	bool taken[MOST], stale[MOST];
	uint32_t used, high, peak;
	bool starved;
} model;

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
	return (uint32_t)(gc_random(&seed) % below);
}

static bool locked; /* some pages, as with mlockall(2) */
static size_t refused; /* bytes, by the last release */
static size_t huge; /* bytes for which huge pages were requested */

int __real_madvise(void *at, size_t bytes, int advice);
int __wrap_madvise(void *at, size_t bytes, int advice);

int __wrap_madvise(void *at, size_t bytes, int advice)
{
	if (advice == MADV_HUGEPAGE) {
		huge += bytes;
		errno = EINVAL;
		return -1;
	}
	if (!locked || advice != MADV_DONTNEED || draw(2))
		return __real_madvise(at, bytes, advice);
	refused += bytes;
	for (size_t i = 0, page = ((uintptr_t)at - heap->pages->base) / 4096; i < bytes / 4096; i++)
		model.stale[page + i] = true;
	errno = EINVAL;
	return -1;
}

static uint32_t lowest(uint32_t count, uint32_t end)
{
	for (uint32_t at = 1, length = 0; at < end; at++) {
		length = model.taken[at] ? 0 : length + 1;
		if (length == count)
			return at - count + 1;
	}
	return 0;
}

static bool same(const struct gc_pages *p)
{
	struct gc_heap_stats s = stats();

	if (p->used != model.used || p->high != model.high || p->starved != model.starved ||
	    s.peak_footprint_bytes != model.peak * 4096ull ||
	    s.footprint_bytes != model.used * 4096ull ||
	    gc_pages_held(heap) != model.used * 4096ull ||
	    gc_high(heap) != heap->base + model.high * 4096ull)
		return false;
	for (uint32_t i = 1; i < p->count; i++) {
		const struct gc_page *pg = &p->table[i];

		if ((p->free_bits[i / 64] >> i % 64 & 1) == model.taken[i])
			return false;
		if (!model.taken[i] && (p->stale_bits[i / 64] >> i % 64 & 1) != model.stale[i])
			return false;
		if (!model.taken[i] ? pg->kind != GC_PAGE_FREE :
		    model.run[i]    ? pg->kind != model.kind[i] || pg->count != model.run[i] ||
					   pg->next || pg->cells || pg->unswept :
				   pg->kind != GC_PAGE_CONT)
			return false;
	}
	return true;
}

static bool take(struct gc_pages *p)
{
	static const enum gc_page_kind kinds[] = { GC_PAGE_BLOCK, GC_PAGE_LARGE, GC_PAGE_LINES };
	uint32_t count = draw(20) ? 1 + draw(draw(4) ? 8 : 40) : 1 + draw(p->count);
	enum gc_page_kind kind = kinds[draw(3)];
	uint32_t want = 0, at;

	if (model.used + count <= p->most - p->reserve)
		want = lowest(count, p->count);
	at = gc_pages_alloc(heap, count, kind);
	if (at != want) {
		printf("# %u pages at %u, not %u\n", count, at, want);
		return false;
	}
	model.starved |= !want;
	if (!at)
		return true;
	for (uint32_t i = at; i < at + count; i++)
		model.taken[i] = true;
	model.run[at] = count;
	model.kind[at] = (uint8_t)kind;
	model.used += count;
	if (at + count > model.high)
		model.high = at + count;
	if (model.used > model.peak)
		model.peak = model.used;
	if (draw(2)) {
		gc_pages_clear(heap, at);
		for (const uint64_t *word = (const uint64_t *)gc_page_address(p, at),
				    *end = word + (size_t)count * 512;
		     word < end; word++) {
			if (*word) {
				printf("# a run of %u pages at %u is not clear\n", count, at);
				return false;
			}
		}
	}
	/* Somebody's bytes */
	*(volatile char *)gc_page_address(p, at) = 1;
	*(volatile char *)gc_page_address(p, at + count - 1) = 1;
	return true;
}

static bool give(struct gc_pages *p)
{
	uint32_t at = 1 + draw(p->count - 1), count;

	for (uint32_t n = 0; n < p->count && !model.run[at]; n++)
		at = at + 1 < p->count ? at + 1 : 1;
	count = model.run[at];
	if (!count)
		return true;
	gc_pages_free(heap, at);
	for (uint32_t i = at; i < at + count; i++) {
		model.taken[i] = false;
		model.stale[i] = true;
	}
	model.run[at] = 0;
	model.used -= count;
	if (!heap->opt.poison)
		return true;
	for (const uint8_t *b = (const uint8_t *)gc_page_address(p, at),
			   *end = b + ((size_t)count << 12);
	     b < end; b++)
		if (*b != 0xdb)
			return false;
	return true;
}

/* Free pages read as zero once they were given back; no other does. */
static bool release(struct gc_pages *p)
{
	size_t bytes, want = 0;
	bool good = true;

	for (uint32_t i = 1; i < model.high; i++) {
		want += !model.taken[i] && model.stale[i] ? 4096 : 0;
		model.stale[i] = false;
	}
	refused = 0;
	bytes = gc_pages_release(heap) + refused;
	for (uint32_t i = 1; i < model.high; i++) {
		if (model.taken[i]) {
			good &= !model.run[i] || *(volatile char *)gc_page_address(p, i) == 1;
			continue;
		}
		good &= model.stale[i] || !*(volatile char *)gc_page_address(p, i);
	}
	if (bytes != want)
		printf("# %zu bytes given back, not %zu\n", bytes, want);
	return good && bytes == want;
}

static void random_program(const char *options, uint32_t reserve, bool some_locked)
{
	struct gc_pages *p;
	bool good = true;
	int i;

	if (!open_heap(options))
		return;
	p = heap->pages;
	memset(&model, 0, sizeof(model));
	model.high = 1;
	seed = 1;
	p->reserve = reserve;
	locked = some_locked;
	if (!ok(p->count < MOST && p->most == (uint32_t)(heap->opt.max / 4096) && same(p),
		"%s: none of %u pages is taken", options, p->count)) {
		stop();
		return;
	}
	for (i = 0; i < STEPS && good; i++) {
		uint32_t kind = draw(100);

		/* It fills up, and empties again. */
		good = kind == 99			 ? release(p) :
		       kind < (i / 1000 % 2 ? 40u : 60u) ? take(p) :
							   give(p);
		if (i % 8 == 0 || !good)
			good = good && same(p);
		if (!draw(2000))
			p->starved = model.starved = false;
	}
	ok(good, "%s, %u reserved%s: equal to the simplest allocator for %d steps", options,
	   reserve, locked ? ", some locked" : "", i);
	while (model.used && give(p))
		;
	ok(same(p) && !p->used, "%s: all pages are free at the end", options);
	stop();
}

/* Of a kernel without huge pages, too: here it refuses all requests. */
static void huge_pages(const char *plan)
{
	char options[64];

	huge = 0;
	snprintf(options, sizeof(options), "plan=%s,trim=0,max=16M", plan);
	if (!open_heap(options))
		return;
	ok(!huge, "%s: no huge pages without hugepages=1", plan);
	stop();
	snprintf(options, sizeof(options), "plan=%s,trim=0,max=16M,hugepages=1", plan);
	if (!open_heap(options))
		return;
	ok(huge == heap->end - heap->base, "%s: huge pages are requested for all spaces", plan);
	stop();
}

int main(void)
{
	huge_pages("gss");
	huge_pages("marksweep");
	random_program("plan=marksweep,trim=0,heap=2M,max=2M", 0, false);
	random_program("plan=marksweep,trim=0,heap=1M,max=1M,poison=1", 0, false);
	random_program("plan=marksweep,trim=0,heap=2M,max=2M", 100, false);
	random_program("plan=marksweep,trim=0,heap=2M,max=2M", 0, true);
	return done();
}
