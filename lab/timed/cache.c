// SPDX-License-Identifier: MIT
/*
 * The caches and the memory behind them, by physical address.
 *
 * An L1 miss costs core cycles. An L2 miss costs nanoseconds in addition: the full latency or,
 * for a store and for a line that continues an ascending stream within its page, the time per
 * line of the store buffer or the prefetcher. Every transferred line also occupies the memory
 * channel: a core may use the bandwidth that the other cores leave, but at least an equal share.
 */
#include "timed.h"

#include <stdio.h>

#define WINDOW_NS 20000.0 /* over which a core's traffic is averaged */

/* Whether the line continues one of the core's streams within its page. */
static inline bool stream_predicts(struct timed_core *c, uint64_t line)
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

static void channel_transfer(struct timed_core *c, unsigned int lines, double wait)
{
	double now = c->ns, start = c->channel_ns > now ? c->channel_ns : now;

	c->channel_ns = start + lines * c->line_ns;
	wait += start - now;
	c->window_bytes += lines * BOARD_LINE;
	timed_stall(c, wait);
}

/* A dirty line that L1 evicts is written to L2, which may evict another line for it. */
static void l2_write_back(struct timed_core *c, uint32_t line)
{
	uint32_t gone = 0;

	if (!lines_hit(&c->cluster->l2, line, LINES_USED | LINES_DIRTY, &gone) &&
	    gone & LINES_DIRTY) {
		c->count.writeback++;
		channel_transfer(c, 1, 0);
	}
}

static __attribute__((noinline)) void l1_miss(struct timed_core *c, uint32_t line, bool store,
					      uint32_t victim)
{
	enum snooped had = snoop_l1(c, line, store);
	bool stream = stream_predicts(c, line);
	uint32_t gone = 0;

	c->count.l1_miss++;
	timed_stall(c, c->miss_ns);
	if (victim & LINES_DIRTY)
		l2_write_back(c, lines_line(victim));
	if (lines_hit(&c->cluster->l2, line, LINES_USED, &gone))
		return;
	if (gone & LINES_DIRTY)
		c->count.writeback++;
	/* The line comes from another cache: the snoop has charged the cost already. */
	if (had == SNOOPED_DIRTY || snoop_l2(c, line, store)) {
		if (gone & LINES_DIRTY)
			channel_transfer(c, 1, 0);
		return;
	}
	c->count.l2_miss++;
	if (stream)
		c->count.stream++;
	channel_transfer(c, gone & LINES_DIRTY ? 2 : 1,
			 stream || store ? c->k->stream_ns : c->k->mem_ns);
}

/* Returns whether the line was in L1. */
bool cache_access(struct timed_core *c, uint64_t phys, bool store)
{
	uint32_t line = (uint32_t)(phys / BOARD_LINE), victim;
	uint32_t *entry = lines_find(&c->l1, line);

	if (entry) {
		/* A store to a clean line invalidates the copies of the other cores. */
		if (store && !(lines_get(entry) & LINES_DIRTY))
			snoop_l1(c, line, true);
		lines_flag(entry, store ? LINES_USED | LINES_DIRTY : LINES_USED);
		return true;
	}
	victim = lines_take(&c->l1, line, store ? LINES_DIRTY : 0);
	l1_miss(c, line, store, victim);
	return false;
}

/* Recomputes the bandwidth that the other cores leave, at each synchronisation of the clock. */
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

/* An idle core leaves its share of the memory bandwidth to the others. */
void cache_idle(struct timed_core *c)
{
	atomic_store_explicit(&c->rate, 0, memory_order_relaxed);
	c->window_bytes = 0;
	c->window_ns = c->ns;
}

/* The core's L1 loses power: dirty lines are written to L2 first. */
void cache_lose_l1(struct timed_core *c)
{
	uint32_t i, e, n = (c->l1.mask + 1) * c->l1.ways;

	for (i = 0; i < n; i++) {
		e = lines_get(&c->l1.entry[i]);
		if (!e)
			continue;
		if (e & LINES_DIRTY)
			l2_write_back(c, lines_line(e));
		lines_put(&c->l1.entry[i], 0);
	}
	for (i = 0; i < TIMED_HELD; i++)
		timed_forget_line(c, i, true);
}

/* The cluster's L2 loses power: dirty lines are written to memory first. */
void cache_lose_l2(struct timed_core *c)
{
	struct lines *l2 = &c->cluster->l2;
	uint32_t i, e, n = (l2->mask + 1) * l2->ways;

	for (i = 0; i < n; i++) {
		e = lines_get(&l2->entry[i]);
		if (!e)
			continue;
		if (e & LINES_DIRTY)
			c->count.writeback++;
		lines_put(&l2->entry[i], 0);
	}
}

int cache_init(void)
{
	const struct board *b = &timed.board;
	unsigned int i;

	for (i = 0; i < b->clusters; i++) {
		const struct board_cluster *k = &b->cluster[i];
		uint32_t sets = k->l1_bytes / BOARD_LINE / k->l1_ways;

		/* The held lines of charge.c require that all lines of a set share a slot. */
		if (sets % TIMED_HELD) {
			fprintf(stderr, "timed: an L1 of %u sets: want a multiple of %u\n", sets,
				TIMED_HELD);
			return -1;
		}
		if (lines_init(&timed.cluster[i].l2, k->l2_bytes / BOARD_LINE, k->l2_ways))
			return -1;
	}
	for (i = 0; i < b->cores; i++) {
		struct timed_core *c = &timed.core[i];

		if (lines_init(&c->l1, c->k->l1_bytes / BOARD_LINE, c->k->l1_ways))
			return -1;
		c->line_ns = BOARD_LINE * 1e3 / b->mem_mbs;
	}
	return 0;
}
