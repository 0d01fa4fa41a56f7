// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: energy of a rail, divided among phases: exact, bounded, or unknown. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../daemon/analysis/energy.h"

static bool is_about(double a, double b, double by)
{
	if (fabs(a - b) <= by)
		return true;
	printf("# %.9g is not about %.9g\n", a, b);
	return false;
}

static const struct energy_limits no_limits = { .max_w = INFINITY };

/* The limits of a rail. */
#define LIMITS(low, high) (&(struct energy_limits){ .min_w = (low), .max_w = (high) })

#define MARK  (GCHINT_PHASE_MARK * CLASS_NR + CLASS_CONCURRENT)
#define ROOTS (GCHINT_PHASE_ROOTS * CLASS_NR + CLASS_STW)

static void energy_check(void)
{
	static const uint16_t mark = MARK;
	const struct energy_segment seg[] = {
		{ 0, 1000000000, { 0 }, 0 },
		{ 1000000000, 2000000000, { mark }, 1 },
		{ 2000000000, 4000000000, { 0 }, 0 },
	};
	/* 1 W outside, 3 W in the phase; samples on the edges and between them. */
	struct recording_sample counter[] = {
		{ 0, 0 },
		{ 1000000000, 1000000 },
		{ 2000000000, 4000000 },
		{ 3000000000, 5000000 },
		{ 4000000000, 6000000 },
	};
	const struct energy_part *p;
	struct energy e;

	p = &e.part[mark];
	energy_split(counter, 5, true, &no_limits, seg, 3, &e);
	CHECK(is_about(e.total, 6, 1e-9) && is_about(p->joules, 3, 1e-9) &&
		      is_about(p->low, 3, 1e-9) && is_about(p->high, 3, 1e-9) &&
		      is_about(e.part[0].low, 3, 1e-9) && is_about(e.part[0].high, 3, 1e-9) &&
		      p->whole_ns == p->ns && energy_resolved(p),
	      "readings at the phase's edges give its exact energy");
	/* Only two samples: 6 J over 4 s, of which the phase is a quarter. */
	counter[1] = counter[4];
	energy_split(counter, 2, true, &no_limits, seg, 3, &e);
	CHECK(is_about(p->joules, 1.5, 1e-9) && p->low == 0 && is_about(p->high, 6, 1e-9) &&
		      !energy_resolved(p),
	      "between two readings a phase is not resolved: none to all");
	energy_split(counter, 2, true, LIMITS(0.5, 3), seg, 3, &e);
	/* The other 3 s took 1.5 J at least, 9 J at most; the phase 0.5 to 3. */
	CHECK(is_about(p->low, 0.5, 1e-9) && is_about(p->high, 3, 1e-9),
	      "the rail's limits bound its energy");
	energy_split(counter, 2, true, LIMITS(1.2, 1.8), seg, 3, &e);
	/* 6 - 3 x 1.8 = 0.6 < 1.2; 6 - 3 x 1.2 = 2.4 > 1.8 */
	CHECK(is_about(p->low, 1.2, 1e-9) && is_about(p->high, 1.8, 1e-9) && energy_resolved(p),
	      "narrow limits resolve it");
	energy_split(counter, 2, true, LIMITS(1.45, 9), seg, 3, &e);
	CHECK(is_about(p->low, 1.45, 1e-9) && is_about(p->high, 6 - 3 * 1.45, 1e-9),
	      "the least energy outside of the phase is subtracted");
	energy_split(counter, 2, true, LIMITS(0, 1), seg, 3, &e);
	CHECK(e.beyond == 1 && p->low == 0 && is_about(p->high, 6, 1e-9),
	      "limits that the counter contradicts are counted and ignored");
	counter[1] = (struct recording_sample){ 1500000000, 2500000 };
	counter[2] = (struct recording_sample){ 4000000000, 6000000 };
	energy_split(counter, 3, true, &no_limits, seg, 3, &e);
	CHECK(p->low == 0 && is_about(p->high, 6, 1e-9), "edges between readings add their bounds");
	counter[1].value = RECORDING_UNKNOWN;
	energy_split(counter, 3, true, &no_limits, seg, 3, &e);
	CHECK(e.known_ns == 0 && p->ns == 0 && p->unknown_ns == 1000000000,
	      "an unknown interval is unknown for the phase too");
	counter[1] = (struct recording_sample){ 1500000000, 9000000 };
	counter[2] = (struct recording_sample){ 4000000000, 100 };
	energy_split(counter, 3, true, &no_limits, seg, 3, &e);
	CHECK(e.known_ns == 1500000000, "the interval of a counter reset is unknown");
	counter[0].value = counter[2].value = 7;
	counter[1].value = RECORDING_UNKNOWN;
	CHECK(!energy_is_still(counter, 3), "equal readings around an unknown one show nothing");
	counter[1].value = 7;
	CHECK(energy_is_still(counter, 3), "equal readings show a counter that does not count");
}

/* A counter read every 100 ms, a pause of 5 ms in each interval that takes all of it. */
static void energy_short(void)
{
	static const uint16_t roots = ROOTS;
	struct energy_segment seg[80];
	struct recording_sample s[41];
	const struct energy_part *p;
	struct energy e;

	for (size_t i = 0; i < 40; i++) {
		uint64_t t = i * 100000000;

		seg[2 * i] = (struct energy_segment){ t, t + 95000000, { 0 }, 0 };
		seg[2 * i + 1] =
			(struct energy_segment){ t + 95000000, t + 100000000, { roots }, 1 };
		s[i] = (struct recording_sample){ t, (int64_t)i * 125000 };
	}
	s[40] = (struct recording_sample){ 4000000000, 40 * 125000 };
	energy_split(s, 41, true, &no_limits, seg, 80, &e);
	p = &e.part[roots];
	CHECK(is_about(p->high, 5, 1e-9) && p->low == 0 && !energy_resolved(p),
	      "pauses that fill no interval get no share by time");
	CHECK(is_about(e.part[0].high, 5, 1e-9) && e.part[0].low == 0 &&
		      !energy_resolved(&e.part[0]),
	      "the remaining time gets no share either");
	/* A power meter: 600 samples of 1 W, and unknown power between them. */
	for (size_t i = 0; i < 41; i++)
		s[i].value = 1000000;
	energy_split(s, 41, false, &no_limits, seg, 80, &e);
	CHECK(isinf(p->high) && p->whole_ns == 0 && !energy_resolved(p),
	      "between two readings of a power meter a phase is unbounded");
	energy_split(s, 41, false, LIMITS(0.9, 1.1), seg, 80, &e);
	CHECK(is_about(p->low, 0.9 * 0.2, 1e-9) && is_about(p->high, 1.1 * 0.2, 1e-9) &&
		      energy_resolved(p),
	      "the limits of the rail bound it");
}

/* Two phases at once share: each has half of what the interval took, whatever that was. */
static void energy_shared(void)
{
	static const uint16_t a = MARK, b = ROOTS;
	const struct energy_segment both = { 0, 1000, { a, b }, 2 };
	const struct energy_segment parts[] = { { 0, 400, { a, b }, 2 },
						{ 400, 700, { a }, 1 },
						{ 700, 1000, { 0 }, 0 } };
	const struct energy_segment mixed[] = { { 0, 500, { a, b }, 2 }, { 500, 1000, { a }, 1 } };
	const struct recording_sample s[] = { { 0, 0 }, { 1000, 6000000 } };
	struct energy e;

	energy_split(s, 2, true, &no_limits, &both, 1, &e);
	CHECK(is_about(e.part[a].low, 3, 1e-9) && is_about(e.part[a].high, 3, 1e-9) &&
		      e.part[a].whole_ns == 500,
	      "two phases that share a whole interval have half of it each");
	energy_split(s, 2, true, &no_limits, mixed, 2, &e);
	CHECK(is_about(e.part[a].low, 3, 1e-9) && is_about(e.part[a].high, 6, 1e-9) &&
		      e.part[a].whole_ns == 0,
	      "a phase that is alone for half of it has between half and all");
	energy_split(s, 2, true, &no_limits, parts, 3, &e);
	CHECK(is_about(e.part[a].high, 6, 1e-9) && is_about(e.part[b].high, 3, 1e-9) &&
		      e.part[a].low == 0,
	      "a phase that is never alone has at most half");
	energy_split(s, 2, true, LIMITS(0, 1e7), parts, 3, &e);
	/* 10 MW: 4 J in the first 400 ns, 3 J in each of the others. */
	CHECK(is_about(e.part[a].high, 3 + 3.0 / 2, 1e-6) &&
		      is_about(e.part[a].low, 3.0 / 2, 1e-6) && is_about(e.part[b].high, 2, 1e-6) &&
		      is_about(e.part[b].low, 0, 1e-6),
	      "limits bound each part of a shared interval");
}

/* The true value is in the reported range, and parts sum up, for random phases and power. */
static void energy_truth(void)
{
	static const uint16_t mark = MARK;
	unsigned int seed = 11;
	bool inside = true, sum = true, close = true, limited = true;

	for (int round = 0; round < 200; round++) {
		struct energy_segment seg[64];
		struct recording_sample s[128];
		double watts[64];
		uint64_t t = 0, period = 20000000 + (uint64_t)rand_r(&seed) % 80000000;
		double truth = 0, all = 0, max = 0;
		size_t n = 0, samples = 0;
		struct energy e;
		uint64_t last;

		/* A few ms long or long against the period; constant, or 20 W once. */
		for (; n < 64; n++) {
			uint64_t len = 1000000 +
				       (uint64_t)rand_r(&seed) % (round % 2 ? 8000000 : 200000000);

			seg[n] = (struct energy_segment){ t, t + len, { mark }, n % 2 };
			watts[n] = rand_r(&seed) % 5 ? 1 + n % 2 : 20;
			max = fmax(max, watts[n]);
			t += len;
		}
		for (uint64_t at = 0; at <= t && samples < 128; at += period, samples++) {
			double joules = 0;

			for (size_t i = 0; i < n && seg[i].t0 < at; i++)
				joules += (double)((seg[i].t1 < at ? seg[i].t1 : at) - seg[i].t0) *
					  1e-9 * watts[i];
			s[samples] = (struct recording_sample){ at, llround(joules * 1e6) };
		}
		last = s[samples - 1].t;
		for (size_t i = 0; i < n; i++)
			if (seg[i].nr && seg[i].t0 < last)
				truth += (double)((seg[i].t1 < last ? seg[i].t1 : last) -
						  seg[i].t0) *
					 1e-9 * watts[i];
		energy_split(s, samples, true, &no_limits, seg, n, &e);
		for (unsigned int g = 0; g < PHASE_GROUPS; g++)
			all += e.part[g].joules;
		sum = sum && is_about(all, e.total, 1e-6);
		inside = inside && truth >= e.part[mark].low - 1e-3 &&
			 truth <= e.part[mark].high + 1e-3;
		/* What is reported as resolved is right to within half of it. */
		close = close && (!energy_resolved(&e.part[mark]) ||
				  fabs(e.part[mark].joules - truth) <= e.part[mark].joules);
		energy_split(s, samples, true, LIMITS(1, max), seg, n, &e);
		limited = limited && !e.beyond && truth >= e.part[mark].low - 1e-3 &&
			  truth <= e.part[mark].high + 1e-3;
	}
	CHECK(sum, "the parts of a rail's energy sum up to the whole");
	CHECK(inside, "the true value lies within the reported range");
	CHECK(close, "resolved values are close to the true value");
	CHECK(limited, "with limits the true value lies within the narrower range");
}

/* J of a rail until @t, by the intervals' power. */
static double energy_until(const struct energy_segment *seg, const double *watts, size_t n,
			   uint64_t t)
{
	double joules = 0;

	for (size_t i = 0; i < n && seg[i].t0 < t; i++)
		joules += (double)((seg[i].t1 < t ? seg[i].t1 : t) - seg[i].t0) * 1e-9 * watts[i];
	return joules;
}

/*
 * The same for a counter that updates about once a millisecond, at jittering times, read at any
 * time: its value is of up to that long ago.
 */
static void energy_steps(void)
{
	static const uint16_t mark = MARK;
	static const struct energy_limits steps = { .max_w = INFINITY, .update_ns = 1000000 };
	unsigned int seed = 23, naive = 0;
	bool inside = true, sum = true, limited = true, resolved = false;

	for (int round = 0; round < 200; round++) {
		struct energy_segment seg[64];
		struct recording_sample s[128];
		const uint64_t period = 2000000 + (uint64_t)rand_r(&seed) % 6000000;
		double watts[64], truth = 0, all = 0, max = 0;
		struct energy_limits both = steps;
		struct energy e;
		uint64_t t = 0, at = 2000000;
		size_t n = 0, last = 0;

		for (; n < 64; n++) {
			uint64_t len = 500000 + (uint64_t)rand_r(&seed) % 30000000;

			seg[n] = (struct energy_segment){ t, t + len, { mark }, n % 2 };
			watts[n] = rand_r(&seed) % 5 ? 1 + n % 2 : 20;
			max = fmax(max, watts[n]);
			t += len;
		}
		for (; last < 128 && at <= t; at += period)
			s[last++] = (struct recording_sample){
				at, llround(energy_until(seg, watts, n,
							 at - (uint64_t)rand_r(&seed) % 1000000) *
					    1e6)
			};
		last--;
		/*
		 * From the first to the last reading, plus or minus a step, which high and low
		 * include.
		 */
		for (size_t i = 0; i < n; i++)
			if (seg[i].nr && seg[i].t1 > s[0].t && seg[i].t0 < s[last].t)
				truth += energy_until(seg, watts, n,
						      seg[i].t1 < s[last].t ? seg[i].t1 :
									      s[last].t) -
					 energy_until(seg, watts, n,
						      seg[i].t0 > s[0].t ? seg[i].t0 : s[0].t);
		energy_split(s, last + 1, true, &steps, seg, n, &e);
		for (unsigned int g = 0; g < PHASE_GROUPS; g++)
			all += e.part[g].joules;
		sum = sum && is_about(all, e.total, 1e-6);
		resolved = resolved || (round % 2 && energy_resolved(&e.part[mark]));
		/* What the first and the last step hide belongs to no interval. */
		inside = inside && truth >= e.part[mark].low - max * 1e-3 &&
			 truth <= e.part[mark].high + max * 1e-3;
		both.min_w = 1;
		both.max_w = max;
		energy_split(s, last + 1, true, &both, seg, n, &e);
		limited = limited && !e.beyond && truth >= e.part[mark].low - max * 1e-3 &&
			  truth <= e.part[mark].high + max * 1e-3;
		energy_split(s, last + 1, true, LIMITS(1, max), seg, n, &e);
		naive += e.beyond > 0 || truth < e.part[mark].low - max * 1e-3 ||
			 truth > e.part[mark].high + max * 1e-3;
	}
	CHECK(sum, "the parts of a counter with steps sum up to the whole");
	CHECK(inside && resolved, "the true value lies within the range for counters with steps");
	CHECK(limited, "with limits it lies within the narrower range");
	CHECK(naive > 100, "ignoring the steps would miss it");
}

/* Exactly: 1 W, 3 W from 1 to 2 s, read on the edges, updated every 100 ms. */
static void energy_of_steps(void)
{
	static const uint16_t mark = MARK;
	static const struct energy_limits steps = { .max_w = INFINITY, .update_ns = 100000000 };
	static const struct energy_limits narrow = { .min_w = 1,
						     .max_w = 3,
						     .update_ns = 100000000 };
	static const struct energy_limits ends = { .max_w = INFINITY, .wraps = 10 };
	const struct energy_segment seg[] = {
		{ 0, 1000000000, { 0 }, 0 },
		{ 1000000000, 2000000000, { mark }, 1 },
		{ 2000000000, 4000000000, { 0 }, 0 },
	};
	const struct recording_sample s[] = { { 0, 0 },
					      { 1000000000, 1000000 },
					      { 1500000000, 2500000 },
					      { 2000000000, 4000000 },
					      { 4000000000, 6000000 } };
	const struct recording_sample long_ago[] = { { 0, 0 },
						     { 1000000000, 5000000 },
						     { 4000000000, 10000000 } };
	const struct energy_part *p;
	struct energy e;

	p = &e.part[mark];
	energy_split(s, 5, true, &steps, seg, 3, &e);
	CHECK(is_about(p->joules, 3, 1e-9) && is_about(p->low, 1.5, 1e-9) &&
		      is_about(p->high, 5, 1e-9) && p->whole_ns == 500000000,
	      "the lower bound excludes what an earlier step may contain");
	energy_split(s, 5, true, &narrow, seg, 3, &e);
	/*
	 * 1 to 1.5 s: of 1.5 J the step before has 0.3 at most. 2 to 4 s: of 2 J what is certain
	 * outside, 1.9 s, has 1.9 at least, the step before 2 s the rest.
	 */
	CHECK(is_about(p->low, 1.2 + 1.5, 1e-9) && is_about(p->high, 3 + 0.1, 1e-9),
	      "the rail's limits bound what a step can hide");
	energy_split(long_ago, 3, true, &ends, seg, 3, &e);
	CHECK(e.wrapped == 1 && is_about(e.total, 5, 1e-9) && e.known_ns == 1000000000,
	      "an interval in which a counter may have wrapped twice is unknown");
	energy_split(long_ago, 3, true, &(struct energy_limits){ .max_w = 4.9, .wraps = 10 }, seg,
		     3, &e);
	CHECK(!e.wrapped && is_about(e.total, 10, 1e-9),
	      "the rail's maximum power excludes a second wrap");
}

void unit_energy(void)
{
	energy_check();
	energy_short();
	energy_shared();
	energy_truth();
	energy_steps();
	energy_of_steps();
}
