// SPDX-License-Identifier: MIT
/* What the library knows of its leased threads. Takes no lock. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "session.h"

const uint32_t gchint_closed = GCHINT_STATE_WRITING;
const uint32_t gchint_nowhere = __GCHINT_NOWHERE;

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

/* A thread that announced itself took its handle with it when it ended. */
static int left_behind(const struct record *r, uint8_t flags)
{
	return flags & RECORD_SELF && (flags & RECORD_GONE || !thread_lives(r->handle.tid));
}

static int try_take(struct gchint_session *s, struct record *r, uint8_t seen, pid_t tid, int self)
{
	if (!cmpxchg_seq(&r->flags, &seen, (uint8_t)(RECORD_USED | (self ? RECORD_SELF : 0))))
		return 0;
	r->nest = 0;
	memset(r->since, 0, sizeof(r->since));
	store_relaxed(&r->word, 0);
	r->depth = 0;
	r->handle.index = (uint16_t)(r - gchint_page.record + 1);
	r->handle.epoch = s->epoch;
	r->handle.tid = tid;
	r->handle.bell = &gchint_nowhere;
	store_relaxed(&r->handle.state, CLOSED);
	return 1;
}

struct record *record_take(struct gchint_session *s, pid_t tid, int self)
{
	struct record *r, *end = gchint_page.record + GCHINT_SLOTS;
	uint8_t flags;

	for (r = gchint_page.record; r < end; r++) {
		flags = load_relaxed(&r->flags);
		if (!(flags & RECORD_USED) && try_take(s, r, flags, tid, self))
			return r;
	}
	for (r = gchint_page.record; r < end; r++) {
		flags = load_relaxed(&r->flags);
		if (left_behind(r, flags) && try_take(s, r, flags, tid, self))
			return r;
	}
	return NULL;
}

void record_give(struct record *r)
{
	r->handle.index = 0;
	store_relaxed(&r->handle.state, NOWHERE);
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
	r = &gchint_page.record[t->index - 1];
	if (load_relaxed(&r->flags) & RECORD_GONE) {
		store_relaxed(&t->state, NOWHERE);
		return NULL;
	}
	return r;
}

void record_slot_taken(struct gchint_session *s, const struct record *to)
{
	struct record *r, *end = gchint_page.record + GCHINT_SLOTS;
	uint8_t flags;

	for (r = gchint_page.record; r < end; r++) {
		flags = load_relaxed(&r->flags);
		if (r == to || !(flags & RECORD_USED) || r->handle.epoch != s->epoch ||
		    load_relaxed(&r->slot) != to->slot || flags & RECORD_GONE)
			continue;
		/* The handle must not write what is another thread's now. */
		store_relaxed(&r->handle.state, NOWHERE);
		record_set_flags(r, RECORD_GONE);
	}
}

struct record *record_find(struct gchint_session *s, pid_t tid)
{
	struct record *r, *end = gchint_page.record + GCHINT_SLOTS;

	for (r = gchint_page.record; r < end; r++) {
		if (load_relaxed(&r->flags) & RECORD_USED && r->handle.tid == tid &&
		    r->handle.epoch == s->epoch)
			return r;
	}
	return NULL;
}

int record_selves(struct gchint_session *s, pid_t but)
{
	struct record *r, *end = gchint_page.record + GCHINT_SLOTS;
	int count = 0;

	for (r = gchint_page.record; r < end; r++) {
		if (load_relaxed(&r->flags) & RECORD_SELF && r->handle.epoch == s->epoch &&
		    r->handle.tid != but && thread_lives(r->handle.tid))
			count++;
	}
	return count;
}
