// SPDX-License-Identifier: MIT
#include "promote.h"

#include <errno.h>
#include <stdlib.h>

#define TUNE_AFTER  8 /* collections measured before the first choice */
#define TUNE_SAMPLE 16 /* hold back one object in so many of an unrestricted size, as a sample */

static unsigned int bucket_of(size_t size)
{
	unsigned int b = 0;

	for (size_t top = 16; size > top && b < GC_SIZE_BUCKETS - 1; top *= 2)
		b++;
	return b;
}

int gc_promotion_init(struct gc_promotion *p, const struct gc_options *opt, struct gc_error *err)
{
	const char *s = opt->ranges;

	memset(p, 0, sizeof(*p));
	while (*s) {
		char *end;
		unsigned long low = strtoul(s, &end, 10), high = low;

		if (end != s && *end == '-') {
			s = end + 1;
			high = strtoul(s, &end, 10);
		}
		if (end == s || (*end && *end != ':') || low > high || high > UINT32_MAX ||
		    p->ranges == sizeof(p->range) / sizeof(p->range[0]))
			return gc_fail(err, -EINVAL,
				       "ranges=%s: give up to 16 of LOW-HIGH joined by colons",
				       opt->ranges);
		p->range[p->ranges].low = (uint32_t)low;
		p->range[p->ranges++].high = (uint32_t)high;
		s = end + (*end == ':');
	}
	return 0;
}

static bool coin_toss(uint64_t *rng, double p)
{
	return (double)(gc_random(rng) >> 11) * 0x1p-53 < p;
}

static bool promotion_tuned(const struct gc_heap *heap, struct gc_promotion *p, size_t size,
			    uint64_t *rng)
{
	unsigned int b = bucket_of(size);
	bool promote;

	if (p->collections < TUNE_AFTER || p->restrict_bucket[b])
		promote = coin_toss(rng, heap->opt.promote_p);
	else
		promote = gc_random(rng) % TUNE_SAMPLE;
	gc_count(&p->held_now[b], !promote);
	return promote;
}

bool gc_promotion_choose(const struct gc_heap *heap, struct gc_promotion *p, size_t size,
			 uint64_t *rng)
{
	bool restricted = false;

	switch (heap->opt.promote) {
	case GC_PROMOTE_NEVER:
		return false;
	case GC_PROMOTE_NAIVE:
		restricted = true;
		break;
	case GC_PROMOTE_SIZE:
		restricted = size <= (size_t)heap->opt.promote_m;
		break;
	case GC_PROMOTE_RANGES:
		for (unsigned int i = 0; i < p->ranges; i++)
			restricted |= size >= p->range[i].low && size <= p->range[i].high;
		break;
	case GC_PROMOTE_TUNED:
		return promotion_tuned(heap, p, size, rng);
	default:
		break;
	}
	return !restricted || coin_toss(rng, heap->opt.promote_p);
}

void gc_promotion_met(struct gc_promotion *p, size_t size)
{
	gc_count(&p->met[bucket_of(size)], 1);
}

/*
 * A size is restricted when its objects that survived two collections die before the next one
 * more often than the mean: for them, waiting pays off.
 */
void gc_promotion_end(struct gc_promotion *p)
{
	uint64_t held = 0, met = 0;

	p->collections++;
	for (unsigned int b = 0; b < GC_SIZE_BUCKETS; b++) {
		held += p->held[b];
		met += p->met[b];
	}
	for (unsigned int b = 0; b < GC_SIZE_BUCKETS; b++) {
		/* P(die) above the mean, by cross multiplication, if there are enough samples */
		p->restrict_bucket[b] = p->held[b] >= 32 && held &&
					(double)(p->held[b] - p->met[b]) * (double)held >
						(double)(held - met) * (double)p->held[b];
		/* met[] of the next collection refers to these */
		p->held[b] += p->held_now[b];
		p->held_now[b] = 0;
	}
}
