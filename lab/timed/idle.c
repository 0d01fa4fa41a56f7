// SPDX-License-Identifier: MIT
/*
 * Idle states. The guest's driver writes the state that its next WFI is to be
 * into the motherboard's non-volatile flags (ARM DUI 0447, SYS_NVFLAGSSET),
 * which nothing else there uses: 0 is WFI, N the Nth idle line of the board
 * file. A core in such a state has lost its caches and leaves it late; when
 * all cores of a cluster are in one that lets the cluster off, its L2 is lost
 * as well, and the first that wakes pays for all.
 */
#include "tally.h"

#define SYS_NVFLAGSSET 0x38u

void idle_store(struct timed_core *c, uint64_t phys, uint32_t value)
{
	if (phys == TIMED_SYSREG + SYS_NVFLAGSSET)
		c->wanted = value <= c->k->idles ? value : 0;
}

static const struct board_idle *state_of(const struct timed_core *c)
{
	return c->state ? &c->k->idle[c->state - 1] : NULL;
}

void idle_enter(struct timed_core *c)
{
	const struct board_idle *s;

	c->state = c->wanted;
	c->wanted = 0;
	s = state_of(c);
	if (!s)
		return;
	cache_lose_l1(c);
	tlb_lose(c);
	if (s->cluster && atomic_fetch_add(&c->cluster->leave, 1) + 1 == c->k->cores)
		atomic_store(&c->cluster->off, true);
}

/* What leaving takes if only the core was off: as of the deepest state of a core alone. */
static double alone_us(const struct timed_core *c)
{
	const struct board_idle *s = state_of(c);

	while (s > c->k->idle && s->cluster)
		s--;
	return s->exit_us;
}

void idle_leave(struct timed_core *c)
{
	const struct board_idle *s = state_of(c);
	double us;

	if (!s)
		return;
	us = alone_us(c);
	if (s->cluster) {
		atomic_fetch_sub(&c->cluster->leave, 1);
		if (atomic_exchange(&c->cluster->off, false)) {
			us = s->exit_us;
			cache_lose_l2(c);
		}
	}
	c->count.wakes++;
	c->state = 0;
	tally_wake(c, us * 1e3);
}
