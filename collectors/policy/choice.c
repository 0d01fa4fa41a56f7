// SPDX-License-Identifier: MIT
#include "choice.h"

#include <string.h>

/* Memory-bound share of the time; the governor assumes the same before it has measured it. */
#define MEMORY 0.5
/* Number of concurrent cycles after which a late prediction is trusted */
#define TRIED 2
/* Hysteresis: after a stop-the-world cycle, a concurrent one has this part of the time left. */
#define MARGIN 0.9

double gc_choice_stretch(uint32_t effective_khz, uint32_t highest_khz)
{
	if (!effective_khz || effective_khz >= highest_khz)
		return 1;
	return MEMORY + (1 - MEMORY) * highest_khz / effective_khz;
}

void gc_choice_see(struct gc_choice_seen *s, const struct gc_choice_seen *last)
{
	if (!s->cycles++) {
		*s = *last;
		s->cycles = 1;
		return;
	}
	s->work = (s->work + last->work) / 2;
	s->ns = (s->ns + last->ns) / 2;
	s->cpu_ns = (s->cpu_ns + last->cpu_ns) / 2;
	s->period = (s->period + last->period) / 2;
}

/*
 * Before the first stop-the-world cycle this is an estimate from the concurrent ones: it begins
 * when the heap is full, and has its CPU to itself.
 */
static struct gc_choice_seen stop_of(const struct gc_choice_in *in)
{
	struct gc_choice_seen s = in->seen[GC_MODE_STW];

	if (!s.cycles) {
		s = in->seen[GC_MODE_CONCURRENT];
		s.ns = s.cpu_ns;
		s.period = in->room;
	}
	return s;
}

static double choice_cost(const struct gc_choice_in *in, const struct gc_choice_seen *s,
			  double stall_ns)
{
	double period = s->period > 1 ? s->period : 1;

	/* A waiting thread costs as much as a collecting one: both delay the program. */
	return (stall_ns * in->mutators + s->cpu_ns) / period;
}

enum gc_mode gc_choice(const struct gc_choice_in *in, struct gc_choice_out *out)
{
	const struct gc_choice_seen *concurrent = &in->seen[GC_MODE_CONCURRENT];
	struct gc_choice_seen stop = stop_of(in);
	double share = 1, stall;

	memset(out, 0, sizeof(*out));
	if (!concurrent->cycles || in->alloc_rate <= 0)
		return GC_MODE_CONCURRENT;
	/* Where mutators share CPUs with the marking, they allocate less meanwhile. */
	if (in->cpus <= in->mutators)
		share = (double)in->cpus / (in->mutators + 1);
	out->need_ns = concurrent->ns;
	out->left_ns = in->headroom / (in->alloc_rate * share);
	if (in->mode == GC_MODE_STW)
		out->left_ns *= MARGIN;
	stall = out->need_ns - out->left_ns + in->missed_ns;
	out->stall_ns[GC_MODE_CONCURRENT] = stall > 0 ? stall : 0;
	out->stall_ns[GC_MODE_STW] = stop.ns;
	out->cost[GC_MODE_CONCURRENT] =
		choice_cost(in, concurrent, out->stall_ns[GC_MODE_CONCURRENT]);
	out->cost[GC_MODE_STW] = choice_cost(in, &stop, out->stall_ns[GC_MODE_STW]);
	if (stall <= 0)
		return GC_MODE_CONCURRENT;
	/*
	 * A stop has memory and caches to itself, is helped by the stopped mutators, and marks
	 * nothing that died meanwhile. What that saves must be measured, so try one: as concurrent
	 * cycles are late, mutators wait anyway.
	 */
	if (!in->seen[GC_MODE_STW].cycles && concurrent->cycles >= TRIED)
		return GC_MODE_STW;
	return out->cost[GC_MODE_STW] < out->cost[GC_MODE_CONCURRENT] ? GC_MODE_STW :
									GC_MODE_CONCURRENT;
}
