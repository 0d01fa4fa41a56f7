// SPDX-License-Identifier: GPL-2.0-or-later
#include "loop.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "../common/clock.h"

enum watch_kind {
	WATCH_FD,
	WATCH_TIMER,
	WATCH_SIGNAL
};

struct watch {
	struct loop *loop;
	struct watch *next;
	enum watch_kind kind;
	int fd;
	bool dead;
	loop_fn fn;
	void *data;
};

struct loop {
	int epoll;
	bool quit;
	int code;
	struct watch *watches;
};

struct loop *loop_new(void)
{
	struct loop *loop = calloc(1, sizeof(*loop));

	if (!loop)
		return NULL;
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll < 0) {
		free(loop);
		return NULL;
	}
	return loop;
}

/* Watches die at once but are freed only between two rounds, so that events
 * already fetched for them find their memory.
 */
static void bury(struct loop *loop)
{
	struct watch **at = &loop->watches;

	while (*at) {
		struct watch *w = *at;

		if (!w->dead) {
			at = &w->next;
			continue;
		}
		*at = w->next;
		free(w);
	}
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	for (struct watch *w = loop->watches; w; w = w->next)
		watch_free(w);
	bury(loop);
	close(loop->epoll);
	free(loop);
}

static struct watch *add(struct loop *loop, enum watch_kind kind, int fd, uint32_t events,
			 loop_fn fn, void *data)
{
	struct watch *w = calloc(1, sizeof(*w));
	struct epoll_event ev = { .events = events, .data.ptr = w };

	if (!w)
		return NULL;
	*w = (struct watch){ .loop = loop, .kind = kind, .fd = fd, .fn = fn, .data = data };
	if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &ev)) {
		free(w);
		return NULL;
	}
	w->next = loop->watches;
	loop->watches = w;
	return w;
}

struct watch *loop_fd(struct loop *loop, int fd, uint32_t events, loop_fn fn, void *data)
{
	return add(loop, WATCH_FD, fd, events, fn, data);
}

static int set_timer(int fd, uint64_t period_ns)
{
	struct itimerspec its = { 0 };

	if (period_ns) {
		uint64_t first = (clock_now() / period_ns + 1) * period_ns;

		its.it_interval.tv_sec = (time_t)(period_ns / NSEC_PER_SEC);
		its.it_interval.tv_nsec = (long)(period_ns % NSEC_PER_SEC);
		its.it_value.tv_sec = (time_t)(first / NSEC_PER_SEC);
		its.it_value.tv_nsec = (long)(first % NSEC_PER_SEC);
	}
	return timerfd_settime(fd, TFD_TIMER_ABSTIME, &its, NULL) ? -errno : 0;
}

struct watch *loop_timer(struct loop *loop, uint64_t period_ns, loop_fn fn, void *data)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	struct watch *w;

	if (fd < 0)
		return NULL;
	w = set_timer(fd, period_ns) ? NULL : add(loop, WATCH_TIMER, fd, EPOLLIN, fn, data);
	if (!w)
		close(fd);
	return w;
}

struct watch *loop_signal(struct loop *loop, int signo, loop_fn fn, void *data)
{
	struct watch *w;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, signo);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		return NULL;
	w = add(loop, WATCH_SIGNAL, fd, EPOLLIN, fn, data);
	if (!w)
		close(fd);
	return w;
}

int watch_period(struct watch *w, uint64_t period_ns)
{
	return set_timer(w->fd, period_ns);
}

int watch_enable(struct watch *w, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = w };

	return epoll_ctl(w->loop->epoll, EPOLL_CTL_MOD, w->fd, &ev) ? -errno : 0;
}

void watch_free(struct watch *w)
{
	if (!w || w->dead)
		return;
	w->dead = true;
	epoll_ctl(w->loop->epoll, EPOLL_CTL_DEL, w->fd, NULL);
	if (w->kind != WATCH_FD)
		close(w->fd);
}

static void dispatch(struct watch *w, uint32_t events)
{
	struct signalfd_siginfo info;
	uint64_t expirations;

	switch (w->kind) {
	case WATCH_FD:
		w->fn(w->data, events);
		break;
	case WATCH_TIMER:
		if (read(w->fd, &expirations, sizeof(expirations)) == sizeof(expirations))
			w->fn(w->data, events);
		break;
	case WATCH_SIGNAL:
		if (read(w->fd, &info, sizeof(info)) == sizeof(info))
			w->fn(w->data, info.ssi_signo);
		break;
	}
}

int loop_run(struct loop *loop)
{
	struct epoll_event events[16];

	while (!loop->quit) {
		int n = epoll_wait(loop->epoll, events, 16, -1);

		if (n < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < n; i++) {
			struct watch *w = events[i].data.ptr;

			if (!w->dead)
				dispatch(w, events[i].events);
		}
		bury(loop);
	}
	return loop->code;
}

void loop_quit(struct loop *loop, int code)
{
	loop->quit = true;
	loop->code = code;
}
