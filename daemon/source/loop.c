// SPDX-License-Identifier: GPL-2.0-or-later
#include "loop.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <systemd/sd-event.h>

#include "../common/clock.h"

/* us by which sd-event may delay a timer to merge it with others: the least it accepts. */
#define ACCURACY 1

struct watch {
	struct loop *loop;
	struct watch *next, **link; /* of the loop's list, *link is this */
	sd_event_source *source;
	uint64_t period_us; /* of a timer */
	loop_fn fn;
	void *data;
};

struct loop {
	sd_event *event;
	struct watch *watches;
};

struct loop *loop_new(void)
{
	struct loop *loop = calloc(1, sizeof(*loop));

	if (loop && sd_event_new(&loop->event) < 0) {
		free(loop);
		return NULL;
	}
	return loop;
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	while (loop->watches)
		watch_free(loop->watches);
	sd_event_unref(loop->event);
	free(loop);
}

static struct watch *watch_new(struct loop *loop, loop_fn fn, void *data)
{
	struct watch *w = calloc(1, sizeof(*w));

	if (w)
		*w = (struct watch){ .loop = loop, .fn = fn, .data = data };
	return w;
}

/* Takes ownership of @w; frees it and returns NULL if sd-event reported an error. */
static struct watch *watch_register(struct watch *w, int error)
{
	if (error < 0) {
		free(w);
		return NULL;
	}
	w->next = w->loop->watches;
	w->link = &w->loop->watches;
	if (w->next)
		w->next->link = &w->next;
	*w->link = w;
	return w;
}

static int on_fd(sd_event_source *source, int fd, uint32_t events, void *data)
{
	const struct watch *w = data;

	(void)source;
	(void)fd;
	w->fn(w->data, events);
	return 0;
}

struct watch *loop_fd(struct loop *loop, int fd, uint32_t events, loop_fn fn, void *data)
{
	struct watch *w = watch_new(loop, fn, data);
	int ret;

	if (!w)
		return NULL;
	ret = sd_event_add_io(loop->event, &w->source, fd, events & ~(uint32_t)EPOLLONESHOT, on_fd,
			      w);
	if (ret >= 0 && events & EPOLLONESHOT) {
		ret = sd_event_source_set_enabled(w->source, SD_EVENT_ONESHOT);
		if (ret < 0)
			sd_event_source_disable_unref(w->source);
	}
	return watch_register(w, ret);
}

int watch_again(struct watch *w)
{
	int ret = sd_event_source_set_enabled(w->source, SD_EVENT_ONESHOT);

	return ret < 0 ? ret : 0;
}

static uint64_t timer_next_us(uint64_t period_us)
{
	return (clock_now() / NSEC_PER_USEC / period_us + 1) * period_us;
}

static int on_time(sd_event_source *source, uint64_t usec, void *data)
{
	const struct watch *w = data;

	(void)usec;
	/* Set before the call, since the callback may stop the timer. */
	sd_event_source_set_time(source, timer_next_us(w->period_us));
	w->fn(w->data, EPOLLIN);
	return 0;
}

int watch_period(struct watch *w, uint64_t period_ns)
{
	int ret;

	if (!period_ns)
		return sd_event_source_set_enabled(w->source, SD_EVENT_OFF);
	w->period_us = period_ns / NSEC_PER_USEC ? period_ns / NSEC_PER_USEC : 1;
	ret = sd_event_source_set_time(w->source, timer_next_us(w->period_us));
	return ret < 0 ? ret : sd_event_source_set_enabled(w->source, SD_EVENT_ON);
}

struct watch *loop_timer(struct loop *loop, uint64_t period_ns, loop_fn fn, void *data)
{
	struct watch *w = watch_new(loop, fn, data);
	int ret;

	if (!w)
		return NULL;
	ret = sd_event_add_time(loop->event, &w->source, CLOCK_MONOTONIC, UINT64_MAX, ACCURACY,
				on_time, w);
	if (ret >= 0) {
		ret = watch_period(w, period_ns);
		if (ret < 0)
			sd_event_source_disable_unref(w->source);
	}
	return watch_register(w, ret);
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *data)
{
	const struct watch *w = data;

	(void)source;
	w->fn(w->data, info->ssi_signo);
	return 0;
}

struct watch *loop_signal(struct loop *loop, int signo, loop_fn fn, void *data)
{
	struct watch *w = watch_new(loop, fn, data);
	sigset_t set;

	if (!w)
		return NULL;
	sigemptyset(&set);
	sigaddset(&set, signo);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return watch_register(w, sd_event_add_signal(loop->event, &w->source, signo, on_signal, w));
}

/* Safe within the watch's own callback: sd-event keeps the source until that returns. */
void watch_free(struct watch *w)
{
	if (!w)
		return;
	sd_event_source_disable_unref(w->source);
	*w->link = w->next;
	if (w->next)
		w->next->link = w->link;
	free(w);
}

int loop_run(struct loop *loop)
{
	return sd_event_loop(loop->event);
}

void loop_quit(struct loop *loop, int code)
{
	sd_event_exit(loop->event, code);
}
