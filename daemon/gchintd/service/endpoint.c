// SPDX-License-Identifier: GPL-2.0-or-later
#include "endpoint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../../common/regular.h"
#include "../../common/text.h"
#include "../hint/tracker.h"
#include "../source/metrics.h"

#ifdef HAVE_MICROHTTPD
#include <microhttpd.h>
#endif

#define TOKEN_MIN 16 /* characters; a shorter token could be guessed over a network */

struct endpoint {
	struct host *host;
	const struct writer *writer;
	struct watch *timer;
	bool warned; /* a note says that the text file cannot be written */
	char token[256]; /* "" none */
#ifdef HAVE_MICROHTTPD
	struct MHD_Daemon *http;
	struct watch *watch, *expire;
#endif
};

static char *endpoint_render(struct endpoint *e, enum metrics_for whom, enum metrics_format format,
			     size_t *size)
{
	struct metrics_around around = { .lost = e->host->lost_total };
	struct writer_stats stats;

	if (e->writer)
		writer_stats(e->writer, &stats);
	if (e->host->tracker) {
		around.known = true;
		tracker_count(e->host->tracker, &around.slots, &around.in_phase);
	}
	return metrics_text(e->host->metrics, &around, e->writer ? &stats : NULL, whom, format,
			    size);
}

/* Writes a temporary file and renames it, so that no reader sees a partial file. */
static int textfile_write(const char *path, const char *data, size_t size)
{
	char temporary[300];
	ssize_t n;
	int fd, ret = 0;

	snprintf(temporary, sizeof(temporary), "%s.%d", path, (int)getpid());
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	/* Other users read the file; the unit's umask would limit it to our group. */
	if (fchmod(fd, 0644))
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
	const char *path = e->host->config.metrics_textfile;
	size_t size;
	char *t = endpoint_render(e, METRICS_FOR_EVERYONE, METRICS_PROMETHEUS, &size);
	int ret;

	(void)events;
	if (!t)
		return;
	ret = textfile_write(path, t, size);
	free(t);
	if (ret && !e->warned)
		host_note(e->host, LOG_WARNING, "metrics", "%s: %s: not updated", path,
			  strerror(-ret));
	e->warned = ret;
}

#ifdef HAVE_MICROHTTPD
/* The mode in @st is that of the file which was read, whatever has its name by now. */
static int token_read(const char *path, char *token, size_t size, struct stat *st)
{
	ssize_t n;
	int fd;

	errno = EINVAL; /* no regular file */
	fd = regular_open(path, 0, st);
	if (fd < 0)
		return -errno;
	n = read(fd, token, size - 1);
	if (n < 0)
		n = -errno;
	close(fd);
	if (n < 0)
		return (int)n;
	while (n && (token[n - 1] == '\n' || token[n - 1] == ' '))
		n--;
	token[n] = '\0';
	return (int)n;
}

static void token_load(struct endpoint *e)
{
	const char *path = e->host->config.metrics_token_file;
	struct stat st;
	int n;

	e->token[0] = '\0';
	if (!*path)
		return;
	n = token_read(path, e->token, sizeof(e->token), &st);
	if (n < 0)
		host_note(e->host, LOG_WARNING, "metrics", "%s: %s: no client sees all rails", path,
			  strerror(-n));
	else if (st.st_mode & S_IROTH)
		host_note(e->host, LOG_WARNING, "metrics",
			  "%s: readable by all users; chmod o= it: until then no client sees all "
			  "rails",
			  path);
	else if (n < TOKEN_MIN)
		host_note(e->host, LOG_WARNING, "metrics",
			  "%s: a secret of at least %d characters is needed: no client sees all "
			  "rails",
			  path, TOKEN_MIN);
	else
		return;
	e->token[0] = '\0';
}

/* Compares in a time that does not depend on how much of the token matches. */
static bool token_matches(const struct endpoint *e, const char *token)
{
	size_t want = strlen(e->token), have = strlen(token);
	unsigned char differ = !want || want != have;

	for (size_t i = 0; i < have; i++)
		differ |= (unsigned char)(token[i] ^ e->token[want ? i % want : 0]);
	return !differ;
}

/* OpenMetrics, unless the client accepts text/plain and does not name OpenMetrics. */
static enum metrics_format format_negotiate(struct MHD_Connection *connection)
{
	const char *accept =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);

	return accept && strstr(accept, "text/plain") &&
			       !strstr(accept, "application/openmetrics-text") ?
		       METRICS_PROMETHEUS :
		       METRICS_OPENMETRICS;
}

static enum MHD_Result http_respond(void *data, struct MHD_Connection *connection, const char *url,
				    const char *method, const char *version, const char *upload,
				    size_t *upload_size, void **per_request)
{
	static const char hint[] = "gchintd: the metrics are at /metrics\n";
	struct endpoint *e = data;
	struct MHD_Response *response;
	const char *authorization = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
								MHD_HTTP_HEADER_AUTHORIZATION);
	unsigned int status = MHD_HTTP_OK;
	enum MHD_Result ret;

	(void)version;
	(void)upload;
	(void)upload_size;
	(void)per_request;
	if (strcmp(method, "GET") && strcmp(method, "HEAD")) {
		status = MHD_HTTP_METHOD_NOT_ALLOWED;
	} else if (authorization && (strncasecmp(authorization, "Bearer ", 7) ||
				     !token_matches(e, authorization + 7))) {
		status = MHD_HTTP_UNAUTHORIZED;
	} else if (!strcmp(url, "/metrics")) {
		const enum metrics_format format = format_negotiate(connection);
		size_t size;
		char *t = endpoint_render(
			e, authorization ? METRICS_FOR_KNOWN : METRICS_FOR_EVERYONE, format, &size);

		if (!t)
			return MHD_NO;
		response = MHD_create_response_from_buffer(size, t, MHD_RESPMEM_MUST_FREE);
		MHD_add_response_header(response, "Content-Type",
					format == METRICS_PROMETHEUS ?
						"text/plain; version=0.0.4; charset=utf-8" :
						"application/openmetrics-text; version=1.0.0; "
						"charset=utf-8");
		MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT);
		goto queue;
	} else if (strcmp(url, "/")) {
		status = MHD_HTTP_NOT_FOUND;
	}
	response = MHD_create_response_from_buffer(sizeof(hint) - 1, (void *)(uintptr_t)hint,
						   MHD_RESPMEM_PERSISTENT);
	MHD_add_response_header(response, "Content-Type", "text/plain");
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
queue:
	ret = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return ret;
}

static void http_run(void *data, uint32_t events)
{
	struct endpoint *e = data;
	MHD_UNSIGNED_LONG_LONG ms;

	(void)events;
	MHD_run(e->http);
	/* Idle connections time out; without connections no timer is needed. */
	if (MHD_get_timeout(e->http, &ms) == MHD_YES)
		watch_period(e->expire, (ms < 10 ? 10 : ms) * NSEC_PER_MSEC);
	else
		watch_period(e->expire, 0);
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

static void http_start(struct endpoint *e)
{
	const char *listen = e->host->config.metrics_listen;
	const union MHD_DaemonInfo *info;
	struct sockaddr_storage addr;

	token_load(e);
	if (address_parse(listen, &addr)) {
		host_note(e->host, LOG_WARNING, "metrics",
			  "listen = %s: ADDRESS:PORT is wanted, such as 127.0.0.1:9477", listen);
		return;
	}
	e->http = MHD_start_daemon(
		MHD_USE_EPOLL | (addr.ss_family == AF_INET6 ? MHD_USE_IPv6 : 0), 0, NULL, NULL,
		http_respond, e, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&addr,
		MHD_OPTION_CONNECTION_LIMIT, 16u, MHD_OPTION_CONNECTION_TIMEOUT, 10u,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)16384, MHD_OPTION_END);
	info = e->http ? MHD_get_daemon_info(e->http, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info) {
		host_note(e->host, LOG_WARNING, "metrics", "%s: cannot listen: %s", listen,
			  strerror(errno));
		return;
	}
	e->watch = loop_fd(e->host->loop, info->epoll_fd, EPOLLIN, http_run, e);
	e->expire = loop_timer(e->host->loop, 0, http_run, e);
}

static void http_stop(struct endpoint *e)
{
	watch_free(e->watch);
	watch_free(e->expire);
	if (e->http)
		MHD_stop_daemon(e->http);
}
#else
static void http_start(struct endpoint *e)
{
	host_note(e->host, LOG_WARNING, "metrics", "listen: built without libmicrohttpd");
}

static void http_stop(struct endpoint *e)
{
	(void)e;
}
#endif

struct endpoint *endpoint_start(struct host *host, const struct writer *writer)
{
	struct endpoint *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->host = host;
	e->writer = writer;
	if (*host->config.metrics_listen)
		http_start(e);
	if (*host->config.metrics_textfile) {
		e->timer = loop_timer(host->loop, host->config.metrics_period_s * NSEC_PER_SEC,
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
