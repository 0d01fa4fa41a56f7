/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How busy a CPU is, in units of its highest frequency.
 *
 * The scheduler's signal for a CPU is not exported to modules. This one is the
 * higher of two:
 *  - from idle time, a geometric mean with PELT's half-life of 32 periods and PELT's
 *    invariance: time at a lower frequency counts slower, and the time lost so is
 *    made up for in the idle time that follows. It differs from PELT, for the same
 *    busy and idle time, by what half a window can move a mean, to either side;
 *  - the utilisation of the running thread, which the scheduler keeps in the thread.
 *    A thread that wakes, migrates or is new brings it along while the CPU does not
 *    know it yet. As in PELT, it is added to the mean of the new CPU, and subtracted
 *    from that of the old one when that is next accounted. If it is not known
 *    whether the thread ran here before, only the part that its time here does not
 *    explain is added.
 *
 * There are two channels. ALL counts everything. BASE leaves out the busy time in
 * which a hint decided, because a thread is busier while it is capped; when the
 * phase ends, load asks for BASE, and the frequency returns without a spike.
 */
#ifndef _GCHINT_LOAD_H
#define _GCHINT_LOAD_H

#include "pure.h"

/* One channel: a mean, and the current window. */
struct gchint_load_meter {
	u64 wall_ns; /* length of the current window so far */
	u64 busy_ns; /* busy time in it, scaled by frequency */
	u64 real_ns; /* busy time in it */
	u64 lag_ns; /* time lost to low frequency since the CPU was last idle */
	u32 mean; /* 0..GCHINT_ONE << 10 */
};

#define GCHINT_LOAD_GUESTS     8
#define GCHINT_LOAD_MIGRATIONS 256

/*
 * Where threads ran last, by a hash of their number. Shared by all CPUs without a
 * lock: if two CPUs write an entry at once, or two threads share one, a load is too
 * high or too low until its mean has forgotten it. The same happens when a thread
 * moves between CPUs whose numbers are equal modulo 1024.
 */
struct gchint_load_migrations {
	struct {
		u32 thread_cpu; /* 22 bits of the thread (all of a pid), the lowest 10 of the CPU */
		u32 mean_time; /* 11 bits of 0..GCHINT_ONE, 21 of time in 2^20 ns */
	} entry[GCHINT_LOAD_MIGRATIONS];
};

/* Load of one CPU. The caller serialises all calls for one CPU. */
struct gchint_load {
	u64 last_ns; /* last account */
	u64 last_idle_us; /* idle counter then */
	u64 split_ns; /* when a hint last decided; 0: only @all is in use */
	struct gchint_load_meter all;
	struct gchint_load_meter base;
	u64 idle_ns; /* time without any busy time, up to the last account */
	u32 task; /* gchint_load_set_task() since the CPU last idled, 0..GCHINT_ONE */
	u32 thread; /* of which thread that was */
	u32 guest[GCHINT_LOAD_GUESTS]; /* threads added to the mean last; 0 none */
	u32 next_guest; /* entry of @guest to replace next */
	u64 io_ns; /* last gchint_load_io() */
	u32 io_boost; /* 0..GCHINT_ONE */
	bool io_pending; /* woken since the last gchint_load_boost() */
	u32 cpu; /* for @migrations */
	struct gchint_load_migrations *migrations; /* NULL: threads never migrate */
};

/*
 * Start counting. @migrations, initially zero, is shared by the CPUs between which
 * threads migrate, or NULL. @idle_us is e.g. get_cpu_idle_time().
 */
void gchint_load_init(struct gchint_load *l, struct gchint_load_migrations *migrations, u32 cpu,
		      u64 now_ns, u64 idle_us);

/**
 * gchint_load_account() - account for the time since the last call
 * @l: load of a CPU, after gchint_load_init()
 * @now_ns: current time; nothing is accounted if the last call's was not earlier
 * @idle_us: idle counter; a backward or impossible step counts as busy
 * @scale: gchint_scale() of the frequency in force since the last call
 * @hinted: gchint_demand_capped() of the last demand. Time at a boost does not count
 *	as hinted: at the highest frequency busy time is not stretched.
 * @window_ns: &gchint_tunables.window_us, in ns
 *
 * Also subtracts what threads brought along that have run on another CPU since.
 */
void gchint_load_account(struct gchint_load *l, u64 now_ns, u64 idle_us, u32 scale, bool hinted,
			 u64 window_ns);

/**
 * gchint_load_set_task() - set the utilisation of the running thread
 * @l: load of its CPU, just accounted
 * @thread: its pid in the initial namespace, not 0
 * @util: 0..GCHINT_ONE, of that CPU at its highest frequency; 0 if load shall not
 *	follow it
 *
 * @util counts until the next call, or until gchint_load_account() sees idle time.
 *
 * Return: true if the thread matters and may have come from another CPU: call
 * gchint_load_attach_task(). The mean that this needs is then computed only for new threads.
 */
bool gchint_load_set_task(struct gchint_load *l, u32 thread, u32 util);

/*
 * Add what the running thread brings along, after gchint_load_set_task() returned true.
 * @mean is its recent usage, 0..GCHINT_ONE, limited to @util there. @ran_ns is how
 * long it has run in its life, scaled by frequency: if no CPU has seen it before,
 * that was here, and the load contains it already.
 */
void gchint_load_attach_task(struct gchint_load *l, u32 thread, u32 mean, u64 ran_ns);

/*
 * Has the CPU been idle for longer than @ns? Its earlier load is then no reason to
 * keep others of its policy fast: when it wakes it asks for itself.
 */
static inline bool gchint_load_idle(const struct gchint_load *l, u64 ns)
{
	return l->idle_ns > ns;
}

/*
 * Load without headroom, hinted time included, 0..GCHINT_ONE: what load would ask for
 * while a hinted thread runs, which bounds sessions that may not raise.
 */
u32 gchint_load_all(const struct gchint_load *l);

/* Load without headroom and without hinted time, 0..GCHINT_ONE. */
u32 gchint_load_base(const struct gchint_load *l);

void gchint_load_io(struct gchint_load *l, u64 now_ns, bool woken, u64 tick_ns);

/*
 * Account for a call of the update hook; @woken: with SCHED_CPUFREQ_IOWAIT. As in
 * schedutil, the boost doubles from an eighth up to one while wakeups from I/O wait
 * follow each other within a tick. Without a boost there is nothing to account for.
 */
static inline void gchint_load_iowait(struct gchint_load *l, u64 now_ns, bool woken, u64 tick_ns)
{
	if (woken || l->io_boost)
		gchint_load_io(l, now_ns, woken, tick_ns);
}

void gchint_load_io_decay(struct gchint_load *l);

/*
 * The I/O boost now, 0..GCHINT_ONE, halved if there was no wakeup since the last
 * call. The caller takes the higher of it and the load.
 */
static inline u32 gchint_load_boost(struct gchint_load *l)
{
	if (l->io_boost)
		gchint_load_io_decay(l);
	return l->io_boost;
}

#endif /* _GCHINT_LOAD_H */
