// SPDX-License-Identifier: MIT
/*
 * Description: an object that extends into a second line keeps it: no new object overlaps its
 * end.
 */
#include "alone.h"

#include "space/lines.h"

#define COUNT 60000
#define WORDS 8

struct piece {
	struct gc_header header;
	struct piece *next;
	unsigned long word[WORDS];
};

static const struct gc_type *type;

static struct {
	struct gc_frame head;
	struct piece *kept, *fresh;
} f;

static bool fill(unsigned long with)
{
	f.fresh = GC_NEW(m, type, struct piece);
	for (int i = 0; f.fresh && i < WORDS; i++)
		f.fresh->word[i] = with;
	return f.fresh;
}

static bool straddles(const struct piece *p)
{
	return (uintptr_t)p >> GC_LINE_SHIFT != ((uintptr_t)(p + 1) - 1) >> GC_LINE_SHIFT;
}

static void reuse(const char *options)
{
	struct gc_type_desc d = { .name = "piece", .size = sizeof(struct piece), .refs = 2 };
	long kept = 0, over = 0, spoilt = 0;
	uint64_t before;

	if (!open_heap(options))
		return;
	type = gc_type_register(heap, &d, NULL);
	GC_PUSH(m, f);
	/* Far enough from each other that the next one starts in none of its lines */
	for (unsigned long i = 0; i < COUNT && fill(i); i++) {
		if (i % 13)
			continue;
		gc_init(&f.fresh->next, f.kept);
		f.kept = f.fresh;
		kept++;
		over += straddles(f.fresh);
	}
	f.fresh = NULL;
	gc_collect_full(m);
	before = stats().cycles;
	/* No more than what went: the holes are filled, and all is looked at before the next one. */
	for (unsigned long i = 0; i < COUNT / 2 && stats().cycles == before; i++)
		fill(~0ul);
	for (struct piece *p = f.kept; p; p = p->next) {
		kept--;
		for (int i = 0; i < WORDS; i++)
			spoilt += p->word[i] != (unsigned long)kept * 13;
	}
	if (!ok(over > 100 && !spoilt, "%s: %ld objects that end in a second line are intact",
		options, over))
		printf("# %ld words were written to\n", spoilt);
	GC_POP(m, f);
	stop();
}

int main(void)
{
	reuse("plan=immix,defrag=never,heap=6M,max=6M,sizing=fixed,help=0");
	reuse("plan=stickyimmix,defrag=never,heap=6M,max=6M,sizing=fixed,help=0");
	return done();
}
