// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: the loop: its watches, its use of sd-event, whose calls are redirected here, and the
 * feed of the netlink source, which it watches.
 */
#include "unit.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-event.h>
#include <uapi/linux/gchint.h>
#include <unistd.h>

#include "../../daemon/recording/queue.h"
#include "../../daemon/source/hint/tracker.h"
#include "build.h"
#include "faults.h"
#include "place.h"
#include "records.h"

static int refused; /* the call of sd-event that fails, from 1 */
static char asked[600];

#define ASKED(...) snprintf(asked + strlen(asked), sizeof(asked) - strlen(asked), __VA_ARGS__)

int sd_event_source_set_time(sd_event_source *s, uint64_t usec)
{
	int (*real)(sd_event_source * source, uint64_t us) =
		(int (*)(sd_event_source *, uint64_t))dlsym(RTLD_NEXT, "sd_event_source_set_time");

	ASKED("at %llu\n", (unsigned long long)usec);
	return refused == 1 ? -EINVAL : real(s, usec);
}

int sd_event_source_set_enabled(sd_event_source *s, int enabled)
{
	int (*real)(sd_event_source * source, int on) =
		(int (*)(sd_event_source *, int))dlsym(RTLD_NEXT, "sd_event_source_set_enabled");

	ASKED("%s\n", enabled == SD_EVENT_OFF ? "off" : enabled == SD_EVENT_ON ? "on" : "once");
	return refused == 2 ? -EINVAL : real(s, enabled);
}

int sd_event_new(sd_event **event)
{
	int (*real)(sd_event * *e) = (int (*)(sd_event **))dlsym(RTLD_NEXT, "sd_event_new");

	return refused == 3 ? -EMFILE : real(event);
}

struct seen {
	struct loop *loop;
	struct watch *watch;
	int fd;
	unsigned int times;
	uint32_t events;
};

static void on_fd(void *data, uint32_t events)
{
	struct seen *s = data;

	s->events = events;
	if (++s->times == 2)
		loop_quit(s->loop, 7);
}

static void on_once(void *data, uint32_t events)
{
	struct seen *s = data;

	s->events = events;
	s->times++;
}

static void on_end(void *data, uint32_t events)
{
	(void)events;
	loop_quit(data, 5);
}

static void descriptors_check(void)
{
	const uint64_t one = 1;
	struct loop *loop = loop_new();
	struct seen s = { .loop = loop, .fd = eventfd(0, EFD_CLOEXEC) }, once = s;
	struct watch *watch, *end;

	once.fd = eventfd(0, EFD_CLOEXEC);
	if (write(s.fd, &one, sizeof(one)) < 0 || write(once.fd, &one, sizeof(one)) < 0)
		abort();
	once.watch = loop_fd(loop, once.fd, EPOLLIN | EPOLLONESHOT, on_once, &once);
	watch = loop_fd(loop, s.fd, EPOLLIN, on_fd, &s);
	CHECK(watch && once.watch && loop_run(loop) == 7 && s.times == 2 && s.events == EPOLLIN,
	      "a readable descriptor is reported until it is read");
	loop_free(loop);
	loop = loop_new();
	once.times = 0;
	once.watch = loop_fd(loop, once.fd, EPOLLIN | EPOLLONESHOT, on_once, &once);
	s.times = 0;
	s.loop = loop;
	watch = loop_fd(loop, s.fd, EPOLLIN, on_fd, &s);
	loop_run(loop);
	CHECK(once.times == 1 && once.events == EPOLLIN, "a one-shot descriptor is reported once");
	watch_free(watch);
	watch_free(once.watch);
	loop_free(loop);
	loop = loop_new();
	end = loop_fd(loop, s.fd, EPOLLIN, on_end, loop);
	once.watch = loop_fd(loop, once.fd, EPOLLIN, on_once, &once);
	once.times = 0;
	watch_free(once.watch);
	CHECK(loop_run(loop) == 5 && !once.times, "a freed watch is not reported");
	watch_free(end);
	watch_free(NULL);
	loop_free(loop);
	loop = loop_new();
	CHECK(!loop_fd(loop, -1, EPOLLIN, on_once, &once), "an invalid descriptor is refused");
	refused = 2;
	CHECK(!loop_fd(loop, once.fd, EPOLLIN | EPOLLONESHOT, on_once, &once),
	      "a descriptor that epoll refuses is not watched");
	refused = 0;
	/* Freed in another order than created, the rest with the loop. */
	watch = loop_fd(loop, s.fd, EPOLLIN, on_fd, &s);
	once.watch = loop_fd(loop, once.fd, EPOLLIN, on_once, &once);
	end = loop_timer(loop, 1, on_end, loop);
	watch_free(once.watch);
	watch_free(watch);
	loop_free(loop);
	loop_free(NULL);
	close(s.fd);
	close(once.fd);
	refused = 3;
	CHECK(!loop_new(), "without descriptors there is no loop");
	refused = 0;
}

static void timers_check(void)
{
	struct loop *loop = loop_new();
	struct seen s = { .loop = loop };
	struct watch *w;

	asked[0] = '\0';
	faults.at_ns = 1234567899;
	w = loop_timer(loop, 20000000, on_fd, &s);
	CHECK(!watch_period(w, 0) && !watch_period(w, 7000) && !watch_period(w, 999) &&
		      !watch_period(w, 100000000),
	      "a period can be changed");
	text_is(asked, "at 1240000\non\noff\nat 1234569\non\nat 1234568\non\nat 1300000\non\n",
		"a timer expires at the next multiple of its period");
	watch_free(w);
	asked[0] = '\0';
	faults.at_ns = 1000000;
	w = loop_timer(loop, 1000000, on_fd, &s);
	CHECK(loop_run(loop) == 7 && s.times == 2 && s.events == EPOLLIN,
	      "a one-shot descriptor can be rearmed");
	text_is(asked, "at 2000\non\nat 2000\nat 2000\n",
		"a timer expires at each following multiple");
	watch_free(w);
	/* A freed watch is not called again. */
	loop_free(loop);
	loop = loop_new();
	refused = 1;
	CHECK(!loop_timer(loop, 20000000, on_fd, &s), "a timer that cannot be set is refused");
	refused = 2;
	CHECK(!loop_timer(loop, 20000000, on_fd, &s), "a timer that cannot be watched is refused");
	refused = 0;
	w = loop_timer(loop, 0, on_fd, &s);
	refused = 1;
	CHECK(watch_period(w, 1) < 0, "a failed change of the period is reported");
	refused = 2;
	CHECK(watch_period(w, 0) < 0 && watch_again(w) < 0, "a failed stop or rearm is reported");
	refused = 0;
	watch_free(w);
	loop_free(loop);
	faults.at_ns = 0;
}

static void signals_check(void)
{
	struct loop *loop = loop_new();
	struct seen s = { .loop = loop };
	sigset_t before, now;

	sigprocmask(SIG_SETMASK, NULL, &before);
	CHECK(loop_signal(loop, SIGUSR1, on_fd, &s) && loop_signal(loop, SIGUSR2, on_fd, &s) &&
		      !loop_signal(loop, SIGUSR2, on_fd, &s),
	      "a signal has one watch");
	sigprocmask(SIG_SETMASK, NULL, &now);
	raise(SIGUSR1);
	raise(SIGUSR2);
	CHECK(sigismember(&now, SIGUSR1) && loop_run(loop) == 7 && s.times == 2 &&
		      (s.events == SIGUSR1 || s.events == SIGUSR2),
	      "a signal is reported with its number");
	loop_free(loop);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Whether the other end is still open. */
static bool open_yet(int fd)
{
	char byte;
	ssize_t n = recv(fd, &byte, 1, MSG_DONTWAIT);

	return n < 0 && errno == EAGAIN;
}

static int feeder_connect(void)
{
	struct sockaddr_un to = { AF_UNIX, "feed" };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (connect(fd, (struct sockaddr *)&to, sizeof(to)))
		abort();
	return fd;
}

static void event_feed(int fd, uint64_t seq, uint64_t t, uint32_t phase)
{
	struct build b = { .seq = seq };
	const void *bytes;
	size_t len;

	build_phase(&b, t, 1, 70, 71, 2, phase, 0, 0, 0);
	bytes = build_bytes(&b, &len);
	if (send(fd, bytes, len, 0) != (ssize_t)len)
		abort();
	build_done(&b);
}

static void watch_run(unsigned int i)
{
	watched_at(i)->fn(watched_at(i)->data, EPOLLIN);
}

static void feed_check(void)
{
	const struct source *genl = source_table[SOURCE_genl];
	int first, second, lowest;
	void *state = NULL;
	struct source_context context;

	place_context(&context);
	place_low(true);
	faults.at_ns = 9000;
	context.feed = "feed";
	context.config.source[SOURCE_genl].period_ms = 30;
	CHECK(!genl->start(&context, &state) && watched_count() == 2 &&
		      watched_at(1)->events == EPOLLIN,
	      "the feed's socket is watched");
	watch_run(0);
	CHECK(!watched_at(0)->period_ns, "without a client nothing is polled");
	lowest = dup(STDOUT_FILENO);
	close(lowest);
	first = feeder_connect();
	watch_run(1);
	CHECK(watched_count() == 3 && watched_at(2)->events == (EPOLLIN | EPOLLONESHOT),
	      "a client is accepted");
	second = feeder_connect();
	watch_run(1);
	CHECK(watched_count() == 3 && open_yet(first) && !open_yet(second),
	      "only one client is accepted");
	close(second);
	event_feed(first, 100, 1000, GCHINT_PHASE_MARK);
	watch_run(2);
	CHECK(watched_at(0)->period_ns == 30000000, "a client is polled once per period");
	event_feed(first, 103, 2000, GCHINT_PHASE_SWEEP);
	watch_run(0);
	close(first);
	watch_run(0);
	second = dup(STDOUT_FILENO);
	close(second);
	CHECK(!watched_at(2)->watch && !watched_at(0)->period_ns && second == lowest,
	      "polling ends with the client");
	watch_run(0);
	records_are(context.queue,
		    "clock 0 0 'genl' 'CLOCK_MONOTONIC' 'stamped by the kernel at the edge'\n"
		    "process 70 70\n"
		    "process 70 71\n"
		    "phase 1000: 1 from 1000, 4 of 70/71, end 0\n"
		    "drop 2 'genl' 'netlink sequence gap: the socket's buffer ran over'\n"
		    "phase 2000: 1 from 1000, 4 of 70/71, end 1, uncertain\n"
		    "phase 2000: 2 from 2000, 7 of 70/71, end 0\n"
		    "phase 9000: 2 from 2000, 7 of 70/71, end 4\n"
		    "note 5 'genl' 'feed closed'\n",
		    "the feed's events are recorded, and its end");
	first = feeder_connect();
	watch_run(1);
	event_feed(first, 500, 3000, GCHINT_PHASE_MARK);
	genl->stop(state);
	CHECK(!open_yet(first) && access("feed", F_OK) && !watched_open(),
	      "the end closes all descriptors");
	close(first);
	records_are(context.queue, "phase 3000: 3 from 3000, 4 of 70/71, end 0\n",
		    "pending events are read; the next feed has its own sequence numbers");
	faults.at_ns = 0;
	place_low(false);
	place_context_free(&context);
}

void unit_loop(void)
{
	struct place place;

	if (!place_enter(&place))
		return;
	descriptors_check();
	timers_check();
	signals_check();
	feed_check();
	place_leave(&place);
}
