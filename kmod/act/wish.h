/* SPDX-License-Identifier: GPL-2.0-only */
/* What is wanted of a thread, where an actuator asks threads and not policies. */
#ifndef _GCHINT_WISH_H
#define _GCHINT_WISH_H

#include <linux/types.h>

#include "policy/place.h"

struct gchint_hint;

unsigned int gchint_wish_count(void);
void gchint_wish_begin(void);
void gchint_wish_end(void);
void gchint_wish_find(struct gchint_place *place, unsigned int cpu,
		      const struct gchint_hint *hint,
		      const struct gchint_rates *rates, u64 now);

#endif /* _GCHINT_WISH_H */
