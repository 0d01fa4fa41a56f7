// SPDX-License-Identifier: GPL-2.0-only
#include "load.h"

/* A mean this close to one is saturated: how much time was lost is unknowable. */
#define SATURATED (((u32)GCHINT_ONE << 10) / 64 * 63)
/* The channels have converged this long after the last hint. */
#define MERGE_NS (256 * (u64)NSEC_PER_MSEC)
#define IO_MIN	 (GCHINT_ONE / 8)
/* Threads that use less are not worth a place among the guests. */
#define GUEST_MIN (GCHINT_ONE / 32)

#define WHO_BITS   22
#define UTIL_BITS  11
#define TIME_SHIFT 20 /* of ns */

/* 2^16 * 2^(-n/32): the decay of n of PELT's periods of 2^20 ns, half-life 32 periods. */
static const u32 decay_16[33] = {
	65536, 64132, 62757, 61413, 60097, 58809, 57549, 56316, 55109, 53928, 52773,
	51642, 50535, 49452, 48393, 47356, 46341, 45348, 44376, 43425, 42495, 41584,
	40693, 39821, 38968, 38133, 37316, 36516, 35734, 34968, 34219, 33486, 32768,
};

static u32 decay(u32 value, u64 ns)
{
	u64 halves = ns >> 25;
	u32 n = (u32)(ns >> 20) & 31;
	u32 part = (u32)ns & ((1U << 20) - 1);
	u32 d;

	if (halves > 31)
		return 0;
	/* Neighbours differ by less than 2^11, and 2^8 steps between them are not lost. */
	d = (decay_16[n] << 8) - (((decay_16[n] - decay_16[n + 1]) * part) >> 12);
	return (u32)(((u64)value * d) >> 24 >> halves);
}

/*
 * The mean, the window under way included. PELT knows in which order that was busy and
 * idle; here half of the idle time is taken to come first and half last, so that a
 * mean is as often above PELT's as below. To take the highest that it can be would be a
 * headroom that nobody asked for.
 */
static u32 mean_now(const struct gchint_load_meter *m)
{
	u32 one = GCHINT_ONE << 10;
	u64 idle = m->wall_ns - m->real_ns;
	u64 first = idle / 2;
	u32 mean = m->mean;

	if (idle)
		mean = decay(mean, first + (mean < SATURATED ? m->lag_ns : 0));
	mean = one - decay(one - mean, m->busy_ns);
	return decay(mean, idle - first);
}

static void meter_close(struct gchint_load_meter *m)
{
	m->mean = mean_now(m);
	if (m->wall_ns != m->real_ns)
		m->lag_ns = 0;
	m->lag_ns += m->real_ns - m->busy_ns;
	m->wall_ns = 0;
	m->real_ns = 0;
	m->busy_ns = 0;
}

static void meter_add(struct gchint_load_meter *m, u64 wall, u64 busy, u32 scale, u64 window_ns)
{
	m->wall_ns += wall;
	m->real_ns += busy;
	m->busy_ns += (busy * scale) >> GCHINT_ONE_SHIFT;
	if (m->wall_ns >= window_ns)
		meter_close(m);
}

static u32 meter_value(const struct gchint_load_meter *m)
{
	return min_t(u32, mean_now(m) >> 10, GCHINT_ONE);
}

static void attach(struct gchint_load_meter *m, u32 mean)
{
	m->mean = min_t(u32, m->mean + mean, GCHINT_ONE << 10);
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

/* Where a thread comes from that is to run here now. */
enum origin {
	HERE, /* it was here all along */
	ELSEWHERE,
	UNKNOWN, /* nobody has told of it, or another one in its place */
};

/* Whoever was here before it hears of it by the same place. */
static enum origin come(struct gchint_load *l, u32 who, u32 mean)
{
	u32 i = place_of(who), at;

	if (!l->migrations)
		return UNKNOWN;
	at = READ_ONCE(l->migrations->entry[i].where);
	if (at == where(l, who))
		return HERE;
	WRITE_ONCE(l->migrations->entry[i].what,
		   mean | ((u32)(l->last_ns >> TIME_SHIFT) << UTIL_BITS));
	WRITE_ONCE(l->migrations->entry[i].where, where(l, who));
	return (at ^ where(l, who)) << (32 - WHO_BITS) ? UNKNOWN : ELSEWHERE;
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

/* Nobody has heard of its running elsewhere since. */
static bool still_here(const struct gchint_load *l, u32 who)
{
	return who == l->who &&
	       (!l->migrations ||
		READ_ONCE(l->migrations->entry[place_of(who)].where) == where(l, who));
}

bool gchint_load_task(struct gchint_load *l, u32 who, u32 util)
{
	l->task = min_t(u32, util, GCHINT_ONE);
	return l->task >= GUEST_MIN && !still_here(l, who);
}

/* It is told when it has left. Was it one before? */
static bool be_guest(struct gchint_load *l, u32 who)
{
	u32 i;

	for (i = 0; i < GCHINT_LOAD_GUESTS; i++) {
		if (l->guest[i] == who)
			return true;
	}
	l->guest[l->next] = who;
	l->next = (l->next + 1) % GCHINT_LOAD_GUESTS;
	return false;
}

/* What of a thread's @mean the time that it @ran here has not brought yet is added. */
static void settle(struct gchint_load_meter *m, u32 mean, u64 ran_ns)
{
	u32 one = GCHINT_ONE << 10;
	u32 seen = one - decay(one, ran_ns);

	meter_close(m);
	mean <<= 10;
	if (mean > seen)
		attach(m, mean - seen);
	m->mean = max_t(u32, m->mean, mean);
}

void gchint_load_come(struct gchint_load *l, u32 who, u32 mean, u64 ran_ns)
{
	enum origin origin;

	mean = min_t(u32, mean, l->task);
	l->who = who;
	origin = come(l, who, mean);
	if (be_guest(l, who) && origin == UNKNOWN)
		origin = HERE;
	if (origin == HERE)
		return;
	if (origin == ELSEWHERE)
		ran_ns = 0;
	settle(&l->all, mean, ran_ns);
	settle(&l->base, mean, ran_ns);
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
