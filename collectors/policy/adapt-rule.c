// SPDX-License-Identifier: MIT
#include "adapt-rule.h"

#define FAST 0.8 /* of the highest frequency: below it the heap does not grow */

uint64_t gc_adapt_room(uint32_t effective_khz, uint32_t highest_khz, uint64_t room, uint64_t grown,
		       uint64_t left)
{
	double fast, want;

	if (!effective_khz || !highest_khz)
		return 0;
	fast = (double)effective_khz / (double)highest_khz;
	if (fast < FAST)
		return 0;
	/* half a room at FAST, a whole one at the highest frequency */
	want = (double)room * (fast < 1 ? 0.5 + 0.5 * (fast - FAST) / (1 - FAST) : 1);
	want -= (double)grown;
	if (want < 4096)
		return 0;
	return want < (double)left ? (uint64_t)want : left;
}
