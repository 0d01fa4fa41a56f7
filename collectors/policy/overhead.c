// SPDX-License-Identifier: MIT
#include "overhead.h"

#define PAUSED	98 /* percent of the mutators' time */
#define GRANTED 2 /* percent of the limit */

void gc_overhead_sample(struct gc_overhead *o, const struct gc_overhead_in *in, bool needed)
{
	uint64_t span = (in->now - o->since.now) * in->threads;
	uint64_t paused = in->paused_ns - o->since.paused_ns;
	/* Threads returned the unused part of their grants, so the counter may go down. */
	uint64_t granted = in->granted > o->since.granted ? in->granted - o->since.granted : 0;

	if (needed && paused * 100 > span * PAUSED && granted * 100 < in->limit * GRANTED)
		o->strikes++;
	else
		o->strikes = 0;
	o->since = *in;
}

bool gc_overhead_refuses(struct gc_overhead *o, uint64_t left)
{
	if (o->strikes < GC_OVERHEAD_STRIKES || left * 100 >= o->since.limit * GRANTED)
		return false;
	o->strikes = GC_OVERHEAD_STRIKES - 1;
	return true;
}
