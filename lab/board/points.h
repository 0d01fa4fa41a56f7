/* SPDX-License-Identifier: MIT */
/*
 * What others measured on a board, and what ours says at the same points. Pure:
 * reads a text, prints a table.
 */
#ifndef LAB_POINTS_H
#define LAB_POINTS_H

#include "board.h"

#define POINTS_POWER_PERCENT   15 /* goals: of a power, */
#define POINTS_SLOPE_PERCENT   10 /* of the ratio of two powers, */
#define POINTS_LATENCY_PERCENT 10 /* of a latency */

/** struct points_count - how many points there are, and how many meet their goal */
struct points_count {
	unsigned int points, met;
};

/**
 * points_print - the points of @in as rows of a Markdown table, each with what @b says
 * @n: counts on
 * Returns 0, or -1 with @why filled (the line that is none).
 */
int points_print(const struct board *b, FILE *in, FILE *out, struct points_count *n, char *why,
		 size_t size);

/** points_rail_mw - one busy core, the others in WFI, the cluster awake: what a rail sees */
double points_rail_mw(const struct board_cluster *k, uint32_t khz);

/** points_core_mw - a busy core alone */
double points_core_mw(const struct board_cluster *k, uint32_t khz);

/** points_latency_ns - of a dependent load from a set of @bytes, beyond a hit in L1 */
double points_latency_ns(const struct board_cluster *k, uint32_t khz, double bytes);

/**
 * points_energy_ratio - energy at @slow of that at @fast, of a program that takes @time as long
 *
 * How long the program waits for memory follows from @time; a rail's powers from that.
 */
double points_energy_ratio(const struct board_cluster *k, uint32_t slow, uint32_t fast,
			   double time);

#endif
