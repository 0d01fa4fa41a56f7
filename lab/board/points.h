/* SPDX-License-Identifier: MIT */
/*
 * Compares published measurements of a board with the model at the same points. Pure: reads a
 * text, prints a table.
 */
#ifndef LAB_POINTS_H
#define LAB_POINTS_H

#include "board.h"

#define POINTS_POWER_PERCENT   15 /* allowed deviation: of a power, */
#define POINTS_SLOPE_PERCENT   10 /* of the ratio of two powers, */
#define POINTS_LATENCY_PERCENT 10 /* of a latency */

/** struct points_count - number of points, and of those that meet their goal */
struct points_count {
	unsigned int points, met;
};

/**
 * points_print - print the points of @in as rows of a Markdown table, with the model's values
 * @n: the counts, which are increased
 * Returns 0, or -1 with @why filled with the invalid line's number.
 */
int points_print(const struct board *b, FILE *in, FILE *out, struct points_count *n, char *why,
		 size_t size);

/** points_rail_mw - power of the rail: one busy core, the others in WFI, the cluster awake */
double points_rail_mw(const struct board_cluster *k, uint32_t khz);

/** points_core_mw - power of a busy core alone */
double points_core_mw(const struct board_cluster *k, uint32_t khz);

/** points_latency_ns - cost of a dependent load in @bytes of memory, in addition to an L1 hit */
double points_latency_ns(const struct board_cluster *k, uint32_t khz, double bytes);

/**
 * points_energy_ratio - ratio of a program's energy at @slow to that at @fast
 * @time: ratio of its run times
 *
 * The share of time that the program waits for memory follows from @time, and the rail's powers
 * follow from that share.
 */
double points_energy_ratio(const struct board_cluster *k, uint32_t slow, uint32_t fast,
			   double time);

#endif
