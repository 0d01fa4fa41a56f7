// SPDX-License-Identifier: MIT
/*
 * Coherence. One byte for each line of the guest's memory holds the set of cores that may have the
 * line in L1; only those are snooped. A store invalidates the line in all other caches; a line
 * that is dirty in another cache comes from there.
 *
 * Cores snoop each other without a lock: a lost update only means that a snoop is not charged, or
 * is charged twice.
 */
#include "timed.h"

#define RAM_START 0x80000000u /* on the Versatile Express A15 */
#define RAM_BYTES 0x40000000u /* as configured by tests/board/boards/timed */

static uint8_t *holders;

int snoop_init(void)
{
	holders = calloc(RAM_BYTES / BOARD_LINE, 1);
	return holders ? 0 : -1;
}

/* Invalidates the other core's copy or, for a load, makes it clean. */
static enum snooped copy_downgrade(struct timed_core *other, uint32_t line, bool store)
{
	uint32_t *entry = lines_find(&other->l1, line), e;

	if (!entry)
		return SNOOPED_NONE;
	e = lines_get(entry);
	lines_put(entry, store ? 0 : e & ~LINES_DIRTY);
	timed_forget_line(other, line, store);
	return e & LINES_DIRTY ? SNOOPED_DIRTY : SNOOPED_COPY;
}

static double snoop_cost_ns(const struct timed_core *c, const struct timed_core *other)
{
	return c->k->snoop_cycles * c->cycle_ns +
	       (c->cluster == other->cluster ? 0 : timed.board.snoop_ns);
}

enum snooped snoop_l1(struct timed_core *c, uint32_t line, bool store)
{
	uint32_t place = line - RAM_START / BOARD_LINE, mine = 1u << c->cpu;
	enum snooped best = SNOOPED_NONE, had;
	uint8_t sharers, still = (uint8_t)mine;
	double wait = 0, each;
	unsigned int i;

	if (place >= RAM_BYTES / BOARD_LINE)
		return SNOOPED_NONE;
	sharers = __atomic_load_n(&holders[place], __ATOMIC_RELAXED);
	if (sharers == mine)
		return SNOOPED_NONE;
	for (i = 0; i < timed.board.cores; i++) {
		if (i == c->cpu || !(sharers & 1u << i))
			continue;
		had = copy_downgrade(&timed.core[i], line, store);
		if (had != SNOOPED_NONE && !store)
			still |= (uint8_t)(1u << i);
		/* A clean copy costs only a store: a load gets the line from L2 or memory. */
		if (had == SNOOPED_DIRTY || (had == SNOOPED_COPY && store)) {
			each = snoop_cost_ns(c, &timed.core[i]);
			wait = each > wait ? each : wait;
			c->count.snoop++;
		}
		best = had > best ? had : best;
	}
	__atomic_store_n(&holders[place], still, __ATOMIC_RELAXED);
	if (wait > 0)
		timed_stall(c, wait);
	return best;
}

/* Returns whether another cluster's L2 has the line. */
bool snoop_l2(struct timed_core *c, uint32_t line, bool store)
{
	bool found = false;
	unsigned int i;

	for (i = 0; i < timed.board.clusters; i++) {
		struct timed_cluster *other = &timed.cluster[i];
		uint32_t *entry = other == c->cluster ? NULL : lines_find(&other->l2, line);

		if (!entry)
			continue;
		lines_put(entry, store ? 0 : lines_get(entry) & ~LINES_DIRTY);
		found = true;
	}
	if (found) {
		c->count.snoop++;
		timed_stall(c, timed.board.snoop_ns);
	}
	return found;
}
