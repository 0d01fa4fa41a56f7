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

#define BOARD_CORES	  4
#define BOARD_CLUSTERS	  2
#define BOARD_OPPS	  40
#define BOARD_STATICS	  4
#define BOARD_IDLES	  3 /* states deeper than WFI, of a cluster */
#define BOARD_LINE	  64 /* bytes of a cache line */
#define BOARD_PAGE	  4096 /* a stream prefetcher stops here */
#define BOARD_CHASE_BYTES (8u << 20) /* bytes that the calibration's chase visits */

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
 * struct board_idle - an idle state deeper than WFI
 * @name: as cpuidle shows it
 * @exit_us: from the interrupt to the first instruction; what entering takes is in it
 * @residency_us: what the device tree tells the kernel: not worth it for less
 * @share: of a core's static power, what is left
 * @cluster: when all cores of the cluster are in it, the cluster is off
 */
struct board_idle {
	char name[16];
	double exit_us;
	double residency_us;
	double share;
	bool cluster;
};

/**
 * struct board_cluster - cores of one kind, with a second-level cache of their own
 * @name: "" if the board has but one
 * @first: its first core
 * @cores: how many
 * @shared: one clock and one supply for all of them; else one for each
 * @capacity: capacity-dmips-mhz in the device tree, 0 none
 * @cpi: cycles per instruction while every access hits L1
 * @l1_bytes: L1 data cache of a core
 * @l1_ways: its ways
 * @l2_bytes: L2 cache shared by the cores
 * @l2_ways: its ways
 * @l2_cycles: core cycles that an L1 miss costs
 * @l2_ns: and what it costs whatever the core's clock
 * @mem_ns: what an L2 miss costs on top, nanoseconds
 * @stream_ns: the same for a line that the prefetcher saw coming, or a store
 * @tlb1_entries: first-level TLB of data, 0: not charged
 * @tlb1_cycles: core cycles that a miss there costs which the second level has
 * @tlb2_entries: second-level TLB, 0: none
 * @walk_cycles: core cycles that a miss there costs on top
 * @walk_ns: and nanoseconds
 * @snoop_cycles: core cycles on top of an L2 hit if another core's L1 has the line dirty,
 *	or must give it up
 * @switch_us: the core that changes a clock waits so long
 * @latency_us: what the device tree tells the governors about that
 * @coefficient: dynamic power, microwatt per MHz per square volt
 * @em_coefficient: the same as the device tree tells the kernel: what a vendor wrote
 *	there is not what a rail measures
 * @opps: entries of @opp, ascending
 * @opp: the operating performance points
 * @statics: entries of @leak
 * @leak: static current of one core
 * @static_share: how much of that current to count
 * @wfi_share: how much of a core's static power is left while it waits for an interrupt
 * @stall_share: how much of its dynamic power a core draws that waits for memory
 * @awake_mw: the cluster while at least one of its cores is busy
 * @retained_mw: the cluster while none is and it is not off
 * @idles: entries of @idle
 * @idle: idle states, ever deeper
 */
struct board_cluster {
	char name[16];
	uint32_t first;
	uint32_t cores;
	bool shared;
	uint32_t capacity;
	double cpi;
	uint32_t l1_bytes;
	uint32_t l1_ways;
	uint32_t l2_bytes;
	uint32_t l2_ways;
	double l2_cycles;
	double l2_ns;
	double mem_ns;
	double stream_ns;
	uint32_t tlb1_entries;
	double tlb1_cycles;
	uint32_t tlb2_entries;
	double walk_cycles;
	double walk_ns;
	double snoop_cycles;
	double switch_us;
	double latency_us;
	double coefficient;
	double em_coefficient;
	unsigned int opps;
	struct board_opp opp[BOARD_OPPS];
	unsigned int statics;
	struct board_static leak[BOARD_STATICS];
	double static_share;
	double wfi_share;
	double stall_share;
	double awake_mw;
	double retained_mw;
	unsigned int idles;
	struct board_idle idle[BOARD_IDLES];
};

/**
 * struct board - everything a board file says
 * @name: short name, also the file's
 * @cores: of all clusters, 1..BOARD_CORES
 * @clusters: entries of @cluster; one if the file names none
 * @cluster: in the order of their cores
 * @mem_mbs: bytes per microsecond that all cores share
 * @io_ns: what an access to a device costs
 * @snoop_ns: what it costs on top if the line comes from the other cluster
 * @background_mw: memory, whatever the cores do
 * @line_nj: memory energy of a line transfer
 */
struct board {
	char name[32];
	unsigned int cores;
	unsigned int clusters;
	struct board_cluster cluster[BOARD_CLUSTERS];
	double mem_mbs;
	double io_ns;
	double snoop_ns;
	double background_mw;
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

/**
 * board_assume - another value for a number of the board file
 * @b: a board that was read
 * @assignment: "key=value"; of every cluster
 * Returns 0, or -1 with @why filled and nothing changed.
 */
int board_assume(struct board *b, const char *assignment, char *why, size_t size);

/** board_of - the cluster of core @cpu, which is below @cores */
const struct board_cluster *board_of(const struct board *b, unsigned int cpu);

/** board_clock - the first core of those that have their clock in common with core @cpu */
unsigned int board_clock(const struct board *b, unsigned int cpu);

/** board_opp - the OPP of exactly or next above @khz; the highest if none */
const struct board_opp *board_opp(const struct board_cluster *k, uint32_t khz);

/** board_top - the highest OPP */
const struct board_opp *board_top(const struct board_cluster *k);

/** board_dynamic_mw - dynamic power of one busy core, mW */
double board_dynamic_mw(const struct board_cluster *k, const struct board_opp *o,
			enum board_power model);

/** board_static_mw - static power of one core that runs, mW; times a share while idle */
double board_static_mw(const struct board_cluster *k, const struct board_opp *o);

/** board_idle_share - of that, what is left in idle state @state: 0 WFI, else @idle[state - 1] */
double board_idle_share(const struct board_cluster *k, unsigned int state);

/**
 * board_rest_mw - what the board draws when all its cores are in their deepest states
 * @khz: of each core's clock, left as it was
 */
double board_rest_mw(const struct board *b, const uint32_t *khz);

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

/** board_tlb_ns - mean cost of translation of a load anywhere in @bytes of small pages */
double board_tlb_ns(const struct board_cluster *k, uint32_t khz, double bytes);

/**
 * board_predict_ns - closed form of one iteration's time
 * @b: the board
 * @k: the cluster whose core runs it
 * @loop: which loop
 * @insns: instructions of an iteration
 * @khz: clock
 * @streams: cores that run the same loop at once, 1..cores
 */
double board_predict_ns(const struct board *b, const struct board_cluster *k, enum board_loop loop,
			unsigned int insns, uint32_t khz, unsigned int streams);

#endif
