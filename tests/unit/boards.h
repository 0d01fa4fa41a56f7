/* SPDX-License-Identifier: GPL-2.0-only */
/* OPP tables of real boards, as the kernel would hand them to the module. */
#ifndef TESTS_UNIT_BOARDS_H
#define TESTS_UNIT_BOARDS_H

#include "opp.h"

/**
 * struct board - source and power of an OPP table
 * @name: of the cluster
 * @fill: add its OPPs; power in microwatts
 */
struct board {
	const char *name;
	void (*fill)(struct gchint_opps *t);
};

/* Krait 8974, bin 2p2g PVS0: volts times the driver's table of milliamperes. */
void krait_dynamic(struct gchint_opps *t);
/* The same plus the static current that the regulator driver plans with. */
void krait_static(struct gchint_opps *t);
/* Exynos 5422: coefficient * MHz * V^2. */
void exynos_a15(struct gchint_opps *t);
void exynos_a7(struct gchint_opps *t);
/* RK3399: coefficient * MHz * V^2. */
void rk3399_a72(struct gchint_opps *t);
void rk3399_a53(struct gchint_opps *t);
/* RK3399's two clusters as its EAS energy table has them. */
void rk3399_a72_eas(struct gchint_opps *t);

/* Index of the OPP with the least energy per unit of work; of equal ones the fastest. */
u32 cheapest_opp(const struct gchint_opps *t, u32 mem, u32 awake);

extern const struct board boards[];
extern const unsigned int nr_boards;

#endif
