// SPDX-License-Identifier: GPL-2.0-only
#include "load.h"

/* A mean this close to one is saturated: how much time was lost is unknowable. */
#define SATURATED (((u32)GCHINT_ONE << 10) / 64 * 63)
/* The channels have converged this long after the last hint. */
#define MERGE_NS (256 * (u64)NSEC_PER_MSEC)
#define IO_MIN	 (GCHINT_ONE / 8)
/* Threads that use less are not worth a place among the guests. */
#define GUEST_MIN (GCHINT_ONE / 32)
/* ln 2 / 32.768 ms, by nanoseconds and fixed point: times 2^10 times 2^26. */
#define LN2_HALF_LIFE 1454U
/* Up to here that is within a hundredth of the truth. */
#define STRAIGHT_NS (8 * (u64)NSEC_PER_MSEC)

#define WHO_BITS   22
#define UTIL_BITS  11
#define TIME_SHIFT 20 /* of ns */

/* 2^16 * 2^(-n/32): the decay of n periods of 1024 us, half-life 32 periods. */
static const u32 decay_16[33] = {
	65536, 64132, 62757, 61413, 60097, 58809, 57549, 56316, 55109, 53928, 52773,
	51642, 50535, 49452, 48393, 47356, 46341, 45348, 44376, 43425, 42495, 41584,
	40693, 39821, 38968, 38133, 37316, 36516, 35734, 34968, 34219, 33486, 32768,
};

static u32 decay(u32 value, u64 ns)
{
	u64 us = div_u64(ns, NSEC_PER_USEC);
	u32 part = us & 1023;
	u32 n = (us >> 10) & 31;
	u64 halves = us >> 15;
	u32 d;

	if (halves > 31)
		return 0;
	d = decay_16[n] - (((decay_16[n] - decay_16[n + 1]) * part) >> 10);
	return (u32)(((u64)value * d) >> 16 >> halves);
}

/*
 * The window's idle time is taken to come first. That is the highest that the
 * mean can be, for PELT knows the order and must not be higher.
 */
static void mean_update(struct gchint_load_meter *m)
{
	u32 one = GCHINT_ONE << 10;
	u64 idle = m->wall_ns - m->real_ns;

	if (idle) {
		m->mean = decay(m->mean, idle + (m->mean < SATURATED ? m->lag_ns : 0));
		m->lag_ns = 0;
	}
	m->mean = one - decay(one - m->mean, m->busy_ns);
	m->lag_ns += m->real_ns - m->busy_ns;
}

static void meter_add(struct gchint_load_meter *m, u64 wall, u64 busy, u32 scale, u64 window_ns)
{
	m->wall_ns += wall;
	m->real_ns += busy;
	m->busy_ns += (busy * scale) >> GCHINT_ONE_SHIFT;
	if (m->wall_ns < window_ns)
		return;
	mean_update(m);
	m->wall_ns = 0;
	m->real_ns = 0;
	m->busy_ns = 0;
}

/*
 * The mean, had the busy time of the window under way come last. The start of
 * an exponential is straight, and the straight line is above it.
 */
static u32 mean_now(const struct gchint_load_meter *m)
{
	u32 one = GCHINT_ONE << 10;

	if (m->busy_ns > STRAIGHT_NS)
		return one - decay(one - m->mean, m->busy_ns);
	return m->mean + (u32)(((u64)(one - m->mean) * ((m->busy_ns * LN2_HALF_LIFE) >> 26)) >>
			       GCHINT_ONE_SHIFT);
}

static u32 meter_value(const struct gchint_load_meter *m)
{
	return min_t(u32, mean_now(m) >> 10, GCHINT_ONE);
}

static void attach(struct gchint_load_meter *m, u32 util)
{
	m->mean = min_t(u32, m->mean + (util << 10), GCHINT_ONE << 10);
}

static void detach(struct gchint_load_meter *m, u32 mean)
{
	m->mean -= min_t(u32, m->mean, mean);
}

static u32 where(const struct gchint_load *l, u32 who)
{
	return (l->cpu << WHO_BITS) | (who & ((1U << WHO_BITS) - 1));
}

static u32 place_of(u32 who)
{
	return ((who * 0x9e3779b1U) >> 16) % GCHINT_LOAD_MIGRATIONS;
}

/* Whoever was here before it hears of it by the same place. */
static void come(struct gchint_load *l, u32 who, u32 mean)
{
	u32 i = place_of(who);

	if (!l->migrations || READ_ONCE(l->migrations->entry[i].where) == where(l, who))
		return;
	WRITE_ONCE(l->migrations->entry[i].what,
		   mean | ((u32)(l->last_ns >> TIME_SHIFT) << UTIL_BITS));
	WRITE_ONCE(l->migrations->entry[i].where, where(l, who));
}

/* What a guest took along to another CPU is no longer here. */
static void leave(struct gchint_load *l, u32 *guest)
{
	u32 i = place_of(*guest);
	u32 at = READ_ONCE(l->migrations->entry[i].where);
	u32 what, mean, age;

	if (at == where(l, *guest) || (at ^ where(l, *guest)) << (32 - WHO_BITS))
		return;
	what = READ_ONCE(l->migrations->entry[i].what);
	age = ((u32)(l->last_ns >> TIME_SHIFT) - (what >> UTIL_BITS)) & (U32_MAX >> UTIL_BITS);
	mean = decay((what & ((1U << UTIL_BITS) - 1)) << 10, (u64)age << TIME_SHIFT);
	detach(&l->all, mean);
	detach(&l->base, mean);
	if (l->who == *guest)
		l->who = 0;
	*guest = 0;
}

static void leave_all(struct gchint_load *l)
{
	u32 i;

	for (i = 0; l->migrations && i < GCHINT_LOAD_GUESTS; i++) {
		if (l->guest[i])
			leave(l, &l->guest[i]);
	}
}

void gchint_load_init(struct gchint_load *l, struct gchint_load_migrations *migrations, u32 cpu,
		      u64 now_ns, u64 idle_us)
{
	memset(l, 0, sizeof(*l));
	l->migrations = migrations;
	l->cpu = cpu;
	l->last_ns = now_ns;
	l->last_idle_us = idle_us;
}

void gchint_load_account(struct gchint_load *l, u64 now_ns, u64 idle_us, u32 scale, bool hinted,
			 u64 window_ns)
{
	u64 wall, idle, busy;

	if (now_ns <= l->last_ns)
		return;
	/* Beyond this the meters are all about now anyway, and sums cannot overflow. */
	wall = min_t(u64, now_ns - l->last_ns, 16 * (u64)NSEC_PER_SEC);
	idle = idle_us > l->last_idle_us ? idle_us - l->last_idle_us : 0;
	idle = min_t(u64, min_t(u64, idle, U32_MAX) * NSEC_PER_USEC, wall);
	busy = wall - idle;
	l->last_ns = now_ns;
	l->last_idle_us = idle_us;
	scale = min_t(u32, scale, GCHINT_ONE);
	l->idle_ns = busy ? 0 : l->idle_ns + idle;
	if (idle)
		l->task = 0;

	if (hinted && busy) {
		if (!l->split_ns)
			l->base = l->all;
		l->split_ns = now_ns;
	}
	meter_add(&l->all, wall, busy, scale, window_ns);
	if (!l->split_ns) {
		leave_all(l);
		return;
	}
	if (now_ns - l->split_ns > MERGE_NS) {
		meter_add(&l->base, wall, busy, scale, window_ns);
		l->all = l->base;
		l->split_ns = 0;
	} else if (hinted) {
		meter_add(&l->base, idle, 0, scale, window_ns);
	} else {
		meter_add(&l->base, wall, busy, scale, window_ns);
	}
	leave_all(l);
}

bool gchint_load_task(struct gchint_load *l, u32 who, u32 util)
{
	l->task = min_t(u32, util, GCHINT_ONE);
	return who != l->who && l->task >= GUEST_MIN;
}

void gchint_load_come(struct gchint_load *l, u32 who, u32 mean)
{
	u32 i;

	mean = min_t(u32, mean, l->task);
	l->who = who;
	come(l, who, mean);
	for (i = 0; i < GCHINT_LOAD_GUESTS; i++) {
		if (l->guest[i] == who)
			return;
	}
	l->guest[l->next] = who;
	l->next = (l->next + 1) % GCHINT_LOAD_GUESTS;
	attach(&l->all, mean);
	attach(&l->base, mean);
}

u32 gchint_load_all(const struct gchint_load *l)
{
	u32 all = max_t(u32, meter_value(&l->all), l->task);

	return l->split_ns ? max_t(u32, all, meter_value(&l->base)) : all;
}

u32 gchint_load_base(const struct gchint_load *l)
{
	return max_t(u32, meter_value(l->split_ns ? &l->base : &l->all), l->task);
}

void gchint_load_io(struct gchint_load *l, u64 now_ns, bool woken, u64 tick_ns)
{
	if (l->io_boost && now_ns - l->io_ns > tick_ns) {
		l->io_boost = woken ? IO_MIN : 0;
		l->io_pending = woken;
	} else if (woken && !l->io_pending) {
		l->io_boost = l->io_boost ? min_t(u32, l->io_boost * 2, GCHINT_ONE) : IO_MIN;
		l->io_pending = true;
	}
	l->io_ns = now_ns;
}

void gchint_load_io_fade(struct gchint_load *l)
{
	if (!l->io_pending) {
		l->io_boost /= 2;
		if (l->io_boost < IO_MIN)
			l->io_boost = 0;
	}
	l->io_pending = false;
}
