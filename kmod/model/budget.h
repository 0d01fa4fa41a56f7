/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time budget of a policy: by how many percent its hinted work may take longer than
 * at the frequency that it would have without hints, at most the highest.
 *
 * A ledger holds the time that was allowed and not yet lost. The delay cost, by which
 * plan.c weighs the time of waiting threads against power, follows from it: the less
 * is left, the more a thread's time is worth, so that the time is lost where it saves
 * the most energy. Slowing that costs no time is not booked.
 */
#ifndef _GCHINT_BUDGET_H
#define _GCHINT_BUDGET_H

#include "opp.h"

/* At this delay cost time is worth more than any power. */
#define GCHINT_DELAY_COST_MAX 100
/* Percent of the power of a busy CPU at the highest OPP, per step below. */
#define GCHINT_DELAY_COST_STEP 2

/* Unit of &gchint_usage.weight: a quarter of a waiting thread. */
#define GCHINT_WEIGHT_THREAD 4

/**
 * struct gchint_usage - a time slice of a hinting thread
 * @ran_ns: its length
 * @weight: how many threads it delays, in quarters; 0: it delays none
 * @stretch: T(f) of the frequency in force
 * @free_stretch: T(f) of the frequency without hints
 */
struct gchint_usage {
	u64 ran_ns;
	u32 weight;
	u32 stretch;
	u32 free_stretch;
};

/**
 * struct gchint_budget - the ledger of a policy
 * @balance_ns: time that may still be lost; negative: overspent
 * @allowed_ns: all time that was allowed, weighted
 * @lost_ns: all time that was lost, weighted
 * @last_ns: the last time slice that was booked
 * @changed_ns: when @delay_cost changed last
 * @pct: the budget that @balance_ns is of
 * @base: delay cost at a balance of zero, fixed point
 * @delay_cost: in force, up to GCHINT_DELAY_COST_MAX
 *
 * The caller serialises. All zero is a valid initial state before gchint_budget_set().
 */
struct gchint_budget {
	s64 balance_ns;
	u64 allowed_ns;
	u64 lost_ns;
	u64 last_ns;
	u64 changed_ns;
	u32 pct;
	u32 base;
	u32 delay_cost;
};

/* Set the budget. A new one starts without savings and debt. */
void gchint_budget_set(struct gchint_budget *b, u32 pct);

/* Book a time slice that ended at @now_ns. True if &gchint_budget.delay_cost changed. */
bool gchint_budget_book(struct gchint_budget *b, const struct gchint_usage *u, u64 now_ns);

#endif /* _GCHINT_BUDGET_H */
