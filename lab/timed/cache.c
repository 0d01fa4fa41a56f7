// SPDX-License-Identifier: MIT
/*
 * The caches and the memory behind them, by physical address.
 *
 * An L1 miss costs core cycles. An L2 miss costs nanoseconds on top: the full
 * latency, or, for a store and for a line that continues an ascending stream
 * within its page, the pace at which the prefetcher or the store buffer works.
 * Every line that moves also takes its time on the memory channel: a core may
 * use what the others leave, and no less than an equal share.
 *
 * Replacement is by one reference bit a line and a hand a set. Cores change
 * the shared L2 without a lock: a lost update is a lost line, no more.
 */
#include "timed.h"

#include <stdio.h>
#include <stdlib.h>

#define WINDOW_NS 20000.0 /* over which a core's traffic is averaged */

/* An entry: line number + 1, shifted; two bits below. */
#define USED  1u
#define DIRTY 2u
#define SHIFT 2

static uint32_t *l2;
static uint8_t *l2_hand;
static uint32_t l1_mask, l2_mask;

static inline uint32_t get(uint32_t *entry)
{
	return __atomic_load_n(entry, __ATOMIC_RELAXED);
}

static inline void put(uint32_t *entry, uint32_t value)
{
	__atomic_store_n(entry, value, __ATOMIC_RELAXED);
}

/* Looks a line up, and takes it in if it is not there. */
static inline bool hit(uint32_t *set, uint8_t *hand, uint32_t ways, uint32_t key, uint32_t flags,
		       uint32_t *victim)
{
	uint32_t i, e;

	for (i = 0; i < ways; i++) {
		e = get(&set[i]);
		if (e >> SHIFT == key) {
			if ((e | flags) != e)
				put(&set[i], e | flags);
			return true;
		}
	}
	/* The first unused from the hand on; all used: clear and go round. */
	i = *hand;
	while ((e = get(&set[i])) & USED) {
		put(&set[i], e & ~USED);
		i = i + 1 == ways ? 0 : i + 1;
	}
	*victim = e;
	/* New lines are not yet used a second time: a stream passes through. */
	put(&set[i], key << SHIFT | (flags & DIRTY));
	*hand = (uint8_t)(i + 1 == ways ? 0 : i + 1);
	return false;
}

/* Does this line continue one of the core's streams? */
static inline bool foreseen(struct timed_core *c, uint64_t line)
{
	unsigned int i;

	for (i = 0; i < TIMED_STREAMS; i++)
		if (c->stream[i] == line) {
			c->stream[i] = line + 1;
			return line % (BOARD_PAGE / BOARD_LINE) != 0;
		}
	c->stream[c->stream_hand++ % TIMED_STREAMS] = line + 1;
	return false;
}

static void transfer(struct timed_core *c, unsigned int lines, double wait)
{
	double now = c->ns, start = c->channel_ns > now ? c->channel_ns : now;

	c->channel_ns = start + lines * c->line_ns;
	wait += start - now;
	c->window_bytes += lines * BOARD_LINE;
	c->ns += wait;
	c->unpaced_ns += wait;
	c->count.stall_ns += wait;
}

static __attribute__((noinline)) void miss(struct timed_core *c, uint64_t phys, bool store,
					   uint32_t victim)
{
	const struct board *b = &timed.board;
	uint64_t line = phys / BOARD_LINE;
	uint32_t set = line & l2_mask, gone = 0;
	bool stream = foreseen(c, line);

	c->count.l1_miss++;
	c->ns += c->miss_ns;
	c->unpaced_ns += c->miss_ns;
	c->count.stall_ns += c->miss_ns;
	if (victim & DIRTY) {
		uint32_t old = (victim >> SHIFT) - 1, s = old & l2_mask;

		if (!hit(&l2[s * b->l2_ways], &l2_hand[s], b->l2_ways, old + 1, USED | DIRTY,
			 &gone) &&
		    gone & DIRTY) {
			c->count.writeback++;
			transfer(c, 1, 0);
		}
		gone = 0;
	}
	if (hit(&l2[set * b->l2_ways], &l2_hand[set], b->l2_ways, (uint32_t)line + 1, USED, &gone))
		return;
	c->count.l2_miss++;
	if (stream)
		c->count.stream++;
	if (gone & DIRTY)
		c->count.writeback++;
	transfer(c, gone & DIRTY ? 2 : 1, stream || store ? b->stream_ns : b->mem_ns);
}

/* Was it in L1? */
bool cache_access(struct timed_core *c, uint64_t phys, bool store)
{
	const struct board *b = &timed.board;
	uint32_t line = (uint32_t)(phys / BOARD_LINE), set = line & l1_mask;
	uint32_t victim = 0;

	if (hit(&c->l1[set * b->l1_ways], &c->l1_hand[set], b->l1_ways, line + 1,
		store ? USED | DIRTY : USED, &victim))
		return true;
	miss(c, phys, store, victim);
	return false;
}

/* What the others leave of the memory's bandwidth, renewed at each look. */
void cache_rate(struct timed_core *c)
{
	double passed = c->ns - c->window_ns, others = 0, left;
	unsigned int i, busy = 1;

	if (passed >= WINDOW_NS) {
		atomic_store_explicit(&c->rate, (uint32_t)(c->window_bytes * 1e3 / passed),
				      memory_order_relaxed);
		c->window_ns = c->ns;
		c->window_bytes = 0;
	}
	for (i = 0; i < timed.board.cores; i++) {
		uint32_t rate = atomic_load_explicit(&timed.core[i].rate, memory_order_relaxed);

		if (i == c->cpu || !rate)
			continue;
		others += rate;
		busy++;
	}
	left = timed.board.mem_mbs - others;
	if (left < timed.board.mem_mbs / busy)
		left = timed.board.mem_mbs / busy;
	c->line_ns = BOARD_LINE * 1e3 / left;
}

/* The core goes to sleep: it leaves the memory to the others. */
void cache_idle(struct timed_core *c)
{
	atomic_store_explicit(&c->rate, 0, memory_order_relaxed);
	c->window_bytes = 0;
	c->window_ns = c->ns;
}

int cache_init(void)
{
	const struct board *b = &timed.board;
	uint32_t l1_sets = b->l1_bytes / BOARD_LINE / b->l1_ways;
	uint32_t l2_sets = b->l2_bytes / BOARD_LINE / b->l2_ways;
	unsigned int i;

	/* What charge.c remembers of L1 rests on it. */
	if (l1_sets % TIMED_HELD) {
		fprintf(stderr, "timed: an L1 of %u sets: want a multiple of %u\n", l1_sets,
			TIMED_HELD);
		return -1;
	}
	l1_mask = l1_sets - 1;
	l2_mask = l2_sets - 1;
	l2 = calloc(l2_sets, b->l2_ways * sizeof(*l2));
	l2_hand = calloc(l2_sets, 1);
	if (!l2 || !l2_hand)
		return -1;
	for (i = 0; i < b->cores; i++) {
		struct timed_core *c = &timed.core[i];

		c->l1 = calloc(l1_sets, b->l1_ways * sizeof(*c->l1));
		c->l1_hand = calloc(l1_sets, 1);
		if (!c->l1 || !c->l1_hand)
			return -1;
		c->line_ns = BOARD_LINE * 1e3 / b->mem_mbs;
	}
	return 0;
}
