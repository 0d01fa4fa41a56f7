/* SPDX-License-Identifier: GPL-2.0-only */
/* The actuator "limits". */
#ifndef _GCHINT_LIMITS_H
#define _GCHINT_LIMITS_H

struct gchint_actuator;

extern const struct gchint_actuator gchint_limits;

#endif /* _GCHINT_LIMITS_H */
