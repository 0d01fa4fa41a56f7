// SPDX-License-Identifier: GPL-2.0-only
#include "stow.h"

/* A field that is new there must be packed here, or is lost in a sleep. */
#ifdef CONFIG_64BIT
static_assert(sizeof(struct gchint_track) == 128);
static_assert(sizeof(struct gchint_plan) == 48);
#endif

/* Bits of gchint_stow.bits. */
#define PRIMED BIT(0)
#define PENDING BIT(1)
#define STALE BIT(2)
#define LEAD BIT(3)
#define MIXED BIT(4)
#define OVERDUE BIT(5)
#define AVOIDED BIT(6)
#define MADE BIT(7)
#define LOWER BIT(8)
#define PROBE BIT(9)
/* The plan was made for what is known of the phase now. */
#define CURRENT BIT(10)
#define KIND_SHIFT 11

static u32 to_us(u64 ns)
{
	return min_t(u64, div_u64(ns, NSEC_PER_USEC), U32_MAX);
}

static u64 to_ns(u32 us)
{
	return us * (u64)NSEC_PER_USEC;
}

static u32 before(u64 moved_ns, u64 then_ns)
{
	return then_ns < moved_ns ? to_us(moved_ns - then_ns) : 0;
}

static u32 mean(u64 cycles, u64 ran_ns)
{
	return ran_ns ? div64_u64(cycles, ran_ns) : 0;
}

static void plan_in(struct gchint_stow *s, const struct gchint_track *t,
		    const struct gchint_plan *p)
{
	/* A plan of an earlier phase has nothing more to say. */
	if (!p->made || p->instance != t->instance)
		return;
	s->bits |= MADE;
	if (p->revision == t->revision)
		s->bits |= CURRENT;
	if (p->avoided)
		s->bits |= AVOIDED;
	if (p->lower)
		s->bits |= LOWER;
	if (p->probe)
		s->bits |= PROBE;
	s->khz = p->khz;
	s->until_us = p->until_ns > t->moved_ns ?
		to_us(p->until_ns - t->moved_ns) : 0;
	s->epoch = p->epoch;
	s->mem = p->mem;
	s->step = p->step;
	s->reason = p->reason;
	s->class = p->class;
}

/**
 * gchint_stow_in - pack
 * @s: result; always filled completely
 * @t: track
 * @p: plan
 */
void gchint_stow_in(struct gchint_stow *s, const struct gchint_track *t,
		    const struct gchint_plan *p)
{
	memset(s, 0, sizeof(*s));
	s->moved_ns = t->moved_ns;
	s->work_done = t->work_done;
	s->work_total = t->work_total;
	s->mark_work = t->mark_work;
	s->stall_ns = t->stall_ns;
	s->state = t->state;
	s->instance = t->instance;
	s->revision = t->revision;
	s->begin_us = before(t->moved_ns, t->begin_ns);
	s->mark_us = before(t->moved_ns, t->mark_ns);
	s->ran_us = to_us(t->ran_ns);
	s->mean_khz = mean(t->cycles, t->ran_ns);
	s->mark_ran_us = to_us(t->mark_ran_ns);
	s->mark_mean_khz = mean(t->mark_cycles, t->mark_ran_ns);
	s->mark_at_us = to_us(t->mark_at_ns);
	s->mark_khz = t->mark_khz;
	s->phase = t->phase;
	s->flags = t->flags;
	s->bits = t->kind << KIND_SHIFT;
	if (t->primed)
		s->bits |= PRIMED;
	if (t->pending)
		s->bits |= PENDING;
	if (t->stale)
		s->bits |= STALE;
	if (t->lead)
		s->bits |= LEAD;
	if (t->mixed)
		s->bits |= MIXED;
	if (t->overdue)
		s->bits |= OVERDUE;
	plan_in(s, t, p);
}

/**
 * gchint_stow_out - unpack
 * @s: packed
 * @t: track; always filled completely
 * @p: plan; likewise
 *
 * Times come back to the microsecond.
 */
void gchint_stow_out(const struct gchint_stow *s, struct gchint_track *t,
		     struct gchint_plan *p)
{
	memset(t, 0, sizeof(*t));
	t->moved_ns = s->moved_ns;
	t->work_done = s->work_done;
	t->work_total = s->work_total;
	t->mark_work = s->mark_work;
	t->stall_ns = s->stall_ns;
	t->state = s->state;
	t->instance = s->instance;
	t->revision = s->revision;
	t->begin_ns = s->moved_ns - to_ns(s->begin_us);
	t->mark_ns = s->moved_ns - to_ns(s->mark_us);
	t->ran_ns = to_ns(s->ran_us);
	t->cycles = t->ran_ns * s->mean_khz;
	t->mark_ran_ns = to_ns(s->mark_ran_us);
	t->mark_cycles = t->mark_ran_ns * s->mark_mean_khz;
	t->mark_at_ns = to_ns(s->mark_at_us);
	t->mark_khz = s->mark_khz;
	t->phase = s->phase;
	t->flags = s->flags;
	t->class = gchint_phase_class(s->phase, s->flags);
	t->kind = s->bits >> KIND_SHIFT;
	t->primed = s->bits & PRIMED;
	t->pending = s->bits & PENDING;
	t->stale = s->bits & STALE;
	t->lead = s->bits & LEAD;
	t->mixed = s->bits & MIXED;
	t->overdue = s->bits & OVERDUE;

	memset(p, 0, sizeof(*p));
	if (!(s->bits & MADE))
		return;
	p->made = true;
	p->avoided = s->bits & AVOIDED;
	p->lower = s->bits & LOWER;
	p->probe = s->bits & PROBE;
	p->instance = t->instance;
	p->revision = s->bits & CURRENT ? t->revision : t->revision - 1;
	p->khz = s->khz;
	p->until_ns = s->until_us == U32_MAX ?
		U64_MAX : s->moved_ns + to_ns(s->until_us);
	p->epoch = s->epoch;
	p->mem = s->mem;
	p->step = s->step;
	p->reason = s->reason;
	p->class = s->class;
}
