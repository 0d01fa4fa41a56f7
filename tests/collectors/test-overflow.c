// SPDX-License-Identifier: MIT
/*
 * Description: the mark stack's bound under the worst graphs, and the counts that the mark-stack
 * overflow seed reports for each way of recovery.
 */
#include "tap.h"

#include <gchint/gc-listener.h>

struct node {
	struct gc_header header;
	struct node *next, *other;
};

struct result {
	struct gc_heap_stats stats;
	uint64_t live;
	int bad;
};

/* 100,000 nodes from one flat array, each with a leaf and a link to a far neighbour */
static void flat(const char *options, struct result *r)
{
	struct {
		struct gc_frame head;
		struct node *array, *fresh;
	} f;
	struct gc_type_desc d = { .name = "node", .size = sizeof(struct node), .refs = 6 };
	struct gc_type_desc a = { .name = "array", .size = 8, .tail = GC_TAIL_REFS };
	const struct gc_type *t, *at;
	const uint32_t n = 100000;
	struct gc_mutator *m;
	struct gc_heap *heap;
	struct gc_error err;
	struct node **slots;

	memset(r, 0, sizeof(*r));
	r->bad = 1;
	if (gc_heap_create(&heap, options, NULL, &err)) {
		printf("# %s\n", err.text);
		return;
	}
	t = gc_type_register(heap, &d, NULL);
	at = gc_type_register(heap, &a, NULL);
	if (gc_mutator_attach(heap, &m))
		return;
	GC_PUSH(m, f);
	f.array = gc_alloc_array(m, at, n);
	for (uint32_t i = 0; i < n; i++) {
		f.fresh = GC_NEW(m, t, struct node);
		gc_write(m, f.array, (void **)((char *)f.array + 8) + i, f.fresh);
		f.fresh = GC_NEW(m, t, struct node);
		slots = (struct node **)((char *)f.array + 8);
		gc_write(m, slots[i], &slots[i]->next, f.fresh);
		if (i)
			gc_write(m, slots[i], &slots[i]->other,
				 slots[(uint64_t)i * 7919 % i]->next);
	}
	gc_collect_full(m);
	gc_heap_stats(heap, &r->stats);
	r->live = r->stats.live_objects;
	r->bad = gc_verify(m, &err);
	GC_POP(m, f);
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
}

int main(void)
{
	static const char *const lossy[] = { "card", "card+clear", "card+filter", "scan-all" };
	static const char *const plans[] = { "cms", "marksweep" };
	struct result r, scan, card, filter;
	char options[256];

	flat("plan=marksweep,split=0,heap=64M,sizing=fixed,verify=trace,overflow=reserve", &r);
	/* seed, table 1: a flat array of N needs N entries: 399.1 KB of 4 bytes for 100,000 */
	if (!ok(!r.bad && r.stats.mark_stack_peak / sizeof(void *) >= 99000 &&
			r.stats.mark_stack_peak / sizeof(void *) <= 102000,
		"a flat array of 100,000 needs a stack of 100,000 entries"))
		printf("# %llu bytes\n", (unsigned long long)r.stats.mark_stack_peak);
	flat("plan=marksweep,split=0,heap=64M,sizing=fixed,verify=trace,overflow=grow,markstack=4K",
	     &r);
	ok(!r.bad && r.stats.mark_stack_bytes >= 400000 && !r.stats.overflows,
	   "overflow=grow grows the stack");
	flat("plan=marksweep,split=1000,heap=64M,sizing=fixed,verify=trace", &r);
	/* a part's references and what hangs on the last of them; the peak counts whole pages */
	if (!ok(!r.bad && r.stats.mark_stack_peak <= 1000 * sizeof(void *) + 8192,
		"the same array needs a stack of 1000 entries with split=1000"))
		printf("# %llu bytes\n", (unsigned long long)r.stats.mark_stack_peak);
	flat("plan=cms,heap=64M,sizing=fixed,verify=all,markstack=64K,overflow=card", &r);
	ok(!r.bad && !r.stats.overflows && r.live == 200001,
	   "by default a large array fits a stack of 64 KB");
	for (size_t p = 0; p < 2; p++) {
		for (size_t i = 0; i < 4; i++) {
			for (int kb = 4; kb <= 64; kb *= 4) {
				snprintf(options, sizeof(options),
					 "plan=%s,split=0,heap=64M,sizing=fixed,verify=all,"
					 "markstack=%dK,"
					 "overflow=%s,policy=fg",
					 plans[p], kb, lossy[i]);
				flat(options, &r);
				if (!ok(!r.bad && r.live == 200001 &&
						r.stats.mark_stack_bytes == (uint64_t)kb * 1024 &&
						r.stats.mark_stack_peak <= (uint64_t)kb * 1024 &&
						r.stats.overflows > 0,
					"%s, %s: %d KB stay %d KB and all objects are marked",
					plans[p], lossy[i], kb, kb))
					printf("# bad %d live %llu stack %llu peak %llu overflows "
					       "%llu\n",
					       r.bad, (unsigned long long)r.live,
					       (unsigned long long)r.stats.mark_stack_bytes,
					       (unsigned long long)r.stats.mark_stack_peak,
					       (unsigned long long)r.stats.overflows);
			}
		}
	}
#define WITH(mode) "plan=marksweep,split=0,heap=64M,sizing=fixed,markstack=4K,overflow=" mode
	flat(WITH("scan-all"), &scan);
	flat(WITH("card"), &card);
	flat(WITH("card+filter"), &filter);
	printf("# 4 KB: rescans scan-all %llu card %llu filter %llu of %llu live\n",
	       (unsigned long long)scan.stats.rescanned_objects,
	       (unsigned long long)card.stats.rescanned_objects,
	       (unsigned long long)filter.stats.rescanned_objects, (unsigned long long)card.live);
	ok(scan.stats.rescanned_objects >= scan.live, "scan-all scans every live object again");
	ok(card.stats.rescanned_objects < scan.stats.rescanned_objects,
	   "card scans fewer objects again than scan-all");
	ok(!card.stats.remark_timeouts, "a stop-the-world plan has no time limit");
	return done();
}
