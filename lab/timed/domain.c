// SPDX-License-Identifier: MIT
/*
 * Clock domains. The guest's driver sets a clock through the motherboard's
 * configuration registers: the rate in hertz into SYS_CFGDATA, then the device
 * into SYS_CFGCTRL with the start and write bits (ARM DUI 0447, "System
 * configuration registers").
 */
#include "timed.h"

#define SYS_CFGDATA	0xa0u
#define SYS_CFGCTRL	0xa4u
#define CFG_START	0x80000000u
#define CFG_WRITE	0x40000000u
#define CFG_FUNCTION(v) (((v) >> 20) & 0x3f)
#define CFG_SITE(v)	(((v) >> 16) & 3)
#define CFG_DEVICE(v)	((v)&0xfff)
#define FUNCTION_OSC	1
#define SITE_TILE	1

const uint8_t timed_oscillator[BOARD_CORES] = { 0, 1, 2, 3 };

static uint32_t cfgdata; /* the guest's driver holds a lock over both stores */

/* Puts a rate in force at core @c's time. */
static void domain_change(struct timed_core *c, struct timed_domain *d, const struct board_opp *opp)
{
	unsigned int i;

	if (opp == d->opp)
		return;
	d->opp = opp;
	atomic_fetch_add(&d->epoch, 1);
	for (i = 0; i < timed.board.cores; i++)
		if (timed_domain(i) == d)
			trace_put(&timed.core[i], TRACE_CLOCK, 0, (uint64_t)c->ns);
}

/* Updates a core's costs after a change of its domain's clock. */
void domain_refresh(struct timed_core *c)
{
	struct timed_domain *d = timed_domain(c->cpu);
	const struct board_opp *next = atomic_load(&d->next);
	uint32_t epoch, khz;

	if (next && c->ns >= d->due_ns && atomic_compare_exchange_strong(&d->next, &next, NULL))
		domain_change(c, d, next);
	epoch = atomic_load(&d->epoch);
	if (c->armed != atomic_load_explicit(&timed.armed, memory_order_relaxed))
		c->armed = !c->armed;
	if (c->epoch == epoch)
		return;
	c->epoch = epoch;
	khz = d->opp->khz;
	c->cycle_ns = 1e6 / khz;
	c->insn_ns = c->k->cpi * c->cycle_ns;
	c->miss_ns = c->k->l2_cycles * c->cycle_ns + c->k->l2_ns;
}

static void domain_set_rate(struct timed_core *c, unsigned int cpu, uint32_t hz)
{
	struct timed_domain *d = timed_domain(cpu);
	const struct board_cluster *k = board_of(&timed.board, cpu);
	const struct board_opp *opp = board_opp(k, hz / 1000);
	const struct board_opp *next = atomic_load(&d->next);
	double wait = k->switch_us * 1e3;

	if (opp == (next ? next : d->opp))
		return;
	/* The calling core waits for the regulator and the clock, at the old rate. */
	c->ns += wait;
	c->unpaced_ns += wait;
	if (k->settle_us > 0) {
		/* A request that replaces one that is not in force yet does not delay it. */
		if (!next)
			d->due_ns = c->ns + k->settle_us * 1e3;
		atomic_store(&d->next, opp);
	} else {
		domain_change(c, d, opp);
	}
	domain_refresh(c);
}

void domain_store(struct timed_core *c, uint64_t phys, uint32_t value)
{
	unsigned int i;

	if (phys == TIMED_SYSREG + SYS_CFGDATA) {
		cfgdata = value;
		return;
	}
	if (phys != TIMED_SYSREG + SYS_CFGCTRL || !(value & CFG_START) || !(value & CFG_WRITE) ||
	    CFG_FUNCTION(value) != FUNCTION_OSC || CFG_SITE(value) != SITE_TILE)
		return;
	for (i = 0; i < timed.board.cores; i++)
		if (CFG_DEVICE(value) == timed_oscillator[i]) {
			if (board_clock(&timed.board, i) == i)
				domain_set_rate(c, i, cfgdata);
			return;
		}
}

/* Each domain runs at its highest rate until the guest sets one. */
void domain_init(void)
{
	unsigned int i;

	for (i = 0; i < BOARD_CORES; i++)
		timed.domain[i].epoch = 1;
	for (i = 0; i < timed.board.cores; i++) {
		struct timed_core *c = &timed.core[i];

		c->cpu = i;
		c->k = board_of(&timed.board, i);
		c->cluster = &timed.cluster[c->k - timed.board.cluster];
		timed.domain[i].opp = board_top(c->k);
		domain_refresh(c);
	}
}
