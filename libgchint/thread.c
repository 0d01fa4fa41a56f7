// SPDX-License-Identifier: MIT
/* Leasing threads: attach, detach, roles. Async-signal-safe. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "block.h"
#include "clamp.h"
#include "device.h"
#include "filter.h"
#include "names.h"
#include "owner.h"
#include "probe.h"
#include "record.h"
#include "retired.h"
#include "slot.h"
#include "stream.h"
#include "thread.h"
#include "trace.h"

#define TRIES 50

/* The handle that a failed gchint_attach() returns; never written to. */
static const struct gchint_thread nothing = { .state = NOWHERE, .bell = &gchint_nowhere };

static int slot_held(const struct gchint_session *s, const struct record *r)
{
	return backend_of(s) != GCHINT_BACKEND_DEVICE || load_relaxed(&r->slot) != SLOT_NONE;
}

void handle_settle(struct gchint_session *s, struct gchint_thread *t, struct record *r)
{
	int plain = backend_of(s) == GCHINT_BACKEND_DEVICE && !trace_is_open(s) &&
		    load_relaxed(&s->hints) == HINTS_ALL && !r->depth && !r->since[0] &&
		    !(record_flags(r) & RECORD_DIRTY) && slot_held(s, r);

	store_relaxed(&t->state, plain ? state_of(s, r) : CLOSED);
}

void handle_drop(struct gchint_session *s, struct gchint_thread *t)
{
	t->index = 0;
	t->epoch = load_relaxed(&s->epoch);
	store_relaxed(&t->state, NOWHERE);
}

/* The record of the thread to follow; NULL if there is none. */
static struct record *lead_record(struct gchint_session *s, const struct gchint_thread *lead)
{
	struct record *r;

	if (!lead || !lead->index || lead->epoch != load_relaxed(&s->epoch))
		return NULL;
	r = record_at(lead->index);
	return slot_held(s, r) ? r : NULL;
}

static int check_role(struct gchint_session *s, unsigned int role, const struct gchint_thread *lead,
		      struct record **leads)
{
	*leads = role == GCHINT_ROLE_FOLLOW ? lead_record(s, lead) : NULL;
	if (role >= GCHINT_ROLE_NR || (role == GCHINT_ROLE_FOLLOW) != !!lead || (lead && !*leads))
		return -EINVAL;
	return 0;
}

static void trace_role(struct gchint_session *s, const char *event, const struct record *r,
		       unsigned int role, const struct record *leads)
{
	struct trace_line l;

	if (!trace_is_open(s))
		return;
	trace_event(&l, event, r->handle.tid);
	trace_name(&l, "role", name_of_role(role));
	if (leads)
		trace_number(&l, "lead", (uint64_t)leads->handle.tid);
	if (backend_of(s) == GCHINT_BACKEND_DEVICE)
		trace_number(&l, "slot", load_relaxed(&r->slot));
	trace_write(s, &l);
}

/* Make sure that slot block @block exists and is open. 0, -ENOSPC past the last, or -errno. */
static int block_ensure(struct gchint_session *s, unsigned int block)
{
	struct slot_block *there = block_at(s, block);
	int ret = 0, try;

	if (block >= BLOCKS)
		return -ENOSPC;
	/*
	 * At the user's limit another thread may have opened the last session and be about
	 * to publish it. Retry, but not for ever: a signal may have interrupted that very
	 * thread here.
	 */
	for (try = 0; !there && try < TRIES; try++) {
		ret = block_add(s, block);
		if (ret && ret != -EDQUOT && ret != -EMFILE)
			break;
		there = block_at(s, block);
		if (!there)
			sched_yield();
	}
	if (!there)
		return ret;
	/* A block of an earlier session may have failed to reopen with this one. */
	return backend_of(s) != GCHINT_BACKEND_DEVICE || load_relaxed(&there->slots) ? 0 : -EDQUOT;
}

/* The device decides which threads may be leased; without it the library does. */
static int lease_take(struct gchint_session *s, struct record *r, unsigned int block,
		      unsigned int role, const struct record *leads)
{
	struct gchint_attach attach = {
		.tid = r->handle.tid,
		.role = role,
		.lead = leads ? load_relaxed(&leads->slot) : 0,
	};
	int ret;

	if (backend_of(s) != GCHINT_BACKEND_DEVICE) {
		if (backend_of(s) == GCHINT_BACKEND_CLAMP) {
			clamp_attach(s, r);
			clamp_role(s, r, role);
		}
		return 0;
	}
	ret = device_attach(s, block, &attach);
	if (ret)
		return ret;
	/* Another thread may have grown the session without having mapped the block yet. */
	ret = block_ensure(s, attach.slot / GCHINT_SLOTS);
	if (ret) {
		device_detach(s, attach.slot);
		return ret;
	}
	r->handle.bell = &s->info->doorbell_begin;
	record_slot_taken(attach.slot);
	store_relaxed(&r->slot, attach.slot);
	return 0;
}

/*
 * The first slot block with a free slot. Where each block is a session of its own, a
 * follower must be in the block of its leader.
 */
static int lease_anywhere(struct gchint_session *s, pid_t tid, unsigned int role,
			  struct record *leads, int self, struct record **out)
{
	const int bound = leads && !s->grows;
	unsigned int block = bound ? record_block(leads) : 0;
	struct record *r;
	int ret;

	for (;; block++) {
		ret = block_ensure(s, block);
		if (ret)
			return ret;
		r = record_take(s, block, tid, self);
		ret = r ? lease_take(s, r, block, role, leads) : -ENOSPC;
		if (!ret) {
			*out = r;
			return 0;
		}
		if (r)
			record_give(r);
		if (ret != -ENOSPC || bound)
			return ret;
	}
}

static int lease_acquire(struct gchint_session *s, pid_t tid, unsigned int role,
			 const struct gchint_thread *lead, int self, struct record **out)
{
	struct record *r, *leads;
	int ret;

	if (!load_seq(&s->refs) || backend_of(s) == GCHINT_BACKEND_NOTHING)
		return -ENODEV;
	if (!owner_is_caller(s))
		return -ESTALE;
	ret = check_role(s, role, lead, &leads);
	if (ret)
		return ret;
	role = filter_role(s, role);
	if (backend_of(s) != GCHINT_BACKEND_DEVICE) {
		if (tid < 0 || !thread_lives(tid))
			return -ESRCH;
		r = record_find(tid);
		/* Thread ids are reused: the record is of an earlier thread that has ended. */
		if (r && self && record_flags(r) & RECORD_SELF)
			record_give(r);
		else if (r)
			return -EBUSY;
	}
	ret = lease_anywhere(s, tid, role, leads, self, &r);
	if (ret)
		return ret;
	stream_put(s, r, GCHINT_STREAM_ATTACH, self, 0, NULL, role);
	stream_word(s, r, 1);
	PROBE_ROLE(r->handle.tid, role);
	trace_role(s, "attach", r, role, leads);
	*out = r;
	return 0;
}

static struct record *self_attach(struct gchint_session *s)
{
	struct gchint_thread *t = &__gchint_self;
	struct record *r = NULL;
	pid_t tid;
	int ret;

	/* The session is not open yet: leave the handle so that a later edge tries again. */
	if (!load_seq(&s->refs))
		return NULL;
	add_fetch_seq(&s->inside, 1);
	tid = (pid_t)syscall(SYS_gettid);
	ret = lease_acquire(s, tid, GCHINT_ROLE_NONE, NULL, 1, &r);
	if (!ret) {
		t->bell = r->handle.bell;
		t->tid = r->handle.tid;
		t->epoch = r->handle.epoch;
		t->index = r->handle.index;
		handle_settle(s, t, r);
	} else {
		/* A signal handler may have attached this very thread meanwhile. */
		r = record_of(s, t);
		if (!r && load_seq(&s->refs))
			handle_drop(s, t);
	}
	/* Not while the session is closed: an edge would be slow then, for nothing. */
	retired_leave(s, tid);
	add_fetch_seq(&s->inside, -1);
	return r;
}

struct record *self_record(struct gchint_session *s)
{
	struct gchint_thread *t = &__gchint_self;
	struct record *r = record_of(s, t);

	/* A thread that could not be attached once is not tried again at each edge. */
	if (r || load_relaxed(&t->state) == NOWHERE)
		return r;
	return self_attach(s);
}

struct gchint_thread *gchint_self(void)
{
	struct gchint_session *s = &gchint_page.session;
	struct gchint_thread *t = &__gchint_self;
	int saved = errno;

	if (!record_of(s, t)) {
		if (t->index)
			record_give(record_at(t->index));
		t->index = 0;
		store_relaxed(&t->state, CLOSED);
		self_attach(s);
	}
	errno = saved;
	return t;
}

int gchint_attach(struct gchint_session *s, pid_t tid, unsigned int role,
		  const struct gchint_thread *lead, struct gchint_thread **thread)
{
	int saved = errno, ret = -ENODEV;
	struct record *r = NULL;

	if (s == &gchint_page.session) {
		add_fetch_seq(&s->inside, 1);
		ret = lease_acquire(s, tid ? tid : (pid_t)syscall(SYS_gettid), role, lead, 0, &r);
		if (!ret)
			handle_settle(s, &r->handle, r);
		add_fetch_seq(&s->inside, -1);
	}
	if (thread)
		*thread = ret ? (struct gchint_thread *)&nothing : &r->handle;
	errno = saved;
	return ret;
}

int gchint_detach(struct gchint_thread *t)
{
	struct gchint_session *s = &gchint_page.session;
	struct trace_line l;
	int saved = errno;
	struct record *r;
	uint32_t slot;

	if (!t || !t->index)
		return -EINVAL;
	if (t->epoch != load_relaxed(&s->epoch)) {
		record_of(s, t);
		return -EINVAL;
	}
	r = record_at(t->index);
	if (owner_is_caller(s)) {
		clamp_restore(s, r);
		/*
		 * Clear the slot before the kernel can lease it to another thread. A slot
		 * that was lost with its thread may be leased again already.
		 */
		slot = backend_of(s) == GCHINT_BACKEND_DEVICE ? exchange_seq(&r->slot, SLOT_NONE) :
								SLOT_NONE;
		if (slot != SLOT_NONE)
			device_detach(s, slot);
		stream_put(s, r, GCHINT_STREAM_DETACH, 0, 0, NULL, 0);
		stream_word(s, r, 0);
		if (trace_is_open(s)) {
			trace_event(&l, "detach", r->handle.tid);
			trace_write(s, &l);
		}
	}
	record_give(r);
	if (t == &__gchint_self) {
		t->index = 0;
		store_relaxed(&t->state, CLOSED);
	}
	errno = saved;
	return 0;
}

int gchint_set_role(struct gchint_thread *t, unsigned int role, const struct gchint_thread *lead)
{
	struct gchint_session *s = &gchint_page.session;
	int saved = errno, ret;
	struct record *r, *leads;

	r = t ? record_of(s, t) : NULL;
	if (!r)
		return t && t->index ? -ENOENT : -EINVAL;
	ret = check_role(s, role, lead, &leads);
	if (ret)
		return ret;
	if (leads && !s->grows && record_block(leads) != record_block(r))
		return -ENOSPC;
	role = filter_role(s, role);
	if (backend_of(s) == GCHINT_BACKEND_DEVICE) {
		ret = device_set_role(s, load_relaxed(&r->slot), role,
				      leads ? load_relaxed(&leads->slot) : 0);
	} else if (!owner_is_caller(s)) {
		ret = -ESTALE;
	} else if (backend_of(s) == GCHINT_BACKEND_CLAMP) {
		clamp_role(s, r, role);
	}
	if (!ret) {
		stream_put(s, r, GCHINT_STREAM_ROLE, t == &__gchint_self, 0, NULL, role);
		PROBE_ROLE(r->handle.tid, role);
		trace_role(s, "role", r, role, leads);
	}
	errno = saved;
	return ret;
}
