// SPDX-License-Identifier: MIT
/*
 * Idle states. The guest's driver writes the state of its next WFI into the motherboard's
 * non-volatile flags (ARM DUI 0447, SYS_NVFLAGSSET), which nothing else uses: 0 is WFI, N is the
 * Nth idle line of the board file. A core in such a state loses its L1 and TLBs, and takes time
 * to leave it. While all cores of a cluster are in states that allow the cluster to be off, its
 * L2 is lost as well, and the first core that wakes is charged for it.
 */
#include "insns.h"

#define SYS_NVFLAGSSET 0x38u

void idle_store(struct timed_core *c, uint64_t phys, uint32_t value)
{
	if (phys == TIMED_SYSREG + SYS_NVFLAGSSET)
		c->wanted = value <= c->k->idles ? value : 0;
}

static const struct board_idle *idle_state(const struct timed_core *c)
{
	return c->state ? &c->k->idle[c->state - 1] : NULL;
}

void idle_enter(struct timed_core *c)
{
	const struct board_idle *s;

	c->state = c->wanted;
	c->wanted = 0;
	s = idle_state(c);
	if (!s)
		return;
	cache_lose_l1(c);
	tlb_lose(c);
	if (s->cluster && atomic_fetch_add(&c->cluster->leave, 1) + 1 == c->k->cores)
		atomic_store(&c->cluster->off, true);
}

/*
 * Exit latency if the core was off but not its cluster: that of the deepest state that does not
 * include the cluster.
 */
static double core_exit_us(const struct timed_core *c)
{
	const struct board_idle *s = idle_state(c);

	while (s > c->k->idle && s->cluster)
		s--;
	return s->exit_us;
}

void idle_leave(struct timed_core *c)
{
	const struct board_idle *s = idle_state(c);
	double us;

	if (!s)
		return;
	us = core_exit_us(c);
	if (s->cluster) {
		atomic_fetch_sub(&c->cluster->leave, 1);
		if (atomic_exchange(&c->cluster->off, false)) {
			us = s->exit_us;
			cache_lose_l2(c);
		}
	}
	c->count.wakes++;
	c->state = 0;
	insns_wake(c, us * 1e3);
}
