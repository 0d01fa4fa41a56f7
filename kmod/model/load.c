// SPDX-License-Identifier: GPL-2.0-only
#include "load.h"

/* A mean this close to one is saturated: how much time was lost is not known. */
#define SATURATED_MEAN (((u32)GCHINT_ONE << 10) / 64 * 63)
/* The channels have converged this long after the last hint. */
#define CHANNELS_MERGE_NS (256 * (u64)NSEC_PER_MSEC)
#define IO_BOOST_MIN (GCHINT_ONE / 8)
/* Threads that use less are not recorded as guests. */
#define GUEST_UTIL_MIN (GCHINT_ONE / 32)

#define THREAD_BITS 22
#define UTIL_BITS   11
#define TIME_SHIFT  20 /* of ns */

/* 2^16 * 2^(-n/32): the decay of n of PELT's periods of 2^20 ns, half-life 32 periods. */
static const u32 decay_16[33] = {
	65536, 64132, 62757, 61413, 60097, 58809, 57549, 56316, 55109, 53928, 52773,
	51642, 50535, 49452, 48393, 47356, 46341, 45348, 44376, 43425, 42495, 41584,
	40693, 39821, 38968, 38133, 37316, 36516, 35734, 34968, 34219, 33486, 32768,
};

static u32 mean_decay(u32 value, u64 ns)
{
	u64 halves = ns >> 25;
	u32 n = (u32)(ns >> 20) & 31;
	u32 part = (u32)ns & ((1U << 20) - 1);
	u32 d;

	if (halves > 31)
		return 0;
	/* Neighbours differ by less than 2^11: 2^8 steps between them fit. */
	d = (decay_16[n] << 8) - (((decay_16[n] - decay_16[n + 1]) * part) >> 12);
	return (u32)(((u64)value * d) >> 24 >> halves);
}

/*
 * The mean, including the current window. PELT knows the order of busy and idle
 * time; here half of the idle time is taken to come first and half last, so that a
 * mean is as often above PELT's as below. The highest possible mean would be a
 * hidden headroom.
 */
static u32 meter_mean(const struct gchint_load_meter *m)
{
	u32 one = GCHINT_ONE << 10;
	u64 idle = m->wall_ns - m->real_ns;
	u64 first = idle / 2;
	u32 mean = m->mean;

	if (idle)
		mean = mean_decay(mean, first + (mean < SATURATED_MEAN ? m->lag_ns : 0));
	mean = one - mean_decay(one - mean, m->busy_ns);
	return mean_decay(mean, idle - first);
}

static void meter_close(struct gchint_load_meter *m)
{
	m->mean = meter_mean(m);
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
	return min_t(u32, meter_mean(m) >> 10, GCHINT_ONE);
}

static void meter_attach(struct gchint_load_meter *m, u32 mean)
{
	m->mean = min_t(u32, m->mean + mean, GCHINT_ONE << 10);
}

static void meter_detach(struct gchint_load_meter *m, u32 mean)
{
	m->mean -= min_t(u32, m->mean, mean);
}

static u32 migration_key(const struct gchint_load *l, u32 thread)
{
	return (l->cpu << THREAD_BITS) | (thread & ((1U << THREAD_BITS) - 1));
}

static u32 migration_slot(u32 thread)
{
	return ((thread * 0x9e3779b1U) >> 16) % GCHINT_LOAD_MIGRATIONS;
}

/* Where a thread comes from that is to run here now. */
enum origin {
	ORIGIN_HERE,
	ORIGIN_OTHER_CPU,
	ORIGIN_UNKNOWN, /* no CPU has recorded it, or another thread replaced it */
};

/* Record that the thread runs here: its previous CPU finds this in the same entry. */
static enum origin migration_record(struct gchint_load *l, u32 thread, u32 mean)
{
	u32 i = migration_slot(thread), at;

	if (!l->migrations)
		return ORIGIN_UNKNOWN;
	at = READ_ONCE(l->migrations->entry[i].thread_cpu);
	if (at == migration_key(l, thread))
		return ORIGIN_HERE;
	WRITE_ONCE(l->migrations->entry[i].mean_time,
		   mean | ((u32)(l->last_ns >> TIME_SHIFT) << UTIL_BITS));
	WRITE_ONCE(l->migrations->entry[i].thread_cpu, migration_key(l, thread));
	return (at ^ migration_key(l, thread)) << (32 - THREAD_BITS) ? ORIGIN_UNKNOWN :
								       ORIGIN_OTHER_CPU;
}

/* Subtract what a guest took along to another CPU. */
static void guest_detach_moved(struct gchint_load *l, u32 *guest)
{
	u32 i = migration_slot(*guest);
	u32 at = READ_ONCE(l->migrations->entry[i].thread_cpu);
	u32 mean_time, mean, age;

	if (at == migration_key(l, *guest) || (at ^ migration_key(l, *guest)) << (32 - THREAD_BITS))
		return;
	mean_time = READ_ONCE(l->migrations->entry[i].mean_time);
	age = ((u32)(l->last_ns >> TIME_SHIFT) - (mean_time >> UTIL_BITS)) & (U32_MAX >> UTIL_BITS);
	mean = mean_decay((mean_time & ((1U << UTIL_BITS) - 1)) << 10, (u64)age << TIME_SHIFT);
	meter_detach(&l->all, mean);
	meter_detach(&l->base, mean);
	if (l->thread == *guest)
		l->thread = 0;
	*guest = 0;
}

static void guest_detach_all(struct gchint_load *l)
{
	u32 i;

	for (i = 0; l->migrations && i < GCHINT_LOAD_GUESTS; i++) {
		if (l->guest[i])
			guest_detach_moved(l, &l->guest[i]);
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
	/* Beyond this only the present counts, and sums cannot overflow. */
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
		guest_detach_all(l);
		return;
	}
	if (now_ns - l->split_ns > CHANNELS_MERGE_NS) {
		meter_add(&l->base, wall, busy, scale, window_ns);
		l->all = l->base;
		l->split_ns = 0;
	} else if (hinted) {
		meter_add(&l->base, idle, 0, scale, window_ns);
	} else {
		meter_add(&l->base, wall, busy, scale, window_ns);
	}
	guest_detach_all(l);
}

/* No other CPU has recorded the thread since. */
static bool load_thread_stayed(const struct gchint_load *l, u32 thread)
{
	return thread == l->thread &&
	       (!l->migrations ||
		READ_ONCE(l->migrations->entry[migration_slot(thread)].thread_cpu) ==
			migration_key(l, thread));
}

bool gchint_load_set_task(struct gchint_load *l, u32 thread, u32 util)
{
	l->task = min_t(u32, util, GCHINT_ONE);
	return l->task >= GUEST_UTIL_MIN && !load_thread_stayed(l, thread);
}

/* Return whether it was one before; else gchint_load_account() now watches for its leaving. */
static bool guest_add(struct gchint_load *l, u32 thread)
{
	u32 i;

	for (i = 0; i < GCHINT_LOAD_GUESTS; i++) {
		if (l->guest[i] == thread)
			return true;
	}
	l->guest[l->next_guest] = thread;
	l->next_guest = (l->next_guest + 1) % GCHINT_LOAD_GUESTS;
	return false;
}

/* Add the part of a thread's @mean that its time here, @ran_ns, does not explain. */
static void meter_settle(struct gchint_load_meter *m, u32 mean, u64 ran_ns)
{
	u32 one = GCHINT_ONE << 10;
	u32 seen = one - mean_decay(one, ran_ns);

	meter_close(m);
	mean <<= 10;
	if (mean > seen)
		meter_attach(m, mean - seen);
	m->mean = max_t(u32, m->mean, mean);
}

void gchint_load_attach_task(struct gchint_load *l, u32 thread, u32 mean, u64 ran_ns)
{
	enum origin origin;

	mean = min_t(u32, mean, l->task);
	l->thread = thread;
	origin = migration_record(l, thread, mean);
	if (guest_add(l, thread) && origin == ORIGIN_UNKNOWN)
		origin = ORIGIN_HERE;
	if (origin == ORIGIN_HERE)
		return;
	if (origin == ORIGIN_OTHER_CPU)
		ran_ns = 0;
	meter_settle(&l->all, mean, ran_ns);
	meter_settle(&l->base, mean, ran_ns);
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
		l->io_boost = woken ? IO_BOOST_MIN : 0;
		l->io_pending = woken;
	} else if (woken && !l->io_pending) {
		l->io_boost = l->io_boost ? min_t(u32, l->io_boost * 2, GCHINT_ONE) : IO_BOOST_MIN;
		l->io_pending = true;
	}
	l->io_ns = now_ns;
}

void gchint_load_io_decay(struct gchint_load *l)
{
	if (!l->io_pending) {
		l->io_boost /= 2;
		if (l->io_boost < IO_BOOST_MIN)
			l->io_boost = 0;
	}
	l->io_pending = false;
}
