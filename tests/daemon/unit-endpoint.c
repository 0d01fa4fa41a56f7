// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: the outputs of the metrics: addresses and tokens of HTTP, and the text file. */
#include "unit.h"

#if __has_include(<microhttpd.h>)
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../daemon/gchintd/service/endpoint.h"
#include "../../daemon/recording/queue.h"
#include "../../daemon/recording/writer.h"
#include "../../daemon/source/metrics.h"
#include "faults.h"
#include "place.h"
#include "records.h"

/* The first line of the text. */
#define FIRST                                                                                      \
	"# No program has given a hint yet: start one by gchintctl run, or see gchintctl status."

static struct endpoint *endpoint_open(struct source_context *context, const char *listen)
{
	watched_forget();
	snprintf(context->config.metrics_listen, sizeof(context->config.metrics_listen), "%s",
		 listen);
	return endpoint_start(context, NULL);
}

static void addresses_check(struct source_context *context)
{
	static const char *const bad[] = { "localhost:80", "127.0.0.1",	      "127.0.0.1:0",
					   "127.0.0.1:x",  "127.0.0.1:65536", "[::1:80",
					   "[::g]:80",	   "::1:80" };
	char want[200];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		endpoint_stop(endpoint_open(context, bad[i]));
		snprintf(want, sizeof(want),
			 "note 4 'metrics' 'listen = %s: ADDRESS:PORT is wanted, such as "
			 "127.0.0.1:9477'\n",
			 bad[i]);
		records_are(context->queue, want, "an invalid address is reported");
		CHECK(!watched_count(), "an endpoint without an address starts nothing");
	}
}

/* The address is invalid, so that no server starts. */
static void tokens_check(struct source_context *context)
{
	static const char rest[] = "only rails and the daemon's state are shown";
	static const struct {
		const char *text;
		mode_t mode;
		const char *says;
	} all[] = {
		{ "0123456789abcdef\n", 0640, "" },
		{ "0123456789abcde\n", 0600, "a secret of at least 16 characters is needed: " },
		{ "0123456789abcdef\n", 0604, "readable by all users; chmod o= it: " },
		{ NULL, 0, "No such file or directory: " },
	};
	char want[500];

	snprintf(context->config.metrics_token_file, sizeof(context->config.metrics_token_file),
		 "token");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i].text) {
			place_file("token", all[i].text);
			chmod("token", all[i].mode);
		} else {
			place_gone("token");
		}
		want[0] = '\0';
		if (*all[i].says)
			snprintf(want, sizeof(want), "note 4 'metrics' 'token: %s%s'\n",
				 all[i].says, rest);
		strcat(want, "note 4 'metrics' 'listen = x: ADDRESS:PORT is wanted, such as "
			     "127.0.0.1:9477'\n");
		endpoint_stop(endpoint_open(context, "x"));
		records_are(context->queue, want, "an invalid token file is reported");
	}
	context->config.metrics_token_file[0] = '\0';
	context->config.metrics_listen[0] = '\0';
}

/* The public metrics in the text file, and that its directory holds nothing else. */
static void textfile_check(struct source_context *context)
{
	struct endpoint *e;
	struct stat st;
	glob_t found;

	snprintf(context->config.metrics_textfile, sizeof(context->config.metrics_textfile),
		 "m.prom");
	context->config.metrics_period_s = 7;
	watched_forget();
	umask(077);
	e = endpoint_start(context, NULL);
	umask(022);
	CHECK(watched_count() == 1 && watched_at(0)->period_ns == 7000000000,
	      "the text file is written once per period");
	text_is(place_line("m.prom"), FIRST, "the text file has the metrics");
	CHECK(!stat("m.prom", &st) && (st.st_mode & 0777) == 0640,
	      "the text file is readable by its group only");
	place_file("m.prom", "old\n");
	watched_at(0)->fn(watched_at(0)->data, 0);
	text_is(place_line("m.prom"), FIRST, "the text file is rewritten each period");
	/* Its path is occupied; reported once, and again after it was free. */
	faults.renames = 2;
	place_file("m.prom", "old\n");
	for (int i = 0; i < 3; i++)
		watched_at(0)->fn(watched_at(0)->data, 0);
	faults.renames = 1;
	watched_at(0)->fn(watched_at(0)->data, 0);
	records_are(context->queue,
		    "note 4 'metrics' 'm.prom: Input/output error: not updated'\n"
		    "note 4 'metrics' 'm.prom: Input/output error: not updated'\n",
		    "a failed write is reported");
	CHECK(glob("m.prom.*", 0, NULL, &found) == GLOB_NOMATCH, "no temporary file is left");
	faults.renames = 0;
	place_file("m.prom", "old\n");
	endpoint_stop(e);
	text_is(place_line("m.prom"), FIRST, "the text file is written once more at the end");
	CHECK(!watched_open(), "the text file is no longer written after the end");
	records_are(context->queue, "", "a lasting failure is reported once");
	context->config.metrics_textfile[0] = '\0';
	endpoint_stop(NULL);
	unit_memory_left(0);
	CHECK(!endpoint_start(context, NULL), "without memory there is no endpoint");
	unit_memory_left(-1);
}

void unit_endpoint(void)
{
	struct place place;
	struct source_context context;

	if (!place_enter(&place))
		return;
	place_context(&context);
	place_low(true);
	addresses_check(&context);
	tokens_check(&context);
	textfile_check(&context);
	place_low(false);
	place_context_free(&context);
	place_leave(&place);
}

#else

void unit_endpoint(void)
{
}
#endif
