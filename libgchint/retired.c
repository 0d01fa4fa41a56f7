// SPDX-License-Identifier: MIT
/* Pages of sessions that were closed under threads that announce themselves. */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "record.h"
#include "retired.h"

/* Two for each session: opened and closed. */
#define EPOCHS_MIN 16

#define for_each_retired(r, s) for ((r) = retired_first(s); (r); (r) = (r)->next)

static struct retired *retired_first(struct gchint_session *s)
{
	return load_acquire(&load_acquire(&s->owner)->retired);
}

static int retired_is_empty(struct retired *r)
{
	unsigned int n;

	if (!load_relaxed(&r->free) || load_relaxed(&r->info) || load_relaxed(&r->cpus))
		return 0;
	for (n = 0; n < BLOCKS; n++)
		if (load_relaxed(&r->slots[n]))
			return 0;
	return 1;
}

static struct retired *retired_get(struct gchint_session *s)
{
	struct retired *r;

	for_each_retired(r, s)
	{
		if (retired_is_empty(r))
			return r;
	}
	r = mmap(NULL, sizeof(*r), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (r == MAP_FAILED)
		return NULL;
	r->next = s->owner->retired;
	store_release(&s->owner->retired, r);
	return r;
}

struct retired *retired_add(struct gchint_session *s, pid_t but)
{
	struct retired *r = retired_get(s);
	struct record *record;
	unsigned int n;
	pid_t tid;

	if (!r)
		return NULL;
	r->epoch = s->epoch;
	r->threads = 0;
	/* One that is attaching now may be in no record yet. */
	r->forever = load_seq(&s->inside) != 0;
	store_relaxed(&r->free, 0);
	for_each_record(record, n)
	{
		tid = load_relaxed(&record->handle.tid);
		if (!(record_flags(record) & RECORD_SELF) || !tid || tid == but)
			continue;
		if (r->threads == GCHINT_SLOTS_MAX) {
			r->forever = 1;
			break;
		}
		store_relaxed(&r->tid[r->threads], tid);
		store_release(&r->threads, r->threads + 1);
	}
	return r;
}

static int retired_is_used(struct retired *r)
{
	unsigned int n;
	pid_t tid;

	for (n = 0; n < r->threads; n++) {
		tid = load_relaxed(&r->tid[n]);
		if (tid && thread_lives(tid))
			return 1;
		store_relaxed(&r->tid[n], 0);
	}
	return r->forever;
}

void retired_sweep(struct gchint_session *s)
{
	struct retired *r;

	for_each_retired(r, s)
	{
		if (!load_relaxed(&r->free) && (uint16_t)(s->epoch - r->epoch) >= EPOCHS_MIN &&
		    !retired_is_used(r))
			store_release(&r->free, 1);
	}
}

void retired_leave(struct gchint_session *s, pid_t tid)
{
	struct retired *r;
	unsigned int n;
	pid_t seen;

	for_each_retired(r, s)
	{
		for (n = load_acquire(&r->threads); n; n--) {
			seen = tid;
			if (load_relaxed(&r->tid[n - 1]) == tid)
				cmpxchg_seq(&r->tid[n - 1], &seen, 0);
		}
	}
}

void *retired_take_info(struct gchint_session *s)
{
	struct retired *r;
	void *page = NULL;

	for_each_retired(r, s)
	{
		if (load_acquire(&r->free) && (page = exchange_seq(&r->info, NULL)))
			break;
	}
	return page;
}

void *retired_take_cpus(struct gchint_session *s, size_t size)
{
	struct retired *r;
	void *pages = NULL;

	for_each_retired(r, s)
	{
		if (load_acquire(&r->free) && r->cpus_size == size &&
		    (pages = exchange_seq(&r->cpus, NULL)))
			break;
	}
	return pages;
}

void *retired_take_slots(struct gchint_session *s, unsigned int block)
{
	struct retired *r;
	void *page = NULL;

	for_each_retired(r, s)
	{
		if (load_acquire(&r->free) && (page = exchange_seq(&r->slots[block], NULL)))
			break;
	}
	return page;
}
