// SPDX-License-Identifier: GPL-2.0-only
#include "boards.h"

struct point {
	u32 khz;
	u32 uv;
	u32 ma;
};

/* arch/arm/mach-msm/acpuclock-8974.c, speed bin 2p2g PVS0. */
static const struct point krait[] = {
	{ 300000, 800000, 72 },	   { 345600, 800000, 83 },    { 422400, 805000, 102 },
	{ 499200, 815000, 121 },   { 576000, 825000, 141 },   { 652800, 835000, 161 },
	{ 729600, 845000, 181 },   { 806400, 855000, 202 },   { 883200, 865000, 223 },
	{ 960000, 875000, 245 },   { 1036800, 890000, 267 },  { 1113600, 900000, 289 },
	{ 1190400, 915000, 313 },  { 1267200, 925000, 336 },  { 1344000, 940000, 360 },
	{ 1420800, 950000, 383 },  { 1497600, 965000, 409 },  { 1574400, 980000, 435 },
	{ 1651200, 995000, 461 },  { 1728000, 1010000, 488 }, { 1804800, 1025000, 516 },
	{ 1881600, 1040000, 543 }, { 1958400, 1055000, 573 }, { 2035200, 1070000, 604 },
	{ 2112000, 1085000, 636 }, { 2150400, 1100000, 656 },
};

void krait_dynamic(struct gchint_opps *t)
{
	gchint_opps_init(t, 2150400);
	for (u32 i = 0; i < ARRAY_SIZE(krait); i++)
		gchint_opps_add(t, krait[i].khz, krait[i].uv / 1000 * krait[i].ma, 0);
	gchint_opps_finish(t);
}

void krait_static(struct gchint_opps *t)
{
	gchint_opps_init(t, 2150400);
	for (u32 i = 0; i < ARRAY_SIZE(krait); i++) {
		double mv = krait[i].uv / 1000.0;
		/* krait-regulator.c, microamperes. */
		double ua = mv <= 850 ? 612.229 * mv - 211258 : 892.564 * mv - 449543;

		gchint_opps_add(t, krait[i].khz, (u32)(mv * (krait[i].ma + ua / 1000)), 0);
	}
	gchint_opps_finish(t);
}

/* Dynamic power as in the kernel's energy model: uW = coefficient * MHz * V^2. */
static void dynamic(struct gchint_opps *t, const struct point *p, u32 nr, u32 coefficient)
{
	gchint_opps_init(t, p[nr - 1].khz);
	for (u32 i = 0; i < nr; i++) {
		double volt = p[i].uv / 1e6;

		gchint_opps_add(t, p[i].khz, (u32)(coefficient * (p[i].khz / 1e3) * volt * volt),
				0);
	}
	gchint_opps_finish(t);
}

void exynos_a15(struct gchint_opps *t)
{
	static const struct point p[] = {
		{ 200000, 900000, 0 },	 { 300000, 900000, 0 },	  { 400000, 900000, 0 },
		{ 500000, 900000, 0 },	 { 600000, 900000, 0 },	  { 700000, 900000, 0 },
		{ 800000, 900000, 0 },	 { 900000, 1000000, 0 },  { 1000000, 1000000, 0 },
		{ 1100000, 1000000, 0 }, { 1200000, 1000000, 0 }, { 1300000, 1100000, 0 },
		{ 1400000, 1100000, 0 }, { 1500000, 1100000, 0 }, { 1600000, 1250000, 0 },
		{ 1700000, 1250000, 0 }, { 1800000, 1237500, 0 }, { 1900000, 1262500, 0 },
		{ 2000000, 1312500, 0 },
	};

	dynamic(t, p, ARRAY_SIZE(p), 310);
}

void exynos_a7(struct gchint_opps *t)
{
	static const struct point p[] = {
		{ 200000, 900000, 0 },	 { 300000, 900000, 0 },	  { 400000, 1000000, 0 },
		{ 500000, 1000000, 0 },	 { 600000, 1000000, 0 },  { 700000, 1000000, 0 },
		{ 800000, 1100000, 0 },	 { 900000, 1100000, 0 },  { 1000000, 1100000, 0 },
		{ 1100000, 1250000, 0 }, { 1200000, 1250000, 0 }, { 1300000, 1250000, 0 },
		{ 1400000, 1275000, 0 },
	};

	dynamic(t, p, ARRAY_SIZE(p), 90);
}

void rk3399_a72(struct gchint_opps *t)
{
	static const struct point p[] = {
		{ 408000, 800000, 0 },	 { 600000, 800000, 0 },	  { 816000, 825000, 0 },
		{ 1008000, 875000, 0 },	 { 1200000, 950000, 0 },  { 1416000, 1025000, 0 },
		{ 1608000, 1100000, 0 }, { 1800000, 1200000, 0 },
	};

	dynamic(t, p, ARRAY_SIZE(p), 436);
}

void rk3399_a53(struct gchint_opps *t)
{
	static const struct point p[] = {
		{ 408000, 800000, 0 },	{ 600000, 800000, 0 },	 { 816000, 850000, 0 },
		{ 1008000, 925000, 0 }, { 1200000, 1000000, 0 }, { 1416000, 1125000, 0 },
	};

	dynamic(t, p, ARRAY_SIZE(p), 100);
}

void rk3399_a72_eas(struct gchint_opps *t)
{
	static const u32 p[][2] = {
		{ 408000, 129 },  { 600000, 184 },  { 816000, 246 },
		{ 1008000, 335 }, { 1200000, 428 }, { 1416000, 573 },
		{ 1608000, 724 }, { 1800000, 900 }, { 1992000, 1108 },
	};

	gchint_opps_init(t, 1992000);
	for (u32 i = 0; i < ARRAY_SIZE(p); i++)
		gchint_opps_add(t, p[i][0], p[i][1] * 1000, 0);
	gchint_opps_finish(t);
}

const struct board boards[] = {
	{ "exynos5422-a15", exynos_a15 },     { "exynos5422-a7", exynos_a7 },
	{ "krait-dynamic", krait_dynamic },   { "krait-static", krait_static },
	{ "rk3399-a53", rk3399_a53 },	      { "rk3399-a72", rk3399_a72 },
	{ "rk3399-a72-eas", rk3399_a72_eas },
};

const unsigned int nr_boards = ARRAY_SIZE(boards);

u32 cheapest_opp(const struct gchint_opps *t, u32 mem, u32 awake)
{
	u64 least = U64_MAX;
	u32 best = 0;
	u32 i;

	for (i = 0; i < t->nr; i++) {
		u64 energy = gchint_opp_energy(&t->opp[i], mem, awake);

		if (energy <= least) {
			least = energy;
			best = i;
		}
	}
	return best;
}
