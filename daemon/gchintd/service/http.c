// SPDX-License-Identifier: GPL-2.0-or-later
#include "http.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <syslog.h>
#include <unistd.h>

#include "../log.h"
#include "../privilege.h"

#ifdef HAVE_MICROHTTPD
#include <arpa/inet.h>
#include <microhttpd.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../source/metrics.h"

#define CONNECTIONS 256
#define IDLE_S	    5 /* after that a silent client is disconnected */
/* For how long a text is served again. */
#define FRESH_NS  (200 * NSEC_PER_MSEC)
#define ANSWER_MS 10000 /* a daemon that is stopped or hangs */

struct text {
	int fd; /* -1 none */
	size_t size;
	uint64_t t;
};

struct http {
	struct MHD_Daemon *server;
	struct text text[METRICS_FOR_NR][METRICS_FORMAT_NR];
	char token[HTTP_TOKEN]; /* "" none */
};

static int descriptor_receive(int socket)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct pollfd p = { .fd = socket, .events = POLLIN };
	const struct cmsghdr *c;
	int fd = -1;

	/* Late, the answer would be taken for that to the next request. */
	if (poll(&p, 1, ANSWER_MS) <= 0)
		_exit(1);
	if (recvmsg(socket, &msg, MSG_CMSG_CLOEXEC) <= 0)
		_exit(0);
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* The text for @request; NULL without memory. */
static const struct text *text_get(struct http *h, struct http_request request)
{
	struct text *text = &h->text[request.audience][request.format];
	struct stat st;

	if (text->fd >= 0 && clock_now() - text->t < FRESH_NS)
		return text;
	if (text->fd >= 0)
		close(text->fd);
	text->fd = -1;
	if (send(HTTP_CHANNEL, &request, sizeof(request), MSG_NOSIGNAL) < 0)
		_exit(0);
	text->fd = descriptor_receive(HTTP_CHANNEL);
	if (text->fd < 0 || fstat(text->fd, &st))
		return NULL;
	text->size = (size_t)st.st_size;
	text->t = clock_now();
	return text;
}

/* Compares in a time that does not depend on how much of the token matches. */
static bool token_matches(const struct http *h, const char *token)
{
	size_t want = strlen(h->token), have = strlen(token);
	unsigned char differ = !want || want != have;

	for (size_t i = 0; i < have; i++)
		differ |= (unsigned char)(token[i] ^ h->token[want ? i % want : 0]);
	return !differ;
}

static const char *header_get(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* OpenMetrics, unless the client accepts text/plain and does not name OpenMetrics. */
static enum metrics_format format_negotiate(struct MHD_Connection *connection)
{
	const char *accept = header_get(connection, MHD_HTTP_HEADER_ACCEPT);

	return accept && strstr(accept, "text/plain") &&
			       !strstr(accept, "application/openmetrics-text") ?
		       METRICS_PROMETHEUS :
		       METRICS_OPENMETRICS;
}

/*
 * Whether the Host header has an address, or is localhost. A page in a browser of this machine
 * can let its own name point here, and read what its "own" server says; it has no token.
 */
static bool host_is_address(const char *host)
{
	struct in6_addr address;
	const char *end;
	char name[64];
	size_t n;

	if (!host)
		return true; /* HTTP/1.0: no browser */
	end = *host == '[' ? strchr(host, ']') : host + strcspn(host, ":");
	if (*host == '[')
		host++;
	n = end ? (size_t)(end - host) : sizeof(name);
	if (n >= sizeof(name))
		return false;
	memcpy(name, host, n);
	name[n] = '\0';
	return !strcasecmp(name, "localhost") || inet_pton(AF_INET, name, &address) == 1 ||
	       inet_pton(AF_INET6, name, &address) == 1;
}

static enum MHD_Result respond_text(struct MHD_Connection *connection, unsigned int status,
				    const char *text)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result ret;

	MHD_add_response_header(response, "Content-Type", "text/plain");
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	ret = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return ret;
}

static enum MHD_Result respond_metrics(struct http *h, struct MHD_Connection *connection,
				       enum metrics_for audience)
{
	const enum metrics_format format = format_negotiate(connection);
	const struct text *text = text_get(h, (struct http_request){ .audience = (uint8_t)audience,
								     .format = (uint8_t)format });
	/* The response closes its descriptor. */
	int fd = text ? dup(text->fd) : -1;
	struct MHD_Response *response = fd < 0 ? NULL : MHD_create_response_from_fd(text->size, fd);
	enum MHD_Result ret;

	if (!response)
		return respond_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
				    "gchintd: no memory\n");
	MHD_add_response_header(response, "Content-Type",
				format == METRICS_PROMETHEUS ?
					"text/plain; version=0.0.4; charset=utf-8" :
					"application/openmetrics-text; version=1.0.0; "
					"charset=utf-8");
	MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT);
	ret = MHD_queue_response(connection, MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return ret;
}

static enum MHD_Result http_respond(void *data, struct MHD_Connection *connection, const char *url,
				    const char *method, const char *version, const char *upload,
				    size_t *upload_size, void **per_request)
{
	static const char hint[] = "gchintd: the metrics are at /metrics\n";
	struct http *h = data;
	const char *authorization = header_get(connection, MHD_HTTP_HEADER_AUTHORIZATION);

	(void)version;
	(void)upload;
	(void)upload_size;
	(void)per_request;
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return respond_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, hint);
	if (authorization &&
	    (strncasecmp(authorization, "Bearer ", 7) || !token_matches(h, authorization + 7)))
		return respond_text(connection, MHD_HTTP_UNAUTHORIZED, hint);
	if (!authorization && !host_is_address(header_get(connection, MHD_HTTP_HEADER_HOST)))
		return respond_text(
			connection, MHD_HTTP_FORBIDDEN,
			"gchintd: without the token, ask by address, or as localhost\n");
	if (!strcmp(url, "/metrics"))
		return respond_metrics(h, connection,
				       authorization ? METRICS_FOR_KNOWN : METRICS_FOR_EVERYONE);
	return respond_text(connection, strcmp(url, "/") ? MHD_HTTP_NOT_FOUND : MHD_HTTP_OK, hint);
}

static void http_loop(struct http *h, int epoll)
{
	struct pollfd p[] = {
		{ .fd = epoll, .events = POLLIN },
		/* The daemon sends nothing unasked: this is its end. */
		{ .fd = HTTP_CHANNEL, .events = POLLIN },
	};

	for (;;) {
		MHD_UNSIGNED_LONG_LONG ms;
		int timeout = -1;

		if (MHD_get_timeout(h->server, &ms) == MHD_YES)
			timeout = ms > 1000 ? 1000 : (int)ms;
		if (poll(p, 2, timeout) < 0 && errno != EINTR)
			return;
		if (p[1].revents)
			return;
		MHD_run(h->server);
	}
}

int http_run(void)
{
	struct http h = { 0 };
	const union MHD_DaemonInfo *info;
	int ret;

	/* The daemon ends this process, whatever the terminal or the service manager sends. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
#ifdef SYS_close_range
	syscall(SYS_close_range, HTTP_CHANNEL + 1, ~0u, 0);
#endif
	ret = privilege_drop_process();
	if (ret) {
		log_line(LOG_ERR, "metrics", "the HTTP server keeps its rights: %s: not started",
			 strerror(-ret));
		return 1;
	}
	for (int i = 0; i < METRICS_FOR_NR; i++)
		for (int k = 0; k < METRICS_FORMAT_NR; k++)
			h.text[i][k].fd = -1;
	if (recv(HTTP_CHANNEL, h.token, sizeof(h.token), 0) != sizeof(h.token))
		return 1;
	h.token[HTTP_TOKEN - 1] = '\0';
	h.server = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, http_respond, &h, MHD_OPTION_LISTEN_SOCKET,
		HTTP_LISTEN, MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)16384, MHD_OPTION_END);
	info = h.server ? MHD_get_daemon_info(h.server, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info) {
		log_line(LOG_ERR, "metrics", "the HTTP server does not start: %s", strerror(errno));
		return 1;
	}
	http_loop(&h, info->epoll_fd);
	/* Without a thread to end and a file to write, the kernel cleans up faster. */
	_exit(0);
}
#else
int http_run(void)
{
	log_line(LOG_ERR, "metrics", "listen: built without libmicrohttpd");
	return 1;
}
#endif
