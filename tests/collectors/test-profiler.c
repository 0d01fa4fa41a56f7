// SPDX-License-Identifier: MIT
/* Description: profiler= measures lifetimes of objects whose lifetimes are known. */
#include "tap.h"

#include <gchint/gc.h>
#include <math.h>

#define KIB 1024.0

struct table {
	struct gc_header header;
	void *ref[];
};

struct frame {
	struct gc_frame head;
	struct table *ring[2];
};

/*
 * Every second object dies at once, every fourth after @life[0] bytes, every fourth after
 * @life[1]: two rings, whose slots are overwritten when their objects are due.
 */
static int run(const char *options, const double *life, struct gc_heap_stats *s)
{
	struct gc_type_desc desc[] = {
		{ .name = "table", .size = 8, .tail = GC_TAIL_REFS },
		{ .name = "bytes", .size = 8, .tail = GC_TAIL_DATA, .elem_size = 1 },
	};
	const struct gc_type *table, *bytes;
	struct gc_mutator *m;
	struct gc_heap *heap;
	struct frame f;
	uint32_t at[2] = { 0, 0 }, room[2];

	if (gc_heap_create(&heap, options, NULL, NULL) || gc_mutator_attach(heap, &m))
		return 1;
	table = gc_type_register(heap, &desc[0], NULL);
	bytes = gc_type_register(heap, &desc[1], NULL);
	GC_PUSH(m, f);
	for (int r = 0; r < 2; r++) {
		/* sizes are 16 to 200 bytes, 108 in the mean; one object in four goes here */
		room[r] = (uint32_t)(life[r] / (4 * 108));
		f.ring[r] = gc_alloc_array(m, table, room[r]);
	}
	for (uint32_t i = 0; i < 200000; i++) {
		uint32_t size = 16 + i * 7 % 24 * 8;
		void *o = gc_alloc_array(m, bytes, size - 8);

		if (!o)
			return 1;
		if (i & 1) {
			int r = i >> 1 & 1;

			gc_write(m, f.ring[r], &f.ring[r]->ref[at[r]], o);
			at[r] = (at[r] + 1) % room[r];
		}
	}
	gc_heap_stats(heap, s);
	GC_POP(m, f);
	gc_mutator_detach(m);
	return gc_heap_destroy(heap);
}

static void expect(const char *options, const double *life, const double *want)
{
	struct gc_heap_stats s;
	double all, got[3];
	bool good;

	if (run(options, life, &s)) {
		ok(false, "%s runs", options);
		return;
	}
	all = (double)s.lifetime_bytes / 100;
	got[0] = (double)s.lifetime_128k / all;
	got[1] = (double)s.lifetime_256k / all;
	got[2] = (double)s.lifetime_512k / all;
	good = all > 10e6 / 100;
	for (int i = 0; i < 3; i++)
		good &= fabs(got[i] - want[i]) < 3;
	if (!ok(good, "%s: %.0f/%.0f/%.0f %% within 128/256/512 KiB", options, want[0], want[1],
		want[2]))
		printf("# %.1f/%.1f/%.1f %% of %.1f MB\n", got[0], got[1], got[2], all / 1e4);
}

int main(void)
{
	const double life[] = { 190 * KIB, 1000 * KIB }, late[] = { 400 * KIB, 800 * KIB };
	const double want[] = { 50, 75, 75 }, wait[] = { 50, 50, 75 };

	expect("plan=marksweep,profiler=64K", life, want);
	expect("plan=marksweep,profiler=64K", late, wait);
	expect("plan=cms,profiler=64K", life, want);
	expect("plan=cms,profiler=32K", late, wait);
	return done();
}
