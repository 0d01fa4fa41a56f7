// SPDX-License-Identifier: MIT
/*
 * Modelled time, and which cores may run.
 *
 * A core's own time advances with its work. The board's time is that of the slowest running
 * core; it never goes back. Three rules keep the cores in order:
 *
 *  - a core more than a quantum ahead of the board's time waits;
 *  - when the board's time reaches the next timer, QEMU's main loop is woken, and cores wait
 *    until it has run the expired timers and sleeps again;
 *  - a core that has notified the main loop (of a changed timer) waits at its next
 *    synchronisation with the clock until the main loop has read the notice.
 *
 * While no core runs, time jumps to the next timer.
 *
 * A core that waits longer than GIVE_UP_MS of host time is released and counted as late: QEMU
 * then waits for something that this file does not model.
 */
#include "clock.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "libc.h"
#include "insns.h"

#define GIVE_UP_MS 5000 /* a busy host may not run a thread for a second */
#define NEVER	   UINT64_MAX

_Thread_local struct timed_core *clock_self;

static struct {
	pthread_mutex_t lock;
	uint64_t now; /* the board's time */
	_Atomic uint64_t read; /* the latest time that any core has read */
	uint64_t deadline; /* next timer, while the main loop sleeps */
	uint64_t said, heard; /* notices sent to the main loop, and read by it */
	uint64_t main_read; /* the time that the main loop has last read */
	bool main_sleeps;
	bool main_waits; /* the main loop waits for a core, on a condition */
	int wake; /* eventfd that ends the main loop's sleep */
	pthread_t main;
	struct clock_report report;
} k = { .lock = PTHREAD_MUTEX_INITIALIZER, .wake = -1 };

static void main_wake(void)
{
	uint64_t one = 1;

	k.main_sleeps = false;
	if (real_write(k.wake, &one, sizeof(one)) != sizeof(one))
		k.report.late++;
}

static bool core_runs(const struct timed_core *c)
{
	return c->present && !c->blocked;
}

/* The lock is held. Advances the board's time, and wakes the cores and timers that are due. */
static void time_advance(void)
{
	uint64_t slowest = NEVER;
	struct timed_core *c;

	for (c = timed.core; c < timed.core + timed.board.cores; c++)
		if (core_runs(c) && c->t < slowest)
			slowest = c->t;
	if (slowest == NEVER) {
		/* No core runs. Pending notices come first: they may change the deadline. */
		if (!k.main_sleeps || k.said != k.heard || k.deadline == NEVER)
			return;
		slowest = k.deadline;
	}
	if (slowest > k.now)
		k.now = slowest;
	if (k.main_sleeps && k.deadline <= k.now) {
		uint64_t late = k.now - k.deadline;

		k.report.timers++;
		if (late > k.report.worst_ns)
			k.report.worst_ns = late;
		if (late > 2 * timed.quantum_ns)
			k.report.late++;
		main_wake();
	}
	for (c = timed.core; c < timed.core + timed.board.cores; c++)
		if (c->waiting && c->wake_at <= k.now)
			real_cond_broadcast(&c->may_run);
}

static void cores_release(void)
{
	struct timed_core *c;

	for (c = timed.core; c < timed.core + timed.board.cores; c++)
		if (c->waiting)
			real_cond_broadcast(&c->may_run);
}

static bool core_must_wait(const struct timed_core *c)
{
	if (c->t > k.now + timed.quantum_ns)
		return true;
	if (k.main_waits)
		return false;
	return !k.main_sleeps || k.said != k.heard;
}

/* The lock is held. Blocks the core until it may continue. */
static void core_hold(struct timed_core *c)
{
	struct timespec until;

	c->wake_at = c->t > timed.quantum_ns ? c->t - timed.quantum_ns : 0;
	c->waiting = true;
	real_clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += GIVE_UP_MS % 1000 * 1000000L;
	until.tv_sec += GIVE_UP_MS / 1000 + until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	while (core_must_wait(c)) {
		if (real_cond_timedwait(&c->may_run, &k.lock, &until) == ETIMEDOUT) {
			if (k.main_sleeps && k.said != k.heard) {
				k.heard = k.said;
				k.report.stray++;
			}
			k.report.late++;
			break;
		}
	}
	c->waiting = false;
}

void clock_pace(struct timed_core *c)
{
	pthread_mutex_lock(&k.lock);
	c->t = (uint64_t)c->ns;
	k.report.quanta++;
	time_advance();
	if (core_must_wait(c))
		core_hold(c);
	pthread_mutex_unlock(&k.lock);
}

void clock_join(unsigned int cpu)
{
	struct timed_core *c = &timed.core[cpu];

	clock_self = c;
	pthread_mutex_lock(&k.lock);
	c->cpu = cpu;
	c->present = true;
	c->t = k.now;
	c->ns = (double)k.now;
	pthread_mutex_unlock(&k.lock);
}

void clock_start(void)
{
	k.main = pthread_self();
}

bool clock_is_main(void)
{
	return pthread_equal(pthread_self(), k.main);
}

static uint64_t time_publish(uint64_t t)
{
	uint64_t last = atomic_load(&k.read);

	/* All cores share the guest's counter, which must not run backwards. */
	while (t > last)
		if (atomic_compare_exchange_weak(&k.read, &last, t))
			return t;
	return last;
}

uint64_t clock_read(void)
{
	uint64_t t;

	if (clock_self)
		return time_publish(insns_now(clock_self));
	pthread_mutex_lock(&k.lock);
	t = k.now;
	if (clock_is_main())
		k.main_read = t;
	pthread_mutex_unlock(&k.lock);
	return t;
}

/*
 * Waits on one of QEMU's conditions by sleeping on the core's own condition. All signals pass
 * through clock_signal(), under the same lock, so none is lost. QEMU itself tolerates that a kick
 * just before its sleep is lost, because that is rare. Here the window is longer, so a kick is
 * remembered in "kicked".
 */
static void core_wait(struct timed_core *c, const void *cond, pthread_mutex_t *mutex)
{
	insns_now(c);
	if (c->idle)
		cache_idle(c);
	pthread_mutex_lock(&k.lock);
	if (c->idle)
		c->halt = cond;
	if (c->halt == cond && c->kicked) {
		c->kicked = false;
		pthread_mutex_unlock(&k.lock);
		return;
	}
	c->t = (uint64_t)c->ns;
	c->blocked = cond;
	time_advance();
	pthread_mutex_unlock(mutex);
	while (c->blocked)
		real_cond_wait(&c->may_run, &k.lock);
	/* clock_signal() has set the time at which the sleep ended. */
	if (c->t > (uint64_t)c->ns)
		c->ns = (double)c->t;
	pthread_mutex_unlock(&k.lock);
	pthread_mutex_lock(mutex);
}

int clock_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	int r;

	if (clock_self) {
		core_wait(clock_self, cond, mutex);
		return 0;
	}
	/* While the main loop waits for a core, cores must not wait for the main loop. */
	pthread_mutex_lock(&k.lock);
	k.main_waits = true;
	cores_release();
	pthread_mutex_unlock(&k.lock);
	r = real_cond_wait(cond, mutex);
	pthread_mutex_lock(&k.lock);
	k.main_waits = false;
	pthread_mutex_unlock(&k.lock);
	return r;
}

/*
 * A thread signals a condition. Its waiters count as running from here on, although the host
 * schedules them only later; otherwise time could jump to the next timer meanwhile.
 */
void clock_signal(const void *cond)
{
	uint64_t t = clock_self ? insns_now(clock_self) : 0;
	struct timed_core *c;

	pthread_mutex_lock(&k.lock);
	if (t < k.now)
		t = k.now;
	for (c = timed.core; c < timed.core + timed.board.cores; c++) {
		if (c->halt == cond && !c->blocked)
			c->kicked = true;
		if (c->blocked != cond)
			continue;
		c->blocked = NULL;
		real_cond_broadcast(&c->may_run);
		/* A core that was not idle waits for QEMU: no time passes. */
		if (c->idle && c->t < t)
			c->t = t;
	}
	pthread_mutex_unlock(&k.lock);
}

/* Writes a notice to the main loop and counts it, atomically under the lock. */
ssize_t clock_notify(int fd, const void *value, size_t size)
{
	ssize_t r;

	pthread_mutex_lock(&k.lock);
	r = real_write(fd, value, size);
	k.said++;
	pthread_mutex_unlock(&k.lock);
	return r;
}

/* The main loop's poll, with timeouts in modelled time. */
int clock_poll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	static const struct timespec none;
	struct pollfd all[n + 1];
	uint64_t value;
	int r;

	pthread_mutex_lock(&k.lock);
	if (k.wake < 0)
		k.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	/*
	 * QEMU reads notices before it computes timeouts. If none is pending
	 * now, this timeout accounts for all notices so far.
	 */
	r = real_ppoll(fds, n, &none, mask);
	if (r || (timeout && !timeout->tv_sec && !timeout->tv_nsec)) {
		pthread_mutex_unlock(&k.lock);
		return r;
	}
	k.heard = k.said;
	k.deadline = NEVER;
	if (timeout)
		k.deadline = k.main_read + (uint64_t)timeout->tv_sec * 1000000000u +
			     (uint64_t)timeout->tv_nsec;
	k.main_sleeps = true;
	time_advance();
	if (k.main_sleeps)
		cores_release();
	pthread_mutex_unlock(&k.lock);

	memcpy(all, fds, n * sizeof(*fds));
	all[n] = (struct pollfd){ .fd = k.wake, .events = POLLIN };
	r = real_ppoll(all, n + 1, NULL, mask);

	pthread_mutex_lock(&k.lock);
	k.main_sleeps = false;
	pthread_mutex_unlock(&k.lock);
	memcpy(fds, all, n * sizeof(*fds));
	if (r > 0 && all[n].revents) {
		if (read(k.wake, &value, sizeof(value)) < 0 && errno != EAGAIN)
			return -1;
		r--;
	}
	return r;
}

void clock_report(struct clock_report *r)
{
	pthread_mutex_lock(&k.lock);
	*r = k.report;
	r->now_ns = k.now;
	pthread_mutex_unlock(&k.lock);
}
