// SPDX-License-Identifier: GPL-2.0-only
#include "pace.h"
#include "plan.h"

/* How long a plan is valid if nothing is seen to change ... */
#define VALID_NS (20 * (u64)NSEC_PER_MSEC)
/* ... while there is a stall instant, which comes closer by itself ... */
#define VALID_PACED_NS ((u64)NSEC_PER_MSEC)
/* ... and while a phase is expected to end at once. */
#define VALID_MIN_NS (100 * (u64)NSEC_PER_USEC)
/* Every one of the first phases is probed, unless the error of @mem is below this. */
#define PROBE_FIRST_PHASES 32
#define PROBE_FIRST_ERROR_MIN (GCHINT_ONE * 15 / 1000)
/* How far from the choice a probe may be, in percent of it. */
#define PROBE_DISTANCE_MAX_PCT 25
/* Background work, for which no thread ever waits, may be slower by this factor. */
#define BACKGROUND_SLOWDOWN_FACTOR 3
/* A boost must be expected to last this many switch latencies, there and back. */
#define BOOST_MIN_LATENCIES 2
/*
 * Threads that rest have requests or frames to answer in time. Their delay costs at
 * least this: what they lose in throughput is nothing, but in latency it is not. See
 * rules_delay_cost() for pauses alongside another governor.
 */
#define RESTING_DELAY_COST_MIN 40
/* A plan for a running phase changes only if this part of its energy is saved. */
#define SAVING_MIN_PART 32

/* What a plan is made from. */
struct question {
	const struct gchint_hint *hint;
	const struct gchint_rules *rules;
	struct gchint_learn *learn; /* of the session, or NULL */
	struct gchint_learn_line *line; /* of the phase on this core type; NULL unknown */
	struct gchint_fit fit; /* of @line */
	u8 core_type;
	bool begun; /* this is the first plan of the phase */
	/* A switch was made for the phase: the plan's khz, reason and mem are in force. */
	bool paid;
	u64 now_ns;
};

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

static bool opp_fits(const struct gchint_opp *o, u32 mem, u32 bound)
{
	return !(o->flags & GCHINT_OPP_INEFFICIENT) && gchint_opp_stretch(o, mem) <= bound;
}

static u64 opp_cost(const struct gchint_opps *t, const struct gchint_opp *o, u32 mem, u32 awake)
{
	return t->powered ? gchint_opp_energy(o, mem, awake) : o->khz;
}

/*
 * The OPP of least energy, or of least frequency if power is unknown, among those
 * that stretch no more than the bound; the fastest if none does, and the faster of two
 * that take the same.
 */
static u32 range_find_cheapest(const struct gchint_opps *t, const struct range *in, u32 mem,
			       u32 awake, u32 bound)
{
	u32 best = in->last;
	u64 least = U64_MAX;
	u32 i;

	for (i = in->last + 1; i-- > in->first;) {
		u64 cost;

		if (!opp_fits(&t->opp[i], mem, bound))
			continue;
		cost = opp_cost(t, &t->opp[i], mem, awake);
		if (cost < least) {
			least = cost;
			best = i;
		}
	}
	return best;
}

/* The OPP of least energy on a machine that is awake for @awake_pct. */
static u32 range_find_least(const struct gchint_opps *t, const struct range *in, u32 mem,
			    u32 awake_pct)
{
	return range_find_cheapest(t, in, mem, gchint_opps_awake(t, awake_pct), U32_MAX);
}

/*
 * What the time of a waiting thread is worth; @rests: &gchint_hint.rests. Alongside
 * another governor most of what runs was slowed by no hint, so that savings are no
 * sign of time to spare.
 */
static u32 rules_delay_cost(const struct gchint_rules *r, bool rests)
{
	return max_t(u32, r->delay_cost, rests || r->limits_only ? RESTING_DELAY_COST_MIN : 0);
}

/*
 * The highest OPP for whose power the time of a thread at @cost, and of a machine that is
 * awake for @awake_pct, is worth it. Also for a pause, whatever waits for it: where CPUs
 * share a clock, an OPP of its own costs two switches, which is more than it gains.
 */
static u32 range_find_worth(const struct gchint_rules *r, const struct range *in, u32 mem,
			    u32 cost, u32 awake_pct)
{
	u32 pct = awake_pct + GCHINT_DELAY_COST_STEP * cost;

	if (cost >= GCHINT_DELAY_COST_MAX || !r->opps->powered)
		return in->last;
	return range_find_least(r->opps, in, mem, pct);
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
	u32 cap = range_find_worth(r, in, mem, r->delay_cost, pct);
	u32 spare = range_find_worth(r, in, mem, rules_delay_cost(r, true), 0);

	if (t->powered) {
		b.floor_khz = t->opp[range_find_least(t, in, mem, pct)].khz;
		pct += GCHINT_DELAY_COST_STEP * r->delay_cost / GCHINT_SLOWED_LOSS_PART;
		b.slow_khz = t->opp[range_find_least(t, in, mem, pct)].khz;
	}
	if (cap < in->last)
		b.cap_khz = t->opp[cap].khz;
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

u32 gchint_plan_mutator_khz(const struct gchint_rules *r, u32 slowdown, u8 mutator)
{
	const struct gchint_opps *t = r->opps;
	/* That no thread is delayed is a prediction: rely on it less if delay costs more. */
	u32 bound = stretch_add_pct(GCHINT_ONE, GCHINT_DELAY_COST_MAX - r->delay_cost);
	u32 slow_khz = r->mutator[mutator].slow_khz;
	struct range in;
	u32 i;

	bound = min_t(u32, bound, slowdown);
	if (bound <= GCHINT_ONE || !slow_khz || !range_init(r, &in))
		return 0;
	/* At the highest OPP within the limits they are not slowed by a hint. */
	for (i = gchint_opp_at_least(t, slow_khz); i < in.last; i++)
		if (opp_fits(&t->opp[i], gchint_mutator_mem(mutator), bound))
			return t->opp[i].khz;
	return 0;
}

/* The part of an allowed slowdown that gchint_plan_mutator_khz() will use. */
static u32 mutator_slowdown(const struct gchint_rules *r, u32 slowdown, u8 mutator)
{
	u32 khz = gchint_plan_mutator_khz(r, slowdown, mutator);

	return khz ? gchint_khz_stretch(khz, r->opps->ref_khz, gchint_mutator_mem(mutator)) :
		     GCHINT_ONE;
}

static u8 boost_reason(u8 class)
{
	if (class == GCHINT_CLASS_STW)
		return GCHINT_REASON_STW;
	return class == GCHINT_CLASS_FOREGROUND ? GCHINT_REASON_FOREGROUND : GCHINT_REASON_URGENT;
}

static void plan_boost_full(struct gchint_plan *p, const struct question *q)
{
	p->khz = max_t(u32, q->rules->max_khz, 1);
	p->reason = boost_reason(p->class);
}

static void plan_boost_lower(struct gchint_plan *p, const struct gchint_rules *r, u32 i)
{
	if (r->opps->opp[i].khz >= p->khz)
		return;
	p->khz = r->opps->opp[i].khz;
	p->lower = true;
}

/* Until anything is known, all of it is work of the CPU: no thread waits for an assumption. */
static u32 fit_mem(const struct gchint_fit *fit)
{
	return fit->known ? fit->mem : 0;
}

static void plan_boost(struct gchint_plan *p, const struct question *q)
{
	const struct gchint_rules *r = q->rules;
	const struct gchint_opps *t = r->opps;
	u32 awake_pct = READ_ONCE(r->tun->awake_pct);
	u32 cost = rules_delay_cost(r, q->hint->rests);
	struct range in;
	u32 bound, i;

	plan_boost_full(p, q);
	p->mem = 0;
	if (!range_init(r, &in))
		return;
	p->mem = fit_mem(&q->fit);
	i = range_find_worth(r, &in, p->mem, cost, awake_pct);
	/* The limit itself may be no OPP. */
	if (i < in.last)
		plan_boost_lower(p, r, i);
	if (p->class == GCHINT_CLASS_URGENT || !q->fit.known)
		return;
	i = min_t(u32, gchint_opp_at_least(t, p->khz), in.last);
	bound = stretch_add_pct(gchint_opp_stretch(&t->opp[i], p->mem), r->tun->pause_stretch_pct);
	i = range_find_cheapest(t, &in, p->mem, gchint_opps_awake(t, awake_pct), bound);
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

/* What bounds the choice of an OPP for a phase alongside which mutators run. */
struct cap {
	struct range in;
	bool known; /* is @mem learned? */
	bool model; /* is power known, too? */
	u32 error; /* of @mem */
	u32 mem;
	u32 awake; /* gchint_opps_awake() */
	u32 slow; /* if @known, bound on the stretch, from the slowdown allowed */
	u32 pace; /* bound on the stretch, from the stall instant; U32_MAX none */
};

static u32 table_khz(const struct question *q)
{
	const struct gchint_rules *r = q->rules;

	return max_t(u32, gchint_percent(r->opps->ref_khz,
					 gchint_tunables_cap(r->tun, q->hint->phase)), 1);
}

/* Time that the phase is expected to last from now; U64_MAX if unknown. */
static u64 hint_left_ns(const struct question *q)
{
	const struct gchint_hint *h = q->hint;
	u64 elapsed = h->begin_ns && q->now_ns > h->begin_ns ? q->now_ns - h->begin_ns : 0;

	if (!q->learn || h->role)
		return U64_MAX;
	return gchint_learn_left_ns(q->learn, h->phase, h->class, elapsed);
}

static void cap_init(struct cap *c, const struct question *q)
{
	const struct gchint_rules *r = q->rules;
	const struct gchint_fit *fit = &q->fit;
	u32 pct = READ_ONCE(r->tun->slowdown_pct);

	if (q->hint->class == GCHINT_CLASS_BACKGROUND)
		pct *= BACKGROUND_SLOWDOWN_FACTOR;
	c->known = fit->known;
	c->model = fit->known && r->opps->powered;
	c->error = fit->samples ? fit->error : GCHINT_ONE;
	c->mem = fit->known ? fit->mem : GCHINT_MEM_ASSUMED;
	c->awake = gchint_opps_awake(r->opps, READ_ONCE(r->tun->awake_pct));
	c->slow = stretch_add_pct(gchint_opp_stretch(&r->opps->opp[c->in.last], c->mem), pct);
}

/* Does the phase end before mutators stall, at this OPP? */
static bool cap_keeps_pace(const struct cap *c, const struct gchint_opp *o)
{
	return gchint_opp_stretch(o, c->mem) <= c->pace;
}

/* May the phase itself be as slow as at this OPP, once anything is known of it? */
static bool cap_allows(const struct cap *c, const struct gchint_opp *o)
{
	return !c->known || gchint_opp_stretch(o, c->mem) <= c->slow;
}

/*
 * The cheapest OPP at which the phase is no slower than it may be; until the line is
 * known a fixed part, but no OPP that no line would choose.
 */
static u32 cap_choose(const struct cap *c, const struct question *q)
{
	const struct gchint_opps *t = q->rules->opps;
	u32 i;

	if (c->model)
		return range_find_cheapest(t, &c->in, c->mem, c->awake, c->slow);
	i = clamp_t(u32, gchint_opp_at_least(t, table_khz(q)), c->in.first, c->in.last);
	while (i < c->in.last && (t->opp[i].flags & GCHINT_OPP_INEFFICIENT))
		i++;
	return i;
}

/*
 * Learning goes on during a phase, and the cheapest OPP may become an adjacent one.
 * That small gain is not worth a switch from @khz.
 */
static u32 cap_stay(const struct cap *c, const struct question *q, u32 best, u32 khz)
{
	const struct gchint_opps *t = q->rules->opps;
	u32 i = gchint_opp_at_least(t, khz);
	u64 mine = gchint_opp_energy(&t->opp[i], c->mem, c->awake);
	u64 least = gchint_opp_energy(&t->opp[best], c->mem, c->awake);

	if (t->opp[i].khz != khz || i < c->in.first || i > c->in.last ||
	    !cap_allows(c, &t->opp[i]))
		return best;
	return mine <= least + least / SAVING_MIN_PART ? i : best;
}

/* The OPP for a collection that mutators wait for, in all or at times. */
static u32 cap_find_worth(const struct cap *c, const struct question *q)
{
	const struct gchint_rules *r = q->rules;

	return range_find_worth(r, &c->in, c->mem, rules_delay_cost(r, q->hint->rests),
				READ_ONCE(r->tun->awake_pct));
}

/* Fast enough to end before mutators stall, or as fast as their time is worth. */
static u32 plan_hurry(struct gchint_plan *p, const struct cap *c, const struct question *q, u32 at)
{
	const struct gchint_opps *t = q->rules->opps;
	u32 last = cap_find_worth(c, q);

	while (at < last && (!cap_keeps_pace(c, &t->opp[at]) ||
			     (t->opp[at].flags & GCHINT_OPP_INEFFICIENT)))
		at++;
	p->reason = GCHINT_REASON_PACE;
	p->step = 0;
	/* Mutators will wait for what is slower than it would have to be. */
	if (!cap_keeps_pace(c, &t->opp[at]))
		p->weight = GCHINT_WEIGHT_THREAD;
	return at;
}

/*
 * A collector that paces its mutators lets them run as fast as it marks, so that they
 * lose what it loses, although they do not wait at this instant. As fast as while they
 * do, or the frequency would move each time.
 */
static u32 plan_awaited(struct gchint_plan *p, struct cap *c, const struct question *q, u32 at)
{
	c->mem = fit_mem(&q->fit);
	p->step = 0;
	p->weight = GCHINT_WEIGHT_THREAD;
	return max_t(u32, at, cap_find_worth(c, q));
}

/* Does the phase count its work, so that the learner gains by another frequency? */
static bool question_can_probe(const struct question *q)
{
	return q->begun && q->line && !q->hint->role &&
	       (q->hint->work_done || q->hint->work_left || q->line->samples);
}

/*
 * Another OPP than the best, so that the learner sees a second frequency, alternately
 * above and below: one phase in probe_every, but each of the first phases until the
 * line is well known. A line still unknown after those is of phases that differ too
 * much; it gets a quarter of probe_every. Never where a thread waits or will wait for
 * it, nor slower than the slowdown allowed, once anything is known of it.
 */
static u32 plan_probe(struct gchint_plan *p, const struct cap *c, const struct question *q, u32 at)
{
	const struct gchint_opps *t = q->rules->opps;
	u32 every = q->rules->tun->probe_every;
	u32 nr, i;

	if (!every)
		return at;
	nr = q->line->phases++;
	if (nr < PROBE_FIRST_PHASES && c->error > PROBE_FIRST_ERROR_MIN)
		every = 1;
	else if (!c->known)
		every = max_t(u32, every / 4, 1);
	if (nr % every)
		return at;
	nr /= every;
	i = range_find_neighbour(t, &c->in, at, nr & 1, PROBE_DISTANCE_MAX_PCT);
	if (i == at || !cap_keeps_pace(c, &t->opp[i]) || !cap_allows(c, &t->opp[i]))
		i = range_find_neighbour(t, &c->in, at, true, PROBE_DISTANCE_MAX_PCT);
	p->step = (s32)i - (s32)at;
	return i;
}

/*
 * A phase alongside which mutators run: bounds, the cheapest OPP within them, which
 * stays if a change gains little; then what overrides it: the stall instant, mutators
 * that wait at times, a probe.
 */
static void plan_cap(struct gchint_plan *p, const struct question *q,
		     const struct gchint_pace *pace)
{
	const struct gchint_opps *t = q->rules->opps;
	struct cap c = { .pace = gchint_pace_stretch(pace) };
	u8 reason = q->fit.known && t->powered ? GCHINT_REASON_MODEL : GCHINT_REASON_TABLE;
	u32 at, best;

	/* A rate that was known will be known again with the next figure of work. */
	if (c.pace == U32_MAX && q->hint->stall_ns && q->paid && p->reason == GCHINT_REASON_PACE)
		return;
	p->mem = 0;
	if (!range_init(q->rules, &c.in)) {
		/* No OPP table: only the percentage and the urgency are known. */
		p->khz = c.pace == U32_MAX ? table_khz(q) : q->rules->max_khz;
		p->reason = c.pace == U32_MAX ? reason : GCHINT_REASON_PACE;
		return;
	}
	/* Without a rate for the stall instant, go by how long such phases last. */
	if (c.pace == U32_MAX && q->hint->stall_ns)
		c.pace = gchint_pace_length(pace, hint_left_ns(q));
	cap_init(&c, q);

	best = cap_choose(&c, q);
	at = best;
	if (c.model && q->paid && !p->step)
		at = cap_stay(&c, q, best, p->khz);
	if (at == best)
		p->reason = reason;

	if (!cap_keeps_pace(&c, &t->opp[at]))
		at = plan_hurry(p, &c, q, at);
	else if (q->hint->awaited && p->class == GCHINT_CLASS_CONCURRENT)
		at = plan_awaited(p, &c, q, at);
	else if (question_can_probe(q))
		at = plan_probe(p, &c, q, at);
	else if (p->step)
		at = (u32)clamp_t(s32, (s32)at + p->step, (s32)c.in.first, (s32)c.in.last);
	p->probe = p->step;
	if (p->probe)
		p->reason = GCHINT_REASON_PROBE;
	p->khz = t->opp[at].khz;
	p->mem = c.mem;
}

/* Mode model: from what is known of the phase on this core type. */
static void plan_make_learned(struct gchint_plan *p, struct question *q)
{
	const struct gchint_hint *h = q->hint;
	const struct gchint_rules *r = q->rules;
	const struct gchint_pace pace = {
		.hint = h,
		.fit = &q->fit,
		.ref_khz = r->opps->ref_khz,
		.margin_pct = GCHINT_MARGIN_PCT,
		.latency_ns = gchint_rules_latency(r),
		.now_ns = q->now_ns,
	};

	if (q->learn && q->core_type < GCHINT_CORE_TYPES) {
		q->line = &q->learn->line[h->phase][q->core_type];
		gchint_learn_fit(q->learn, h->phase, q->core_type, &q->fit);
		gchint_learn_fit_at(&q->fit, r->core_type_khz, r->opps->ref_khz);
	}
	if (gchint_class_boosts(p->class)) {
		plan_boost(p, q);
	} else {
		plan_cap(p, q, &pace);
		if (h->stall_ns)
			p->until_ns = q->now_ns + VALID_PACED_NS;
	}
	if (!h->role && (gchint_class_caps(p->class) || p->class == GCHINT_CLASS_URGENT))
		p->slowdown = mutator_slowdown(r, gchint_pace_slowdown(&pace), h->mutator);
}

/* Mode table: by the class alone. */
static void plan_make_table(struct gchint_plan *p, const struct question *q)
{
	p->mem = 0;
	p->khz = table_khz(q);
	p->reason = GCHINT_REASON_TABLE;
	if (gchint_class_boosts(p->class))
		plan_boost_full(p, q);
}

/* All but what the mode decides: @khz, @reason and @mem. */
static void plan_begin(struct gchint_plan *p, const struct question *q)
{
	*p = (struct gchint_plan){
		.khz = p->khz,
		.reason = p->reason,
		.mem = p->mem,
		.step = q->begun ? 0 : p->step,
		.made = true,
		.epoch = q->rules->epoch,
		.instance = q->hint->instance,
		.revision = q->hint->revision,
		.class = q->hint->class,
		.until_ns = q->now_ns + VALID_NS,
		.slowdown = GCHINT_ONE,
	};
	if (gchint_class_boosts(p->class))
		p->weight = GCHINT_WEIGHT_THREAD;
}

/* How long a phase must be expected to last for a frequency of its own. */
static u64 plan_pays_ns(const struct gchint_plan *p, const struct gchint_rules *r)
{
	/* A boost that takes effect when the phase is over only costs. */
	u32 times = gchint_class_boosts(p->class) ? BOOST_MIN_LATENCIES :
						    READ_ONCE(r->tun->min_latencies);

	return (u64)gchint_rules_latency(r) * times;
}

/* A phase that is too short for a switch keeps @last_khz, of the phase before. */
static void plan_avoid_switch(struct gchint_plan *p, const struct question *q, u32 last_khz)
{
	u64 pays = plan_pays_ns(p, q->rules);
	u64 left = pays ? hint_left_ns(q) : U64_MAX;

	/* Between two phases, which are seldom far apart, the role counts. */
	if (q->hint->role && last_khz != GCHINT_PLAN_LOAD)
		left = pays ? pays - 1 : 0;
	if (left >= pays || q->paid || p->reason == GCHINT_REASON_PACE)
		return;
	p->avoided = p->khz != last_khz;
	p->khz = last_khz;
	p->reason = GCHINT_REASON_HOLD;
	p->lower = false;
	p->probe = false;
	p->step = 0;
	p->until_ns = q->now_ns + max_t(u64, q->hint->role ? pays : left, VALID_MIN_NS);
}

void gchint_plan_make(struct gchint_plan *p, const struct gchint_hint *h,
		      const struct gchint_rules *r, struct gchint_learn *l, u8 core_type,
		      u64 now_ns)
{
	bool known = p->made && p->epoch == r->epoch;
	bool begun = !known || p->instance != h->instance;
	/* Unless that was long ago. */
	bool recent = known && now_ns < p->until_ns + VALID_NS;
	u32 last_khz = begun && recent ? p->khz : GCHINT_PLAN_LOAD;
	struct question q = {
		.hint = h,
		.rules = r,
		.learn = l,
		.core_type = core_type,
		.begun = begun,
		.paid = !begun && p->khz != GCHINT_PLAN_LOAD &&
			gchint_class_caps(p->class) == gchint_class_caps(h->class),
		.now_ns = now_ns,
	};

	plan_begin(p, &q);
	if (READ_ONCE(r->tun->mode) == GCHINT_MODE_MODEL)
		plan_make_learned(p, &q);
	else
		plan_make_table(p, &q);
	plan_avoid_switch(p, &q, last_khz);
	p->steady = p->until_ns == now_ns + VALID_NS;
}
