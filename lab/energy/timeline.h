/* SPDX-License-Identifier: MIT */
/*
 * What each core of the timed board did when, from its log. Pure: reads a
 * stream, answers questions about intervals.
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
	uint64_t stall_ns; /* of it, waiting for memory */
	uint32_t khz;
	bool busy;
	uint8_t state; /* of an idle core: 0 WFI, else the cluster's idle[state - 1] */
};

/** struct timeline - the log of a run, by core */
struct timeline {
	struct span *span[BOARD_CORES];
	size_t spans[BOARD_CORES];
	uint64_t *mark_ns; /* of every mark, in order */
	uint16_t *mark;
	uint64_t *mark_lines; /* memory transfers of all cores until then */
	size_t marks;
	uint64_t end_ns;
};

/**
 * struct usage - what an interval cost
 * @ns: its length
 * @dynamic_mj: of busy cores
 * @stall_mj: of that, while they waited for memory
 * @static_mj: of all cores
 * @wfi_mj: of that, of idle cores
 * @background_mj: memory, whatever the cores do
 * @awake_mj: clusters while any of their cores is busy, or less while they are not off
 * @off_ns: the time that clusters were off, all together
 * @state_ns: idle time by state, all cores
 * @rest_mw: what the board draws after the interval with all cores in their deepest states
 * @core_mj: dynamic and static, by core
 * @busy_ns: by core
 * @opp_ns: busy time by core and OPP
 * @transitions: changes of a clock, all domains
 */
struct usage {
	uint64_t ns;
	double dynamic_mj, stall_mj, static_mj, wfi_mj, awake_mj, background_mj;
	double core_mj[BOARD_CORES];
	uint64_t busy_ns[BOARD_CORES];
	uint64_t opp_ns[BOARD_CORES][BOARD_OPPS];
	uint64_t off_ns;
	uint64_t state_ns[BOARD_IDLES + 1];
	double rest_mw;
	unsigned int transitions;
};

/** timeline_read - 0, or -1 if the stream is no log or memory is short */
int timeline_read(struct timeline *t, const struct board *b, FILE *in);
void timeline_free(struct timeline *t);

/** timeline_powers - mW of a core in @s: dynamic, of that while it waits, and static */
void timeline_powers(const struct board_cluster *k, enum board_power model, const struct span *s,
		     double *dynamic, double *stall, double *leak);

/** timeline_usage - what the board used in [@t0, @t1) */
void timeline_usage(const struct timeline *t, const struct board *b, enum board_power model,
		    uint64_t t0, uint64_t t1, struct usage *u);

/** timeline_core_mj - dynamic and static energy of one core in [@t0, @t1) */
double timeline_core_mj(const struct timeline *t, const struct board *b, enum board_power model,
			unsigned int cpu, uint64_t t0, uint64_t t1);

#endif
