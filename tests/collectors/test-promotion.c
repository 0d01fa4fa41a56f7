// SPDX-License-Identifier: MIT
/* Description: which sizes are promoted, by range, by size and by measurement. */
#include "tap.h"

#include <errno.h>
#include <gchint/gc.h>

#include "heap/heap.h"
#include "plan/promote.h"

static struct gc_heap heap;

static int ranges(struct gc_promotion *p, const char *text)
{
	struct gc_options opt = { 0 };
	struct gc_error err = { 0 };
	int ret;

	snprintf(opt.ranges, sizeof(opt.ranges), "%s", text);
	ret = gc_promotion_init(p, &opt, &err);
	return ret == err.code ? ret : 1;
}

static void parses(void)
{
	static const char *const wrong[] = { "9-x", "x",   "9-8", "-",
					     "9-",  "1:,", "5 6", "1-99999999999" };
	struct gc_promotion p;

	memset(&p, 0xff, sizeof(p));
	ok(!ranges(&p, "") && !p.ranges && !p.collections && !p.held[0] && !p.met[7],
	   "no ranges, no measurements");
	ok(!ranges(&p, "16") && p.ranges == 1 && p.range[0].low == 16 && p.range[0].high == 16,
	   "one size is accepted");
	ok(!ranges(&p, "9-40:65-256") && p.ranges == 2 && p.range[0].low == 9 &&
		   p.range[0].high == 40 && p.range[1].low == 65 && p.range[1].high == 256,
	   "two ranges are accepted");
	ok(!ranges(&p, "7-7:4294967295") && p.range[0].high == 7 && p.range[1].high == UINT32_MAX,
	   "a range of one size up to the largest size is accepted");
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ok(ranges(&p, wrong[i]) == -EINVAL, "refused: %s", wrong[i]);
	ok(!ranges(&p, "1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16") && p.ranges == 16,
	   "sixteen sizes are accepted");
	ok(ranges(&p, "1:2:3:4:5:6:7:8:9:10:11:12:13:14:15:16:17") == -EINVAL,
	   "seventeen sizes are refused");
}

/* Of 10000 objects of this size, how many were promoted */
static int promoted(struct gc_promotion *p, size_t size)
{
	uint64_t rng = 7;
	int n = 0;

	for (int i = 0; i < 10000; i++)
		n += gc_promotion_choose(&heap, p, size, &rng);
	return n;
}

static bool near(int got, int want)
{
	if (got > want - 300 && got < want + 300)
		return true;
	printf("# %d, not about %d\n", got, want);
	return false;
}

static void chooses(void)
{
	struct gc_promotion p;

	ranges(&p, "9-40:65-256");
	heap.opt.promote_p = .25;
	heap.opt.promote_m = 40;
	heap.opt.promote = GC_PROMOTE_NEVER;
	ok(!promoted(&p, 16), "never: no object is promoted");
	heap.opt.promote = GC_PROMOTE_DEFAULT;
	ok(promoted(&p, 16) == 10000, "default: all objects are promoted");
	heap.opt.promote = GC_PROMOTE_NAIVE;
	ok(near(promoted(&p, 16), 2500), "naive: objects are promoted with probability p");
	heap.opt.promote = GC_PROMOTE_SIZE;
	ok(near(promoted(&p, 40), 2500) && promoted(&p, 41) == 10000,
	   "size: objects up to m are promoted with probability p");
	heap.opt.promote = GC_PROMOTE_RANGES;
	ok(promoted(&p, 8) == 10000 && near(promoted(&p, 9), 2500) &&
		   near(promoted(&p, 40), 2500) && promoted(&p, 41) == 10000 &&
		   promoted(&p, 64) == 10000 && near(promoted(&p, 65), 2500) &&
		   near(promoted(&p, 256), 2500) && promoted(&p, 257) == 10000,
	   "ranges: sizes within a range are promoted with probability p, its ends included");
	heap.opt.promote_p = 0;
	ok(!promoted(&p, 9), "p=0 promotes none");
	heap.opt.promote_p = 1;
	ok(promoted(&p, 9) == 10000, "p=1 promotes all");
}

static void sizes(void)
{
	static const struct {
		size_t size;
		int bucket;
	} rows[] = { { 8, 0 },	{ 16, 0 },  { 17, 1 },	{ 32, 1 },   { 33, 2 },	  { 64, 2 },
		     { 65, 3 }, { 512, 5 }, { 513, 6 }, { 1024, 6 }, { 1025, 7 }, { 99999, 7 } };
	bool good = true;

	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct gc_promotion p = { 0 };

		gc_promotion_met(&p, rows[i].size);
		for (int b = 0; b < GC_SIZE_BUCKETS; b++)
			good &= p.met[b] == (b == rows[i].bucket);
	}
	ok(good, "buckets are powers of two, the last one takes larger sizes");
}

static void tunes(void)
{
	struct gc_promotion p = { 0 };
	int n;

	heap.opt.promote = GC_PROMOTE_TUNED;
	heap.opt.promote_p = .25;
	n = promoted(&p, 16);
	ok(near(n, 2500) && p.held_now[0] == (uint64_t)(10000 - n) && !p.held_now[1],
	   "tuned: at first promotion is random, and objects held back are counted");
	for (int i = 0; i < 7; i++)
		gc_promotion_end(&p);
	ok(p.collections == 7 && p.held[0] == (uint64_t)(10000 - n) && !p.held_now[0],
	   "objects held back at one collection are looked for at the next");
	ok(near(promoted(&p, 64), 2500), "seven collections are not enough for a choice");
	gc_promotion_end(&p);
	n = promoted(&p, 600);
	ok(n > 9375 - 300 && n < 9375 + 300 && p.held_now[6] == (uint64_t)(10000 - n),
	   "after eight, one object in sixteen is held back as a sample");

	/* Of 32 of 64 bytes 8 lived, of 32 of 16 bytes 24 did: 16 of 32 in the mean. */
	p = (struct gc_promotion){ .collections = 8 };
	p.held[0] = p.held[2] = 32;
	p.met[0] = 24;
	p.met[2] = 8;
	gc_promotion_end(&p);
	ok(!p.restrict_bucket[0] && p.restrict_bucket[2],
	   "sizes that die more often than the mean are held back");
	ok(near(promoted(&p, 64), 2500) && promoted(&p, 16) > 9000,
	   "other sizes are not held back");
	p = (struct gc_promotion){ 0 };
	p.held[0] = p.held[2] = 32;
	p.met[0] = p.met[2] = 8;
	gc_promotion_end(&p);
	ok(!p.restrict_bucket[0] && !p.restrict_bucket[2], "sizes at the mean are not held back");
	p = (struct gc_promotion){ 0 };
	p.held[0] = 100;
	p.met[0] = 90;
	p.held[2] = 31;
	gc_promotion_end(&p);
	ok(!p.restrict_bucket[2], "31 objects are not enough for a choice");
	p.held[2] = 32;
	gc_promotion_end(&p);
	ok(p.restrict_bucket[2] && !p.restrict_bucket[0], "32 objects are enough for a choice");
}

int main(void)
{
	parses();
	chooses();
	sizes();
	tunes();
	return done();
}
