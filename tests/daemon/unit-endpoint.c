// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: access to the metrics and their formats: libmicrohttpd's calls are replaced, a
 * request is what a test defines. The text file is another output.
 */
#include "unit.h"

#if __has_include(<microhttpd.h>)
#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../daemon/gchintd/service/endpoint.h"
#include "../../daemon/gchintd/source/metrics.h"
#include "../../daemon/gchintd/store/queue.h"
#include "../../daemon/gchintd/store/writer.h"
#include "faults.h"
#include "place.h"
#include "records.h"

struct MHD_Response {
	char text[65536];
};

static struct {
	int refused; /* 1 no server, 2 no descriptor */
	int fd;
	union MHD_DaemonInfo info;
	MHD_AccessHandlerCallback respond;
	void *data;
	char where[200]; /* options of the server */
	unsigned int runs, stops;
	bool waits; /* a connection is idle */
	MHD_UNSIGNED_LONG_LONG left; /* ms */
} server;

static struct {
	const char *accept, *authorization;
	char answer[70000];
	int responses; /* not destroyed */
} request;

struct MHD_Daemon *MHD_start_daemon(unsigned int flags, uint16_t port, MHD_AcceptPolicyCallback apc,
				    void *apc_cls, MHD_AccessHandlerCallback dh, void *dh_cls, ...)
{
	const struct sockaddr *addr = NULL;
	char name[64] = "";
	va_list ap;
	int option;

	(void)apc;
	(void)apc_cls;
	server.respond = dh;
	server.data = dh_cls;
	snprintf(server.where, sizeof(server.where), "%u %u;", flags & ~(unsigned int)MHD_USE_EPOLL,
		 port);
	va_start(ap, dh_cls);
	while ((option = va_arg(ap, int)) != MHD_OPTION_END) {
		size_t at = strlen(server.where);

		if (option == MHD_OPTION_SOCK_ADDR) {
			addr = va_arg(ap, const struct sockaddr *);
			continue;
		}
		snprintf(server.where + at, sizeof(server.where) - at, " %d=%zu", option,
			 option == MHD_OPTION_CONNECTION_MEMORY_LIMIT ?
				 va_arg(ap, size_t) :
				 (size_t)va_arg(ap, unsigned int));
	}
	va_end(ap);
	if (addr && addr->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const void *)addr;

		inet_ntop(AF_INET6, &in6->sin6_addr, name, sizeof(name));
		port = ntohs(in6->sin6_port);
	} else if (addr) {
		const struct sockaddr_in *in = (const void *)addr;

		inet_ntop(AF_INET, &in->sin_addr, name, sizeof(name));
		port = ntohs(in->sin_port);
	}
	snprintf(server.where + strlen(server.where), sizeof(server.where) - strlen(server.where),
		 " on %s port %u", name, port);
	errno = EADDRINUSE;
	return server.refused == 1 ? NULL : (struct MHD_Daemon *)(void *)&server;
}

const union MHD_DaemonInfo *MHD_get_daemon_info(struct MHD_Daemon *daemon,
						enum MHD_DaemonInfoType type, ...)
{
	(void)daemon;
	server.info.epoll_fd = server.fd;
	return server.refused == 2 || type != MHD_DAEMON_INFO_EPOLL_FD ? NULL : &server.info;
}

void MHD_stop_daemon(struct MHD_Daemon *daemon)
{
	(void)daemon;
	server.stops++;
}

enum MHD_Result MHD_run(struct MHD_Daemon *daemon)
{
	(void)daemon;
	server.runs++;
	return MHD_YES;
}

enum MHD_Result MHD_get_timeout(struct MHD_Daemon *daemon, MHD_UNSIGNED_LONG_LONG *ms)
{
	(void)daemon;
	*ms = server.left;
	return server.waits ? MHD_YES : MHD_NO;
}

const char *MHD_lookup_connection_value(struct MHD_Connection *connection, enum MHD_ValueKind kind,
					const char *key)
{
	(void)connection;
	return kind != MHD_HEADER_KIND	     ? NULL :
	       !strcmp(key, "Accept")	     ? request.accept :
	       !strcmp(key, "Authorization") ? request.authorization :
					       NULL;
}

struct MHD_Response *MHD_create_response_from_buffer(size_t size, void *buffer,
						     enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *r = calloc(1, sizeof(*r));

	if (!r)
		abort();
	snprintf(r->text, sizeof(r->text), "%.*s", (int)size, (const char *)buffer);
	if (mode == MHD_RESPMEM_MUST_FREE)
		free(buffer);
	request.responses++;
	return r;
}

enum MHD_Result MHD_add_response_header(struct MHD_Response *response, const char *header,
					const char *content)
{
	const size_t at = strlen(request.answer);

	(void)response;
	snprintf(request.answer + at, sizeof(request.answer) - at, "%s: %s\n", header, content);
	return MHD_YES;
}

enum MHD_Result MHD_queue_response(struct MHD_Connection *connection, unsigned int status,
				   struct MHD_Response *response)
{
	const size_t at = strlen(request.answer);

	(void)connection;
	snprintf(request.answer + at, sizeof(request.answer) - at, "%u %s", status, response->text);
	return MHD_YES;
}

void MHD_destroy_response(struct MHD_Response *response)
{
	request.responses--;
	free(response);
}

/* The response; of metrics only the head of the text. */
static const char *asked(const char *method, const char *url, const char *accept,
			 const char *authorization)
{
	size_t none = 0;
	void *of = NULL;
	char *cut;

	request.accept = accept;
	request.authorization = authorization;
	request.answer[0] = '\0';
	if (server.respond(server.data, NULL, url, method, "HTTP/1.1", NULL, &none, &of) != MHD_YES)
		return "nothing";
	cut = strstr(request.answer, " The gchintd that exports these metrics.");
	if (cut)
		*cut = '\0';
	return request.answer;
}

static struct endpoint *start(struct host *host, const char *listen)
{
	watched_forget();
	server.where[0] = '\0';
	snprintf(host->config.metrics_listen, sizeof(host->config.metrics_listen), "%s", listen);
	return endpoint_start(host, NULL);
}

static void addresses(struct host *host)
{
	static const char *const bad[] = { "localhost:80", "127.0.0.1",	      "127.0.0.1:0",
					   "127.0.0.1:x",  "127.0.0.1:65536", "[::1:80",
					   "[::g]:80",	   "::1:80" };
	static const char *const good[] = { "127.0.0.1:1", "0.0.0.0:65535", "[::1]:9477" };
	char text[600] = "", want[200];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		endpoint_stop(start(host, bad[i]));
		snprintf(want, sizeof(want),
			 "note 4 'metrics' 'listen = %s: ADDRESS:PORT is wanted, such as "
			 "127.0.0.1:9477'\n",
			 bad[i]);
		records_are(host->queue, want, "an invalid address is reported");
	}
	CHECK(!server.where[0] && !server.stops, "a disabled endpoint does not listen");
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct endpoint *e = start(host, good[i]);

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s, %u\n", server.where,
			 watched_count());
		endpoint_stop(e);
	}
	text_is(text,
		"0 0; 2=16 3=10 1=16384 on 127.0.0.1 port 1, 2\n"
		"0 0; 2=16 3=10 1=16384 on 0.0.0.0 port 65535, 2\n"
		"16 0; 2=16 3=10 1=16384 on ::1 port 9477, 2\n",
		"a valid address is listened on");
	CHECK(server.stops == 3 && !watched_open(), "the server stops with the endpoint");
	for (server.refused = 1; server.refused < 3; server.refused++) {
		endpoint_stop(start(host, "127.0.0.1:1"));
		records_are(host->queue,
			    "note 4 'metrics' '127.0.0.1:1: cannot listen: Address already in "
			    "use'\n",
			    "an address in use is reported");
		CHECK(!watched_count(), "no watch remains");
	}
	server.refused = 0;
	CHECK(server.stops == 4, "a server that starts partly is stopped");
}

static void turns(struct host *host)
{
	struct endpoint *e = start(host, "127.0.0.1:1");
	struct watched *fd = watched_at(0), *timer = watched_at(1);

	CHECK(fd->fd == server.fd && fd->events == EPOLLIN && !timer->period_ns,
	      "the server's descriptor is watched");
	server.runs = 0;
	server.waits = true;
	server.left = 9;
	fd->fn(fd->data, EPOLLIN);
	CHECK(server.runs == 1 && timer->period_ns == 10000000, "the server runs on activity");
	server.left = 11;
	timer->fn(timer->data, 0);
	CHECK(server.runs == 2 && timer->period_ns == 11000000,
	      "the server runs for an idle connection");
	server.waits = false;
	fd->fn(fd->data, EPOLLIN);
	CHECK(server.runs == 3 && !timer->period_ns, "the server does not run otherwise");
	endpoint_stop(e);
}

#define OPENMETRICS                                                                                \
	"Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\n"               \
	"Vary: Accept\n200 # HELP gchint_build"
#define PROMETHEUS                                                                                 \
	"Content-Type: text/plain; version=0.0.4; charset=utf-8\nVary: Accept\n"                   \
	"200 # HELP gchint_build_info"
#define HINT "gchintd: the metrics are at /metrics\n"

static void answers(struct host *host)
{
	static const char *const wrong[] = { "Bearer 0123456789abcdeF",
					     "Bearer 0123456789abcde",
					     "Bearer 0123456789abcdeff",
					     "Bearer ",
					     "Basic x",
					     "Bearer 0123456789abcdef0123456789abcdef" };
	struct endpoint *e;

	snprintf(host->config.metrics_token_file, sizeof(host->config.metrics_token_file), "token");
	place_file("token", "0123456789abcdef\n");
	chmod("token", 0600);
	e = start(host, "127.0.0.1:1");
	text_is(asked("GET", "/metrics", NULL, NULL), OPENMETRICS,
		"a request without an Accept header gets OpenMetrics");
	text_is(asked("HEAD", "/metrics", "text/plain, application/openmetrics-text", NULL),
		OPENMETRICS, "a request that accepts OpenMetrics gets it");
	text_is(asked("GET", "/metrics", "text/plain;q=1", NULL), PROMETHEUS,
		"a request that accepts plain text alone gets the Prometheus format");
	text_is(asked("GET", "/metrics", "*/*", "bearer 0123456789abcdef"), OPENMETRICS,
		"a request with the token is accepted");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		text_is(asked("GET", "/metrics", NULL, wrong[i]),
			"Content-Type: text/plain\nWWW-Authenticate: Bearer\n401 " HINT,
			"a request with another token is rejected");
	text_is(asked("GET", "/", NULL, NULL), "Content-Type: text/plain\n200 " HINT,
		"the page is served");
	text_is(asked("GET", "/x", NULL, NULL), "Content-Type: text/plain\n404 " HINT,
		"an unknown path is 404");
	text_is(asked("POST", "/metrics", NULL, NULL), "Content-Type: text/plain\n405 " HINT,
		"another method is 405");
	CHECK(!request.responses, "every response is freed");
	endpoint_stop(e);
	records_are(host->queue, "", "a valid token file is not reported");
}

static void tokens(struct host *host)
{
	static const struct {
		const char *text;
		mode_t mode;
		const char *says;
	} all[] = {
		{ "0123456789abcde\n", 0600,
		  "note 4 'metrics' 'token: a secret of at least 16 characters is needed: no "
		  "client "
		  "sees all rails'\n" },
		{ "0123456789abcdef\n", 0604,
		  "note 4 'metrics' 'token: readable by all users; chmod o= it: until then no "
		  "client "
		  "sees all rails'\n" },
		{ NULL, 0,
		  "note 4 'metrics' 'token: No such file or directory: no client sees all "
		  "rails'\n" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct endpoint *e;

		if (all[i].text) {
			place_file("token", all[i].text);
			chmod("token", all[i].mode);
		} else {
			place_gone("token");
		}
		e = start(host, "127.0.0.1:1");
		records_are(host->queue, all[i].says, "an invalid token file is reported");
		text_is(asked("GET", "/metrics", NULL, "Bearer 0123456789abcdef"),
			"Content-Type: text/plain\nWWW-Authenticate: Bearer\n401 " HINT,
			"an invalid token file accepts no token");
		text_is(asked("GET", "/metrics", NULL, "Bearer "),
			"Content-Type: text/plain\nWWW-Authenticate: Bearer\n401 " HINT,
			"an invalid token file does not accept an empty token");
		endpoint_stop(e);
	}
	host->config.metrics_token_file[0] = '\0';
	host->config.metrics_listen[0] = '\0';
}

/* The public metrics in the text file, and that its directory holds nothing else. */
static void textfile(struct host *host)
{
	struct endpoint *e;
	struct stat st;
	char name[40];

	snprintf(host->config.metrics_textfile, sizeof(host->config.metrics_textfile), "m.prom");
	host->config.metrics_period_s = 7;
	watched_forget();
	umask(077);
	e = endpoint_start(host, NULL);
	umask(022);
	CHECK(watched_count() == 1 && watched_at(0)->period_ns == 7000000000,
	      "the text file is written once per period");
	text_is(place_line("m.prom"),
		"# HELP gchint_build_info The gchintd that exports these metrics.",
		"the text file has the metrics");
	CHECK(!stat("m.prom", &st) && (st.st_mode & 0777) == 0644,
	      "the text file is readable by all users");
	place_file("m.prom", "old\n");
	watched_at(0)->fn(watched_at(0)->data, 0);
	text_is(place_line("m.prom"),
		"# HELP gchint_build_info The gchintd that exports these metrics.",
		"the text file is rewritten each period");
	/* Its path is occupied; reported once, and again after it was free. */
	faults.renames = 2;
	place_file("m.prom", "old\n");
	for (int i = 0; i < 3; i++)
		watched_at(0)->fn(watched_at(0)->data, 0);
	faults.renames = 1;
	watched_at(0)->fn(watched_at(0)->data, 0);
	records_are(host->queue,
		    "note 4 'metrics' 'm.prom: Input/output error: not updated'\n"
		    "note 4 'metrics' 'm.prom: Input/output error: not updated'\n",
		    "a failed write is reported");
	snprintf(name, sizeof(name), "m.prom.%d", (int)getpid());
	CHECK(access(name, F_OK), "no temporary file is left");
	mkdir(name, 0755);
	watched_at(0)->fn(watched_at(0)->data, 0);
	rmdir(name);
	faults.renames = 0;
	place_file("m.prom", "old\n");
	endpoint_stop(e);
	text_is(place_line("m.prom"),
		"# HELP gchint_build_info The gchintd that exports these metrics.",
		"the text file is written once more at the end");
	CHECK(!watched_open(), "the text file is no longer written after the end");
	records_are(host->queue, "", "a lasting failure is reported once");
	host->config.metrics_textfile[0] = '\0';
	endpoint_stop(NULL);
	unit_memory_left(0);
	CHECK(!endpoint_start(host, NULL), "without memory there is no endpoint");
	unit_memory_left(-1);
}

void unit_endpoint(void)
{
	struct place place;
	struct host host;

	if (!place_enter(&place))
		return;
	place_host(&host);
	place_low(true);
	server.fd = eventfd(0, EFD_CLOEXEC);
	addresses(&host);
	turns(&host);
	answers(&host);
	tokens(&host);
	textfile(&host);
	close(server.fd);
	place_low(false);
	place_host_free(&host);
	place_leave(&place);
}

#else

void unit_endpoint(void)
{
}
#endif
