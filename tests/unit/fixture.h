/* SPDX-License-Identifier: GPL-2.0-only */
/* A policy, its rules and history, a hint and what was learned about its phase. */
#ifndef TEST_FIXTURE_H
#define TEST_FIXTURE_H

#include "unit.h"
#include "boards.h"
#include "decide.h"

#define NOW (100 * S)

struct fixture {
	struct gchint_opps opps;
	struct gchint_tunables tun;
	struct gchint_rules rules;
	struct gchint_learn learn;
	struct gchint_plan plan;
	struct gchint_hint hint;
	struct gchint_state state;
	struct gchint_decision out;
	u64 now;
};

static inline void init(struct fixture *x, void (*fill)(struct gchint_opps *))
{
	memset(x, 0, sizeof(*x));
	fill(&x->opps);
	gchint_tunables_init(&x->tun);
	x->tun.probe_every = 0;
	x->tun.awake_pct = 0;
	x->rules.opps = &x->opps;
	x->rules.tun = &x->tun;
	x->rules.min_khz = x->opps.opp[0].khz;
	x->rules.max_khz = x->opps.opp[x->opps.nr - 1].khz;
	x->rules.latency_ns = 50000;
	x->rules.epoch = 1;
	x->rules.delay_cost = GCHINT_DELAY_COST_MAX;
	x->hint.class = GCHINT_CLASS_CONCURRENT;
	x->hint.phase = GCHINT_PHASE_MARK;
	x->hint.begin_ns = NOW;
	x->hint.instance = 1;
	x->now = NOW;
}

/* Teach the learner a phase that takes 20 ms at the highest frequency. */
static inline void teach(struct fixture *x, u8 phase, u8 class, double mem, u64 wall_ns)
{
	for (u32 n = 0; n < 20; n++) {
		u32 khz = x->opps.ref_khz / (1 + n % 2);
		double t = mem + (1 - mem) * x->opps.ref_khz / khz;
		struct gchint_sample s = {
			.valid = true,
			.ended = true,
			.phase = phase,
			.class = class,
			.khz = khz,
			.work = 1000000,
			.ran_ns = (u64)(20 * (double)MS * t),
			.wall_ns = wall_ns,
		};

		gchint_learn_add(&x->learn, &s, x->opps.ref_khz);
	}
}

static inline u32 plan(struct fixture *x)
{
	gchint_plan_make(&x->plan, &x->hint, &x->rules, &x->learn, 0, NOW);
	return x->plan.khz;
}

#endif /* TEST_FIXTURE_H */
