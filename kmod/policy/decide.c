// SPDX-License-Identifier: GPL-2.0-only
#include "decide.h"

/* Load lowers a frequency only if so much more would allow it, in percent. */
#define HYSTERESIS_PCT 5

/* A cap leaves a frequency alone for so many switch latencies. */
#define DWELL_LATENCIES 4

static u32 load_khz(const struct gchint_rules *r, u32 load)
{
	u64 khz = (u64)r->opps->ref_khz * load * (100 + r->tun->headroom_pct);

	return max_t(u32, (u32)min_t(u64, div_u64(khz, 100) >> GCHINT_ONE_SHIFT, U32_MAX), 1);
}

static void decide_mutator(struct gchint_demand *d, const struct gchint_rules *r,
			   const struct gchint_hint *h, bool raise)
{
	const struct gchint_bounds *bounds = &r->mutator[h->mutator];
	u32 cap = h->slowdown > GCHINT_ONE ? gchint_plan_slowed(r, h->slowdown, h->mutator) : 0;
	u32 ceiling = bounds->cap_khz;

	if (raise && d->khz < bounds->floor_khz) {
		d->khz = bounds->floor_khz;
		d->reason = GCHINT_REASON_MODEL;
	}
	if (cap && d->khz > cap) {
		d->khz = cap;
		d->reason = GCHINT_REASON_PACE;
	}
	/* At a cap it looks busier than it would be, whatever it asks for. */
	d->hinted = cap;
	if (ceiling && d->khz > ceiling) {
		d->khz = ceiling;
		d->reason = GCHINT_REASON_MODEL;
		d->hinted = true;
	}
	d->metered = d->hinted && !raise;
}

void gchint_decide_cpu(struct gchint_demand *d, const struct gchint_rules *r, u32 cpu, u32 load,
		       const struct gchint_hint *h, const struct gchint_plan *p)
{
	bool raise;

	d->cpu = cpu;
	d->load = load;
	d->khz = load_khz(r, load);
	d->reason = GCHINT_REASON_LOAD;
	d->class = GCHINT_CLASS_NEUTRAL;
	d->phase = GCHINT_PHASE_NONE;
	d->hinted = false;
	d->metered = false;
	d->steady = false;
	d->avoided = false;
	d->idle = false;
	d->between = h && h->class == GCHINT_CLASS_NEUTRAL;
	if (!h || READ_ONCE(r->tun->mode) == GCHINT_MODE_OFF)
		return;
	raise = h->may_raise || READ_ONCE(r->tun->boost_unprivileged);
	if (h->class == GCHINT_CLASS_NEUTRAL) {
		if (READ_ONCE(r->tun->mode) == GCHINT_MODE_MODEL)
			decide_mutator(d, r, h, raise);
		return;
	}

	d->class = h->class;
	d->phase = h->phase;
	d->avoided = p && p->avoided;
	if (!p || p->khz == GCHINT_PLAN_LOAD)
		return;
	if (gchint_class_boosts(h->class)) {
		if (!raise)
			return;
		/* Load may ask for more than there is; then it is the hint's all the same. */
		if (p->lower || p->khz >= min_t(u32, d->khz, r->max_khz)) {
			d->khz = p->khz;
			d->reason = p->reason;
		}
		d->hinted = true;
		d->steady = p->steady && (p->lower || p->khz >= r->max_khz);
		return;
	}
	d->hinted = true;
	d->metered = !raise;
	d->steady = p->steady && raise;
	if (raise || p->khz < d->khz) {
		d->khz = p->khz;
		d->reason = p->reason;
	}
}

/* Did a limit narrower than the hardware decide? */
static bool limited(const struct gchint_rules *r, u32 raw_khz)
{
	const struct gchint_opps *t = r->opps;

	if (raw_khz > r->max_khz)
		return r->max_khz < t->ref_khz;
	if (raw_khz < r->min_khz)
		return t->nr && r->min_khz > t->opp[0].khz;
	return false;
}

/*
 * Beside another governor a hint asks for limits, and nothing else does. They may
 * come and go although the frequency decided is the same, that of an idle policy.
 */
static struct gchint_bounds bounds_of(const struct gchint_rules *r,
				      const struct gchint_demand *best, u32 khz)
{
	struct gchint_bounds b = {};

	if (!r->beside || !best->hinted)
		return b;
	if (gchint_class_boosts(best->class))
		b.floor_khz = khz;
	else if (khz < r->max_khz)
		b.cap_khz = khz;
	return b;
}

/* Does it hold somebody back who was not held back so far? */
static bool narrower(const struct gchint_bounds *b, const struct gchint_bounds *before)
{
	return b->cap_khz && (!before->cap_khz || b->cap_khz < before->cap_khz);
}

/* To limit nothing is free: nobody is slowed by it, and nobody is asked for anything. */
static bool lets_go(const struct gchint_rules *r, const struct gchint_demand *best)
{
	return r->beside && !best->hinted && !best->between;
}

/*
 * Without privilege a hint only ever lowers, and what it lowered is given back at
 * once. So it is the lowering that is refused: then there is nothing to give back.
 */
static bool refused(const struct gchint_rules *r, const struct gchint_state *s,
		    const struct gchint_demand *best, bool lowers, u64 now_ns)
{
	return best->metered && lowers &&
	       gchint_bucket_spent(&s->switches, gchint_rules_meter_ns(r), now_ns);
}

/*
 * Load wobbles: it switches no more often than hold_us, up or down, as with
 * schedutil's rate limit, and not for a trifle. A hint raises at once, and what
 * it capped is given back at once. Lowering is never urgent. A cap waits until
 * the last switch has paid; and what a hint raised is kept for a while if its
 * thread goes on, for the next phase of the cycle is usually not far. An idle
 * policy is not kept fast for anything.
 */
static bool hold(const struct gchint_rules *r, struct gchint_state *s,
		 const struct gchint_demand *best, u32 khz, u64 now_ns)
{
	u64 latency = gchint_rules_latency(r);
	u64 since = now_ns - s->switched_ns;
	bool load = !best->hinted && !s->hinted;
	u32 min_latencies = READ_ONCE(r->tun->min_latencies);

	if (best->hinted || !s->hinted)
		s->freed_ns = 0;
	if (khz == s->khz || lets_go(r, best))
		return false;
	/* While nobody runs, down costs nobody's time and nobody will ask again; up can wait. */
	if (best->idle)
		return khz > s->khz;
	/* And what was taken from nobody is given to whoever comes, at once. */
	if (s->idle && khz > s->khz)
		return false;
	if (load && since < (u64)READ_ONCE(r->tun->hold_us) * NSEC_PER_USEC)
		return true;
	if (khz > s->khz)
		return false;
	if (since < latency * min_t(u32, DWELL_LATENCIES, min_latencies))
		return true;
	if (best->hinted)
		return false;
	if (load)
		return gchint_opps_resolve(r->opps, gchint_percent(best->khz, 100 + HYSTERESIS_PCT),
					   r->min_khz, r->max_khz) >= s->khz;
	if (!best->between)
		return false;
	if (!s->freed_ns)
		s->freed_ns = now_ns;
	return now_ns - s->freed_ns < latency * min_latencies;
}

/* The same is asked for again and again, as long as a phase lasts. */
static u32 resolve(const struct gchint_rules *r, struct gchint_state *s, u32 raw_khz)
{
	if (!s->khz || s->epoch != r->epoch || s->raw_khz != raw_khz) {
		s->raw_khz = raw_khz;
		s->opp_khz = gchint_opps_resolve(r->opps, raw_khz, r->min_khz, r->max_khz);
	}
	return s->opp_khz;
}

void gchint_decide_policy(struct gchint_decision *out, const struct gchint_rules *r,
			  struct gchint_state *s, const struct gchint_demand *best, u64 now_ns)
{
	u32 khz = resolve(r, s, best->khz);
	struct gchint_bounds bounds = bounds_of(r, best, khz);
	bool outside = s->khz < r->min_khz || s->khz > r->max_khz || s->epoch != r->epoch;
	bool kept = s->khz && !outside;
	bool lowers, moves;

	out->raw_khz = best->khz;
	out->cpu = best->cpu;
	out->load = best->load;
	out->class = best->class;
	out->phase = best->phase;
	out->reason = limited(r, best->khz) ? GCHINT_REASON_LIMITS : best->reason;
	out->avoided = false;
	out->steady = false;

	if (best->avoided) {
		out->avoided = !s->skipped;
		s->skipped = true;
	} else {
		s->skipped = false;
	}
	lowers = r->beside ? narrower(&bounds, &s->bounds) : kept && khz < s->khz;
	if ((kept && hold(r, s, best, khz, now_ns)) || refused(r, s, best, lowers, now_ns)) {
		out->khz = s->khz;
		out->reason = GCHINT_REASON_HOLD;
		out->change = false;
		out->avoided |= !s->held;
		s->held = true;
		return;
	}
	s->held = false;
	out->khz = khz;
	out->steady = best->hinted ? best->steady && !best->idle :
				     !best->between && best->khz >= r->max_khz;
	moves = r->beside ? bounds.cap_khz != s->bounds.cap_khz ||
				    bounds.floor_khz != s->bounds.floor_khz :
			    khz != s->khz;
	/* Other limits move a frequency, and cut what is on its way to the driver. */
	out->change = moves || (!r->beside && s->epoch != r->epoch);
	if (khz != s->khz)
		s->switched_ns = now_ns;
	if (moves && (best->metered || s->metered))
		gchint_bucket_take(&s->switches, gchint_rules_meter_ns(r), now_ns);
	s->epoch = r->epoch;
	s->bounds = bounds;
	s->khz = khz;
	s->reason = out->reason;
	s->class = best->class;
	s->hinted = best->hinted;
	s->metered = best->metered;
	s->idle = best->idle;
}

u64 gchint_decide_delay_ns(const struct gchint_rules *r)
{
	u64 ns = r->tun->window_us * (u64)NSEC_PER_USEC * 3 / 4;

	ns = max_t(u64, ns, 20ULL * gchint_rules_latency(r));
	return min_t(u64, ns, 10 * NSEC_PER_MSEC);
}
