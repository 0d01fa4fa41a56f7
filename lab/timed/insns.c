// SPDX-License-Identifier: MIT
/* Counts the instructions of each core, and charges their base cost in clock cycles. */
#include "insns.h"

/* Inline counters of one core. */
struct insns_count {
	uint64_t insns; /* since the last synchronisation with the clock */
};

qemu_plugin_u64 insns_score;

static struct insns_count *insns_find(const struct timed_core *c)
{
	return qemu_plugin_scoreboard_find(insns_score.score, c->cpu);
}

uint64_t insns_now(struct timed_core *c)
{
	uint64_t insns = insns_find(c)->insns, n = insns - c->settled;

	c->settled = insns;
	c->count.insns += n;
	c->ns += (double)n * c->insn_ns;
	return (uint64_t)c->ns;
}

void insns_begin(struct timed_core *c)
{
	insns_now(c);
	/* Not in insns_now(): a loop that reads the clock would never fill a chunk. */
	insns_find(c)->insns = 0;
	c->settled = 0;
}

void insns_wake(struct timed_core *c, double ns)
{
	c->waking_ns = ns;
	/* Make the chunk full, so that the next block synchronises; nothing of it is charged. */
	insns_find(c)->insns += TIMED_CHUNK;
	c->settled += TIMED_CHUNK;
}

int insns_init(void)
{
	insns_score.score = qemu_plugin_scoreboard_new(sizeof(struct insns_count));
	insns_score.offset = 0;
	return insns_score.score ? 0 : -1;
}
