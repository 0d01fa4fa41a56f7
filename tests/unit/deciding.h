/* SPDX-License-Identifier: GPL-2.0-only */
/* One CPU that makes requests to a policy. */
#ifndef TESTS_UNIT_DECIDING_H
#define TESTS_UNIT_DECIDING_H

#include "fixture.h"

static inline void plan_is(struct fixture *x, u8 class, u32 khz, u8 reason, bool may_raise)
{
	memset(&x->hint, 0, sizeof(x->hint));
	memset(&x->plan, 0, sizeof(x->plan));
	x->hint.class = class;
	x->hint.phase = GCHINT_PHASE_MARK;
	x->hint.may_raise = may_raise;
	x->plan.khz = khz;
	x->plan.reason = reason;
	x->plan.class = class;
	x->plan.made = true;
}

/* The floor of mutators whose memory fraction is unknown. */
static inline u32 floor_of(struct fixture *x)
{
	gchint_rules_set_mutators(&x->rules);
	return x->rules.mutator[0].floor_khz;
}

static inline struct gchint_demand cpu(struct fixture *x, u32 load, bool hinted)
{
	struct gchint_demand d;

	gchint_decide_cpu(&d, &x->rules, 3, load, hinted ? &x->hint : NULL,
			  hinted ? &x->plan : NULL);
	return d;
}

static inline u32 policy(struct fixture *x, const struct gchint_demand *d)
{
	gchint_decide_policy(&x->out, &x->rules, &x->state, d, x->now);
	return x->out.khz;
}

static inline u32 load(struct fixture *x, u32 load)
{
	struct gchint_demand d = cpu(x, load, false);

	return policy(x, &d);
}

#endif
