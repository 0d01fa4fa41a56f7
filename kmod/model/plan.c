// SPDX-License-Identifier: GPL-2.0-only
#include "pace.h"
#include "plan.h"

/* How long a plan is valid if nothing is seen to change ... */
#define HOLD_NS (20 * (u64)NSEC_PER_MSEC)
/* ... while there is a stall instant, which comes closer by itself ... */
#define PACED_NS ((u64)NSEC_PER_MSEC)
/* ... and while a phase is expected to end at once. */
#define SHORT_NS (100 * (u64)NSEC_PER_USEC)
/* Every one of the first phases is probed, unless the error of @mem is below this. */
#define EAGER_PHASES 32
#define EAGER_ERROR  (GCHINT_ONE * 15 / 1000)
/* How far from the choice a probe may be, in percent of it. */
#define PROBE_PCT 25
/* Background work, for which no thread ever waits, may be slower by this factor. */
#define BACKGROUND_TIMES 3
/* A boost must be expected to last this many switch latencies, there and back. */
#define BOOST_LATENCIES 2
/* Energies that differ by less than this part are nearly the same. */
#define NEAR 32
/*
 * Threads that wait for a pause or a late collection, for each that collects: itself, and
 * a mutator; but where several collect together, their CPUs are those of the mutators.
 */
#define WAITING 2
#define WAITING_TOGETHER 1
/*
 * Threads that rest have requests or frames to answer in time. Their delay costs at
 * least this: what they lose in throughput is nothing, but in latency it is not. See
 * rules_delay_cost() for pauses alongside another governor.
 */
#define RESTS_COST_MIN 40
/* A plan for a running phase changes only if this part of its energy is saved. */
#define STAY 32

/* Indices of the OPPs within the limits. */
struct range {
	u32 first;
	u32 last;
};

/* False if no OPP is within the limits. */
static bool range_init(const struct gchint_rules *r, struct range *in)
{
	const struct gchint_opps *t = r->opps;

	if (!t->nr)
		return false;
	in->first = gchint_opp_at_least(t, r->min_khz);
	in->last = t->nr - 1;
	while (in->last > in->first && t->opp[in->last].khz > r->max_khz)
		in->last--;
	return t->opp[in->first].khz >= r->min_khz && t->opp[in->last].khz <= r->max_khz;
}

static u64 opp_cost(const struct gchint_opps *t, const struct gchint_opp *o, u32 mem, u32 awake)
{
	return t->powered ? gchint_opp_energy(o, mem, awake) : o->khz;
}

/*
 * The OPP of least energy, or of least frequency if power is unknown, among those
 * that stretch no more than the bound; the fastest if none does. Near its minimum,
 * energy hardly changes with frequency, and time does: of OPPs with nearly the same
 * energy the fastest is taken.
 */
static u32 range_find_cheapest(const struct gchint_opps *t, const struct range *in, u32 mem,
			       u32 awake, u32 bound)
{
	u64 least = U64_MAX;
	u32 i;

	for (i = in->first; i <= in->last; i++) {
		const struct gchint_opp *o = &t->opp[i];

		if (!(o->flags & GCHINT_OPP_INEFFICIENT) && gchint_opp_stretch(o, mem) <= bound)
			least = min_t(u64, least, opp_cost(t, o, mem, awake));
	}
	if (least == U64_MAX)
		return in->last;
	if (t->powered)
		least += least / NEAR;
	for (i = in->last; i > in->first; i--) {
		const struct gchint_opp *o = &t->opp[i];

		if (!(o->flags & GCHINT_OPP_INEFFICIENT) && gchint_opp_stretch(o, mem) <= bound &&
		    opp_cost(t, o, mem, awake) <= least)
			break;
	}
	return i;
}

/*
 * What the time of a waiting thread is worth; @rests: &gchint_hint.rests. Alongside
 * another governor most of what runs was slowed by no hint, so that savings are no
 * sign of time to spare.
 */
static u32 rules_delay_cost(const struct gchint_rules *r, bool rests)
{
	return max_t(u32, r->delay_cost, rests || r->limits_only ? RESTS_COST_MIN : 0);
}

/*
 * The highest OPP for whose power the time of @waiting threads at @cost, and of a machine
 * that is awake for @awake_pct, is worth it.
 */
static u32 range_find_worth(const struct gchint_rules *r, const struct range *in, u32 mem,
			    u32 waiting, u32 cost, u32 awake_pct)
{
	u32 pct = awake_pct + waiting * GCHINT_DELAY_COST_STEP * cost;

	if (cost >= GCHINT_DELAY_COST_MAX || !r->opps->powered)
		return in->last;
	return range_find_cheapest(r->opps, in, mem, gchint_opps_awake(r->opps, pct), U32_MAX);
}

/*
 * Bounds of a hinting thread in no phase: no slower than the OPP of least energy,
 * for below it being awake costs more than is saved; no faster than its time is worth.
 */
static struct gchint_mutator_bounds mutator_bounds(const struct gchint_rules *r,
						   const struct range *in, u32 mem)
{
	const struct gchint_opps *t = r->opps;
	struct gchint_mutator_bounds b = {};
	u32 pct = READ_ONCE(r->tun->awake_pct);
	u32 cap = range_find_worth(r, in, mem, 1, r->delay_cost, pct);
	u32 spare = range_find_worth(r, in, mem, 1, rules_delay_cost(r, true), 0);

	if (t->powered)
		b.floor_khz = t->opp[range_find_cheapest(t, in, mem, gchint_opps_awake(t, pct),
							 U32_MAX)].khz;
	if (cap < in->last)
		b.cap_khz = t->opp[cap].khz;
	if (t->powered) {
		pct += GCHINT_DELAY_COST_STEP * r->delay_cost / GCHINT_SLOWED_LOSS;
		b.slow_khz = t->opp[range_find_cheapest(t, in, mem, gchint_opps_awake(t, pct),
							U32_MAX)].khz;
	}
	if (spare < in->last)
		b.spare_khz = max_t(u32, t->opp[spare].khz, b.floor_khz);
	return b;
}

void gchint_rules_set_mutators(struct gchint_rules *r)
{
	struct range in;
	u8 i;

	memset(r->mutator, 0, sizeof(r->mutator));
	if (!range_init(r, &in))
		return;
	for (i = 1; i < GCHINT_MUTATORS; i++)
		r->mutator[i] = mutator_bounds(r, &in, gchint_mutator_mem(i));
	r->mutator[0] = r->mutator[GCHINT_MUTATOR_UNKNOWN];
}

static u32 stretch_add_pct(u32 stretch, u32 pct)
{
	return (u32)min_t(u64, div_u64((u64)stretch * (100 + pct), 100), U32_MAX);
}

/* The OPP for mutators that may be slower by @slowdown; NULL if that saves nothing. */
static const struct gchint_opp *mutator_slowed_opp(const struct gchint_rules *r, u32 slowdown,
						   u8 mutator)
{
	const struct gchint_opps *t = r->opps;
	/* That no thread is delayed is a prediction: rely on it less if delay costs more. */
	u32 bound = stretch_add_pct(GCHINT_ONE, GCHINT_DELAY_COST_MAX - r->delay_cost);
	u32 slow_khz = r->mutator[mutator].slow_khz;
	struct range in;
	u32 i;

	bound = min_t(u32, bound, slowdown);
	if (bound <= GCHINT_ONE || !slow_khz || !range_init(r, &in))
		return NULL;
	/* At the highest OPP within the limits they are not slowed by a hint. */
	for (i = gchint_opp_at_least(t, slow_khz); i < in.last; i++)
		if (!(t->opp[i].flags & GCHINT_OPP_INEFFICIENT) &&
		    gchint_opp_stretch(&t->opp[i], gchint_mutator_mem(mutator)) <= bound)
			return &t->opp[i];
	return NULL;
}

u32 gchint_plan_mutator_khz(const struct gchint_rules *r, u32 slowdown, u8 mutator)
{
	const struct gchint_opp *o = mutator_slowed_opp(r, slowdown, mutator);

	return o ? o->khz : 0;
}

/* The part of an allowed slowdown that mutator_slowed_opp() will use. */
static u32 mutator_slowdown(const struct gchint_rules *r, u32 slowdown, u8 mutator)
{
	const struct gchint_opp *o = mutator_slowed_opp(r, slowdown, mutator);

	return o ? gchint_opp_stretch(o, gchint_mutator_mem(mutator)) : GCHINT_ONE;
}

static u8 boost_reason(u8 class)
{
	switch (class) {
	case GCHINT_CLASS_STW:
		return GCHINT_REASON_STW;
	case GCHINT_CLASS_FOREGROUND:
		return GCHINT_REASON_FOREGROUND;
	default:
		return GCHINT_REASON_URGENT;
	}
}

static void plan_boost_full(struct gchint_plan *p, const struct gchint_rules *r)
{
	p->khz = max_t(u32, r->max_khz, 1);
	p->reason = boost_reason(p->class);
}

static void plan_boost_lower(struct gchint_plan *p, const struct gchint_rules *r, u32 i)
{
	if (r->opps->opp[i].khz >= p->khz)
		return;
	p->khz = r->opps->opp[i].khz;
	p->lower = true;
}

/* The conservative end of the estimate: where a thread waits is no place to experiment. */
static u32 fit_least_mem(const struct gchint_fit *fit)
{
	return fit->known && fit->mem > 2 * fit->error ? fit->mem - 2 * fit->error : 0;
}

static void plan_boost(struct gchint_plan *p, const struct gchint_hint *h,
		       const struct gchint_rules *r, const struct gchint_fit *fit)
{
	const struct gchint_opps *t = r->opps;
	struct range in;
	u32 bound, mem, i;

	plan_boost_full(p, r);
	p->mem = 0;
	if (!range_init(r, &in))
		return;
	mem = fit_least_mem(fit);
	p->mem = mem;
	i = range_find_worth(r, &in, mem, p->together ? WAITING_TOGETHER : WAITING,
			     rules_delay_cost(r, h->rests), READ_ONCE(r->tun->awake_pct));
	/* The limit itself may be no OPP. */
	if (i < in.last)
		plan_boost_lower(p, r, i);
	if (p->class == GCHINT_CLASS_URGENT || !fit->known)
		return;
	i = min_t(u32, gchint_opp_at_least(t, p->khz), in.last);
	bound = stretch_add_pct(gchint_opp_stretch(&t->opp[i], mem), r->tun->pause_stretch_pct);
	i = range_find_cheapest(t, &in, mem, gchint_opps_awake(t, READ_ONCE(r->tun->awake_pct)),
				bound);
	plan_boost_lower(p, r, i);
}

/* The farthest OPP on one side of @at that is within @pct of it, at least the next. */
static u32 range_find_neighbour(const struct gchint_opps *t, const struct range *in, u32 at,
				bool up, u32 pct)
{
	u32 far = gchint_percent(t->opp[at].khz, up ? 100 + pct : 100 - pct);
	u32 i = at;

	if (up) {
		while (i < in->last && (i == at || t->opp[i + 1].khz <= far))
			i++;
	} else {
		while (i > in->first && (i == at || t->opp[i - 1].khz >= far))
			i--;
	}
	return i;
}

struct cap {
	struct range in;
	bool known; /* is @mem learned? */
	u32 error; /* of @mem */
	u32 mem;
	u32 awake; /* if power is known, too */
	u32 slow; /* if @known, bound on the stretch, from the slowdown allowed */
	u32 pace; /* bound on the stretch, from the stall instant */
};

/*
 * Another OPP than the best, so that the learner sees a second frequency, alternately
 * above and below: one phase in probe_every, but each of the first phases until the
 * line is well known. A line still unknown after those is of phases that differ too
 * much; it gets a quarter of probe_every. Never where a thread waits or will wait for
 * it, nor slower than the slowdown allowed, once anything is known of it.
 */
static u32 plan_probe(struct gchint_plan *p, const struct gchint_rules *r,
		      struct gchint_learn_line *n, const struct cap *c, u32 at)
{
	const struct gchint_opps *t = r->opps;
	u32 every = r->tun->probe_every;
	u32 nr, i;

	if (!every)
		return at;
	nr = n->phases++;
	if (nr < EAGER_PHASES && c->error > EAGER_ERROR)
		every = 1;
	else if (!c->known)
		every = max_t(u32, every / 4, 1);
	if (nr % every)
		return at;
	nr /= every;
	i = range_find_neighbour(t, &c->in, at, nr & 1, PROBE_PCT);
	if (i == at || gchint_opp_stretch(&t->opp[i], c->mem) > c->pace ||
	    (c->known && gchint_opp_stretch(&t->opp[i], c->mem) > c->slow))
		i = range_find_neighbour(t, &c->in, at, true, PROBE_PCT);
	p->step = (s32)i - (s32)at;
	return i;
}

static u32 plan_table_khz(const struct gchint_rules *r, u8 phase)
{
	return max_t(u32, gchint_percent(r->opps->ref_khz, gchint_tunables_cap(r->tun, phase)), 1);
}

/* Until the line is known: a fixed part, but no OPP that no line would choose. */
static u32 plan_cap_unknown(const struct gchint_rules *r, const struct cap *c, u8 phase)
{
	const struct gchint_opps *t = r->opps;
	u32 i = gchint_opp_at_least(t, plan_table_khz(r, phase));

	i = clamp_t(u32, i, c->in.first, c->in.last);
	while (i < c->in.last && (t->opp[i].flags & GCHINT_OPP_INEFFICIENT))
		i++;
	return i;
}

/* The OPP for a collection that mutators wait for, in all or at times. */
static u32 cap_find_worth(const struct gchint_rules *r, const struct cap *c, bool rests)
{
	return range_find_worth(r, &c->in, c->mem, WAITING, rules_delay_cost(r, rests),
				READ_ONCE(r->tun->awake_pct));
}

/*
 * Learning goes on during a phase, and the cheapest OPP may become an adjacent one.
 * That small gain is not worth a switch.
 */
static u32 plan_cap_stay(const struct gchint_opps *t, const struct cap *c, u32 best, u32 khz)
{
	u32 i = gchint_opp_at_least(t, khz);
	u64 mine = gchint_opp_energy(&t->opp[i], c->mem, c->awake);
	u64 least = gchint_opp_energy(&t->opp[best], c->mem, c->awake);

	if (t->opp[i].khz != khz || i < c->in.first || i > c->in.last ||
	    gchint_opp_stretch(&t->opp[i], c->mem) > c->slow)
		return best;
	return mine <= least + least / STAY ? i : best;
}

/* Time that a phase is expected to last from now; U64_MAX if unknown. */
static u64 hint_left_ns(const struct gchint_learn *l, const struct gchint_hint *h, u64 now_ns)
{
	u64 elapsed = h->begin_ns && now_ns > h->begin_ns ? now_ns - h->begin_ns : 0;

	return l && !h->role ? gchint_learn_left_ns(l, h->phase, h->class, elapsed) : U64_MAX;
}

static void plan_model(struct gchint_plan *p, const struct gchint_hint *h,
		       const struct gchint_rules *r, const struct gchint_learn *l,
		       struct gchint_learn_line *n, const struct gchint_pace *pace, bool begun,
		       bool paid)
{
	const struct gchint_fit *fit = pace->fit;
	const struct gchint_opps *t = r->opps;
	u32 slowdown_pct = READ_ONCE(r->tun->slowdown_pct) *
			   (p->class == GCHINT_CLASS_BACKGROUND ? BACKGROUND_TIMES : 1);
	bool model = fit->known && t->powered;
	u32 paid_khz = p->khz;
	u8 paid_reason = p->reason;
	struct cap c = {};
	u32 i;

	c.pace = gchint_pace_stretch(pace);
	p->reason = model ? GCHINT_REASON_MODEL : GCHINT_REASON_TABLE;
	/* A rate that was known will be known again with the next figure of work. */
	if (c.pace == U32_MAX && h->stall_ns && paid && paid_reason == GCHINT_REASON_PACE) {
		p->reason = paid_reason;
		return;
	}
	p->mem = 0;
	if (!range_init(r, &c.in)) {
		/* No OPP table: only the percentage and the urgency are known. */
		p->khz = c.pace == U32_MAX ? plan_table_khz(r, h->phase) : r->max_khz;
		if (c.pace != U32_MAX)
			p->reason = GCHINT_REASON_PACE;
		return;
	}
	/* Without a rate for the stall instant, go by how long such phases last. */
	if (c.pace == U32_MAX && h->stall_ns)
		c.pace = gchint_pace_length(pace, hint_left_ns(l, h, pace->now_ns));
	c.known = fit->known;
	c.error = fit->samples ? fit->error : GCHINT_ONE;
	c.mem = fit->known ? fit->mem : GCHINT_MEM_ASSUMED;
	if (c.known)
		c.slow = stretch_add_pct(gchint_opp_stretch(&t->opp[c.in.last], c.mem),
					 slowdown_pct);
	if (model) {
		c.awake = gchint_opps_awake(t, READ_ONCE(r->tun->awake_pct));
		i = range_find_cheapest(t, &c.in, c.mem, c.awake, c.slow);
	} else {
		i = plan_cap_unknown(r, &c, h->phase);
	}
	if (model && paid && !p->step) {
		u32 stay = plan_cap_stay(t, &c, i, paid_khz);

		if (stay != i)
			p->reason = paid_reason;
		i = stay;
	}

	if (gchint_opp_stretch(&t->opp[i], c.mem) > c.pace) {
		u32 last = cap_find_worth(r, &c, h->rests);

		while (i < last && (gchint_opp_stretch(&t->opp[i], c.mem) > c.pace ||
				    (t->opp[i].flags & GCHINT_OPP_INEFFICIENT)))
			i++;
		p->reason = GCHINT_REASON_PACE;
		p->step = 0;
		/* Mutators will wait for what is slower than it would have to be. */
		if (gchint_opp_stretch(&t->opp[i], c.mem) > c.pace)
			p->weight = WAITING * GCHINT_WEIGHT_THREAD;
	} else if (h->awaited && p->class == GCHINT_CLASS_CONCURRENT) {
		/*
		 * A collector that paces its mutators lets them run as fast as it marks, so
		 * that they lose what it loses, although they do not wait at this instant.
		 * As fast as while they do, or the frequency would move each time.
		 */
		c.mem = fit_least_mem(fit);
		i = max_t(u32, i, cap_find_worth(r, &c, h->rests));
		p->step = 0;
		p->weight = WAITING * GCHINT_WEIGHT_THREAD;
	} else if (begun && n && !h->role && (h->work_done || h->work_left || n->samples)) {
		i = plan_probe(p, r, n, &c, i);
	} else if (p->step) {
		i = (u32)clamp_t(s32, (s32)i + p->step, (s32)c.in.first, (s32)c.in.last);
	}
	if (p->step) {
		p->reason = GCHINT_REASON_PROBE;
		p->probe = true;
	}
	p->khz = t->opp[i].khz;
	p->mem = c.mem;
}

/* noinline: keeps the fit off the stack of the other modes. */
static noinline void plan_make_learned(struct gchint_plan *p, const struct gchint_hint *h,
				       const struct gchint_rules *r, struct gchint_learn *l,
				       u8 core_type, bool begun, bool paid, u64 now_ns)
{
	struct gchint_learn_line *n = NULL;
	struct gchint_fit fit = {};
	const struct gchint_pace pace = {
		.hint = h,
		.fit = &fit,
		.ref_khz = r->opps->ref_khz,
		.margin_pct = GCHINT_MARGIN_PCT,
		.latency_ns = gchint_rules_latency(r),
		.now_ns = now_ns,
	};

	if (l && core_type < GCHINT_CORE_TYPES) {
		n = &l->line[h->phase][core_type];
		if (n->samples) {
			gchint_learn_fit(l, h->phase, core_type, &fit);
			gchint_learn_fit_at(&fit, r->core_type_khz, r->opps->ref_khz);
		}
	}
	if (gchint_class_boosts(p->class)) {
		plan_boost(p, h, r, &fit);
	} else {
		plan_model(p, h, r, l, n, &pace, begun, paid);
		if (h->stall_ns)
			p->until_ns = now_ns + PACED_NS;
	}
	if (!h->role && (gchint_class_caps(p->class) || p->class == GCHINT_CLASS_URGENT))
		p->slowdown = mutator_slowdown(r, gchint_pace_slowdown(&pace), h->mutator);
}

static void plan_make_table(struct gchint_plan *p, const struct gchint_hint *h,
			    const struct gchint_rules *r)
{
	p->mem = 0;
	if (gchint_class_boosts(p->class)) {
		plan_boost_full(p, r);
		return;
	}
	p->khz = plan_table_khz(r, h->phase);
	p->reason = GCHINT_REASON_TABLE;
}

void gchint_plan_make(struct gchint_plan *p, const struct gchint_hint *h,
		      const struct gchint_rules *r, struct gchint_learn *l, u8 core_type,
		      u64 now_ns)
{
	bool known = p->made && p->epoch == r->epoch;
	bool begun = !known || p->instance != h->instance;
	u64 left = U64_MAX;
	u64 pays;
	s32 step = begun ? 0 : p->step;
	/* A switch that was made for the phase is kept to its end: @khz, @reason, @mem. */
	bool paid = !begun && p->khz != GCHINT_PLAN_LOAD &&
		    gchint_class_caps(p->class) == gchint_class_caps(h->class);
	u32 last_khz = GCHINT_PLAN_LOAD;

	/* A short phase keeps the frequency of the one before, unless that was long ago. */
	if (begun && known && now_ns < p->until_ns + HOLD_NS)
		last_khz = p->khz;
	p->avoided = false;
	p->lower = false;
	p->probe = false;
	p->made = true;
	p->epoch = r->epoch;
	p->instance = h->instance;
	p->revision = h->revision;
	p->class = h->class;
	p->together = h->together;
	p->step = step;
	p->until_ns = now_ns + HOLD_NS;
	p->slowdown = GCHINT_ONE;
	p->weight = 0;
	if (gchint_class_boosts(p->class))
		p->weight = GCHINT_WEIGHT_THREAD * (p->together ? WAITING_TOGETHER : WAITING);
	/* A boost that takes effect when the phase is over only costs. */
	pays = gchint_rules_latency(r);
	pays *= gchint_class_boosts(p->class) ? BOOST_LATENCIES : READ_ONCE(r->tun->min_latencies);
	if (pays)
		left = hint_left_ns(l, h, now_ns);
	if (READ_ONCE(r->tun->mode) == GCHINT_MODE_MODEL)
		plan_make_learned(p, h, r, l, core_type, begun, paid, now_ns);
	else
		plan_make_table(p, h, r);
	/* Between two phases, which are seldom far apart, the role counts. */
	if (h->role && last_khz != GCHINT_PLAN_LOAD)
		left = pays ? pays - 1 : 0;
	if (left < pays && !paid && p->reason != GCHINT_REASON_PACE) {
		p->avoided = p->khz != last_khz;
		p->khz = last_khz;
		p->reason = GCHINT_REASON_HOLD;
		p->lower = false;
		p->probe = false;
		p->step = 0;
		p->until_ns = now_ns + max_t(u64, h->role ? pays : left, SHORT_NS);
	}
	p->steady = p->until_ns == now_ns + HOLD_NS;
}
