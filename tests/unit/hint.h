/* SPDX-License-Identifier: GPL-2.0-only */
/* A complete hint. The kernel fills it in two steps, the second only for a new plan. */
#ifndef TEST_HINT_H
#define TEST_HINT_H

#include "phase.h"

static inline void gchint_phase_hint(struct gchint_hint *h, const struct gchint_track *t, u32 role,
				     bool may_raise)
{
	gchint_hint_fill_brief(h, t, role, may_raise);
	gchint_hint_fill_detail(h, t);
}

#endif
