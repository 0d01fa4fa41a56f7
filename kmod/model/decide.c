// SPDX-License-Identifier: GPL-2.0-only
#include "decide.h"

/* Load lowers a frequency only if a load higher by this allows it, too. Percent. */
#define HYSTERESIS_PCT 5

/* A driver that takes longer sleeps, and its CPUs go on meanwhile. */
#define SWITCH_STALL_MAX_NS (200 * NSEC_PER_USEC)

static u32 demand_from_load(const struct gchint_rules *r, u32 load)
{
	u64 khz = (u64)r->opps->ref_khz * load * (100 + r->tun->headroom_pct);

	return max_t(u32, (u32)min_t(u64, div_u64(khz, 100) >> GCHINT_ONE_SHIFT, U32_MAX), 1);
}

static void demand_bound_mutator(struct gchint_demand *d, const struct gchint_rules *r,
				 const struct gchint_hint *h, bool raise)
{
	const struct gchint_mutator_bounds *bounds = &r->mutator[h->mutator];
	u32 ceiling = h->keeping == GCHINT_KEEPING_UP ? bounds->spare_khz : bounds->cap_khz;
	u32 cap = 0;

	/* A queue that grows costs more than any power. */
	if (h->keeping == GCHINT_KEEPING_BEHIND)
		ceiling = 0;
	else if (h->slowdown > GCHINT_ONE)
		cap = gchint_plan_mutator_khz(r, h->slowdown, h->mutator);
	if (raise && d->khz < bounds->floor_khz) {
		d->khz = bounds->floor_khz;
		d->reason = GCHINT_REASON_MODEL;
	}
	if (cap && d->khz > cap) {
		d->khz = cap;
		d->reason = GCHINT_REASON_PACE;
	}
	/* A capped thread is busier than it would be without the cap. */
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

	*d = (struct gchint_demand){
		.khz = demand_from_load(r, load),
		.cpu = cpu,
		.load = load,
		.reason = GCHINT_REASON_LOAD,
		.class = GCHINT_CLASS_NEUTRAL,
		.phase = GCHINT_PHASE_NONE,
		.between_phases = h && h->class == GCHINT_CLASS_NEUTRAL,
		.bucket = h ? h->bucket : 0,
	};
	if (!h || READ_ONCE(r->tun->mode) == GCHINT_MODE_OFF)
		return;
	raise = h->may_raise || READ_ONCE(r->tun->boost_unprivileged);
	if (h->class == GCHINT_CLASS_NEUTRAL) {
		if (READ_ONCE(r->tun->mode) == GCHINT_MODE_MODEL)
			demand_bound_mutator(d, r, h, raise);
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
		/* Load may ask for more than max_khz; the hint decides that, too. */
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

/*
 * The frequency that load alone would settle at, where the part of its time that a CPU is
 * busy is 100 of 100 + headroom_pct. A thread that is never late for its work, and rests
 * as long at any frequency, is as busy as the load says. Any other computes for less
 * time if it is faster, and waits as long: by its load under a cap it would be said to
 * ask for little more than the cap, and what it loses would not be booked.
 */
static u32 free_from_load(const struct gchint_rules *r, u32 load, u32 khz, bool rests)
{
	u32 demand = demand_from_load(r, load);
	u64 ratio;
	u32 busy;

	if (rests || !khz || khz >= r->max_khz)
		return demand;
	busy = (u32)min_t(u64, div_u64((u64)load * r->opps->ref_khz, khz), GCHINT_ONE);
	/* Work to waiting at @khz; it settles where that is 100 to headroom_pct. */
	ratio = div_u64((u64)khz * busy, max_t(u32, GCHINT_ONE - busy, 1));
	ratio = min_t(u64, ratio, U32_MAX);
	return max_t(u32, demand, gchint_percent((u32)ratio, r->tun->headroom_pct));
}

void gchint_decide_usage(struct gchint_usage *u, const struct gchint_rules *r,
			 const struct gchint_hint *h, const struct gchint_plan *p, u32 khz,
			 u32 load, bool hinted)
{
	bool raise = h->may_raise || READ_ONCE(r->tun->boost_unprivileged);
	u32 free_khz = r->max_khz;
	/* Where it is not learned, all of the time counts. */
	u32 mem = 0;

	if (h->class == GCHINT_CLASS_NEUTRAL) {
		u->weight = GCHINT_WEIGHT_THREAD;
		/* By prediction they lose only a part of it. */
		if (h->slowdown > GCHINT_ONE)
			u->weight /= GCHINT_SLOWED_LOSS_PART;
		mem = h->mutator ? gchint_mutator_mem(h->mutator) : 0;
	} else {
		u->weight = p->made && p->class == h->class ? p->weight : 0;
		mem = p->mem;
	}
	if (h->class == GCHINT_CLASS_NEUTRAL || !raise)
		free_khz = min_t(u32, free_khz, free_from_load(r, load, khz, h->rests));
	if (!hinted)
		free_khz = khz;
	/* What no hint could slow allows none to slow other work instead. */
	if (free_khz <= r->min_khz)
		u->weight = 0;
	u->stretch = gchint_khz_stretch(khz, r->opps->ref_khz, mem);
	u->free_stretch = gchint_khz_stretch(free_khz, r->opps->ref_khz, mem);
}

void gchint_decide_switch_usage(struct gchint_usage *u, const struct gchint_rules *r)
{
	*u = (struct gchint_usage){
		.ran_ns = min_t(u32, gchint_rules_latency(r), SWITCH_STALL_MAX_NS),
		.weight = GCHINT_WEIGHT_THREAD,
		.stretch = GCHINT_ONE,
	};
}

/* Did a limit narrower than the hardware decide? */
static bool decide_is_limited(const struct gchint_rules *r, u32 raw_khz)
{
	const struct gchint_opps *t = r->opps;

	if (raw_khz > r->max_khz)
		return r->max_khz < t->ref_khz;
	if (raw_khz < r->min_khz)
		return t->nr && r->min_khz > t->opp[0].khz;
	return false;
}

/*
 * Alongside another governor only a hint asks for limits. They may appear and
 * disappear while the frequency decided stays the same, that of an idle policy.
 */
static struct gchint_bounds decide_bounds(const struct gchint_rules *r,
					  const struct gchint_demand *best, u32 khz)
{
	struct gchint_bounds b = {};

	if (!r->limits_only || !best->hinted)
		return b;
	if (gchint_class_boosts(best->class))
		b.floor_khz = khz;
	else if (khz < r->max_khz)
		b.cap_khz = khz;
	return b;
}

static bool bounds_narrow(const struct gchint_bounds *b, const struct gchint_bounds *before)
{
	return b->cap_khz && (!before->cap_khz || b->cap_khz < before->cap_khz);
}

/* Lifting limits is free: no thread is slowed by it, and no request is needed. */
static bool decide_lifts_bounds(const struct gchint_rules *r, const struct gchint_demand *best)
{
	return r->limits_only && !best->hinted && !best->between_phases;
}

/*
 * An unprivileged hint only lowers, and what it lowered is restored at once. So it
 * is the lowering that is refused: then there is nothing to restore.
 */
static bool decide_is_throttled(const struct gchint_rules *r, const struct gchint_state *s,
				const struct gchint_demand *best, bool lowers, u64 now_ns)
{
	return best->metered && lowers &&
	       gchint_bucket_is_empty(&s->switches[best->bucket], gchint_rules_meter_ns(r),
				      now_ns);
}

/* How long a switch must be in force to be worth it; a cap waits for as long after the last. */
static u64 switch_pays_ns(const struct gchint_rules *r)
{
	return (u64)gchint_rules_latency(r) * READ_ONCE(r->tun->min_latencies);
}

/*
 * Load fluctuates: it switches no more often than hold_us, up or down, as with
 * schedutil's rate limit, and not for a small difference. A hint raises at once, and
 * what it capped is restored at once. Lowering is never urgent. A cap waits until
 * the last switch has paid; and what a hint raised lingers while its thread runs on,
 * for the next phase of the cycle is usually near. Nothing lingers on an idle policy.
 */
static bool decide_must_wait(const struct gchint_rules *r, struct gchint_state *s,
			     const struct gchint_demand *best, u32 khz, u64 now_ns)
{
	u64 pays = switch_pays_ns(r);
	u64 since = now_ns > s->switched_ns ? now_ns - s->switched_ns : 0;
	bool load = !best->hinted && !s->hinted;

	if (best->hinted || !s->hinted)
		s->hint_ended_ns = 0;
	if (khz == s->khz || decide_lifts_bounds(r, best))
		return false;
	/* An idle policy may slow down: no thread waits. But there is no need to speed up. */
	if (best->idle)
		return khz > s->khz;
	/* What was lowered while it was idle is restored for the first thread that runs. */
	if (s->idle && khz > s->khz)
		return false;
	if (load && since < (u64)READ_ONCE(r->tun->hold_us) * NSEC_PER_USEC)
		return true;
	if (khz > s->khz)
		return false;
	if (since < pays)
		return true;
	if (best->hinted)
		return false;
	if (load)
		return gchint_opps_resolve(r->opps, gchint_percent(best->khz, 100 + HYSTERESIS_PCT),
					   r->min_khz, r->max_khz) >= s->khz;
	if (!best->between_phases)
		return false;
	if (!s->hint_ended_ns)
		s->hint_ended_ns = now_ns;
	return now_ns - s->hint_ended_ns < pays;
}

/* The same frequency is resolved again and again while a phase lasts. */
static u32 decide_resolve(const struct gchint_rules *r, struct gchint_state *s, u32 raw_khz)
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
	u32 khz = decide_resolve(r, s, best->khz);
	struct gchint_bounds bounds = decide_bounds(r, best, khz);
	bool outside = s->khz < r->min_khz || s->khz > r->max_khz || s->epoch != r->epoch;
	bool kept = s->khz && !outside;
	bool lowers, moves;

	out->raw_khz = best->khz;
	out->cpu = best->cpu;
	out->load = best->load;
	out->class = best->class;
	out->phase = best->phase;
	out->reason = decide_is_limited(r, best->khz) ? GCHINT_REASON_LIMITS : best->reason;
	out->avoided = best->avoided && !s->skipped;
	out->steady = false;

	s->skipped = best->avoided;
	lowers = r->limits_only ? bounds_narrow(&bounds, &s->bounds) : kept && khz < s->khz;
	if ((kept && decide_must_wait(r, s, best, khz, now_ns)) ||
	    decide_is_throttled(r, s, best, lowers, now_ns)) {
		out->khz = s->khz;
		out->reason = GCHINT_REASON_HOLD;
		out->change = false;
		out->avoided |= !s->delayed;
		s->delayed = true;
		return;
	}
	s->delayed = false;
	out->khz = khz;
	out->steady = best->hinted ? best->steady && !best->idle :
				     !best->between_phases && best->khz >= r->max_khz;
	moves = r->limits_only ? bounds.cap_khz != s->bounds.cap_khz ||
				    bounds.floor_khz != s->bounds.floor_khz :
			    khz != s->khz;
	/* New limits may move the frequency, and cut a request still queued. */
	out->change = moves || (!r->limits_only && s->epoch != r->epoch);
	if (khz != s->khz)
		s->switched_ns = now_ns;
	/* What a hint lowered is restored at the expense of its user. */
	if (moves && (best->metered || s->metered))
		gchint_bucket_take(&s->switches[best->metered ? best->bucket : s->bucket],
				   gchint_rules_meter_ns(r), now_ns);
	s->epoch = r->epoch;
	s->bounds = bounds;
	s->khz = khz;
	s->hinted = best->hinted;
	s->metered = best->metered;
	s->bucket = best->bucket;
	s->idle = best->idle;
}

u64 gchint_decide_delay_ns(const struct gchint_rules *r)
{
	u64 ns = r->tun->window_us * (u64)NSEC_PER_USEC * 3 / 4;

	ns = max_t(u64, ns, 20ULL * gchint_rules_latency(r));
	return min_t(u64, ns, 10 * NSEC_PER_MSEC);
}
