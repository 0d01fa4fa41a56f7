// SPDX-License-Identifier: MIT
/* GCHINT_TRACE: one line a hint. Async-signal-safe but for opening. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "names.h"
#include "slot.h"
#include "trace.h"

#define SET_WORDS (8 / sizeof(unsigned long)) /* the kernel's set of 64 signals */

int trace_open(struct gchint_session *s, const char *path)
{
	int fd =
		open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);

	if (fd < 0)
		return -errno;
	fd = fd_above_stdio(fd);
	if (fd < 0)
		return fd;
	fd_identify(fd, &s->trace);
	store_relaxed(&s->trace_lost, 0);
	store_relaxed(&s->trace_fd, fd);
	return 0;
}

void trace_close(struct gchint_session *s)
{
	int fd = s->trace_fd;

	if (fd < 0)
		return;
	store_relaxed(&s->trace_fd, -1);
	if (fd_is(fd, &s->trace))
		close(fd);
}

static void line_put_char(struct trace_line *l, char c)
{
	/* The last character is reserved for the newline. */
	if (l->length < sizeof(l->text) - 1)
		l->text[l->length++] = c;
}

static void line_put_text(struct trace_line *l, const char *text)
{
	while (*text)
		line_put_char(l, *text++);
}

static void line_put_number(struct trace_line *l, uint64_t value, unsigned int base)
{
	char digits[20];
	unsigned int n = 0;

	do {
		digits[n++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	while (n)
		line_put_char(l, digits[--n]);
}

void trace_event(struct trace_line *l, const char *event, pid_t tid)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	l->length = 0;
	line_put_number(l, (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec, 10);
	line_put_char(l, ' ');
	line_put_number(l, (uint64_t)getpid(), 10);
	line_put_char(l, ' ');
	line_put_number(l, (uint64_t)tid, 10);
	line_put_char(l, ' ');
	line_put_text(l, event);
}

void trace_phase(struct trace_line *l, uint32_t word)
{
	static const struct {
		uint32_t flag;
		const char *name;
	} names[] = {
		{ GCHINT_F_STW, "stw" },
		{ GCHINT_F_CONCURRENT, "concurrent" },
		{ GCHINT_F_FOREGROUND, "foreground" },
		{ GCHINT_F_URGENT, "urgent" },
	};
	uint32_t flags = flags_of(word);
	char before = ' ';
	unsigned int i;

	line_put_char(l, ' ');
	line_put_text(l, word & WORD_MASK ? name_of_phase(phase_of(word)) : "-");
	if (!(flags & GCHINT_F_ALL)) {
		line_put_text(l, " -");
		return;
	}
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(flags & names[i].flag))
			continue;
		line_put_char(l, before);
		line_put_text(l, names[i].name);
		before = ',';
	}
}

void trace_mark(struct trace_line *l, const char *mark)
{
	line_put_char(l, ' ');
	line_put_text(l, mark);
}

void trace_name(struct trace_line *l, const char *key, const char *name)
{
	trace_mark(l, key);
	line_put_char(l, '=');
	line_put_text(l, name);
}

void trace_number(struct trace_line *l, const char *key, uint64_t value)
{
	trace_mark(l, key);
	line_put_char(l, '=');
	line_put_number(l, value, 10);
}

void trace_address(struct trace_line *l, uint64_t address)
{
	line_put_text(l, " method=0x");
	line_put_number(l, address, 16);
}

void trace_detail(struct trace_line *l, const struct gchint_detail *d)
{
	if (d->cause)
		trace_name(l, "cause", name_of_cause(d->cause));
	if (d->work_done || d->work_total) {
		trace_number(l, "done", d->work_done);
		trace_number(l, "total", d->work_total);
	}
	if (d->stall_ns)
		trace_number(l, "stall", d->stall_ns);
	if (d->method)
		trace_address(l, d->method);
}

/*
 * write(2), without the signals that the kernel sends to the writing thread when a pipe
 * has no reader (SIGPIPE) or a file has reached its size limit (SIGXFSZ). Both are blocked
 * here, and consumed unless one was pending before.
 */
static ssize_t write_quietly(int fd, const char *text, size_t length)
{
	const unsigned long ours[SET_WORDS] = { 1ul << (SIGPIPE - 1) | 1ul << (SIGXFSZ - 1) };
	unsigned long before[SET_WORDS], pending[SET_WORDS] = { 0 };
	const struct timespec now = { 0, 0 };
	ssize_t done;
	int error;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, ours, before, sizeof(before));
	syscall(SYS_rt_sigpending, pending, sizeof(pending));
	do {
		done = write(fd, text, length);
	} while (done < 0 && errno == EINTR);
	error = errno;
	if (done < 0 && (error == EPIPE || error == EFBIG)) {
		pending[0] = ours[0] & ~pending[0];
		if (pending[0])
			syscall(SYS_rt_sigtimedwait, pending, NULL, &now, sizeof(pending));
	}
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, before, NULL, sizeof(before));
	errno = error;
	return done;
}

static int write_line(int fd, struct trace_line *l)
{
	l->text[l->length] = '\n';
	return write_quietly(fd, l->text, l->length + 1) < 0 ? -errno : 0;
}

/* Threads may count at the same time: the count is taken before it is printed. */
static void trace_report_lost(struct gchint_session *s, int fd)
{
	uint32_t lost = exchange_seq(&s->trace_lost, 0);
	struct trace_line l;

	if (!lost)
		return;
	trace_event(&l, "lost", (pid_t)syscall(SYS_gettid));
	trace_number(&l, "lines", lost);
	if (write_line(fd, &l))
		add_fetch_seq(&s->trace_lost, lost);
}

void trace_write(struct gchint_session *s, struct trace_line *l)
{
	int fd = load_relaxed(&s->trace_fd);
	int ret;

	if (fd < 0)
		return;
	/* A program that becomes a daemon closes all descriptors and may reuse this number. */
	if (!fd_is(fd, &s->trace)) {
		store_relaxed(&s->trace_fd, -1);
		return;
	}
	if (load_relaxed(&s->trace_lost))
		trace_report_lost(s, fd);
	ret = write_line(fd, l);
	if (ret == -EPIPE)
		store_relaxed(&s->trace_fd, -1); /* not closed: other threads may be using it */
	else if (ret)
		add_fetch_seq(&s->trace_lost, 1);
}
