/* SPDX-License-Identifier: MIT */
/*
 * The timeline of each core of the timed board, from the board's log. Pure: reads a stream, and
 * computes the usage of intervals.
 */
#ifndef LAB_TIMELINE_H
#define LAB_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../board/board.h"

/** struct span - a stretch of modelled time in which a core's power is constant */
struct span {
	uint64_t t0, t1;
	uint64_t stall_ns; /* time in it that the core waited for memory */
	uint32_t khz;
	bool busy;
	bool leaving; /* an idle state; no instruction is executed yet */
	uint8_t state; /* idle or left: 0 is WFI, otherwise the cluster's idle[state - 1] */
};

/** struct timeline - the log of a run, by core */
struct timeline {
	struct span *span[BOARD_CORES];
	size_t spans[BOARD_CORES];
	uint64_t *mark_ns; /* times of all marks, in order */
	uint16_t *mark;
	uint64_t *mark_lines; /* memory transfers of all cores up to the mark */
	size_t marks;
	uint64_t end_ns;
};

/**
 * struct usage - time and energy of an interval
 * @ns: length of the interval
 * @dynamic_mj: dynamic energy of busy cores
 * @stall_mj: part of @dynamic_mj while the cores waited for memory
 * @static_mj: static energy of all cores
 * @wfi_mj: part of @static_mj of cores that are idle, or leave an idle state
 * @background_mj: memory energy that does not depend on the cores' activity
 * @awake_mj: energy of the clusters themselves, awake or retained
 * @off_ns: time that clusters were off, summed over the clusters
 * @state_ns: idle time by state, summed over the cores
 * @leave_ns: time that cores needed to leave such states, neither idle nor busy
 * @rest_mw: power of the board after the interval with all cores in their deepest idle states
 * @core_mj: dynamic and static energy by core
 * @busy_ns: busy time by core
 * @opp_ns: busy time by core and OPP
 * @transitions: clock changes of all domains
 */
struct usage {
	uint64_t ns;
	double dynamic_mj, stall_mj, static_mj, wfi_mj, awake_mj, background_mj;
	double core_mj[BOARD_CORES];
	uint64_t busy_ns[BOARD_CORES];
	uint64_t opp_ns[BOARD_CORES][BOARD_OPPS];
	uint64_t off_ns;
	uint64_t state_ns[BOARD_IDLES + 1];
	uint64_t leave_ns;
	double rest_mw;
	unsigned int transitions;
};

/** timeline_read - read a log; -1 if the stream is not a log or memory is short */
int timeline_read(struct timeline *t, const struct board *b, FILE *in);
void timeline_free(struct timeline *t);

/**
 * timeline_powers - mean powers of a core in @s, mW
 * @dynamic: dynamic power
 * @stall: part of @dynamic while the core waits for memory
 * @leak: static power
 */
void timeline_powers(const struct board_cluster *k, enum board_power model, const struct span *s,
		     double *dynamic, double *stall, double *leak);

/** timeline_usage - time and energy of the board in [@t0, @t1) */
void timeline_usage(const struct timeline *t, const struct board *b, enum board_power model,
		    uint64_t t0, uint64_t t1, struct usage *u);

/** timeline_core_mj - dynamic and static energy of one core in [@t0, @t1) */
double timeline_core_mj(const struct timeline *t, const struct board *b, enum board_power model,
			unsigned int cpu, uint64_t t0, uint64_t t1);

#endif
