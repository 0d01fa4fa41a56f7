// SPDX-License-Identifier: GPL-2.0-or-later
/* gchintd: starts the components in order. Each is in the file of its name. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "../recording/queue.h"
#include "../recording/writer.h"
#include "../source/context.h"
#include "../source/hint/tracker.h"
#include "../source/log.h"
#include "../source/metrics.h"
#include "../source/privilege.h"
#include "../source/sensor/rail.h"
#include "../source/source.h"
#include "service/annotations.h"
#include "service/board.h"
#include "service/cost.h"
#include "service/endpoint.h"
#include "service/notify.h"
#include "service/options.h"

struct daemon {
	struct options options;
	struct source_context context;
	struct writer *writer;
	struct sources *sources;
	struct endpoint *endpoint;
};

static void on_stop(void *data, uint32_t signo)
{
	struct daemon *d = data;

	(void)signo;
	notify_stopping();
	loop_quit(d->context.loop, EXIT_OK);
}

static void on_reload(void *data, uint32_t signo)
{
	struct daemon *d = data;
	struct config old = d->context.config;
	char error[400];

	(void)signo;
	notify_reloading();
	privilege_raise();
	if (options_config(&d->options, &d->context.config, error, sizeof(error))) {
		context_note(&d->context, LOG_ERR, "config", "%s; the old configuration stays",
			     error);
	} else {
		if (d->writer)
			writer_limit(d->writer, d->context.config.max_size, d->context.config.keep);
		sources_reload(d->sources, &old);
		endpoint_stop(d->endpoint);
		d->endpoint = endpoint_start(&d->context, d->writer);
		context_note(&d->context, LOG_NOTICE, "config", "reloaded");
		if (strcmp(old.record_file, d->context.config.record_file) ||
		    old.queue != d->context.config.queue ||
		    old.durable != d->context.config.durable)
			context_note(&d->context, LOG_WARNING, "config",
				     "[record] file, queue and durable change at the next start");
	}
	privilege_lower();
	notify_ready();
}

static int daemon_is_healthy(void *data)
{
	const struct daemon *d = data;

	return !d->writer || writer_alive(d->writer);
}

static int daemon_start_writer(struct daemon *d)
{
	const struct config *config = &d->context.config;
	const struct writer_limits limits = { config->record_file,
					      config->max_size,
					      config->keep,
					      config->durable,
					      { log_line, privilege_drop } };
	char error[400];

	if (!*config->record_file)
		return 0;
	d->context.queue = queue_new(config->queue);
	if (!d->context.queue) {
		log_line(LOG_ERR, "record", "no memory for %u records", config->queue);
		return -1;
	}
	d->writer = writer_start(&limits, d->context.queue, error, sizeof(error));
	if (!d->writer)
		log_line(LOG_ERR, "record", "%s", error);
	return d->writer ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct daemon d = { 0 };
	struct annotations *annotations = NULL;
	struct writer_stats stats;
	struct cost *cost;
	char error[400];
	int code;

	root_init(&d.context.root);
	if (!options_parse(&d.options, &d.context.root, &d.context.feed, argc, argv, &code))
		return code;
	d.context.command = d.options.command;
	if (options_config(&d.options, &d.context.config, error, sizeof(error))) {
		log_line(LOG_ERR, "config", "%s", error);
		return EXIT_CONFIG;
	}
	if (d.options.check)
		return EXIT_OK;
	if (!*d.context.config.record_file && !*d.context.config.metrics_listen &&
	    !*d.context.config.metrics_textfile) {
		log_line(LOG_ERR, "config",
			 "nothing to do: name a file with --record FILE, or set "
			 "[metrics] in %s",
			 d.options.config ? d.options.config : CONFIG_PATH);
		return EXIT_NOTHING;
	}

	code = EXIT_FAILED;
	privilege_raise();
	signal(SIGPIPE, SIG_IGN);
	d.context.loop = loop_new();
	d.context.metrics = metrics_new();
	d.context.tracker = tracker_new(&d.context);
	if (!d.context.loop || !d.context.metrics || !d.context.tracker ||
	    !loop_signal(d.context.loop, SIGTERM, on_stop, &d) ||
	    !loop_signal(d.context.loop, SIGINT, on_stop, &d) ||
	    !loop_signal(d.context.loop, SIGHUP, on_reload, &d)) {
		log_line(LOG_ERR, "start", "no memory or no descriptors");
		goto free_host;
	}
	if (daemon_start_writer(&d)) {
		code = EXIT_RECORD;
		goto free_host;
	}
	board_describe(&d.context);
	d.sources = sources_start(&d.context);
	if (!d.sources)
		goto stop_writer;
	if (d.options.annotations)
		annotations = annotations_start(&d.context, d.options.annotations);
	cost = cost_start(&d.context, d.writer);
	d.endpoint = endpoint_start(&d.context, d.writer);
	notify_watchdog(d.context.loop, daemon_is_healthy, &d);
	notify_status("%u sources, recording to %s", sources_running(d.sources),
		      d.writer ? d.context.config.record_file : "nothing");
	privilege_lower();
	notify_ready();

	code = loop_run(d.context.loop);
	if (code < 0) {
		log_line(LOG_ERR, "loop", "%s", strerror(-code));
		code = EXIT_FAILED;
	}

	endpoint_stop(d.endpoint);
	annotations_stop(annotations);
	/* The sources hand over what they still have: more than the queue takes at once. */
	if (d.writer)
		writer_stats(d.writer, &stats);
	d.context.patient = d.writer && !stats.stopped;
	d.context.stuck = false;
	sources_stop(d.sources);
	cost_stop(cost);
	board_end(&d.context);
stop_writer:
	writer_stop(d.writer);
	if (d.writer && (d.context.lost || queue_fill(d.context.queue))) {
		log_line(LOG_WARNING, "record",
			 "%llu records at the end were not written: the disk is too slow or full",
			 (unsigned long long)(d.context.lost + queue_fill(d.context.queue)));
		code = code ? code : EXIT_RECORD;
	}
free_host:
	queue_free(d.context.queue);
	rails_forget(&d.context);
	tracker_free(d.context.tracker);
	metrics_free(d.context.metrics);
	loop_free(d.context.loop);
	return code;
}
