/* SPDX-License-Identifier: MIT */
/*
 * The model of a board: its cores, caches, memory and power rails. Pure: reads a text and
 * computes times and powers, without side effects.
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
#define BOARD_PAGE	  4096 /* a stream prefetcher stops at page boundaries */
#define BOARD_CHASE_BYTES (8u << 20) /* bytes that the calibration's chase visits */

/**
 * struct board_opp - one operating performance point
 * @khz: frequency
 * @uv: supply of the core, microvolt
 * @table_mw: dynamic power of one busy core by the vendor's table, 0 if the
 *	board file has none
 */
struct board_opp {
	uint32_t khz;
	uint32_t uv;
	double table_mw;
};

/**
 * struct board_static - one piece of the static current, linear in the voltage
 * @upto_mv: highest voltage of this piece
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
 * @exit_us: time from the interrupt to the first instruction; includes the entry latency
 * @residency_us: minimum residency in the device tree
 * @share: remaining share of a core's static power
 * @cluster: the cluster is off while all its cores are in this state
 */
struct board_idle {
	char name[16];
	double exit_us;
	double residency_us;
	double share;
	bool cluster;
};

/**
 * struct board_cluster - cores of one type that share a second-level cache
 * @name: "" if the board has only one cluster
 * @first: number of its first core
 * @cores: number of cores
 * @shared: all cores share a clock and a supply; otherwise each core has its own
 * @capacity: capacity-dmips-mhz in the device tree, 0 if there is none
 * @cpi: cycles per instruction while every access hits L1
 * @l1_bytes: L1 data cache of a core
 * @l1_ways: ways of L1
 * @l2_bytes: L2 cache shared by the cores
 * @l2_ways: ways of L2
 * @l2_cycles: cost of an L1 miss, part in core cycles
 * @l2_ns: cost of an L1 miss, part that does not depend on the core's clock, nanoseconds
 * @mem_ns: additional cost of an L2 miss, nanoseconds
 * @stream_ns: the same for a store, or for a line that the prefetcher predicted
 * @tlb1_entries: first-level data TLB, 0: not charged
 * @tlb1_cycles: cost of a first-level miss that hits in the second level, core cycles
 * @tlb2_entries: second-level TLB, 0: none
 * @walk_cycles: additional cost of a second-level miss, part in core cycles
 * @walk_ns: additional cost of a second-level miss, part in nanoseconds
 * @snoop_cycles: core cycles in addition to an L2 hit if another core's L1 has the line dirty,
 *	or must invalidate it
 * @switch_us: time that a core waits when it changes a clock
 * @settle_us: time from that until the clock has changed, in which cores run on at the old one
 * @latency_us: transition latency in the device tree
 * @coefficient: dynamic power, microwatt per MHz per square volt
 * @em_coefficient: dynamic power coefficient in the device tree; a vendor's value there may
 *	differ from what a rail measures
 * @opps: entries of @opp, ascending
 * @opp: the operating performance points
 * @statics: entries of @leak
 * @leak: static current of one core
 * @static_share: share of the static current to count
 * @wfi_share: share of a core's static power that remains while it waits for an interrupt
 * @stall_share: share of a core's dynamic power that it draws while it waits for memory
 * @awake_mw: power of the cluster while at least one of its cores is busy
 * @retained_mw: power of the cluster while none of its cores is busy and it is not off
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
	double settle_us;
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
 * struct board - the contents of a board file
 * @name: short name, also the file's
 * @cores: number of cores of all clusters, 1..BOARD_CORES
 * @clusters: entries of @cluster; one if the file names none
 * @cluster: in the order of their cores
 * @mem_mbs: memory bandwidth that all cores share, bytes per microsecond
 * @io_ns: cost of an access to a device
 * @snoop_ns: additional cost of a line that comes from the other cluster
 * @background_mw: memory power that does not depend on the cores' activity
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

/** enum board_power - which of the published power models to use */
enum board_power {
	BOARD_POWER_CV2F, /* coefficient * f * V^2, as in the kernel's energy model */
	BOARD_POWER_TABLE, /* the vendor's table, if there is one */
};

/**
 * board_read - read a board file
 * @b: filled on success
 * @in: the text
 * @why: filled with a message with the line number on failure
 * @size: size of @why
 * Returns 0, or -1 with @why filled.
 */
int board_read(struct board *b, FILE *in, char *why, size_t size);

/**
 * board_assume - override a number of the board file
 * @b: a board that was read
 * @assignment: "key=value"; a cluster's key is set in every cluster
 * Returns 0, or -1 with @why filled and nothing changed.
 */
int board_assume(struct board *b, const char *assignment, char *why, size_t size);

/** board_of - the cluster of core @cpu, which must be below @cores */
const struct board_cluster *board_of(const struct board *b, unsigned int cpu);

/** board_clock - the first of the cores that share a clock with core @cpu */
unsigned int board_clock(const struct board *b, unsigned int cpu);

/** board_opp - the lowest OPP of at least @khz; the highest OPP if there is none */
const struct board_opp *board_opp(const struct board_cluster *k, uint32_t khz);

/** board_top - the highest OPP */
const struct board_opp *board_top(const struct board_cluster *k);

/** board_dynamic_mw - dynamic power of one busy core, mW */
double board_dynamic_mw(const struct board_cluster *k, const struct board_opp *o,
			enum board_power model);

/** board_static_mw - static power of one running core, mW */
double board_static_mw(const struct board_cluster *k, const struct board_opp *o);

/**
 * board_idle_share - share of a core's static power that remains in idle state @state
 * @state: 0 is WFI, otherwise @idle[state - 1]
 */
double board_idle_share(const struct board_cluster *k, unsigned int state);

/**
 * board_leave_share - power of a core that leaves idle state @state, as a share of its static power
 * @state: 1 or more
 *
 * No source says what entering and leaving a state costs; but min-residency-us is by definition
 * (bindings/cpu/idle-states.yaml) the time from which the state takes less energy than the one
 * above it. So over that time both take as much, and what the state saves until then is charged
 * while the core leaves it. What the cluster saves is not part of it.
 */
double board_leave_share(const struct board_cluster *k, unsigned int state);

/**
 * board_rest_mw - power of the board while all its cores are in their deepest idle states
 * @khz: clock of each core; it determines the voltage
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

/** board_loop_name - name of a loop in the calibration program's output */
const char *board_loop_name(enum board_loop loop);

/** board_tlb_ns - mean cost of translation of a load anywhere in @bytes of small pages */
double board_tlb_ns(const struct board_cluster *k, uint32_t khz, double bytes);

/**
 * board_predict_ns - time of one iteration of a loop, in closed form
 * @b: the board
 * @k: the cluster of the core that runs the loop
 * @loop: the loop
 * @insns: instructions of an iteration
 * @khz: the core's clock
 * @streams: cores that run the same loop at once, 1..cores
 */
double board_predict_ns(const struct board *b, const struct board_cluster *k, enum board_loop loop,
			unsigned int insns, uint32_t khz, unsigned int streams);

#endif
