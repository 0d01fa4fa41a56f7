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

#include "../../source/log.h"
#include "../../source/privilege.h"

#ifdef HAVE_MICROHTTPD
#include <arpa/inet.h>
#include <microhttpd.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../common/clock.h"
#include "../../common/token.h"
#include "../../source/metrics.h"

#define CONNECTIONS 256
#define IDLE_S	    5 /* after that a silent client is disconnected */
#define HEADER_NS   (5 * NSEC_PER_SEC) /* for a request, however much of it arrives */
#define ANSWER_NS   (30 * NSEC_PER_SEC) /* for a client to read the answer */
/* Beyond these the oldest connection is closed: of all, and of those of one address. */
#define OPEN_MAX	 (CONNECTIONS - 32)
#define OPEN_PER_ADDRESS 32
/* For how long a text is served again. */
#define FRESH_NS  (200 * NSEC_PER_MSEC)
#define ANSWER_MS 10000 /* a daemon that is stopped or hangs */

struct text {
	int fd; /* -1 none */
	size_t size;
	uint64_t t;
};

/*
 * struct client - a connection
 * @address: of the client; an IPv6 network of 64 bits is one
 * @since: when its request was begun, or its answer
 * @answers: the request is complete
 */
struct client {
	struct client *next;
	unsigned char address[16];
	uint64_t since;
	int fd;
	bool answers, closed;
};

struct http {
	struct MHD_Daemon *server;
	struct client *clients; /* the youngest first */
	struct text text[METRICS_FOR_NR][METRICS_FORMAT_NR];
	char token[TOKEN_SIZE]; /* "" none */
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

static void client_address(const struct sockaddr *from, unsigned char address[16])
{
	const struct sockaddr_in6 *six = (const void *)from;

	memset(address, 0, 16);
	if (from && from->sa_family == AF_INET)
		memcpy(address, &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
	else if (from && from->sa_family == AF_INET6)
		memcpy(address, &six->sin6_addr, IN6_IS_ADDR_V4MAPPED(&six->sin6_addr) ? 16 : 8);
}

/* The server sees the end of the connection, and frees it. */
static void client_disconnect(struct client *client)
{
	client->closed = true;
	shutdown(client->fd, SHUT_RDWR);
}

/* Closes the oldest connection, of those whose request is incomplete if there is one. */
static void clients_limit(struct http *h, const struct client *like, unsigned int most)
{
	struct client *oldest = NULL;
	unsigned int count = 0;

	for (struct client *c = h->clients; c; c = c->next) {
		if (c->closed || (like && memcmp(c->address, like->address, sizeof(c->address))))
			continue;
		count++;
		if (!oldest || c->answers <= oldest->answers)
			oldest = c;
	}
	if (count > most && oldest)
		client_disconnect(oldest);
}

static void client_notify(void *data, struct MHD_Connection *connection, void **context,
			  enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info;
	struct client *client = *context, **at;
	struct http *h = data;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		for (at = &h->clients; *at && *at != client; at = &(*at)->next)
			;
		if (*at)
			*at = client->next;
		free(client);
		*context = NULL;
		return;
	}
	client = calloc(1, sizeof(*client));
	*context = client;
	if (!client)
		return;
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	client->fd = info ? info->connect_fd : -1;
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	client_address(info ? info->client_addr : NULL, client->address);
	client->since = clock_now();
	client->next = h->clients;
	h->clients = client;
	clients_limit(h, client, OPEN_PER_ADDRESS);
	clients_limit(h, NULL, OPEN_MAX);
}

/* A request is complete; or its answer, and the next request may begin. */
static void client_progress(struct MHD_Connection *connection, bool answers)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct client *client = info ? info->socket_context : NULL;

	if (!client)
		return;
	client->answers = answers;
	client->since = clock_now();
}

static void on_answered(void *data, struct MHD_Connection *connection, void **per_request,
			enum MHD_RequestTerminationCode how)
{
	(void)data;
	(void)per_request;
	(void)how;
	client_progress(connection, false);
}

/* The server's own limit is that of silence: a byte a second would never reach it. */
static void clients_expire(struct http *h)
{
	const uint64_t now = clock_now();

	for (struct client *c = h->clients; c; c = c->next)
		if (!c->closed && now - c->since > (c->answers ? ANSWER_NS : HEADER_NS))
			client_disconnect(c);
}

static const char *header_get(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* The types of a text, by enum metrics_format, and what is parsed of Accept for each. */
static const char *const format_types[METRICS_FORMAT_NR] = {
	[METRICS_OPENMETRICS] = "application/openmetrics-text",
	[METRICS_PROMETHEUS] = "text/plain",
};

/*
 * struct preference - what a client accepts
 * @quality: of each format, in thousandths; -1 not named
 * @specific: how specific the range was that named it: 1 all types, 2 all of a type, 3 the type
 * @any: there is such a header
 */
struct preference {
	int quality[METRICS_FORMAT_NR], specific[METRICS_FORMAT_NR];
	bool any;
};

/* A weight of RFC 9110, "0" to "1" with up to three decimals, in thousandths. */
static int quality_parse(const char *text)
{
	int quality = *text == '1' ? 1000 : 0, unit = 100;

	if ((*text == '0' || *text == '1') && text[1] == '.')
		for (text += 2; *text >= '0' && *text <= '9' && unit; text++, unit /= 10)
			quality += (*text - '0') * unit;
	return quality < 1000 ? quality : 1000;
}

/* How specifically a range, such as "text/\*", names a type; 0 if it does not. */
static int range_match(const char *range, size_t length, const char *type)
{
	const size_t slash = strcspn(type, "/") + 1;

	if (length == 3 && !memcmp(range, "*/*", 3))
		return 1;
	if (length == slash + 1 && range[slash] == '*' && !strncasecmp(range, type, slash))
		return 2;
	return length == strlen(type) && !strncasecmp(range, type, length) ? 3 : 0;
}

/* A range with its parameters, of which the weight alone counts here. */
static void range_apply(struct preference *p, char *range)
{
	const size_t length = strcspn(range, " \t;");
	int quality = 1000, specific;
	char *word, *save = NULL;

	for (word = strtok_r(range + length, "; \t", &save); word;
	     word = strtok_r(NULL, "; \t", &save))
		if (!strncasecmp(word, "q=", 2))
			quality = quality_parse(word + 2);
	for (int f = 0; f < METRICS_FORMAT_NR; f++) {
		specific = range_match(range, length, format_types[f]);
		if (!specific || specific < p->specific[f])
			continue;
		/* Of several versions of a type the best counts. */
		if (specific > p->specific[f] || quality > p->quality[f])
			p->quality[f] = quality;
		p->specific[f] = specific;
	}
}

static enum MHD_Result preference_add(void *data, enum MHD_ValueKind kind, const char *name,
				      const char *value)
{
	struct preference *p = data;
	char *copy, *range, *save = NULL;

	(void)kind;
	if (strcasecmp(name, MHD_HTTP_HEADER_ACCEPT) != 0 || !value)
		return MHD_YES;
	p->any = true;
	copy = strdup(value);
	for (range = copy ? strtok_r(copy, ",", &save) : NULL; range;
	     range = strtok_r(NULL, ",", &save))
		range_apply(p, range + strspn(range, " \t"));
	free(copy);
	return MHD_YES;
}

/*
 * What the client prefers: OpenMetrics if it has no such header, text/plain if it accepts neither. Of
 * equal preferences OpenMetrics if it is named; else text/plain, which may say why it has little, for
 * those who look with curl or a browser.
 */
static enum metrics_format format_negotiate(struct MHD_Connection *connection)
{
	struct preference p = { .quality = { -1, -1 } };
	const int *q = p.quality;

	MHD_get_connection_values(connection, MHD_HEADER_KIND, preference_add, &p);
	if (!p.any)
		return METRICS_OPENMETRICS;
	if (q[METRICS_OPENMETRICS] <= 0)
		return METRICS_PROMETHEUS;
	if (q[METRICS_OPENMETRICS] != q[METRICS_PROMETHEUS])
		return q[METRICS_OPENMETRICS] > q[METRICS_PROMETHEUS] ? METRICS_OPENMETRICS :
									METRICS_PROMETHEUS;
	return p.specific[METRICS_OPENMETRICS] == 3 ? METRICS_OPENMETRICS : METRICS_PROMETHEUS;
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
	client_progress(connection, true);
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return respond_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, hint);
	if (authorization && strncasecmp(authorization, "Bearer ", 7) != 0)
		return respond_text(connection, MHD_HTTP_UNAUTHORIZED,
				    "gchintd: it takes a token: Authorization: Bearer TOKEN\n");
	if (authorization && !*h->token)
		return respond_text(connection, MHD_HTTP_UNAUTHORIZED,
				    "gchintd: it has no token: set [metrics] token_file\n");
	if (authorization && !token_matches(h, authorization + 7))
		return respond_text(
			connection, MHD_HTTP_UNAUTHORIZED,
			"gchintd: wrong token: it is not that of [metrics] token_file\n");
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
		if (h->clients && timeout < 0)
			timeout = 1000;
		if (poll(p, 2, timeout) < 0 && errno != EINTR)
			return;
		if (p[1].revents)
			return;
		clients_expire(h);
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
	h.token[TOKEN_SIZE - 1] = '\0';
	h.server = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, http_respond, &h, MHD_OPTION_LISTEN_SOCKET,
		HTTP_LISTEN, MHD_OPTION_CONNECTION_LIMIT, (unsigned int)CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)16384, MHD_OPTION_NOTIFY_CONNECTION,
		client_notify, &h, MHD_OPTION_NOTIFY_COMPLETED, on_answered, NULL, MHD_OPTION_END);
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
