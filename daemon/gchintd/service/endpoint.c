// SPDX-License-Identifier: GPL-2.0-or-later
#include "endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../../common/text.h"
#include "../../common/token.h"
#include "../../source/hint/tracker.h"
#include "../../source/log.h"
#include "../../source/metrics.h"
#include "http.h"

#define RESTART_S 2 /* until an HTTP server that ended is started again */

struct endpoint {
	struct source_context *context;
	const struct writer *writer;
	struct watch *timer;
	bool warned; /* a note says that the text file cannot be written */
	char token[TOKEN_SIZE]; /* "" none */
	int listen, channel; /* -1 none */
	pid_t server; /* 0 none */
	struct watch *watch, *restart;
};

static char *endpoint_render(struct endpoint *e, enum metrics_for whom, enum metrics_format format,
			     size_t *size)
{
	struct metrics_around around = { .lost = e->context->lost_total };
	struct writer_stats stats;

	if (e->writer)
		writer_stats(e->writer, &stats);
	if (e->context->tracker) {
		around.known = true;
		tracker_count(e->context->tracker, &around.slots, &around.in_phase);
	}
	return metrics_text(e->context->metrics, &around, e->writer ? &stats : NULL, whom, format,
			    size);
}

/* Writes a temporary file and renames it, so that no reader sees a partial file. */
static int textfile_write(const char *path, const char *data, size_t size)
{
	char temporary[300];
	ssize_t n;
	int fd, ret = 0;

	/* O_EXCL, under a name that no other user can have made before. */
	snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* It has phases: for the group that may read recordings, whatever the umask. */
	if (fchmod(fd, 0640))
		ret = -errno;
	n = write(fd, data, size);
	if (n < 0)
		ret = -errno;
	else if ((size_t)n != size)
		ret = -ENOSPC;
	close(fd);
	if (!ret && rename(temporary, path))
		ret = -errno;
	if (ret)
		unlink(temporary);
	return ret;
}

static void endpoint_on_timer(void *data, uint32_t events)
{
	struct endpoint *e = data;
	const char *path = e->context->config.metrics_textfile;
	size_t size;
	char *t = endpoint_render(e, METRICS_FOR_GROUP, METRICS_PROMETHEUS, &size);
	int ret;

	(void)events;
	if (!t)
		return;
	ret = textfile_write(path, t, size);
	free(t);
	if (ret && !e->warned)
		context_note(e->context, LOG_WARNING, "metrics", "%s: %s: not updated", path,
			     strerror(-ret));
	e->warned = ret;
}

#ifdef HAVE_MICROHTTPD
static void token_load(struct endpoint *e)
{
	const char *path = e->context->config.metrics_token_file;
	char why[96];

	e->token[0] = '\0';
	if (*path && !token_read(path, e->token, why, sizeof(why)))
		context_note(e->context, LOG_WARNING, "metrics",
			     "%s: %s: only rails and the daemon's state are shown", path, why);
}

static int address_parse(const char *listen, struct sockaddr_storage *addr)
{
	const char *colon = strrchr(listen, ':');
	char host[64];
	uint64_t port;

	if (!colon || text_u64(colon + 1, &port) || !port || port > 65535)
		return -EINVAL;
	snprintf(host, sizeof(host), "%.*s", (int)(colon - listen), listen);
	memset(addr, 0, sizeof(*addr));
	if (host[0] == '[' && host[strlen(host) - 1] == ']') {
		struct sockaddr_in6 *in6 = (void *)addr;

		host[strlen(host) - 1] = '\0';
		in6->sin6_family = AF_INET6;
		in6->sin6_port = htons((uint16_t)port);
		return inet_pton(AF_INET6, host + 1, &in6->sin6_addr) == 1 ? 0 : -EINVAL;
	}
	struct sockaddr_in *in = (void *)addr;

	in->sin_family = AF_INET;
	in->sin_port = htons((uint16_t)port);
	return inet_pton(AF_INET, host, &in->sin_addr) == 1 ? 0 : -EINVAL;
}

static int listen_at(const struct sockaddr_storage *addr)
{
	const int on = 1;
	int fd = socket(addr->ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), ret;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (addr->ss_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (!bind(fd, (const struct sockaddr *)addr,
		  addr->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
						sizeof(struct sockaddr_in)) &&
	    !listen(fd, SOMAXCONN))
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

/* Starts the process with its two descriptors; 0 or -errno. */
static int server_spawn(pid_t *pid, int listen, int channel)
{
	char *const argv[] = { "gchintd", "--" HTTP_OPTION, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t none;
	/* Above the numbers that they get, so that neither replaces the other. */
	int from[] = { fcntl(listen, F_DUPFD_CLOEXEC, 10), fcntl(channel, F_DUPFD_CLOEXEC, 10) };
	int ret = from[0] < 0 || from[1] < 0 ? EMFILE : 0;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_adddup2(&actions, from[0], HTTP_LISTEN);
	posix_spawn_file_actions_adddup2(&actions, from[1], HTTP_CHANNEL);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	if (!ret)
		ret = posix_spawn(pid, "/proc/self/exe", &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	for (int i = 0; i < 2; i++)
		if (from[i] >= 0)
			close(from[i]);
	return -ret;
}

/* A file in memory with the text, -1 without memory. */
static int text_file(const char *text, size_t size)
{
	int fd = (int)syscall(SYS_memfd_create, "gchint-metrics", 1u /* MFD_CLOEXEC */);

	if (fd >= 0 && write(fd, text, size) == (ssize_t)size)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Answers one request; never waits. */
static void server_answer(struct endpoint *e, const struct http_request *request)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	size_t size = 0;
	char *text = endpoint_render(e, (enum metrics_for)request->audience,
				     (enum metrics_format)request->format, &size);
	int fd = text ? text_file(text, size) : -1;
	struct cmsghdr *c;

	free(text);
	if (fd >= 0) {
		msg.msg_control = &control;
		msg.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	sendmsg(e->channel, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (fd >= 0)
		close(fd);
}

/* Ends the process, if there is one. The listening socket stays. */
static void server_end(struct endpoint *e)
{
	watch_free(e->watch);
	e->watch = NULL;
	if (e->channel >= 0)
		close(e->channel);
	e->channel = -1;
	if (e->server > 0) {
		kill(e->server, SIGKILL);
		waitpid(e->server, NULL, 0);
	}
	e->server = 0;
}

static void server_on_restart(void *data, uint32_t events);

static void server_on_request(void *data, uint32_t events)
{
	struct endpoint *e = data;
	struct http_request request;
	ssize_t n = recv(e->channel, &request, sizeof(request), MSG_DONTWAIT);

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == sizeof(request) && request.audience < METRICS_FOR_NR &&
	    request.format < METRICS_FORMAT_NR) {
		server_answer(e, &request);
		return;
	}
	server_end(e);
	context_note(e->context, LOG_WARNING, "metrics",
		     "the HTTP server ended; another starts in %d s", RESTART_S);
	e->restart = loop_timer(e->context->loop, RESTART_S * NSEC_PER_SEC, server_on_restart, e);
}

static int server_start(struct endpoint *e)
{
	int pair[2], ret;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	e->channel = pair[0];
	ret = server_spawn(&e->server, e->listen, pair[1]);
	close(pair[1]);
	if (!ret && send(e->channel, e->token, sizeof(e->token), MSG_NOSIGNAL) < 0)
		ret = -errno;
	if (!ret) {
		e->watch = loop_fd(e->context->loop, e->channel, EPOLLIN, server_on_request, e);
		ret = e->watch ? 0 : -ENOMEM;
	}
	if (ret)
		server_end(e);
	return ret;
}

static void server_on_restart(void *data, uint32_t events)
{
	struct endpoint *e = data;

	(void)events;
	watch_free(e->restart);
	e->restart = NULL;
	if (server_start(e))
		e->restart = loop_timer(e->context->loop, RESTART_S * NSEC_PER_SEC,
					server_on_restart, e);
}

static void http_start(struct endpoint *e)
{
	const char *listen = e->context->config.metrics_listen;
	struct sockaddr_storage addr;
	int ret;

	token_load(e);
	if (address_parse(listen, &addr)) {
		context_note(e->context, LOG_WARNING, "metrics",
			     "listen = %s: ADDRESS:PORT is wanted, such as 127.0.0.1:9477", listen);
		return;
	}
	e->listen = ret = listen_at(&addr);
	if (ret >= 0)
		ret = server_start(e);
	if (ret < 0)
		context_note(e->context, LOG_WARNING, "metrics", "%s: cannot listen: %s", listen,
			     strerror(-ret));
	else if (!*e->token)
		log_line(LOG_NOTICE, "metrics",
			 "%s: without [metrics] token_file it shows rails and the daemon's state, "
			 "no phases",
			 listen);
}

static void http_stop(struct endpoint *e)
{
	watch_free(e->restart);
	server_end(e);
	if (e->listen >= 0)
		close(e->listen);
}
#else
static void http_start(struct endpoint *e)
{
	context_note(e->context, LOG_WARNING, "metrics", "listen: built without libmicrohttpd");
}

static void http_stop(struct endpoint *e)
{
	(void)e;
}
#endif

struct endpoint *endpoint_start(struct source_context *context, const struct writer *writer)
{
	struct endpoint *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->context = context;
	e->writer = writer;
	e->listen = e->channel = -1;
	if (*context->config.metrics_listen)
		http_start(e);
	if (*context->config.metrics_textfile) {
		e->timer =
			loop_timer(context->loop, context->config.metrics_period_s * NSEC_PER_SEC,
				   endpoint_on_timer, e);
		endpoint_on_timer(e, 0);
	}
	return e;
}

void endpoint_stop(struct endpoint *e)
{
	if (!e)
		return;
	if (e->timer)
		endpoint_on_timer(e, 0);
	watch_free(e->timer);
	http_stop(e);
	free(e);
}
