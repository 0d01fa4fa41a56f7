// SPDX-License-Identifier: GPL-2.0-only
#include "pace.h"
#include "plan.h"

/* How long a plan holds if nothing is seen to change. */
#define HOLD_NS (20 * (u64)NSEC_PER_MSEC)
/* The same while there is a stall instant, which comes closer by itself. */
#define PACED_NS ((u64)NSEC_PER_MSEC)
/* And while a phase is expected to end at once. */
#define SHORT_NS (100 * (u64)NSEC_PER_USEC)
/* So many phases are all probed, unless the memory fraction is known to this. */
#define EAGER_PHASES 32
#define EAGER_ERROR  (GCHINT_ONE * 15 / 1000)
/* How far from the choice a probe may be, in percent of that. */
#define PROBE_PCT 25
/* What nobody will wait for in the end, trimming and lazy sweeping, may be so much slower. */
#define BACKGROUND_TIMES 3
/* A boost must be expected to last so many switch latencies, there and back. */
#define BOOST_LATENCIES 2
/* Energies that differ by less than this part are nearly the same. */
#define NEAR 32
/* Who waits for a pause, or for a collection that is late: whoever does it, and another. */
#define WAITING 2
/* A plan for a phase under way is not changed for less than this part of its energy. */
#define STAY 32

/* What a search may choose from. */
struct range {
	u32 first;
	u32 last;
};

/* Indices within the limits; false if there are none. */
static bool allowed(const struct gchint_rules *r, struct range *in)
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

static u64 cost(const struct gchint_opps *t, const struct gchint_opp *o, u32 mem, u32 awake)
{
	return t->powered ? gchint_opp_energy(o, mem, awake) : o->khz;
}

/*
 * The OPP of least energy, or of least frequency where power is unknown, among
 * those that stretch no more than the bound. The fastest if none does. Near its
 * least, energy hardly changes with frequency, and time does: of those that
 * cost nearly the same the fastest is taken.
 */
static u32 cheapest(const struct gchint_opps *t, const struct range *in, u32 mem, u32 awake,
		    u32 bound)
{
	u64 least = U64_MAX;
	u32 i;

	for (i = in->first; i <= in->last; i++) {
		const struct gchint_opp *o = &t->opp[i];

		if (!(o->flags & GCHINT_OPP_INEFFICIENT) && gchint_opp_stretch(o, mem) <= bound)
			least = min_t(u64, least, cost(t, o, mem, awake));
	}
	if (least == U64_MAX)
		return in->last;
	if (t->powered)
		least += least / NEAR;
	for (i = in->last; i > in->first; i--) {
		const struct gchint_opp *o = &t->opp[i];

		if (!(o->flags & GCHINT_OPP_INEFFICIENT) && gchint_opp_stretch(o, mem) <= bound &&
		    cost(t, o, mem, awake) <= least)
			break;
	}
	return i;
}

/*
 * The highest OPP whose time is worth its power, where @waiting threads wait for what
 * runs there, itself one of them.
 */
static u32 worth(const struct gchint_rules *r, const struct range *in, u32 mem, u32 waiting)
{
	u32 bias = READ_ONCE(r->tun->bias);
	u32 pct = READ_ONCE(r->tun->awake_pct) + waiting * GCHINT_BIAS_PRICE * bias;

	if (bias >= GCHINT_BIAS_SPEED || !r->opps->powered)
		return in->last;
	return cheapest(r->opps, in, mem, gchint_opps_awake(r->opps, pct), U32_MAX);
}

/*
 * A thread that hints may still be in no phase. It may be asked to run no slower
 * than is cheapest, for below that it burns more by being awake than it saves.
 */
static struct gchint_bounds mutator(const struct gchint_rules *r, const struct range *in, u32 mem)
{
	const struct gchint_opps *t = r->opps;
	struct gchint_bounds b = {};
	u32 awake = gchint_opps_awake(t, READ_ONCE(r->tun->awake_pct));
	u32 i = worth(r, in, mem, 1);

	if (t->powered)
		b.floor_khz = t->opp[cheapest(t, in, mem, awake, U32_MAX)].khz;
	if (i < in->last)
		b.cap_khz = t->opp[i].khz;
	return b;
}

void gchint_plan_mutators(struct gchint_rules *r)
{
	struct range in;
	u8 i;

	memset(r->mutator, 0, sizeof(r->mutator));
	if (!allowed(r, &in))
		return;
	for (i = 1; i < GCHINT_MUTATORS; i++)
		r->mutator[i] = mutator(r, &in, gchint_mutator_mem(i));
	r->mutator[0] = r->mutator[GCHINT_MUTATOR_UNKNOWN];
}

static u32 stretched(u32 stretch, u32 pct)
{
	return (u32)min_t(u64, div_u64((u64)stretch * (100 + pct), 100), U32_MAX);
}

/* The OPP for mutators that may be slower by @slowdown; NULL: nothing is to be won. */
static const struct gchint_opp *slowed_opp(const struct gchint_rules *r, u32 slowdown, u8 mutator)
{
	const struct gchint_opps *t = r->opps;
	/* That it costs nobody time is a prediction: the dearer time, the less goes by it. */
	u32 bound = stretched(GCHINT_ONE, GCHINT_BIAS_SPEED - READ_ONCE(r->tun->bias));
	u32 floor_khz = r->mutator[mutator].floor_khz;
	u32 i;

	bound = min_t(u32, bound, slowdown);
	if (bound <= GCHINT_ONE || !floor_khz)
		return NULL;
	for (i = gchint_opp_at_least(t, floor_khz); i + 1 < t->nr; i++)
		if (!(t->opp[i].flags & GCHINT_OPP_INEFFICIENT) &&
		    gchint_opp_stretch(&t->opp[i], gchint_mutator_mem(mutator)) <= bound)
			break;
	return &t->opp[i];
}

u32 gchint_plan_slowed(const struct gchint_rules *r, u32 slowdown, u8 mutator)
{
	const struct gchint_opp *o = slowed_opp(r, slowdown, mutator);

	return o ? o->khz : 0;
}

/* What they may be slower by, as far as they will be. */
static u32 slowdown_at(const struct gchint_rules *r, u32 slowdown, u8 mutator)
{
	const struct gchint_opp *o = slowed_opp(r, slowdown, mutator);

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

static void boost_full(struct gchint_plan *p, const struct gchint_rules *r)
{
	p->khz = max_t(u32, r->max_khz, 1);
	p->reason = boost_reason(p->class);
}

static void boost_lower(struct gchint_plan *p, const struct gchint_rules *r, u32 i, u32 mem)
{
	if (r->opps->opp[i].khz >= p->khz)
		return;
	p->khz = r->opps->opp[i].khz;
	p->mem = mem;
	p->lower = true;
}

static void plan_boost(struct gchint_plan *p, const struct gchint_rules *r,
		       const struct gchint_fit *fit)
{
	const struct gchint_opps *t = r->opps;
	struct range in;
	u32 bound, mem, i;

	boost_full(p, r);
	p->mem = 0;
	if (!allowed(r, &in))
		return;
	/* The estimate may be off, and a pause is no place to find out. */
	mem = fit->known && fit->mem > 2 * fit->error ? fit->mem - 2 * fit->error : 0;
	i = worth(r, &in, mem, WAITING);
	/* The limit itself may be no OPP. */
	if (i < in.last)
		boost_lower(p, r, i, mem);
	if (p->class == GCHINT_CLASS_URGENT || !fit->known)
		return;
	i = min_t(u32, gchint_opp_at_least(t, p->khz), in.last);
	bound = stretched(gchint_opp_stretch(&t->opp[i], mem),
			  r->tun->pause_stretch_pct);
	i = cheapest(t, &in, mem, gchint_opps_awake(t, READ_ONCE(r->tun->awake_pct)), bound);
	boost_lower(p, r, i, mem);
}

/* The farthest OPP on one side of @at that is within @pct of it, at least the next. */
static u32 neighbour(const struct gchint_opps *t, const struct range *in, u32 at, bool up, u32 pct)
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
 * Another OPP than the best, so that the learner sees a second frequency, up
 * and down in turn: one phase in probe_every. Each of the first phases, until
 * the line is well known. A line still unknown after those belongs to phases
 * that are too unlike each other; it is given a quarter of probe_every. Only
 * where nobody waits or will for that, and never slower than the slowdown allowed,
 * once anything is known of it.
 */
static u32 probe(struct gchint_plan *p, const struct gchint_rules *r, struct gchint_learn_line *n,
		 const struct cap *c, u32 at)
{
	const struct gchint_opps *t = r->opps;
	u32 every = r->tun->probe_every;
	u32 turn, i;

	if (!every)
		return at;
	turn = n->phases++;
	if (turn < EAGER_PHASES && c->error > EAGER_ERROR)
		every = 1;
	else if (!c->known)
		every = max_t(u32, every / 4, 1);
	if (turn % every)
		return at;
	turn /= every;
	i = neighbour(t, &c->in, at, turn & 1, PROBE_PCT);
	if (i == at || gchint_opp_stretch(&t->opp[i], c->mem) > c->pace ||
	    (c->known && gchint_opp_stretch(&t->opp[i], c->mem) > c->slow))
		i = neighbour(t, &c->in, at, true, PROBE_PCT);
	p->step = (s32)i - (s32)at;
	return i;
}

static u32 table_khz(const struct gchint_rules *r, u8 phase)
{
	return max_t(u32, gchint_percent(r->opps->ref_khz, gchint_tunables_cap(r->tun, phase)), 1);
}

/* Until the line is known: a fixed part, but no slower than any line would have it. */
static u32 cap_unknown(const struct gchint_rules *r, const struct cap *c, u8 phase)
{
	const struct gchint_opps *t = r->opps;
	u32 i = gchint_opp_at_least(t, table_khz(r, phase));

	/* Below the first that is efficient, no line would have it. */
	i = clamp_t(u32, i, c->in.first, c->in.last);
	while (i < c->in.last && (t->opp[i].flags & GCHINT_OPP_INEFFICIENT))
		i++;
	return i;
}

/*
 * Learning goes on during a phase, and the cheapest OPP may become its
 * neighbour. For so little it is not worth a switch.
 */
static u32 cap_stay(const struct gchint_opps *t, const struct cap *c, u32 best, u32 khz)
{
	u32 i = gchint_opp_at_least(t, khz);
	u64 mine = gchint_opp_energy(&t->opp[i], c->mem, c->awake);
	u64 least = gchint_opp_energy(&t->opp[best], c->mem, c->awake);

	if (t->opp[i].khz != khz || i < c->in.first || i > c->in.last ||
	    gchint_opp_stretch(&t->opp[i], c->mem) > c->slow)
		return best;
	return mine <= least + least / STAY ? i : best;
}

/* How much longer it is expected to last; U64_MAX if nothing is known. */
static u64 left_ns(const struct gchint_learn *l, const struct gchint_hint *h, u64 now_ns)
{
	u64 elapsed = h->begin_ns && now_ns > h->begin_ns ? now_ns - h->begin_ns : 0;

	return l && !h->role ? gchint_learn_left_ns(l, h->phase, h->class, elapsed) : U64_MAX;
}

static void plan_model(struct gchint_plan *p, const struct gchint_hint *h,
		       const struct gchint_rules *r, const struct gchint_learn *l,
		       struct gchint_learn_line *n, const struct gchint_fit *fit, bool begun,
		       bool paid, u64 now_ns)
{
	const struct gchint_opps *t = r->opps;
	u32 slowdown_pct = READ_ONCE(r->tun->slowdown_pct) *
			   (p->class == GCHINT_CLASS_BACKGROUND ? BACKGROUND_TIMES : 1);
	bool model = fit->known && t->powered;
	u32 paid_khz = p->khz;
	u8 paid_reason = p->reason;
	struct cap c = {};
	u32 i;

	c.pace = gchint_pace_stretch(h, fit, t->ref_khz, GCHINT_MARGIN_PCT,
				     gchint_rules_latency(r), h->slowdown, now_ns);
	p->reason = model ? GCHINT_REASON_MODEL : GCHINT_REASON_TABLE;
	/* A rate that was known will be again with the next figure of work. */
	if (c.pace == U32_MAX && h->stall_ns && paid && paid_reason == GCHINT_REASON_PACE) {
		p->reason = paid_reason;
		return;
	}
	p->mem = 0;
	if (!allowed(r, &c.in)) {
		/* No OPP table: all that is known is the percentage, and the hurry. */
		p->khz = c.pace == U32_MAX ? table_khz(r, h->phase) : r->max_khz;
		if (c.pace != U32_MAX)
			p->reason = GCHINT_REASON_PACE;
		return;
	}
	/* No rate that tells whether the stall instant can be met: how long do others last? */
	if (c.pace == U32_MAX && h->stall_ns)
		c.pace = gchint_pace_length(h, left_ns(l, h, now_ns),
					    GCHINT_MARGIN_PCT,
					    gchint_rules_latency(r), h->slowdown, now_ns);
	c.known = fit->known;
	c.error = fit->samples ? fit->error : GCHINT_ONE;
	c.mem = fit->known ? fit->mem : GCHINT_ONE / 2;
	if (c.known)
		c.slow = stretched(gchint_opp_stretch(&t->opp[c.in.last], c.mem), slowdown_pct);
	if (model) {
		c.awake = gchint_opps_awake(t, READ_ONCE(r->tun->awake_pct));
		i = cheapest(t, &c.in, c.mem, c.awake, c.slow);
	} else {
		i = cap_unknown(r, &c, h->phase);
	}
	if (model && paid && !p->step) {
		u32 stay = cap_stay(t, &c, i, paid_khz);

		if (stay != i)
			p->reason = paid_reason;
		i = stay;
	}

	if (gchint_opp_stretch(&t->opp[i], c.mem) > c.pace) {
		u32 last = worth(r, &c.in, c.mem, WAITING);

		while (i < last && (gchint_opp_stretch(&t->opp[i], c.mem) > c.pace ||
				    (t->opp[i].flags & GCHINT_OPP_INEFFICIENT)))
			i++;
		p->reason = GCHINT_REASON_PACE;
		p->step = 0;
	} else if (begun && n && !h->role &&
		   (h->work_done || h->work_left || n->samples)) {
		i = probe(p, r, n, &c, i);
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

/* What a phase in the model's hands has got so far. Apart: a line takes a stack of its own. */
static noinline void make_learned(struct gchint_plan *p, const struct gchint_hint *h,
				  const struct gchint_rules *r, struct gchint_learn *l, u8 kind,
				  bool begun, bool paid, u64 now_ns)
{
	struct gchint_learn_line *n = NULL;
	struct gchint_fit fit = {};

	if (l && kind < GCHINT_KINDS) {
		n = &l->line[h->phase][kind];
		if (n->samples) {
			gchint_learn_fit(l, h->phase, kind, &fit);
			gchint_learn_fit_at(&fit, r->kind_khz, r->opps->ref_khz);
		}
	}
	if (gchint_class_boosts(p->class)) {
		plan_boost(p, r, &fit);
	} else {
		plan_model(p, h, r, l, n, &fit, begun, paid, now_ns);
		if (h->stall_ns)
			p->until_ns = now_ns + PACED_NS;
	}
	if (!h->role && (gchint_class_caps(p->class) || p->class == GCHINT_CLASS_URGENT)) {
		p->slowdown = gchint_pace_slowdown(h, &fit, r->opps->ref_khz,
						   GCHINT_MARGIN_PCT, h->slowdown,
						   now_ns);
		p->slowdown = slowdown_at(r, p->slowdown, h->mutator);
	}
}

static void make_table(struct gchint_plan *p, const struct gchint_hint *h,
		       const struct gchint_rules *r)
{
	p->mem = 0;
	if (gchint_class_boosts(p->class)) {
		boost_full(p, r);
		return;
	}
	p->khz = table_khz(r, h->phase);
	p->reason = GCHINT_REASON_TABLE;
}

void gchint_plan_make(struct gchint_plan *p, const struct gchint_hint *h,
		      const struct gchint_rules *r, struct gchint_learn *l, u8 kind, u64 now_ns)
{
	bool known = p->made && p->epoch == r->epoch;
	bool begun = !known || p->instance != h->instance;
	u64 left = U64_MAX;
	u64 worth;
	s32 step = begun ? 0 : p->step;
	/* What was paid for is kept to the end: @khz, @reason and @mem say what that is. */
	bool paid = !begun && p->khz != GCHINT_PLAN_LOAD &&
		    gchint_class_caps(p->class) == gchint_class_caps(h->class);
	u32 last_khz = GCHINT_PLAN_LOAD;

	/* Unless it has not run for long, a short phase goes on as the one before. */
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
	p->step = step;
	p->until_ns = now_ns + HOLD_NS;
	p->slowdown = GCHINT_ONE;
	/* A boost that arrives when the phase is over only costs. */
	worth = gchint_rules_latency(r);
	worth *= gchint_class_boosts(p->class) ? BOOST_LATENCIES : READ_ONCE(r->tun->min_latencies);
	if (worth)
		left = left_ns(l, h, now_ns);
	if (READ_ONCE(r->tun->mode) == GCHINT_MODE_MODEL)
		make_learned(p, h, r, l, kind, begun, paid, now_ns);
	else
		make_table(p, h, r);
	/* Between two phases the role counts, but they are seldom far apart. */
	if (h->role && last_khz != GCHINT_PLAN_LOAD)
		left = worth ? worth - 1 : 0;
	if (left < worth && !paid && p->reason != GCHINT_REASON_PACE) {
		p->avoided = p->khz != last_khz;
		p->khz = last_khz;
		p->reason = GCHINT_REASON_HOLD;
		p->lower = false;
		p->probe = false;
		p->step = 0;
		p->until_ns = now_ns + max_t(u64, h->role ? worth : left, SHORT_NS);
	}
	p->steady = p->until_ns == now_ns + HOLD_NS;
}
