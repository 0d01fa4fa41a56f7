/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A CPU's load as the module computes it, next to a floating-point model of PELT with a half-life
 * of 32 periods of 2^20 ns and the kernel's frequency invariance.
 */
#ifndef _CPU_H
#define _CPU_H

#include "unit.h"
#include "load.h"

/* The default of the tunable; some tests set other values. */
static u64 window = 4 * MS;
#define WINDOW window
#define TICK   (4 * MS)

/* What the scheduler would know about a CPU. */
struct pelt {
	double util; /* 0..1 */
	double lag; /* seconds lost to low frequency since last idle */
};

static inline double pelt_decay(double seconds)
{
	return pow(0.5, seconds / (32 * 1048576e-9));
}

static inline void pelt_run(struct pelt *p, double seconds, double scale)
{
	double d = pelt_decay(seconds * scale);

	p->util = p->util * d + (1 - d);
	p->lag += seconds * (1 - scale);
}

static inline void pelt_idle(struct pelt *p, double seconds)
{
	/* A saturated CPU's lost time is dropped: there was no idle time to lose. */
	if (p->util < (47742.0 - 1024) / 47742)
		p->util *= pelt_decay(p->lag);
	p->lag = 0;
	p->util *= pelt_decay(seconds);
}

/* One CPU in both models. */
struct cpu {
	struct gchint_load load;
	struct pelt pelt;
	u64 now;
	u64 idle_us;
};

static inline void cpu_init(struct cpu *c)
{
	memset(c, 0, sizeof(*c));
	c->now = 5 * S;
	gchint_load_init(&c->load, NULL, 0, c->now, 0);
}

static inline void account(struct cpu *c, double scale, bool hinted)
{
	gchint_load_account(&c->load, c->now, c->idle_us, (u32)(scale * GCHINT_ONE + 0.5), hinted,
			    WINDOW);
}

static inline void step(struct cpu *c, u64 us, bool busy, double scale)
{
	c->now += us * US;
	if (busy) {
		pelt_run(&c->pelt, (double)us / 1e6, scale);
	} else {
		pelt_idle(&c->pelt, (double)us / 1e6);
		c->idle_us += us;
	}
}

static inline double all(const struct cpu *c)
{
	return (double)gchint_load_all(&c->load) / GCHINT_ONE;
}

static inline double base(const struct cpu *c)
{
	return (double)gchint_load_base(&c->load) / GCHINT_ONE;
}

#endif /* _CPU_H */
