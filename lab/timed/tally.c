// SPDX-License-Identifier: MIT
/* Counts the instructions of each core, and charges their base cost in clock cycles. */
#include "tally.h"

/* Inline counters of one core. */
struct tally {
	uint64_t insns; /* since the last synchronisation with the clock */
};

qemu_plugin_u64 tally_insns;

static struct tally *tally_find(const struct timed_core *c)
{
	return qemu_plugin_scoreboard_find(tally_insns.score, c->cpu);
}

uint64_t tally_now(struct timed_core *c)
{
	uint64_t insns = tally_find(c)->insns, n = insns - c->settled;

	c->settled = insns;
	c->count.insns += n;
	c->ns += (double)n * c->insn_ns;
	return (uint64_t)c->ns;
}

void tally_begin(struct timed_core *c)
{
	tally_now(c);
	/* Not in tally_now(): a loop that reads the clock would never fill a chunk. */
	tally_find(c)->insns = 0;
	c->settled = 0;
}

void tally_wake(struct timed_core *c, double ns)
{
	c->waking_ns = ns;
	/* Make the chunk full, so that the next block synchronises; nothing of it is charged. */
	tally_find(c)->insns += TIMED_CHUNK;
	c->settled += TIMED_CHUNK;
}

int tally_init(void)
{
	tally_insns.score = qemu_plugin_scoreboard_new(sizeof(struct tally));
	tally_insns.offset = 0;
	return tally_insns.score ? 0 : -1;
}
