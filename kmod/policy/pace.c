// SPDX-License-Identifier: GPL-2.0-only
#include "pace.h"

/* A phase's own rate counts after so much running and a sixteenth of the work. */
#define OWN_MIN_NS ((u64)NSEC_PER_MSEC)
#define OWN_PART 16
/* Memory fraction assumed while it is unknown. */
#define MEM_UNKNOWN (GCHINT_ONE / 2)
/* A thread gets at least this part of a CPU, or no frequency will help. */
#define DUTY_MIN (GCHINT_ONE / 8)

static u32 stretch_at(u32 khz, u32 ref_khz, u32 mem)
{
	struct gchint_opp o = { .khz = khz };

	khz = max_t(u32, khz, 1);
	o.slow = (u32)min_t(u64, div_u64((u64)ref_khz << GCHINT_ONE_SHIFT, khz), GCHINT_ONE * 64);
	return gchint_opp_stretch(&o, mem);
}

/* Time for the work to go at the highest frequency, by the phase's own rate. */
static u64 own_need(const struct gchint_hint *h, u32 ref_khz, u32 mem)
{
	u64 done = h->work_done;
	u64 left = h->work_left;
	u64 ran = h->work_ran_ns;
	u32 stretch;

	if (ran < OWN_MIN_NS || !done || done < left / OWN_PART)
		return 0;
	stretch = stretch_at((u32)div64_u64(h->work_cycles, ran), ref_khz, mem);
	/* 2^40 ns times 2^20 fits; left is at most 16 times done. */
	while ((left | done) >> 20) {
		left >>= 1;
		done >>= 1;
	}
	ran = div64_u64(min_t(u64, ran, 1ULL << 40) * left, max_t(u64, done, 1));
	return max_t(u64, div_u64(ran << GCHINT_ONE_SHIFT, stretch), 1);
}

/* The same by the rate of earlier phases. */
static u64 learned_need(const struct gchint_hint *h, const struct gchint_fit *fit)
{
	u64 ps = fit->a_ps + fit->b_ps;
	u64 left = h->work_left;
	u32 shift = 0;

	if (!fit->samples || !ps || !left)
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
	/* A day is as good as for ever. */
	if (shift >= 16 || ps >> (47 - shift))
		return 1ULL << 47;
	return max_t(u64, ps << shift, 1);
}

static u32 duty(const struct gchint_hint *h, u64 now_ns)
{
	u64 wall = now_ns - h->mark_ns;

	if (now_ns <= h->mark_ns || h->ran_ns < OWN_MIN_NS)
		return GCHINT_ONE;
	wall = div64_u64(min_t(u64, h->ran_ns, 1ULL << 40) << GCHINT_ONE_SHIFT, wall);
	return (u32)clamp_t(u64, wall, DUTY_MIN, GCHINT_ONE);
}

/* Time that the thread must run at the highest frequency; 0 if there is no rate to go by. */
static u64 need_ns(const struct gchint_hint *h, const struct gchint_fit *fit, u32 ref_khz)
{
	u64 need = own_need(h, ref_khz, fit->known ? fit->mem : MEM_UNKNOWN);

	return need ? need : learned_need(h, fit);
}

/*
 * Time until mutators stall, if from now on they ran as fast as they can: what they
 * tell is by the rate at which they allocate under what they were @given. Else each
 * side would slow down because the other one has.
 */
static u64 budget_ns(u64 left_ns, u32 given)
{
	left_ns = min_t(u64, left_ns, 1ULL << 40) << GCHINT_ONE_SHIFT;
	return div64_u64(left_ns, max_t(u32, given, GCHINT_ONE));
}

/* The bound on T(f) that leaves @need_ns at the highest frequency, on so much of a CPU, enough. */
static u32 bound_of(const struct gchint_hint *h, u64 need_ns, u32 duty, u32 margin_pct,
		    u64 latency_ns, u32 given, u64 now_ns)
{
	u64 budget = budget_ns(h->stall_ns - now_ns - latency_ns, given);
	u64 stretch = div64_u64(div_u64(budget * 100, 100 + margin_pct) * duty, need_ns);

	if (stretch < GCHINT_ONE)
		return 0;
	return (u32)min_t(u64, stretch, U32_MAX - 1);
}

u32 gchint_pace_stretch(const struct gchint_hint *h, const struct gchint_fit *fit, u32 ref_khz,
			u32 margin_pct, u64 latency_ns, u32 given, u64 now_ns)
{
	u64 need;

	if (h->overdue)
		return 0;
	if (!h->stall_ns)
		return U32_MAX;
	if (h->stall_ns <= now_ns + latency_ns)
		return 0;
	need = need_ns(h, fit, ref_khz);
	if (!need)
		return U32_MAX;
	return bound_of(h, need, duty(h, now_ns), margin_pct, latency_ns, given, now_ns);
}

u32 gchint_pace_length(const struct gchint_hint *h, u64 left_ns, u32 margin_pct, u64 latency_ns,
		       u32 given, u64 now_ns)
{
	if (left_ns == U64_MAX || h->overdue || h->stall_ns <= now_ns + latency_ns)
		return 0;
	return bound_of(h, max_t(u64, left_ns, 1), GCHINT_ONE, margin_pct, latency_ns, given,
			now_ns);
}

u32 gchint_pace_slowdown(const struct gchint_hint *h, const struct gchint_fit *fit, u32 ref_khz,
			 u32 margin_pct, u32 given, u64 now_ns)
{
	u64 budget, need, slowdown;

	if (h->class == GCHINT_CLASS_URGENT || h->overdue)
		return U32_MAX;
	if (!h->stall_ns)
		return GCHINT_ONE;
	if (h->stall_ns <= now_ns)
		return U32_MAX;
	need = need_ns(h, fit, ref_khz);
	if (!need)
		return GCHINT_ONE;
	budget = budget_ns(h->stall_ns - now_ns, given);
	/* Rather too fast than too slow: they can wait, but not catch up. */
	budget = div_u64(budget * (100 + margin_pct), 100);
	budget = max_t(u64, (budget * duty(h, now_ns)) >> GCHINT_ONE_SHIFT, 1);
	slowdown = div64_u64(min_t(u64, need, 1ULL << 47) << GCHINT_ONE_SHIFT, budget);
	return (u32)clamp_t(u64, slowdown, GCHINT_ONE, U32_MAX - 1);
}
