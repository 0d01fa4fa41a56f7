// SPDX-License-Identifier: GPL-2.0-only
#include "given.h"

/* The policy has a table: exactly its OPPs are accepted. */
static enum gchint_given_fault measured_check_listed(const struct gchint_opps *of, u32 i, u32 khz)
{
	if (i >= of->nr || khz > of->opp[of->nr - 1].khz)
		return GCHINT_GIVEN_ALIEN;
	if (khz == of->opp[i].khz)
		return GCHINT_GIVEN_RIGHT;
	return of->opp[gchint_opp_at_least(of, khz)].khz == khz ? GCHINT_GIVEN_LACKS :
								  GCHINT_GIVEN_ALIEN;
}

/* There is no table: from the lowest frequency to the highest. */
static enum gchint_given_fault measured_check_range(const struct gchint_opps *of, u32 i, u32 khz)
{
	if (khz < of->opp[0].khz || khz > of->ref_khz)
		return GCHINT_GIVEN_ALIEN;
	return i || khz == of->opp[0].khz ? GCHINT_GIVEN_RIGHT : GCHINT_GIVEN_LACKS;
}

static enum gchint_given_fault measured_check_opp(const struct gchint_given *g,
						  const struct gchint_opps *of, u32 i)
{
	u32 khz = g->opp[i].khz, power = g->opp[i].power;
	enum gchint_given_fault fault;

	if (!of->nr)
		return GCHINT_GIVEN_ALIEN;
	if (i && khz <= g->opp[i - 1].khz)
		return GCHINT_GIVEN_ORDER;
	fault = of->any ? measured_check_range(of, i, khz) : measured_check_listed(of, i, khz);
	if (fault)
		return fault;
	if (!power || power > GCHINT_GIVEN_POWER_MAX)
		return GCHINT_GIVEN_POWER;
	return i && power < g->opp[i - 1].power ? GCHINT_GIVEN_FALLS : GCHINT_GIVEN_RIGHT;
}

enum gchint_given_fault gchint_given_check(const struct gchint_given *g,
					   const struct gchint_opps *of, u32 *at)
{
	enum gchint_given_fault fault;
	u32 i;

	for (i = 0; i < g->nr; i++) {
		fault = measured_check_opp(g, of, i);
		*at = i;
		if (fault)
			return fault;
	}
	*at = g->nr ? g->nr - 1 : 0;
	if (of->any ? g->nr < 2 || g->opp[g->nr - 1].khz != of->ref_khz : !g->nr || g->nr != of->nr)
		return GCHINT_GIVEN_SHORT;
	*at = 0;
	return g->idle_known && g->idle > GCHINT_GIVEN_POWER_MAX ? GCHINT_GIVEN_IDLE :
								   GCHINT_GIVEN_RIGHT;
}

u32 gchint_given_power(const struct gchint_given *g, u32 khz)
{
	u32 i;

	for (i = 0; i < g->nr; i++)
		if (g->opp[i].khz == khz)
			return g->opp[i].power;
	return 0;
}
