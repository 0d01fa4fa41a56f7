// SPDX-License-Identifier: GPL-2.0-or-later
#include "counter.h"

enum counter_change counter_compare(const struct counter_limits *limits, int64_t last, int64_t now,
				    uint64_t ns, int64_t *grown)
{
	const double max_w = limits->max_w > 0 ? limits->max_w : COUNTER_MAX_W;
	const double most = max_w * (double)(ns + limits->lag_ns) * 1e-9 / limits->unit_j;
	const double late = max_w * (double)limits->same_ns * 1e-9 / limits->unit_j;
	const double range = (double)limits->range;
	const double step = (double)now - (double)last + (now < last ? range : 0);

	*grown = 0;
	if (now < last && (!limits->range || step < 0 || step > most))
		return COUNTER_RESET;
	if (limits->range && step + range <= most)
		return COUNTER_UNCLEAR;
	if (step > most + late)
		return COUNTER_JUMPED;
	/* Unsigned: a range may exceed what a signed number holds. */
	*grown = (int64_t)((uint64_t)now - (uint64_t)last + (now < last ? limits->range : 0));
	return now < last ? COUNTER_WRAPPED : COUNTER_GREW;
}
