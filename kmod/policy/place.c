// SPDX-License-Identifier: GPL-2.0-only
#include "place.h"

/* More units, or ns, are not credible, and would not fit. */
#define CREDIBLE BIT_ULL(40)
/* What was done in less says little. */
#define SAMPLE_NS ((u64)NSEC_PER_MSEC)

enum { LARGE, SMALL };

static void learn(struct gchint_rates *r, u64 work, u32 capacity, u32 least, u64 ns)
{
	bool small = least < GCHINT_ONE && capacity <= least;
	u64 *each = &r->each[r->phase][small ? SMALL : LARGE];
	u64 seen;

	if (work >= CREDIBLE || ns >= CREDIBLE)
		return;
	seen = div64_u64(ns << GCHINT_ONE_SHIFT, work);
	/* Of the kinds between the two, what the most capable would have taken. */
	if (!small)
		seen = (seen * capacity) >> GCHINT_ONE_SHIFT;
	*each = max_t(u64, *each ? (*each + seen) / 2 : seen, 1);
}

void gchint_place_look(struct gchint_rates *r, u8 phase, u64 done, u32 capacity, u32 least,
		       u64 now_ns)
{
	bool ended = phase == GCHINT_PHASE_NONE;

	if (r->phase && (ended || phase == r->phase) && capacity == r->capacity &&
	    done >= r->done) {
		/* What is under way is waited for. */
		if (!ended && (done == r->done || now_ns - r->at_ns < SAMPLE_NS))
			return;
		if (done > r->done && now_ns - r->at_ns >= SAMPLE_NS)
			learn(r, done - r->done, capacity, least, now_ns - r->at_ns);
	}
	r->phase = phase;
	r->done = done;
	r->capacity = capacity;
	r->at_ns = now_ns;
}

/* Does it end before mutators stall, on the small CPUs? */
static bool in_time(const struct gchint_hint *h, const struct gchint_rates *r, u32 least,
		    u32 margin_pct, u64 now_ns)
{
	const u64 *each = r->each[h->phase];
	u64 each_ns, need_ns;

	if (!h->stall_ns)
		return true;
	if (h->stall_ns <= now_ns || !h->work_left)
		return false;
	each_ns = each[SMALL];
	/* It may be better: a phase that waits for memory is slowed less. */
	if (!each_ns)
		each_ns = div64_u64(each[LARGE] << GCHINT_ONE_SHIFT, least);
	if (!each_ns || each_ns > div64_u64(CREDIBLE << GCHINT_ONE_SHIFT, h->work_left))
		return false;
	need_ns = (each_ns * h->work_left) >> GCHINT_ONE_SHIFT;
	return div_u64(need_ns * (100 + margin_pct), 100) <= h->stall_ns - now_ns;
}

void gchint_place_find(struct gchint_place *p, const struct gchint_hint *h,
		       const struct gchint_rates *r, const struct gchint_tunables *tun,
		       u32 least, u64 now_ns)
{
	bool unlike = least < GCHINT_ONE;
	u32 all = gchint_place_fits(GCHINT_ONE);

	p->min = 0;
	p->max = GCHINT_ONE;
	p->where = GCHINT_WHERE_ANY;
	if (READ_ONCE(tun->mode) == GCHINT_MODE_OFF)
		return;
	if (unlike)
		p->max = all;
	if (gchint_class_boosts(h->class)) {
		if (!h->may_raise && !READ_ONCE(tun->boost_unprivileged))
			return;
		p->min = all * READ_ONCE(tun->boost_pct) / 100;
		if (unlike)
			p->where = GCHINT_WHERE_LARGE;
		return;
	}
	if (!gchint_class_caps(h->class) || h->overdue)
		return;
	/* A percentage knows of no deadline. */
	if (!h->stall_ns)
		p->max = min_t(u32, p->max, GCHINT_ONE * gchint_tunables_cap(tun, h->phase) / 100);
	if (unlike && in_time(h, r, least, READ_ONCE(tun->margin_pct), now_ns)) {
		p->max = min_t(u32, p->max, gchint_place_fits(least));
		p->where = GCHINT_WHERE_SMALL;
	}
}
