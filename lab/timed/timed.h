/* SPDX-License-Identifier: MIT */
/*
 * The timed board inside QEMU: shared by its parts.
 *
 *	plugin.c	start and end
 *	charge.c	what is executed and accessed, and what that costs
 *	cache.c		L1 of each core, L2 of each cluster, prefetcher, memory bandwidth
 *	lines.h		sets of lines, of caches and TLBs
 *	snoop.c		lines that another core's cache has
 *	tlb.c		translations that are not at hand
 *	idle.c		idle states: what is lost in them, what leaving takes
 *	domain.c	clock domains: what the guest wrote into its oscillators
 *	shim.c		QEMU's calls that read time or sleep (LD_PRELOAD)
 *	clock.c		modelled time: who may run on, who waits
 *	tally.c		instructions that a core has executed
 *	trace.c		what each core did when, for the energy
 *	libc.c		the C library's own calls, below the shim's
 *
 * Modelled time is the only time. Each emulated core has a clock of its own
 * that its work moves; a core that is ahead of another running core by more
 * than the quantum waits for it; the guest's counter and QEMU's timers read
 * modelled time, and while every core sleeps it jumps to the next timer. So a
 * slow or busy host makes a run longer, not different, and idle costs nothing.
 */
#ifndef TIMED_H
#define TIMED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../board/board.h"
#include "lines.h"

#define TIMED_CHUNK    2048 /* instructions between two looks at the clock */
#define TIMED_UTLB     1024 /* pages whose address is remembered, per core */
#define TIMED_HELD     64u /* lines known to be in L1, per core; not above a page's */
#define TIMED_STREAMS  8 /* streams that a core's prefetcher follows */
#define TIMED_MARK_ARM 3 /* dbg #3: model the caches from here on */

/** struct timed_count - what a core did since the start */
struct timed_count {
	uint64_t insns;
	uint64_t accesses;
	uint64_t l1_miss;
	uint64_t l2_miss;
	uint64_t stream; /* L2 misses that the prefetcher foresaw */
	uint64_t writeback;
	uint64_t io;
	uint64_t snoop; /* L1 misses and upgrades that another core's cache answered */
	uint64_t tlb_miss; /* of the first level */
	uint64_t walk; /* of the second as well */
	uint64_t wakes; /* from a state deeper than WFI */
	double stall_ns; /* of busy time: waiting for L2, memory, devices */
};

struct timed_page {
	uint64_t virt; /* page number + 1, 0 none */
	uint64_t phys; /* address of the page */
};

/**
 * struct timed_core - one emulated core. Only its own thread touches it,
 * except the fields below @t, which timed.lock guards.
 */
struct timed_core {
	unsigned int cpu;
	const struct board_cluster *k;
	struct timed_cluster *cluster;
	double ns; /* modelled time, charged so far */
	double insn_ns; /* cpi / f */
	double cycle_ns; /* 1 / f */
	double miss_ns; /* l2_cycles / f + l2_ns */
	double channel_ns; /* when the memory takes its next line */
	double line_ns; /* time of a line at its share now */
	double window_ns; /* start of the bandwidth window */
	double unpaced_ns; /* stalls since the last look at the clock */
	uint64_t settled; /* instructions of this chunk that @ns holds */
	uint32_t window_bytes;
	uint32_t epoch; /* of its domain, as last seen */
	uint32_t tlb_epoch; /* of timed.tlb_epoch, as last seen */
	uint64_t last_page; /* of the last translation, as tlb.c numbers pages */
	/* From here to @armed other cores write zeroes, when they take a line away. */
	uint64_t last_load; /* virtual line of the last access + 1 */
	uint64_t last_store;
	/*
	 * Virtual lines + 1 that L1 holds as used (and dirty), by their place
	 * in a page: another access to them changes nothing there. All lines
	 * of an L1 set share a place, so what could evict one clears it.
	 */
	uint64_t held_load[TIMED_HELD];
	uint64_t held_store[TIMED_HELD];
	bool armed; /* caches are modelled */
	struct timed_count count;
	struct timed_page utlb[TIMED_UTLB];
	struct lines l1;
	struct lines tlb1, tlb2;
	double waking_ns; /* still to pass before the core is out of its idle state */
	uint32_t wanted; /* idle state of the next wait for an interrupt, as the guest wrote it */
	uint32_t state; /* and of this one */
	uint64_t stream[TIMED_STREAMS];
	unsigned int stream_hand;

	_Atomic uint32_t rate; /* memory traffic now, bytes per us */

	_Alignas(64) uint64_t t; /* published modelled time */
	const void *blocked; /* sleeps on this condition */
	const void *halt; /* the one it sleeps on while idle */
	bool kicked; /* that one was signalled meanwhile */
	bool idle; /* because the guest waits for interrupts */
	bool present;
	bool waiting; /* held: ahead of the others */
	uint64_t wake_at; /* until the slowest has got here */
	pthread_cond_t turn;
};

/** struct timed_cluster - what the cores of a cluster have in common */
struct timed_cluster {
	struct lines l2;
	_Atomic uint32_t leave; /* cores in a state that lets the cluster off */
	_Atomic bool off; /* it was, since the last of its cores woke */
};

/** struct timed_domain - cores with a common clock and supply; numbered by its first core */
struct timed_domain {
	const struct board_opp *opp;
	_Atomic uint32_t epoch; /* of its changes */
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

/* Oscillators of the cores' clocks, as in the device tree of board/main.c. */
extern const uint8_t timed_oscillator[BOARD_CORES];

/* The core waits for so long. */
static inline void timed_stall(struct timed_core *c, double ns)
{
	c->ns += ns;
	c->unpaced_ns += ns;
	c->count.stall_ns += ns;
}

/* What is remembered of L1 at a line's place is no longer so; from any thread. */
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
	SNOOPED_COPY, /* others had it, as memory has it */
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
	uint64_t lines; /* transfers from and to memory; at a mark, of all cores */
};

int trace_open(const char *path);
void trace_put(struct timed_core *c, enum trace_type type, unsigned int arg, uint64_t ns);
int trace_close(void);

#endif
