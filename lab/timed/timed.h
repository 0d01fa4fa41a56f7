/* SPDX-License-Identifier: MIT */
/*
 * The timed board inside QEMU: shared by its parts.
 *
 *	timed.c		the board's state, shared by all parts
 *	plugin.c	start and end
 *	charge.c	cost of executed instructions and memory accesses
 *	cache.c		L1 of each core, L2 of each cluster, prefetcher, memory bandwidth
 *	lines.h		sets of lines, for caches and TLBs
 *	snoop.c		coherence: lines in another core's cache
 *	tlb.c		TLB misses
 *	idle.c		idle states: loss of cache contents, exit latency
 *	domain.c	clock domains, and the oscillators that the guest programs
 *	shim.c		QEMU's calls that read time or sleep (LD_PRELOAD)
 *	clock.c		modelled time: which cores may run, and which wait
 *	insns.c		instructions that a core has executed
 *	trace.c		log of states and clocks, for the energy
 *	libc.c		the C library's own functions, which the shim intercepts
 *
 * Modelled time is the only time. Each emulated core has its own clock, which advances with its
 * work. A core that is ahead of another running core by more than the quantum waits for it. The
 * guest's counter and QEMU's timers read modelled time, which jumps to the next timer while all
 * cores sleep. Therefore a slow or busy host makes a run longer but does not change its results,
 * and idle time costs no host time.
 */
#ifndef TIMED_H
#define TIMED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../board/board.h"
#include "lines.h"

#define TIMED_CHUNK    2048 /* instructions between two synchronisations with the clock */
#define TIMED_UTLB     1024 /* cached translations, per core */
#define TIMED_HELD     64u /* lines known to be in L1, per core; at most the lines of a page */
#define TIMED_STREAMS  8 /* streams that a core's prefetcher follows */
#define TIMED_MARK_ARM 3 /* dbg #3: model the caches from here on */

/** struct timed_count - events of a core since the start */
struct timed_count {
	uint64_t insns;
	uint64_t accesses;
	uint64_t l1_miss;
	uint64_t l2_miss;
	uint64_t stream; /* L2 misses that the prefetcher predicted */
	uint64_t writeback;
	uint64_t io;
	uint64_t snoop; /* L1 misses and upgrades that another core's cache answered */
	uint64_t tlb_miss; /* misses in the first level */
	uint64_t walk; /* misses in both levels */
	uint64_t wakes; /* wakeups from a state deeper than WFI */
	double stall_ns; /* part of the busy time that it waited for L2, memory, devices */
};

struct timed_page {
	uint64_t virt; /* page number + 1, 0: unused */
	uint64_t phys; /* address of the page */
};

/**
 * struct timed_core - one emulated core. Only its own thread accesses it, except that other cores
 * read @rate, snoop @l1 and clear held lines, and that the lock of clock.c protects the fields
 * from @t on.
 */
struct timed_core {
	unsigned int cpu;
	const struct board_cluster *k;
	struct timed_cluster *cluster;
	double ns; /* modelled time, charged so far */
	double insn_ns; /* cpi / f */
	double cycle_ns; /* 1 / f */
	double miss_ns; /* l2_cycles / f + l2_ns */
	double channel_ns; /* when the memory channel is free for its next line */
	double line_ns; /* transfer time of a line at its current share of the bandwidth */
	double window_ns; /* start of the bandwidth window */
	double unpaced_ns; /* stalls since the last synchronisation with the clock */
	uint64_t settled; /* instructions of this chunk that are included in @ns */
	uint32_t window_bytes;
	uint32_t epoch; /* of its domain, as last seen */
	uint32_t tlb_epoch; /* of timed.tlb_epoch, as last seen */
	uint64_t last_page; /* page of the last translation, as tlb.c numbers pages */
	/* From here up to @armed: other cores clear these when they invalidate a line. */
	uint64_t last_load; /* virtual line of the last access + 1 */
	uint64_t last_store;
	/*
	 * Virtual lines + 1 that are in L1 as used (and dirty), indexed by their
	 * position in a page: another access to them does not change L1. All lines
	 * of an L1 set share an index, so an insertion that may evict one clears
	 * the entry.
	 */
	uint64_t held_load[TIMED_HELD];
	uint64_t held_store[TIMED_HELD];
	bool armed; /* caches are modelled */
	struct timed_count count;
	struct timed_page utlb[TIMED_UTLB];
	struct lines l1;
	struct lines tlb1, tlb2;
	double waking_ns; /* remaining exit latency of the idle state */
	uint32_t wanted; /* idle state of the next wait for an interrupt, as the guest wrote it */
	uint32_t state; /* idle state of the current wait */
	uint64_t stream[TIMED_STREAMS];
	unsigned int stream_hand;

	_Atomic uint32_t rate; /* current memory traffic, bytes per us */

	_Alignas(64) uint64_t t; /* published modelled time */
	const void *blocked; /* condition that it sleeps on */
	const void *halt; /* condition that it sleeps on while idle */
	bool kicked; /* @halt was signalled while the core did not sleep */
	bool idle; /* the guest waits for interrupts */
	bool present;
	bool waiting; /* ahead of the other cores, and therefore blocked */
	uint64_t wake_at; /* board time at which it is woken */
	pthread_cond_t may_run;
};

/** struct timed_cluster - state that the cores of a cluster share */
struct timed_cluster {
	struct lines l2;
	_Atomic uint32_t leave; /* cores in a state that allows the cluster to be off */
	_Atomic bool off; /* all cores were in such a state, and none has woken since */
};

/** struct timed_domain - cores that share a clock and a supply; indexed by the first core */
struct timed_domain {
	const struct board_opp *opp;
	_Atomic uint32_t epoch; /* incremented by each change */
	const struct board_opp *_Atomic next; /* requested, not yet in force; NULL: nothing is */
	double due_ns; /* modelled time at which @next comes into force; set before @next */
};

/** struct timed - the board */
struct timed {
	struct board board;
	uint64_t quantum_ns;
	struct timed_core core[BOARD_CORES];
	struct timed_cluster cluster[BOARD_CLUSTERS];
	struct timed_domain domain[BOARD_CORES];
	_Atomic uint32_t tlb_epoch;
	_Atomic bool armed;
	bool on; /* the plugin is installed */
};

extern struct timed timed;

/* Oscillator numbers of the cores' clocks, as in the device tree of board/main.c. */
extern const uint8_t timed_oscillator[BOARD_CORES];

/* Charges time in which the core waits. */
static inline void timed_stall(struct timed_core *c, double ns)
{
	c->ns += ns;
	c->unpaced_ns += ns;
	c->count.stall_ns += ns;
}

/* Clears the held lines at the index of a line that leaves L1. May be called by any thread. */
static inline void timed_forget_line(struct timed_core *c, uint64_t phys_line, bool load)
{
	unsigned int place = (phys_line + 1) % TIMED_HELD;

	if (load) {
		__atomic_store_n(&c->held_load[place], 0, __ATOMIC_RELAXED);
		__atomic_store_n(&c->last_load, 0, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&c->held_store[place], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&c->last_store, 0, __ATOMIC_RELAXED);
}

static inline struct timed_domain *timed_domain(unsigned int cpu)
{
	return &timed.domain[board_clock(&timed.board, cpu)];
}

/* charge.c */
void charge_init(uint64_t plugin);

/* cache.c */
int cache_init(void);
bool cache_access(struct timed_core *c, uint64_t phys, bool store);
void cache_rate(struct timed_core *c);
void cache_idle(struct timed_core *c);
void cache_lose_l1(struct timed_core *c);
void cache_lose_l2(struct timed_core *c);

/* snoop.c */
enum snooped {
	SNOOPED_NONE,
	SNOOPED_COPY, /* another cache had a clean copy */
	SNOOPED_DIRTY,
};
int snoop_init(void);
enum snooped snoop_l1(struct timed_core *c, uint32_t line, bool store);
bool snoop_l2(struct timed_core *c, uint32_t line, bool store);

/* tlb.c */
int tlb_init(void);
void tlb_access(struct timed_core *c, uint64_t virt, uint64_t phys);
void tlb_lose(struct timed_core *c);

/* idle.c */
void idle_store(struct timed_core *c, uint64_t phys, uint32_t value);
void idle_enter(struct timed_core *c);
void idle_leave(struct timed_core *c);

/* domain.c */
#define TIMED_SYSREG 0x1c010000u /* the motherboard's registers */
void domain_init(void);
void domain_store(struct timed_core *c, uint64_t phys, uint32_t value);
void domain_refresh(struct timed_core *c);

/* trace.c */
enum trace_type {
	TRACE_BUSY = 1, /* a core begins to run */
	TRACE_IDLE, /* a core begins to wait for interrupts; arg: its idle state, 0 WFI */
	TRACE_CLOCK, /* a domain's frequency changed */
	TRACE_MARK, /* the guest executed a mark; arg: its number */
	TRACE_LEAVE, /* a core begins to leave its idle state; arg: that state */
};

/** struct trace_record - one line of the log; native byte order */
struct trace_record {
	uint64_t ns; /* modelled time */
	uint8_t type;
	uint8_t cpu;
	uint16_t arg;
	uint32_t khz; /* of the core after this */
	/* of this core since the start */
	uint64_t insns;
	uint64_t stall_ns;
	uint64_t lines; /* memory transfers of this core; at a mark, of all cores */
};

int trace_open(const char *path);
void trace_put(struct timed_core *c, enum trace_type type, unsigned int arg, uint64_t ns);
int trace_close(void);

#endif
