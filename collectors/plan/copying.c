// SPDX-License-Identifier: MIT
#include "copying.h"

#include <errno.h>

#include "../space/pages.h"

int gc_copying_check(struct gc_options *opt, struct gc_error *err)
{
	if (opt->overflow != GC_OVERFLOW_GROW && opt->overflow != GC_OVERFLOW_RESERVE)
		return gc_fail(
			err, -EINVAL,
			"overflow: plan=%s copies objects and cannot recover; give grow or reserve",
			opt->plan);
	return 0;
}

void gc_copying_keep_in_max(struct gc_heap *heap)
{
	uint64_t held = gc_pages_held(heap) + heap->bump->promise;
	uint64_t max = (uint64_t)heap->opt.max;

	if (!heap->opt.poison)
		gc_bump_release(heap, held < max ? (size_t)(max - held) / 2 : 0);
}
