// SPDX-License-Identifier: MIT
/*
 * A forked child has a copy of all state. It differs from its parent in its process id, and
 * in a page that the kernel empties in a child: in another pid namespace both may have the
 * same id. There the lock is free, too, whatever a thread of the parent did at the fork.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "owner.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14 */
#endif

/* The number of the call with a 64-bit time is of no interest: there is no timeout. */
#ifndef SYS_futex
#define SYS_futex SYS_futex_time64
#endif

/* Without memory for a page, and before Linux 4.14, the process id alone has to do. */
static struct owner plain_owner;

static struct owner *owner_map(struct gchint_session *s)
{
	struct owner *had = NULL, *map;

	map = mmap(NULL, sizeof(*map), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		map = &plain_owner;
	else
		(void)madvise(map, sizeof(*map), MADV_WIPEONFORK);
	if (cmpxchg_seq(&s->owner, &had, map))
		return map;
	if (map != &plain_owner)
		munmap(map, sizeof(*map));
	return had;
}

static struct owner *owner_of(struct gchint_session *s)
{
	struct owner *owner = load_acquire(&s->owner);

	return owner ? owner : owner_map(s);
}

void owner_lock(struct gchint_session *s)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	const uint32_t me = (uint32_t)syscall(SYS_gettid);
	struct owner *owner = owner_of(s);
	uint32_t holder;

	for (;;) {
		holder = 0;
		if (cmpxchg_seq(&owner->lock, &holder, me))
			return;
		if (!syscall(SYS_futex, &owner->lock, FUTEX_LOCK_PI_PRIVATE, 0, NULL, NULL, 0)) {
			/* Partner: owner_unlock(). */
			(void)load_acquire(&owner->lock);
			return;
		}
		/* The holder ended inside, or is a thread of the parent. */
		if (errno == ESRCH && cmpxchg_seq(&owner->lock, &holder, me))
			return;
		/* A kernel or a filter without this call. Sleep, so that the holder can run. */
		if (errno != ESRCH && errno != EAGAIN && errno != EINTR)
			nanosleep(&pause, NULL);
	}
}

void owner_unlock(struct gchint_session *s)
{
	struct owner *owner = load_relaxed(&s->owner);
	uint32_t me = (uint32_t)syscall(SYS_gettid);

	if (cmpxchg_seq(&owner->lock, &me, 0))
		return;
	/* The kernel hands the lock over. Partner: owner_lock(). */
	__atomic_or_fetch(&owner->lock, FUTEX_WAITERS, __ATOMIC_RELEASE);
	if (syscall(SYS_futex, &owner->lock, FUTEX_UNLOCK_PI_PRIVATE, 0, NULL, NULL, 0))
		store_release(&owner->lock, 0);
}

void owner_set(struct gchint_session *s)
{
	store_relaxed(&load_relaxed(&s->owner)->mark, 1);
	store_relaxed(&s->pid, getpid());
}

int owner_is_caller(const struct gchint_session *s)
{
	const struct owner *owner = load_acquire(&s->owner);

	return owner && load_relaxed(&owner->mark) && load_relaxed(&s->pid) == getpid();
}
