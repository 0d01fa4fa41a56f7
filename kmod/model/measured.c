// SPDX-License-Identifier: GPL-2.0-only
#include "measured.h"

/* The policy has a table: exactly its OPPs are accepted. */
static enum gchint_measured_error measured_check_listed(const struct gchint_opps *of, u32 i,
							u32 khz)
{
	if (i >= of->nr || khz > of->opp[of->nr - 1].khz)
		return GCHINT_MEASURED_ERR_UNKNOWN_OPP;
	if (khz == of->opp[i].khz)
		return GCHINT_MEASURED_OK;
	return of->opp[gchint_opp_at_least(of, khz)].khz == khz ? GCHINT_MEASURED_ERR_MISSING_OPP :
								  GCHINT_MEASURED_ERR_UNKNOWN_OPP;
}

/* There is no table: from the lowest frequency to the highest. */
static enum gchint_measured_error measured_check_range(const struct gchint_opps *of, u32 i, u32 khz)
{
	if (khz < of->opp[0].khz || khz > of->ref_khz)
		return GCHINT_MEASURED_ERR_UNKNOWN_OPP;
	return i || khz == of->opp[0].khz ? GCHINT_MEASURED_OK : GCHINT_MEASURED_ERR_MISSING_OPP;
}

static enum gchint_measured_error measured_check_opp(const struct gchint_measured *g,
						     const struct gchint_opps *of, u32 i)
{
	u32 khz = g->opp[i].khz, power = g->opp[i].power;
	enum gchint_measured_error fault;

	if (!of->nr)
		return GCHINT_MEASURED_ERR_UNKNOWN_OPP;
	if (i && khz <= g->opp[i - 1].khz)
		return GCHINT_MEASURED_ERR_ORDER;
	fault = of->any ? measured_check_range(of, i, khz) : measured_check_listed(of, i, khz);
	if (fault)
		return fault;
	if (!power || power > GCHINT_MEASURED_POWER_MAX)
		return GCHINT_MEASURED_ERR_POWER;
	if (i && power < g->opp[i - 1].power)
		return GCHINT_MEASURED_ERR_NOT_MONOTONIC;
	return GCHINT_MEASURED_OK;
}

enum gchint_measured_error gchint_measured_check(const struct gchint_measured *g,
						 const struct gchint_opps *of, u32 *at)
{
	enum gchint_measured_error fault;
	u32 i;

	for (i = 0; i < g->nr; i++) {
		fault = measured_check_opp(g, of, i);
		*at = i;
		if (fault)
			return fault;
	}
	*at = g->nr ? g->nr - 1 : 0;
	if (of->any ? g->nr < 2 || g->opp[g->nr - 1].khz != of->ref_khz : !g->nr || g->nr != of->nr)
		return GCHINT_MEASURED_ERR_TOO_FEW;
	*at = 0;
	return g->idle_known && g->idle > GCHINT_MEASURED_POWER_MAX ? GCHINT_MEASURED_ERR_IDLE :
								   GCHINT_MEASURED_OK;
}

u32 gchint_measured_opp_power(const struct gchint_measured *g, u32 khz)
{
	u32 i;

	for (i = 0; i < g->nr; i++)
		if (g->opp[i].khz == khz)
			return g->opp[i].power;
	return 0;
}
