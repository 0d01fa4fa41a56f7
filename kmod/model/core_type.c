// SPDX-License-Identifier: GPL-2.0-only
#include "core_type.h"

/* Maximum differences within a type, fixed point: see gchint_core_type_find(). */
#define CAPACITY_DIFF_MAX (GCHINT_ONE / 16)
#define KHZ_DIFF_MAX	  (GCHINT_ONE / 8)

/* How much less the smaller is, as a fraction of the larger. */
static u32 core_type_distance(u32 a, u32 b)
{
	return GCHINT_ONE - gchint_scale(min_t(u32, a, b), max_t(u32, a, b));
}

u8 gchint_core_type_find(struct gchint_core_types *k, u32 capacity, u32 khz)
{
	u32 least = U32_MAX;
	u8 best = 0;
	u32 i;

	for (i = 0; i < k->nr; i++) {
		u32 by_capacity = core_type_distance(k->core_type[i].capacity, capacity);
		u32 by_khz = core_type_distance(k->core_type[i].khz, khz);

		if (by_capacity < CAPACITY_DIFF_MAX && by_khz < KHZ_DIFF_MAX)
			return (u8)i;
		if (by_capacity + by_khz < least) {
			least = by_capacity + by_khz;
			best = (u8)i;
		}
	}
	if (k->nr == GCHINT_CORE_TYPES)
		return best;
	k->core_type[k->nr].capacity = capacity;
	k->core_type[k->nr].khz = khz;
	return (u8)k->nr++;
}
