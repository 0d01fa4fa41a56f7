/* SPDX-License-Identifier: MIT */
/* What the copying plans share beside the copying itself (mech/copy.h). */
#ifndef GC_COPYING_H
#define GC_COPYING_H

#include "../mech/copy.h"
#include "../mech/mark.h"
#include "../mech/plan.h"
#include "../space/large.h"

/*
 * After a collection: as blocks and large objects grow, the bump spaces give up what they
 * will not reach again.
 */
void gc_copying_keep_in_max(struct gc_heap *heap);

/* A refusal: the copying plans have no recovery pass, their mark stack must grow. */
int gc_copying_check(struct gc_options *opt, struct gc_error *err);

#endif
