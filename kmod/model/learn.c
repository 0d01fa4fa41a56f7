// SPDX-License-Identifier: GPL-2.0-only
#include "learn.h"

/* Forgetting: samples count for about the last 16. */
#define FORGET_SAMPLES 16
/* Relative deviation assumed until it is known, fixed point: a tenth. */
#define NOISE_START (GCHINT_ONE / 10)
#define NOISE_MIN   (GCHINT_ONE / 100)
#define SAMPLES_MIN 4
/* A slope is known if its standard error is below this part of the time at fmax. */
#define ERROR_MAX (GCHINT_ONE * 15 / 100)
/* Shorter runs measure interrupts and caches rather than the phase. */
#define RAN_MIN_NS (20 * (u64)NSEC_PER_USEC)
/* Longer ones are no phase of a collector. */
#define RAN_MAX_NS BIT_ULL(39)
/* A run of this length has full weight. */
#define RAN_FULL_NS ((u64)NSEC_PER_MSEC)
/* The scaled time per unit of work of the first sample has this many bits. */
#define Y_BITS 21
#define Y_MIN  ((s64)BIT_ULL(Y_BITS - 7))
#define Y_MAX  ((s64)BIT_ULL(Y_BITS + 6))
/* More units of work than this in a nanosecond are not credible. */
#define WORK_PER_NS_MAX 1024
/* Beyond this ratio of frequencies the line is not followed. */
#define X_MAX (16U << 20)
#define X_MIN ((u32)BIT(18))
/* Bounds on the ratio of two highest frequencies of a type, with boost and without. */
#define RATIO_MIN (GCHINT_ONE / 8)
#define RATIO_MAX (GCHINT_ONE * 8)
/* This many consecutive samples off the line, on one side, are a change. */
#define DRIFT_SAMPLES_MAX 3
#define ODD_SAMPLES_MAX	  4
/* |cxy| is kept below the first; below the second it can be scaled for a slope. */
#define CXY_MAX	 ((s64)BIT_ULL(56))
#define CXY_FULL ((s64)BIT_ULL(48))

/* Scaled time per unit of work; work is not 0 and the rate is credible. */
static s64 line_scale_time(u64 ran_ns, u64 work, s8 shift)
{
	if (shift < 0)
		return (s64)(div64_u64(ran_ns, work) >> -shift);
	while (ran_ns >> 32) {
		ran_ns >>= 1;
		work >>= 1;
	}
	return (s64)div64_u64(ran_ns << shift, max_t(u64, work, 1));
}

static s8 line_choose_shift(u64 ran_ns, u64 work)
{
	/* The quotient has about this many bits, negative for a fraction. */
	s32 have = fls64(ran_ns) - fls64(work) + 1;

	return (s8)clamp_t(s32, Y_BITS - have, -20, 31);
}

/* Scaled slope, time per unit of work for one more fmax/f. */
static s64 line_slope(const struct gchint_learn_line *n)
{
	s64 cxx = n->cxx;
	s64 cxy = n->cxy;

	if (cxy > CXY_FULL || cxy < -CXY_FULL) {
		cxx /= 256;
		cxy /= 256;
	}
	if (cxx <= 0)
		return 0;
	/* fmax/f is seldom below one, so the slope is at most all of the time. */
	return clamp_t(s64, div64_s64(cxy * (1 << 14), cxx), -Y_MAX, Y_MAX);
}

/* Time per unit of work at fmax and its part that computes, both scaled. */
static void line_at_fmax(const struct gchint_learn_line *n, s64 *total, s64 *compute)
{
	s64 b = max_t(s64, line_slope(n), 0);
	s64 beyond = (s64)n->mean_x - (1 << 20);
	s64 a;

	/* Neither part is negative: a line too steep goes through the origin. */
	a = n->mean_y - (b * (s64)n->mean_x) / (1 << 20);
	if (a < 0) {
		b = div64_s64(n->mean_y * (1 << 20), n->mean_x);
		*total = b;
	} else {
		*total = n->mean_y - (b * beyond) / (1 << 20);
	}
	*total = max_t(s64, *total, 1);
	*compute = min_t(s64, b, *total);
}

static void line_start(struct gchint_learn_line *n, u32 x, u64 ran_ns, u64 work, u32 weight)
{
	memset(n, 0, sizeof(*n));
	n->shift = line_choose_shift(ran_ns, work);
	n->mean_x = x;
	n->mean_y = line_scale_time(ran_ns, work, n->shift);
	n->weight = weight;
	n->noise = NOISE_START;
	n->samples = 1;
}

/*
 * Compare a sample with the line. Outliers are pulled in, for a disturbed phase is
 * not a memory-bound one. If they keep coming from the same side the program has
 * changed and the line is void: even a small rest of it, at a frequency that is no
 * longer used, would tilt the new one.
 *
 * Return: false if a new line is to be started
 */
static bool line_judge(struct gchint_learn_line *n, u32 x, s64 *y)
{
	s64 expect, off, bound;
	u32 rel;

	if (n->samples < SAMPLES_MIN)
		return true;
	expect = n->mean_y + (line_slope(n) * ((s64)x - (s64)n->mean_x)) / (1 << 20);
	expect = clamp_t(s64, expect, n->mean_y / 4 + 1, n->mean_y * 16 + 1);
	off = *y - expect;
	rel = (u32)min_t(u64, div64_u64((u64)(off < 0 ? -off : off) << GCHINT_ONE_SHIFT, expect),
			 GCHINT_ONE);

	if (rel > 3 * max_t(u32, n->noise, NOISE_MIN)) {
		if (off > 0)
			n->drift = n->drift > 0 ? n->drift + 1 : 1;
		else
			n->drift = n->drift < 0 ? n->drift - 1 : -1;
		if (n->drift >= DRIFT_SAMPLES_MAX || n->drift <= -DRIFT_SAMPLES_MAX)
			return false;
	} else {
		n->drift = 0;
	}
	bound = (expect * (s64)max_t(u32, 4 * n->noise, GCHINT_ONE / 16)) / GCHINT_ONE;
	n->noise = max_t(u32, (n->noise * 7 + min_t(u32, rel, 4 * n->noise)) / 8, 1);
	*y = clamp_t(s64, *y, expect - bound, expect + bound);
	return true;
}

/*
 * One step of recursive least squares about the running means. The slope is
 * forgotten only as far as the sample contains information about it: samples at the
 * mean frequency move the level and leave the slope alone.
 */
static void line_add(struct gchint_learn_line *n, u32 x, s64 y, u32 weight)
{
	u32 keep = GCHINT_ONE - weight / FORGET_SAMPLES;
	s64 dx, dy, dx_after, dy_after, info, part;

	n->weight = (u32)(((u64)n->weight * keep) >> GCHINT_ONE_SHIFT) + weight;
	dx = (s64)x - (s64)n->mean_x;
	dy = y - n->mean_y;
	n->mean_x = (u32)((s64)n->mean_x + div64_s64(dx * weight, n->weight));
	n->mean_y += div64_s64(dy * weight, n->weight);
	dx_after = (s64)x - (s64)n->mean_x;
	dy_after = y - n->mean_y;

	/* Both factors of a product in 2^-14: below 2^18 each. */
	info = ((dx / 64) * (dx_after / 64) * weight) / GCHINT_ONE;
	part = GCHINT_ONE;
	if (n->cxx > 0 && info < n->cxx / FORGET_SAMPLES)
		part = div64_s64(info * GCHINT_ONE, n->cxx / FORGET_SAMPLES + 1);
	keep = GCHINT_ONE - (u32)((part * weight / FORGET_SAMPLES) >> GCHINT_ONE_SHIFT);
	n->cxx = (n->cxx / GCHINT_ONE) * keep + info;
	n->cxy = (n->cxy / GCHINT_ONE) * keep + ((dx / 64) * dy_after * weight) / GCHINT_ONE;
	n->cxy = clamp_t(s64, n->cxy, -CXY_MAX, CXY_MAX);
	n->samples++;
	if (!n->samples)
		n->samples--;
}

bool gchint_learn_work(struct gchint_learn_line *n, const struct gchint_sample *s, u32 ref_khz)
{
	u32 weight, x;
	s64 y;

	if (!s->khz || s->ran_ns < RAN_MIN_NS || s->ran_ns > RAN_MAX_NS)
		return false;
	if (div_u64(s->work, WORK_PER_NS_MAX) > s->ran_ns)
		return false;
	x = (u32)clamp_t(u64, div_u64((u64)(ref_khz ? ref_khz : s->khz) << 20, s->khz), X_MIN,
			 X_MAX);
	weight = GCHINT_ONE;
	if (s->ran_ns < RAN_FULL_NS)
		weight = max_t(u32, (u32)div_u64(s->ran_ns << GCHINT_ONE_SHIFT, RAN_FULL_NS),
			       GCHINT_ONE / 8);
	if (!n->samples) {
		line_start(n, x, s->ran_ns, s->work, weight);
		return true;
	}
	y = line_scale_time(s->ran_ns, s->work, n->shift);
	if (y < Y_MIN || y > Y_MAX) {
		if (++n->odd < ODD_SAMPLES_MAX)
			return false;
		line_start(n, x, s->ran_ns, s->work, weight);
		return true;
	}
	n->odd = 0;
	if (line_judge(n, x, &y))
		line_add(n, x, y, weight);
	else
		line_start(n, x, s->ran_ns, s->work, weight);
	return true;
}

static u64 line_to_ps(s64 y, s8 shift)
{
	u64 ps = (u64)y * 1000;

	return shift < 0 ? ps << -shift : ps >> shift;
}

void gchint_learn_fit(const struct gchint_learn *l, u8 phase, u8 core_type, struct gchint_fit *fit)
{
	const struct gchint_learn_line *n = &l->line[phase][core_type];
	s64 total, compute;
	u64 spread;

	memset(fit, 0, sizeof(*fit));
	if (!n->samples)
		return;
	fit->samples = n->samples;
	line_at_fmax(n, &total, &compute);
	fit->mem = (u32)div64_u64((u64)(total - compute) << GCHINT_ONE_SHIFT, total);
	fit->a_ps = line_to_ps(total - compute, n->shift);
	fit->b_ps = line_to_ps(compute, n->shift);

	/* Standard error of the slope: deviation over the root of the spread of x. */
	spread = n->cxx > 0 ? int_sqrt64((u64)n->cxx) : 0;
	fit->error = GCHINT_ONE;
	if (spread) {
		u64 sigma = ((u64)n->noise * 5 / 4 * n->mean_y) / GCHINT_ONE;
		u64 error = div64_u64(sigma << 14, spread);

		fit->error =
			(u32)min_t(u64, div64_u64(error << GCHINT_ONE_SHIFT, total), GCHINT_ONE);
	}
	fit->known = n->samples >= SAMPLES_MIN && fit->error <= ERROR_MAX;
}

void gchint_learn_fit_at(struct gchint_fit *fit, u32 from_khz, u32 to_khz)
{
	u32 ratio, total;
	u64 error;

	if (!fit->samples || !from_khz || from_khz == to_khz)
		return;
	/* Time that computes is longer by the ratio where the CPU is slower. */
	ratio = (u32)clamp_t(u64, div_u64((u64)from_khz << GCHINT_ONE_SHIFT, to_khz), RATIO_MIN,
			     RATIO_MAX);
	/* Not 0: all that computes is at least RATIO_MIN of it. */
	total = fit->mem + (((GCHINT_ONE - fit->mem) * ratio) >> GCHINT_ONE_SHIFT);
	fit->mem = min_t(u32, (fit->mem << GCHINT_ONE_SHIFT) / total, GCHINT_ONE);
	/* The derivative of the line above. */
	error = div_u64((u64)fit->error * ratio << GCHINT_ONE_SHIFT, total);
	fit->error = (u32)min_t(u64, div_u64(error, total), GCHINT_ONE);
	fit->known = fit->known && fit->error <= ERROR_MAX;
	if (fit->b_ps >> 40)
		fit->b_ps = (fit->b_ps >> GCHINT_ONE_SHIFT) * ratio;
	else
		fit->b_ps = (fit->b_ps * ratio) >> GCHINT_ONE_SHIFT;
}

/* A step of a tenth is left if the estimate is 3/4 of a step away from it. */
#define MUTATOR_STEP_LEAVE_DIFF (GCHINT_ONE * 3 / 40)

u8 gchint_learn_mutator(const struct gchint_learn *l, u8 core_type, u8 before)
{
	struct gchint_fit fit;
	u32 mem, tenths;

	gchint_learn_fit(l, GCHINT_PHASE_NONE, core_type, &fit);
	if (!fit.known)
		return before;
	mem = before ? gchint_mutator_mem(before) : 0;
	if (before && fit.mem <= mem + MUTATOR_STEP_LEAVE_DIFF &&
	    fit.mem + MUTATOR_STEP_LEAVE_DIFF >= mem)
		return before;
	tenths = (fit.mem * 10 + GCHINT_ONE / 2) >> GCHINT_ONE_SHIFT;
	return (u8)min_t(u32, tenths + 1, GCHINT_MUTATORS - 1);
}
