// SPDX-License-Identifier: GPL-2.0-only
#include "opp.h"
#include "pace.h"

/* A phase's own rate counts after this much running ... */
#define OWN_RATE_MIN_NS ((u64)NSEC_PER_MSEC)
/* ... and one part in so many of the work. */
#define OWN_RATE_WORK_PART 16
/* A thread gets at least this part of a CPU, or no frequency will help. */
#define DUTY_MIN (GCHINT_ONE / 8)

/* Running time for the rest of the work at fmax, by the phase's own rate; 0 unknown. */
static u64 pace_own_need_ns(const struct gchint_pace *p)
{
	u32 mem = p->fit->known ? p->fit->mem : GCHINT_MEM_ASSUMED;
	u64 done = p->hint->work_done;
	u64 left = p->hint->work_left;
	u64 ran = p->hint->work_ran_ns;
	u32 stretch;

	if (ran < OWN_RATE_MIN_NS || !done || done < left / OWN_RATE_WORK_PART)
		return 0;
	stretch = gchint_khz_stretch((u32)div64_u64(p->hint->work_cycles, ran), p->ref_khz, mem);
	/* 2^40 ns times 2^20 fits; left is at most 16 times done. */
	while ((left | done) >> 20) {
		left >>= 1;
		done >>= 1;
	}
	ran = div64_u64(min_t(u64, ran, 1ULL << 40) * left, max_t(u64, done, 1));
	return max_t(u64, div_u64(ran << GCHINT_ONE_SHIFT, stretch), 1);
}

/* The same by the rate of earlier phases. */
static u64 pace_learned_need_ns(const struct gchint_pace *p)
{
	u64 ps = p->fit->a_ps + p->fit->b_ps;
	u64 left = p->hint->work_left;
	u32 shift = 0;

	if (!p->fit->samples || !ps || !left)
		return 0;
	while (left >> 32) {
		left >>= 1;
		shift++;
	}
	while (ps >> 31) {
		ps >>= 1;
		shift++;
	}
	ps = div_u64(ps * left, 1000);
	/* More than a day is clamped. */
	if (shift >= 16 || ps >> (47 - shift))
		return 1ULL << 47;
	return max_t(u64, ps << shift, 1);
}

static u64 pace_need_ns(const struct gchint_pace *p)
{
	u64 need = pace_own_need_ns(p);

	return need ? need : pace_learned_need_ns(p);
}

/* The part of a CPU that the thread got since the sample began, fixed point. */
static u32 pace_duty(const struct gchint_pace *p)
{
	const struct gchint_hint *h = p->hint;
	u64 duty;

	if (p->now_ns <= h->mark_ns || h->ran_ns < OWN_RATE_MIN_NS)
		return GCHINT_ONE;
	duty = div64_u64(min_t(u64, h->ran_ns, 1ULL << 40) << GCHINT_ONE_SHIFT,
			 p->now_ns - h->mark_ns);
	return (u32)clamp_t(u64, duty, DUTY_MIN, GCHINT_ONE);
}

/*
 * Time until mutators stall, @left_ns by the hint, if from now on they run at full
 * speed. What they announce is an extrapolation of their allocation rate while they
 * are slowed; without this correction each side would slow down because the other
 * one has.
 */
static u64 pace_budget_ns(const struct gchint_pace *p, u64 left_ns)
{
	left_ns = min_t(u64, left_ns, 1ULL << 40) << GCHINT_ONE_SHIFT;
	return div64_u64(left_ns, max_t(u32, p->hint->slowdown, GCHINT_ONE));
}

static bool pace_is_late(const struct gchint_pace *p)
{
	return p->hint->overdue || p->hint->stall_ns <= p->now_ns + p->latency_ns;
}

/* The bound on T(f) for which @need_ns at fmax, on the part @duty of a CPU, end in time. */
static u32 pace_bound(const struct gchint_pace *p, u64 need_ns, u32 duty)
{
	u64 budget = pace_budget_ns(p, p->hint->stall_ns - p->now_ns - p->latency_ns);
	u64 stretch = div64_u64(div_u64(budget * 100, 100 + p->margin_pct) * duty, need_ns);

	if (stretch < GCHINT_ONE)
		return 0;
	return (u32)min_t(u64, stretch, U32_MAX - 1);
}

u32 gchint_pace_stretch(const struct gchint_pace *p)
{
	u64 need;

	if (!p->hint->stall_ns && !p->hint->overdue)
		return U32_MAX;
	if (pace_is_late(p))
		return 0;
	need = pace_need_ns(p);
	return need ? pace_bound(p, need, pace_duty(p)) : U32_MAX;
}

u32 gchint_pace_length(const struct gchint_pace *p, u64 left_ns)
{
	if (left_ns == U64_MAX || pace_is_late(p))
		return 0;
	return pace_bound(p, max_t(u64, left_ns, 1), GCHINT_ONE);
}

u32 gchint_pace_slowdown(const struct gchint_pace *p)
{
	const struct gchint_hint *h = p->hint;
	u64 budget, need, slowdown;

	if (h->class == GCHINT_CLASS_URGENT || h->overdue)
		return U32_MAX;
	if (!h->stall_ns)
		return GCHINT_ONE;
	if (h->stall_ns <= p->now_ns)
		return U32_MAX;
	need = pace_need_ns(p);
	if (!need)
		return GCHINT_ONE;
	budget = pace_budget_ns(p, h->stall_ns - p->now_ns);
	/* In doubt the mutators are too fast: they can wait, but not catch up. */
	budget = div_u64(budget * (100 + p->margin_pct), 100);
	budget = max_t(u64, (budget * pace_duty(p)) >> GCHINT_ONE_SHIFT, 1);
	slowdown = div64_u64(min_t(u64, need, 1ULL << 47) << GCHINT_ONE_SHIFT, budget);
	return (u32)clamp_t(u64, slowdown, GCHINT_ONE, U32_MAX - 1);
}
