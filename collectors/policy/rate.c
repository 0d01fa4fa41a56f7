// SPDX-License-Identifier: MIT
#include "rate.h"

#define SHORTEST_NS 50000

bool gc_rate_sample(struct gc_rate *r, const struct gc_rate_in *in)
{
	uint64_t span = in->now - r->since.now;
	uint64_t lost = (in->paused_ns - r->since.paused_ns) / in->threads;
	uint64_t stopped = in->stopped_ns - r->since.stopped_ns;
	double bytes = (double)in->granted - (double)r->since.granted, rate;

	if (span < SHORTEST_NS)
		return false;
	if (lost < stopped)
		lost = stopped;
	if (lost > span - span / 16)
		lost = span - span / 16;
	/* Threads returned the unused part of their grants in the previous cycle. */
	if (bytes < 0)
		bytes = 0;
	rate = bytes / (double)(span - lost);
	/* Weighted by bytes: intervals with few allocations say little about the rate. */
	if (bytes > 0)
		r->bytes_per_ns =
			(r->bytes_per_ns * r->weight + rate * bytes) / (r->weight + bytes);
	r->weight = (r->weight + bytes) / 2;
	r->since = *in;
	return true;
}

uint64_t gc_rate_exhaust(const struct gc_rate *r, uint64_t now, uint64_t headroom)
{
	double left;

	if (r->bytes_per_ns <= 0)
		return 0;
	left = (double)headroom / r->bytes_per_ns;
	/* Later than in a century, and it would overflow: unknown. */
	return left < 0x1p62 ? now + (uint64_t)left : 0;
}
