/* SPDX-License-Identifier: GPL-2.0-only */
/* Power of a policy's OPPs as user space measured it, accepted as a whole or not at all. */
#ifndef _GCHINT_MEASURED_H
#define _GCHINT_MEASURED_H

#include "opp.h"

/* Upper bound for one CPU, and for the machine at rest: a kilowatt, in uW. */
#define GCHINT_MEASURED_POWER_MAX 1000000000u

/* Measured power of the OPPs of a policy. */
struct gchint_measured {
	u32 nr;
	bool idle_known;
	u32 idle; /* power while every CPU is idle, uW */
	struct {
		u32 khz; /* in ascending order */
		u32 power; /* of a busy CPU above that of an idle one, uW */
	} opp[GCHINT_OPPS_MAX];
};

/* Why measured power is refused. */
enum gchint_measured_error {
	GCHINT_MEASURED_OK, /* it is accepted */
	GCHINT_MEASURED_ERR_ORDER, /* an OPP is not above the one before */
	GCHINT_MEASURED_ERR_UNKNOWN_OPP, /* the policy has no such OPP */
	GCHINT_MEASURED_ERR_MISSING_OPP, /* an OPP of the policy is missing before this one */
	GCHINT_MEASURED_ERR_TOO_FEW, /* the policy has an OPP above the last, or there are none */
	GCHINT_MEASURED_ERR_POWER, /* a power of 0, or above GCHINT_MEASURED_POWER_MAX */
	GCHINT_MEASURED_ERR_NOT_MONOTONIC, /* a faster OPP has less power */
	GCHINT_MEASURED_ERR_IDLE, /* idle power above GCHINT_MEASURED_POWER_MAX */
};

/**
 * gchint_measured_check() - check measured power against a policy's OPPs
 * @g: measured power, as user space sent it; nr is at most GCHINT_OPPS_MAX
 * @of: the policy's OPPs, which @g must match exactly; their power is not used. If
 *	there is no table, two or more frequencies from the lowest to the highest
 * @at: out: index of the OPP at fault, the last one if there are too few; else 0
 *
 * Return: the first fault in order of OPP, or GCHINT_MEASURED_OK
 */
enum gchint_measured_error gchint_measured_check(const struct gchint_measured *g,
						 const struct gchint_opps *of, u32 *at);

/* Measured power of an OPP in uW; 0 if there is no such OPP. */
u32 gchint_measured_opp_power(const struct gchint_measured *g, u32 khz);

#endif /* _GCHINT_MEASURED_H */
