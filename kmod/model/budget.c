// SPDX-License-Identifier: GPL-2.0-only
#include "budget.h"

/*
 * The budget of this much work may be saved, or is owed before nothing more is lost. Power
 * grows faster than speed: a delay cost that moves much within it runs fast and slow in turn,
 * which takes more energy than the OPP between.
 */
#define WINDOW_NS (1000 * (u64)NSEC_PER_MSEC)
/* A small budget would move the delay cost too fast, and a large one too slowly. Percent. */
#define WINDOW_PCT_MIN 3
#define WINDOW_PCT_MAX 8
/* A debt beyond this many windows is forgiven. */
#define DEBT_MAX_WINDOWS 8
/* The delay cost at a balance of zero follows that in force within this much work. */
#define BASE_FOLLOW_NS (800 * (u64)NSEC_PER_MSEC)
/* The delay cost to start with. */
#define DELAY_COST_START 60
/* A smaller change of the delay cost is no reason to move a frequency ... */
#define COST_STEP_MIN 4
/* ... nor is one sooner than this, but when no more may be lost. */
#define COST_STEP_MIN_NS (40 * (u64)NSEC_PER_MSEC)
/* What was saved is lost if no work was booked for so long. */
#define SAVINGS_IDLE_MAX_NS ((u64)NSEC_PER_SEC)
/* A longer time slice is booked as one of this length. */
#define SLICE_MAX_NS BIT_ULL(34)
/* Fixed point of a delay cost, fine enough for short time slices to move it. */
#define COST_SHIFT 20

static s64 budget_window_ns(u32 pct)
{
	return div_u64(WINDOW_NS * clamp_t(u32, pct, WINDOW_PCT_MIN, WINDOW_PCT_MAX), 100);
}

void gchint_budget_set(struct gchint_budget *b, u32 pct)
{
	if (b->base && b->pct == pct)
		return;
	b->pct = pct;
	b->balance_ns = 0;
	b->base = DELAY_COST_START << COST_SHIFT;
	b->delay_cost = pct ? DELAY_COST_START : GCHINT_DELAY_COST_MAX;
}

/* The delay cost that the balance asks for, fixed point. */
static u32 budget_find_cost(const struct gchint_budget *b)
{
	s64 most = GCHINT_DELAY_COST_MAX << COST_SHIFT;

	return (u32)clamp_t(s64, (s64)b->base -
			    div64_s64(b->balance_ns * most, budget_window_ns(b->pct)), 0, most);
}

/* A debt that lasts raises the base, and savings that last lower it. */
static void budget_follow(struct gchint_budget *b, u32 cost, u64 work_ns)
{
	s64 off = (s64)cost - (s64)b->base;

	off = div64_s64(off * (s64)min_t(u64, work_ns, BASE_FOLLOW_NS), BASE_FOLLOW_NS);
	b->base = (u32)max_t(s64, (s64)b->base + off, 1);
}

static bool budget_set_cost(struct gchint_budget *b, u32 cost, u64 now_ns)
{
	u32 off = cost > b->delay_cost ? cost - b->delay_cost : b->delay_cost - cost;

	if (!off)
		return false;
	if (cost < GCHINT_DELAY_COST_MAX &&
	    (off < COST_STEP_MIN || now_ns < b->changed_ns + COST_STEP_MIN_NS))
		return false;
	b->delay_cost = cost;
	b->changed_ns = now_ns;
	return true;
}

bool gchint_budget_book(struct gchint_budget *b, const struct gchint_usage *u, u64 now_ns)
{
	u64 ran = min_t(u64, u->ran_ns, SLICE_MAX_NS);
	s64 window = budget_window_ns(b->pct);
	u64 work, allowed, lost;
	u32 cost;

	if (!u->weight || !ran)
		return false;
	/* What the same work takes without hints. */
	work = div_u64(ran * min_t(u32, u->free_stretch, u->stretch), max_t(u32, u->stretch, 1));
	lost = (ran - work) * u->weight / GCHINT_WEIGHT_THREAD;
	work = work * u->weight / GCHINT_WEIGHT_THREAD;
	allowed = div_u64(work * b->pct, 100);
	b->allowed_ns += allowed;
	b->lost_ns += lost;
	if (!b->pct)
		return false;
	if (b->balance_ns > 0 && now_ns > b->last_ns + SAVINGS_IDLE_MAX_NS)
		b->balance_ns = 0;
	b->last_ns = max_t(u64, b->last_ns, now_ns);
	b->balance_ns = clamp_t(s64, b->balance_ns + (s64)allowed - (s64)lost,
				-DEBT_MAX_WINDOWS * window, window);
	cost = budget_find_cost(b);
	budget_follow(b, cost, work);
	return budget_set_cost(b, cost >> COST_SHIFT, now_ns);
}
