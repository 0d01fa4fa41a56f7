// SPDX-License-Identifier: MIT
#include "copying.h"

#include <errno.h>

int gc_copying_check(struct gc_options *opt, struct gc_error *err)
{
	if (opt->overflow != GC_OVERFLOW_GROW && opt->overflow != GC_OVERFLOW_RESERVE)
		return gc_fail(
			err, -EINVAL,
			"overflow: plan=%s copies objects and cannot recover; give grow or reserve",
			opt->plan);
	return 0;
}
