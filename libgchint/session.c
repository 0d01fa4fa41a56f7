// SPDX-License-Identifier: MIT
/* The process's session: open, close, query. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "block.h"
#include "clamp.h"
#include "device.h"
#include "environ.h"
#include "filter.h"
#include "names.h"
#include "owner.h"
#include "record.h"
#include "retired.h"
#include "sample.h"
#include "stream.h"
#include "symbol.h"
#include "timer.h"
#include "trace.h"

static void self_reset(void)
{
	__gchint_self.index = 0;
	store_relaxed(&__gchint_self.state, CLOSED);
}

static void records_reset(void)
{
	struct record *r;
	unsigned int n;

	for_each_record(r, n)
	{
		/* A thread that still uses the record must not reach a slot of the next session. */
		store_relaxed(&r->slot, SLOT_NONE);
		if (record_flags(r) & RECORD_USED)
			record_give(r);
	}
	self_reset();
}

/* The signal of samples may come as soon as the recorder has the ring. */
static int sampled_stream(struct gchint_session *s, const char *path)
{
	return stream_open(s, path, s->profile && sample_listen(), s->profile ? sample_place() : 0);
}

/*
 * Use the device, else clamps. Where the user wants clamps the device is not opened, since
 * the kernel would act on the same hints as well, by the governor or by limits.
 */
static void session_route(struct gchint_session *s, unsigned int flags, long percent)
{
	const char *path = variable_read(VARIABLE_DEVICE);
	int allowed = percent > 0 || (percent && flags & GCHINT_OPEN_CLAMP), clamps;

	s->elsewhere = path != NULL;
	if (s->hints != HINTS_CLAMP) {
		s->why = (int16_t)device_open(s, path ? path : "/dev/" GCHINT_DEVICE);
		if (!s->why)
			store_relaxed(&s->backend, GCHINT_BACKEND_DEVICE);
		if (!s->why || !allowed)
			return;
	}
	clamps = percent ? clamp_open(s, percent) : -ECANCELED;
	if (!clamps)
		store_relaxed(&s->backend, GCHINT_BACKEND_CLAMP);
	else if (s->hints == HINTS_CLAMP)
		s->why = (int16_t)clamps;
}

static int session_setup(struct gchint_session *s, unsigned int flags)
{
	long min_us = -1, clamp = CLAMP_FITTING, disable = 0, profile = 0;
	uint8_t hints = HINTS_ALL;
	struct slot_block *block;
	const char *path;
	unsigned int n;
	int ret;

	for (n = 0; (block = block_at(s, n)); n++)
		block_clear(block);
	store_relaxed(&s->info, NULL);
	store_relaxed(&s->cpus, NULL);
	s->grows = 0;
	store_relaxed(&s->trace_fd, -1);
	store_relaxed(&s->stream, NULL);
	store_relaxed(&s->profiled, 0);
	/* Another thread of the parent was sending its ring at the fork. */
	store_relaxed(&s->sending, 0);
	store_relaxed(&s->backend, GCHINT_BACKEND_NOTHING);
	s->why = -ECANCELED;
	s->bad = VARIABLE_NONE;
	memset(s->expect, 0, sizeof(s->expect));

	if (variable_number(s, VARIABLE_DISABLE, &disable) ||
	    variable_number(s, VARIABLE_MIN_US, &min_us) ||
	    variable_number(s, VARIABLE_CLAMP, &clamp) ||
	    variable_number(s, VARIABLE_PROFILE, &profile))
		return -EINVAL;
	if (variable_hints(s, &hints))
		return -EINVAL;
	s->min_us = (int32_t)min_us;
	s->profile = (uint8_t)profile;
	store_relaxed(&s->hints, disable ? HINTS_ALL : hints);
	if (disable)
		return 0;

	path = variable_read(VARIABLE_TRACE);
	if (path) {
		ret = trace_open(s, path);
		if (ret) {
			s->bad = VARIABLE_TRACE;
			return ret;
		}
		store_relaxed(&s->backend, GCHINT_BACKEND_TRACE);
	}
	session_route(s, flags, clamp);
	/*
	 * The kernel reports what it sees itself, except samples and the heap. A missing
	 * recorder is no error.
	 */
	path = variable_read(VARIABLE_STREAM);
	if (!path && s->why && !s->elsewhere && !variable_is_set(VARIABLE_STREAM) &&
	    !access(GCHINT_STREAM_SERVICE, W_OK))
		path = GCHINT_STREAM_SERVICE;
	if (path && !sampled_stream(s, path) && s->why && backend_of(s) != GCHINT_BACKEND_CLAMP)
		store_relaxed(&s->backend, GCHINT_BACKEND_STREAM);
	return 0;
}

static void trace_session(struct gchint_session *s, const char *event)
{
	struct trace_line l;

	if (!trace_is_open(s))
		return;
	trace_event(&l, event, (pid_t)syscall(SYS_gettid));
	trace_name(&l, "backend", name_of_backend(s->backend));
	trace_write(s, &l);
}

/* Invalidates all handles of the session before. */
static void epoch_next(struct gchint_session *s)
{
	uint16_t next = (uint16_t)(s->epoch + 1);

	store_relaxed(&s->epoch, next ? next : 1);
}

static int session_open(struct gchint_session *s, unsigned int flags)
{
	int ret;

	epoch_next(s);
	ret = session_setup(s, flags);
	if (ret) {
		s->why = (int16_t)ret;
		trace_close(s);
		return ret;
	}
	blocks_open(s);
	owner_set(s);
	trace_session(s, "open");
	return 0;
}

static int session_get(unsigned int flags, int init)
{
	struct gchint_session *s = &gchint_page.session;
	const struct gchint_stream *parent = NULL;
	int saved = errno, ret = 0;

	if (flags & ~(unsigned int)GCHINT_OPEN_CLAMP)
		return -EINVAL;
	owner_lock(s);
	if (s->refs && !owner_is_caller(s)) {
		/* A forked child. It has one thread, so no other thread stores meanwhile. */
		device_close(s);
		/* One with names stays mapped: they are of a process that was profiled. */
		parent = s->profiled ? s->stream : NULL;
		stream_close(s, 0);
		trace_close(s);
		symbols_inherit(s->pid);
		timers_forget();
		/* Another handler may have called this before that of clamp.c. */
		clamp_forked(s);
		records_reset();
		/* The parent's threads are not here. Handles may still point to their pages. */
		memset(s->further, 0, sizeof(s->further));
		s->init = 0;
		s->refs = 0;
	}
	if (!s->refs)
		ret = session_open(s, flags);
	stream_inherit(s, parent);
	if (!ret && !(init && s->init)) {
		s->init |= (uint8_t)init;
		__atomic_store_n(&s->refs, s->refs + 1, __ATOMIC_SEQ_CST);
	}
	variable_report(s);
	if (!ret)
		clamp_report_program(s);
	owner_unlock(s);
	errno = saved;
	return ret;
}

int gchint_open(struct gchint_session **session, unsigned int flags)
{
	int ret;

	if (!session)
		return -EINVAL;
	ret = session_get(flags, 0);
	*session = ret ? NULL : &gchint_page.session;
	return ret;
}

int gchint_init(unsigned int flags)
{
	int ret = session_get(flags, 1);

	if (ret)
		return ret;
	gchint_self();
	return gchint_page.session.backend;
}

static void session_close(struct gchint_session *s)
{
	const pid_t me = (pid_t)syscall(SYS_gettid);
	struct record *r;
	unsigned int n;
	int others;

	/*
	 * No thread begins to attach from here on. A thread that is attaching, or that
	 * announces itself, may store into the slots at any time: then the pages stay in
	 * the address space. Partners: gchint_attach() and self_attach(), which increment
	 * inside before lease_acquire() reads refs.
	 */
	__atomic_store_n(&s->refs, 0, __ATOMIC_SEQ_CST);
	s->init = 0;
	others = load_seq(&s->inside) || record_selves(me);
	trace_session(s, "close");
	if (backend_of(s) == GCHINT_BACKEND_CLAMP) {
		/* Partner: clamp_set(), which caps and then reads the backend. */
		exchange_seq(&s->backend, GCHINT_BACKEND_NOTHING);
		for_each_record(r, n) clamp_restore(s, r);
		clamp_report_threads(s);
	}
	if (others)
		device_retire(s, retired_add(s, me));
	else
		device_close(s);
	stream_put(s, NULL, GCHINT_STREAM_CLOSE, 0, 0, NULL, 0);
	stream_close(s, others);
	trace_close(s);
	epoch_next(s);
	records_reset();
	store_relaxed(&s->backend, GCHINT_BACKEND_NOTHING);
	s->why = -EBADF;
}

int gchint_close(struct gchint_session *s)
{
	int saved = errno, ret = 0;

	if (s != &gchint_page.session)
		return -EBADF;
	owner_lock(s);
	if (!s->refs)
		ret = -EBADF;
	else if (!owner_is_caller(s))
		ret = -ESTALE;
	else if (s->refs > 1)
		s->refs--;
	else
		session_close(s);
	owner_unlock(s);
	errno = saved;
	return ret;
}

enum gchint_backend gchint_get_backend(const struct gchint_session *s)
{
	return s ? (enum gchint_backend)s->backend : GCHINT_BACKEND_NOTHING;
}

int gchint_get_reason(const struct gchint_session *s)
{
	return s ? s->why : -EBADF;
}

int gchint_get_fd(const struct gchint_session *s)
{
	/* The program may have closed what is not its own. */
	return s && s->backend == GCHINT_BACKEND_DEVICE && s->block.fd >= 0 ? s->block.fd : -ENODEV;
}
