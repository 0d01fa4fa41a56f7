// SPDX-License-Identifier: MIT
/* The process's session: open, close, and what it is. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clamp.h"
#include "device.h"
#include "trace.h"

#define CLAMP_PERCENT 50
#define MIN_US_MAX    10000000

struct page gchint_page __attribute__((aligned(64)));

/*
 * Zero-initialised but for the state: a thread that was never attached comes to
 * the library at its first edge. The same image serves each new thread.
 */
__thread struct gchint_thread __gchint_self = { .state = CLOSED, .bell = &gchint_nowhere };

void identity_of(int fd, struct identity *id)
{
	struct stat st;

	memset(id, 0, sizeof(*id));
	if (fstat(fd, &st) == 0) {
		id->dev = st.st_dev;
		id->ino = st.st_ino;
	}
}

int identity_is(int fd, const struct identity *id)
{
	struct identity now;

	identity_of(fd, &now);
	return now.dev == id->dev && now.ino == id->ino;
}

int fd_above_stdio(int fd)
{
	int high, ret;

	if (fd > STDERR_FILENO)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	ret = -errno;
	close(fd);
	return high < 0 ? ret : high;
}

static void session_lock(struct gchint_session *s)
{
	const pid_t me = getpid();
	pid_t holder;

	for (;;) {
		holder = 0;
		if (cmpxchg_seq(&s->lock, &holder, me))
			return;
		/* Held by a thread of the parent, which this process does not have. */
		if (holder != me && cmpxchg_seq(&s->lock, &holder, me))
			return;
		sched_yield();
	}
}

static void session_unlock(struct gchint_session *s)
{
	store_release(&s->lock, 0);
}

static void self_reset(void)
{
	__gchint_self.index = 0;
	store_relaxed(&__gchint_self.state, CLOSED);
}

static void records_reset(void)
{
	struct record *r, *end = gchint_page.record + GCHINT_SLOTS;

	for (r = gchint_page.record; r < end; r++) {
		/* Whoever still works on one finds no slot of the next session. */
		store_relaxed(&r->slot, SLOT_NONE);
		if (record_flags(r) & RECORD_USED)
			record_give(r);
	}
	self_reset();
}

/* An unsigned number and nothing else; 0 and *value, or -EINVAL. Unset is no error. */
static int read_number(const char *name, long max, long *value)
{
	const char *text = secure_getenv(name);
	char *end;
	long v;

	if (!text || !*text)
		return 0;
	errno = 0;
	v = strtol(text, &end, 10);
	if (*end || errno || v < 0 || v > max)
		return -EINVAL;
	*value = v;
	return 0;
}

static const char *read_path(const char *name)
{
	const char *path = secure_getenv(name);

	return path && *path ? path : NULL;
}

static int session_setup(struct gchint_session *s, unsigned int flags)
{
	long min_us = -1, clamp = flags & GCHINT_OPEN_CLAMP ? CLAMP_PERCENT : 0, disable = 0;
	const char *path;
	int ret;

	store_relaxed(&s->slots, NULL);
	store_relaxed(&s->info, NULL);
	store_relaxed(&s->fd, -1);
	store_relaxed(&s->trace_fd, -1);
	store_relaxed(&s->backend, GCHINT_BACKEND_NOTHING);
	s->why = -ECANCELED;
	memset(s->expect, 0, sizeof(s->expect));

	if (read_number("GCHINT_DISABLE", 1, &disable) ||
	    read_number("GCHINT_MIN_US", MIN_US_MAX, &min_us) ||
	    read_number("GCHINT_CLAMP", 100, &clamp))
		return -EINVAL;
	s->min_us = (int32_t)min_us;
	s->clamp = (uint16_t)(clamp * 1024 / 100);
	if (disable)
		return 0;

	path = read_path("GCHINT_TRACE");
	if (path) {
		ret = trace_open(s, path);
		if (ret)
			return ret;
		store_relaxed(&s->backend, GCHINT_BACKEND_TRACE);
	}
	path = read_path("GCHINT_DEVICE");
	s->why = device_open(s, path ? path : "/dev/" GCHINT_DEVICE);
	if (!s->why)
		store_relaxed(&s->backend, GCHINT_BACKEND_DEVICE);
	else if (s->clamp && clamp_supported())
		store_relaxed(&s->backend, GCHINT_BACKEND_CLAMP);
	return 0;
}

static void trace_session(struct gchint_session *s, const char *event)
{
	struct trace_line l;

	if (!traced(s))
		return;
	trace_event(&l, event, (pid_t)syscall(SYS_gettid));
	trace_name(&l, "backend", name_of_backend(s->backend));
	trace_write(s, &l);
}

/* Handles of before have no meaning. */
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
		store_relaxed(&s->backend, GCHINT_BACKEND_NOTHING);
		trace_close(s);
		return ret;
	}
	store_relaxed(&s->pid, getpid());
	trace_session(s, "open");
	return 0;
}

static int session_get(unsigned int flags, int init)
{
	struct gchint_session *s = &gchint_page.session;
	int saved = errno, ret = 0;

	if (flags & ~(unsigned int)GCHINT_OPEN_CLAMP)
		return -EINVAL;
	session_lock(s);
	if (s->refs && s->pid != getpid()) {
		/* Forked. This thread is the only one, so nobody stores meanwhile. */
		device_close(s, 0);
		trace_close(s);
		records_reset();
		s->init = 0;
		s->refs = 0;
	}
	if (!s->refs)
		ret = session_open(s, flags);
	if (!ret && !(init && s->init)) {
		s->init |= (uint8_t)init;
		__atomic_store_n(&s->refs, s->refs + 1, __ATOMIC_SEQ_CST);
	}
	session_unlock(s);
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
	struct record *r, *end = gchint_page.record + GCHINT_SLOTS;
	int others;

	/*
	 * No thread begins to attach from here on. One that is at it, or that
	 * announces itself, may store into the slots at any time: the pages stay in
	 * the address space. Partner: lease(), which counts itself and then looks.
	 */
	__atomic_store_n(&s->refs, 0, __ATOMIC_SEQ_CST);
	others = load_seq(&s->inside) || record_selves((pid_t)syscall(SYS_gettid));
	for (r = gchint_page.record; r < end; r++)
		clamp_restore(r);
	trace_session(s, "close");
	device_close(s, others);
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
	session_lock(s);
	if (!s->refs)
		ret = -EBADF;
	else if (s->pid != getpid())
		ret = -ESTALE;
	else if (s->refs > 1)
		s->refs--;
	else
		session_close(s);
	session_unlock(s);
	errno = saved;
	return ret;
}

enum gchint_backend gchint_backend(const struct gchint_session *s)
{
	return s ? (enum gchint_backend)s->backend : GCHINT_BACKEND_NOTHING;
}

int gchint_why(const struct gchint_session *s)
{
	return s ? s->why : -EBADF;
}

int gchint_fd(const struct gchint_session *s)
{
	return s && s->backend == GCHINT_BACKEND_DEVICE ? s->fd : -ENODEV;
}
