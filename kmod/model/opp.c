// SPDX-License-Identifier: GPL-2.0-only
#include "opp.h"

void gchint_opps_init(struct gchint_opps *t, u32 hw_max_khz)
{
	memset(t, 0, sizeof(*t));
	t->ref_khz = max_t(u32, hw_max_khz, 1);
}

static void opps_remove(struct gchint_opps *t, u32 i)
{
	t->nr--;
	memmove(&t->opp[i], &t->opp[i + 1], (t->nr - i) * sizeof(t->opp[0]));
}

static void opps_drop_closest(struct gchint_opps *t)
{
	u32 best = 1;
	u32 i;

	for (i = 2; i + 1 < t->nr; i++) {
		if (t->opp[i].khz - t->opp[i - 1].khz < t->opp[best].khz - t->opp[best - 1].khz)
			best = i;
	}
	opps_remove(t, best);
}

int gchint_opps_add(struct gchint_opps *t, u32 khz, u32 power, u32 flags)
{
	struct gchint_opp *o;
	u32 i;

	if (!khz)
		return -EINVAL;
	for (i = 0; i < t->nr; i++) {
		o = &t->opp[i];
		if (o->khz == khz) {
			if (power && (!o->power || power < o->power))
				o->power = power;
			o->flags |= flags;
			return 0;
		}
	}
	if (t->nr == GCHINT_OPPS_MAX)
		opps_drop_closest(t);
	for (i = t->nr; i && t->opp[i - 1].khz > khz; i--)
		t->opp[i] = t->opp[i - 1];
	o = &t->opp[i];
	o->khz = khz;
	o->power = power;
	o->slow = 0;
	o->flags = flags;
	t->nr++;
	return 0;
}

static u32 opp_assume_power(u32 khz, u32 ref_khz)
{
	u32 x = gchint_scale(khz, ref_khz);
	u32 volt = (11 * GCHINT_ONE + 9 * x) / 20;

	return (u32)(((u64)x * volt * volt) >> GCHINT_ONE_SHIFT);
}

void gchint_opps_fill_range(struct gchint_opps *t, u32 min_khz)
{
	u32 span = t->ref_khz > min_khz ? t->ref_khz - min_khz : 0;
	u32 i;

	t->any = true;
	for (i = 0; i < GCHINT_OPPS_POINTS; i++) {
		u32 khz = min_khz + (u32)div_u64((u64)span * i, GCHINT_OPPS_POINTS - 1);

		if (min_khz)
			gchint_opps_add(t, khz, opp_assume_power(khz, t->ref_khz), 0);
	}
}

void gchint_opps_finish(struct gchint_opps *t)
{
	u32 least = U32_MAX;
	u32 i;

	if (t->nr)
		t->ref_khz = max_t(u32, t->ref_khz, t->opp[t->nr - 1].khz);
	t->powered = t->nr > 0;
	for (i = t->nr; i--;) {
		struct gchint_opp *o = &t->opp[i];

		o->slow = gchint_khz_slow(o->khz, t->ref_khz);
		if (!o->power)
			t->powered = false;
		else if (o->power >= least)
			o->flags |= GCHINT_OPP_INEFFICIENT;
		else
			least = o->power;
	}
}

void gchint_opps_move_sums(const struct gchint_opps *to, const struct gchint_opps *from, u64 *sums)
{
	u64 moved[GCHINT_OPPS_MAX] = {};
	u32 i;

	for (i = 0; i < from->nr; i++)
		moved[to->nr ? gchint_opp_at_least(to, from->opp[i].khz) : 0] += sums[i];
	if (!from->nr)
		moved[0] = sums[0];
	memcpy(sums, moved, sizeof(moved));
}

u32 gchint_opp_at_least(const struct gchint_opps *t, u32 khz)
{
	u32 lo = 0;
	u32 hi = t->nr - 1;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (t->opp[mid].khz < khz)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

u32 gchint_opps_resolve(const struct gchint_opps *t, u32 khz, u32 min_khz, u32 max_khz)
{
	u32 first, i;

	max_khz = max_t(u32, min_khz, max_khz);
	khz = clamp_t(u32, khz, min_khz, max_khz);
	if (t->any || !t->nr)
		return khz;
	first = gchint_opp_at_least(t, khz);
	for (i = first; i < t->nr && t->opp[i].khz <= max_khz; i++) {
		if (!(t->opp[i].flags & GCHINT_OPP_INEFFICIENT))
			return t->opp[i].khz;
	}
	if (t->opp[first].khz <= max_khz && t->opp[first].khz >= khz)
		return t->opp[first].khz;
	/* No OPP between the request and the limit: the highest below the limit. */
	while (first && t->opp[first].khz > max_khz)
		first--;
	return t->opp[first].khz;
}

u32 gchint_opps_awake(const struct gchint_opps *t, u32 awake_pct)
{
	if (!t->powered)
		return 0;
	return gchint_percent(t->opp[t->nr - 1].power, awake_pct);
}
