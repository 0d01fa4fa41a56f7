// SPDX-License-Identifier: MIT
/* Records of leased threads. Takes no lock. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record.h"

int thread_lives(pid_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) == 0 || errno != ESRCH;
}

void record_set_flags(struct record *r, uint8_t set)
{
	__atomic_or_fetch(&r->flags, set, __ATOMIC_SEQ_CST);
}

void record_clear_flags(struct record *r, uint8_t clear)
{
	__atomic_and_fetch(&r->flags, (uint8_t)~clear, __ATOMIC_SEQ_CST);
}

uint8_t record_take_flags(struct record *r, uint8_t take)
{
	return record_flags(r) & take ?
		       __atomic_fetch_and(&r->flags, (uint8_t)~take, __ATOMIC_SEQ_CST) & take :
		       0;
}

static struct record *record_init(struct gchint_session *s, unsigned int block, struct record *r,
				  pid_t tid, int self)
{
	r->nest = 0;
	memset(r->since, 0, sizeof(r->since));
	store_relaxed(&r->slot, backend_of(s) == GCHINT_BACKEND_DEVICE ? SLOT_NONE : 0);
	r->depth = 0;
	r->cause = 0;
	r->handle.index =
		(uint16_t)(block * GCHINT_SLOTS + (uint32_t)(r - block_records(block)) + 1);
	r->handle.epoch = load_relaxed(&s->epoch);
	r->handle.bell = &gchint_nowhere;
	store_relaxed(&r->handle.state, CLOSED);
	store_release(&r->flags, (uint8_t)(RECORD_USED | (self ? RECORD_SELF : 0)));
	store_release(&r->handle.tid, tid);
	return r;
}

/*
 * The handle of a thread that announced itself was freed with the thread. The thread id
 * identifies the owner of the record: the one caller that replaces the dead thread's id by 0
 * owns it, and other callers that compare with that id fail.
 */
static int record_claim_dead(struct record *r)
{
	pid_t tid = load_acquire(&r->handle.tid);

	return tid && record_flags(r) & RECORD_SELF && !thread_lives(tid) &&
	       cmpxchg_seq(&r->handle.tid, &tid, 0);
}

struct record *record_take(struct gchint_session *s, unsigned int block, pid_t tid, int self)
{
	struct record *r, *first = block_records(block), *end = first + GCHINT_SLOTS;
	uint8_t free;

	for (r = first; r < end; r++) {
		free = 0;
		if (!record_flags(r) && cmpxchg_seq(&r->flags, &free, RECORD_USED))
			return record_init(s, block, r, tid, self);
	}
	for (r = first; r < end; r++) {
		if (record_claim_dead(r))
			return record_init(s, block, r, tid, self);
	}
	return NULL;
}

struct record *record_at(uint32_t index)
{
	return &block_records((index - 1) / GCHINT_SLOTS)[(index - 1) % GCHINT_SLOTS];
}

void record_give(struct record *r)
{
	r->handle.index = 0;
	store_relaxed(&r->handle.state, NOWHERE);
	/* Before the record is free, so that no lookup finds this thread in a reused record. */
	store_relaxed(&r->handle.tid, 0);
	store_release(&r->flags, 0);
}

struct record *record_of(struct gchint_session *s, struct gchint_thread *t)
{
	struct record *r;

	if (!t->index)
		return NULL;
	if (t->epoch != load_relaxed(&s->epoch)) {
		t->index = 0;
		store_relaxed(&t->state, t == &__gchint_self ? CLOSED : NOWHERE);
		return NULL;
	}
	r = record_at(t->index);
	if (backend_of(s) == GCHINT_BACKEND_DEVICE && load_relaxed(&r->slot) == SLOT_NONE) {
		store_relaxed(&t->state, NOWHERE);
		return NULL;
	}
	return r;
}

void record_slot_taken(uint32_t slot)
{
	struct record *r;
	uint32_t *state;
	unsigned int n;
	uint32_t seen;

	for_each_record(r, n)
	{
		state = load_relaxed(&r->handle.state);
		seen = slot;
		/* The old handle must not write to a slot that belongs to another thread now. */
		if (cmpxchg_seq(&r->slot, &seen, SLOT_NONE))
			cmpxchg_seq(&r->handle.state, &state, NOWHERE);
	}
}

struct record *record_find(pid_t tid)
{
	struct record *r;
	unsigned int n;

	for_each_record(r, n)
	{
		if (record_flags(r) & RECORD_USED && load_relaxed(&r->handle.tid) == tid)
			return r;
	}
	return NULL;
}

int record_selves(pid_t but)
{
	struct record *r;
	unsigned int n;
	int count = 0;
	pid_t tid;

	for_each_record(r, n)
	{
		tid = load_relaxed(&r->handle.tid);
		if (record_flags(r) & RECORD_SELF && tid != but && thread_lives(tid))
			count++;
	}
	return count;
}
