/* SPDX-License-Identifier: MIT */
/*
 * A board of the lab: what its cores, caches, memory and rails are like. Pure:
 * reads a text, computes times and powers, touches nothing else.
 */
#ifndef LAB_BOARD_H
#define LAB_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BOARD_CORES   4
#define BOARD_OPPS    40
#define BOARD_STATICS 4
#define BOARD_LINE    64 /* bytes of a cache line */
#define BOARD_PAGE    4096 /* a stream prefetcher stops here */

/**
 * struct board_opp - one operating performance point
 * @khz: frequency
 * @uv: supply of the core, microvolt
 * @table_mw: dynamic power of one busy core by the vendor's table, 0 if the
 *	board file gives none
 */
struct board_opp {
	uint32_t khz;
	uint32_t uv;
	double table_mw;
};

/**
 * struct board_static - one piece of the static current, linear in the voltage
 * @upto_mv: holds for voltages up to this
 * @ua_per_mv: slope
 * @ua: offset
 */
struct board_static {
	double upto_mv;
	double ua_per_mv;
	double ua;
};

/**
 * struct board - everything a board file says
 * @name: short name, also the file's
 * @cores: 1..BOARD_CORES
 * @shared: one clock and one supply for all cores; else one for each
 * @cpi: cycles per instruction while every access hits L1
 * @l1_bytes: L1 data cache of a core
 * @l1_ways: its ways
 * @l2_bytes: L2 cache shared by the cores
 * @l2_ways: its ways
 * @l2_cycles: core cycles that an L1 miss costs
 * @mem_ns: what an L2 miss costs on top, nanoseconds
 * @stream_ns: the same for a line that the prefetcher saw coming, or a store
 * @mem_mbs: bytes per microsecond that all cores share
 * @io_ns: what an access to a device costs
 * @switch_us: the core that changes a clock waits so long
 * @latency_us: what the device tree tells the governors about that
 * @coefficient: dynamic power, microwatt per MHz per square volt
 * @opps: entries of @opp, ascending
 * @opp: the operating performance points
 * @statics: entries of @leak
 * @leak: static current of one core
 * @static_share: how much of that current to count
 * @awake_mw: cluster and memory while at least one core is busy
 * @line_nj: memory energy of a line transfer
 */
struct board {
	char name[32];
	unsigned int cores;
	bool shared;
	double cpi;
	uint32_t l1_bytes;
	uint32_t l1_ways;
	uint32_t l2_bytes;
	uint32_t l2_ways;
	double l2_cycles;
	double mem_ns;
	double stream_ns;
	double mem_mbs;
	double io_ns;
	double switch_us;
	double latency_us;
	double coefficient;
	unsigned int opps;
	struct board_opp opp[BOARD_OPPS];
	unsigned int statics;
	struct board_static leak[BOARD_STATICS];
	double static_share;
	double awake_mw;
	double line_nj;
};

/** enum board_power - which of the published power models to believe */
enum board_power {
	BOARD_POWER_CV2F, /* coefficient * f * V^2, as the kernel does */
	BOARD_POWER_TABLE, /* the vendor's table, if there is one */
};

/**
 * board_read - read a board file
 * @b: filled on success
 * @in: the text
 * @why: on failure what is wrong, with the line's number
 * @size: of @why
 * Returns 0, or -1 with @why filled.
 */
int board_read(struct board *b, FILE *in, char *why, size_t size);

/** board_opp - the OPP of exactly or next above @khz; the highest if none */
const struct board_opp *board_opp(const struct board *b, uint32_t khz);

/** board_dynamic_mw - dynamic power of one busy core, mW */
double board_dynamic_mw(const struct board *b, const struct board_opp *o, enum board_power model);

/** board_static_mw - static power of one core that has its supply, mW */
double board_static_mw(const struct board *b, const struct board_opp *o);

/**
 * enum board_loop - loops of the calibration program (guest/calibrate.c)
 * @BOARD_COMPUTE: registers only
 * @BOARD_CHASE: dependent loads, one for each line of a set larger than L2
 * @BOARD_STREAM: one load from each line in ascending order
 */
enum board_loop {
	BOARD_COMPUTE,
	BOARD_CHASE,
	BOARD_STREAM,
	BOARD_LOOPS
};

/** board_loop_name - its name in the calibration program's output */
const char *board_loop_name(enum board_loop loop);

/**
 * board_predict_ns - closed form of one iteration's time
 * @b: the board
 * @loop: which loop
 * @insns: instructions of an iteration
 * @khz: clock
 * @streams: cores that run the same loop at once, 1..cores
 */
double board_predict_ns(const struct board *b, enum board_loop loop, unsigned int insns,
			uint32_t khz, unsigned int streams);

#endif
