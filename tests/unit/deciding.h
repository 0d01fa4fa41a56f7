/* SPDX-License-Identifier: GPL-2.0-only */
/* A policy on the Krait's table, and one CPU that asks it. */
#ifndef TESTS_UNIT_DECIDING_H
#define TESTS_UNIT_DECIDING_H

#include "unit.h"
#include "boards.h"
#include "decide.h"

#define NOW (100 * S)

struct fixture {
	struct gchint_opps opps;
	struct gchint_tunables tun;
	struct gchint_rules rules;
	struct gchint_state state;
	struct gchint_plan plan;
	struct gchint_hint hint;
	struct gchint_decision out;
	u64 now;
};

static inline void init(struct fixture *x)
{
	memset(x, 0, sizeof(*x));
	krait_static(&x->opps);
	gchint_tunables_init(&x->tun);
	x->rules.opps = &x->opps;
	x->rules.tun = &x->tun;
	x->rules.min_khz = 300000;
	x->rules.max_khz = 2150400;
	x->rules.latency_ns = 50000;
	x->rules.epoch = 1;
	x->now = NOW;
}

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

static inline struct gchint_demand cpu(struct fixture *x, u32 load, bool hinted)
{
	struct gchint_demand d;

	gchint_decide_cpu(&d, &x->rules, 3, load, load, hinted ? &x->hint : NULL,
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
