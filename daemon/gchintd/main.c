// SPDX-License-Identifier: GPL-2.0-or-later
/* gchintd: starts the components in order. Each is in the file of its name. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "../source/hint/tracker.h"
#include "../source/log.h"
#include "../source/privilege.h"
#include "../source/sensor/rail.h"
#include "service/board.h"
#include "service/cost.h"
#include "service/endpoint.h"
#include "service/annotations.h"
#include "service/notify.h"
#include "service/options.h"
#include "../source/host.h"
#include "../source/metrics.h"
#include "../source/source.h"
#include "../recording/queue.h"
#include "../recording/writer.h"

struct daemon {
	struct options options;
	struct host host;
	struct writer *writer;
	struct sources *sources;
	struct endpoint *endpoint;
};

static void on_stop(void *data, uint32_t signo)
{
	struct daemon *d = data;

	(void)signo;
	notify_stopping();
	loop_quit(d->host.loop, EXIT_OK);
}

static void on_reload(void *data, uint32_t signo)
{
	struct daemon *d = data;
	struct config old = d->host.config;
	char error[400];

	(void)signo;
	notify_reloading();
	privilege_raise();
	if (options_config(&d->options, &d->host.config, error, sizeof(error))) {
		host_note(&d->host, LOG_ERR, "config", "%s; the old configuration stays", error);
	} else {
		if (d->writer)
			writer_limit(d->writer, d->host.config.max_size, d->host.config.keep);
		sources_reload(d->sources, &old);
		endpoint_stop(d->endpoint);
		d->endpoint = endpoint_start(&d->host, d->writer);
		host_note(&d->host, LOG_NOTICE, "config", "reloaded");
		if (strcmp(old.record_file, d->host.config.record_file) ||
		    old.queue != d->host.config.queue || old.durable != d->host.config.durable)
			host_note(&d->host, LOG_WARNING, "config",
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
	const struct config *config = &d->host.config;
	const struct writer_limits limits = { config->record_file,
					      config->max_size,
					      config->keep,
					      config->durable,
					      { log_line, privilege_drop } };
	char error[400];

	if (!*config->record_file)
		return 0;
	d->host.queue = queue_new(config->queue);
	if (!d->host.queue) {
		log_line(LOG_ERR, "record", "no memory for %u records", config->queue);
		return -1;
	}
	d->writer = writer_start(&limits, d->host.queue, error, sizeof(error));
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

	root_init(&d.host.root);
	if (!options_parse(&d.options, &d.host.root, &d.host.feed, argc, argv, &code))
		return code;
	d.host.command = d.options.command;
	if (options_config(&d.options, &d.host.config, error, sizeof(error))) {
		log_line(LOG_ERR, "config", "%s", error);
		return EXIT_CONFIG;
	}
	if (d.options.check)
		return EXIT_OK;
	if (!*d.host.config.record_file && !*d.host.config.metrics_listen &&
	    !*d.host.config.metrics_textfile) {
		log_line(LOG_ERR, "config",
			 "nothing to do: name a file with --record FILE, or set "
			 "[metrics] in %s",
			 d.options.config ? d.options.config : CONFIG_PATH);
		return EXIT_NOTHING;
	}

	code = EXIT_FAILED;
	privilege_raise();
	signal(SIGPIPE, SIG_IGN);
	d.host.loop = loop_new();
	d.host.metrics = metrics_new();
	d.host.tracker = tracker_new(&d.host);
	if (!d.host.loop || !d.host.metrics || !d.host.tracker ||
	    !loop_signal(d.host.loop, SIGTERM, on_stop, &d) ||
	    !loop_signal(d.host.loop, SIGINT, on_stop, &d) ||
	    !loop_signal(d.host.loop, SIGHUP, on_reload, &d)) {
		log_line(LOG_ERR, "start", "no memory or no descriptors");
		goto free_host;
	}
	if (daemon_start_writer(&d)) {
		code = EXIT_RECORD;
		goto free_host;
	}
	board_describe(&d.host);
	d.sources = sources_start(&d.host);
	if (!d.sources)
		goto stop_writer;
	if (d.options.annotations)
		annotations = annotations_start(&d.host, d.options.annotations);
	cost = cost_start(&d.host, d.writer);
	d.endpoint = endpoint_start(&d.host, d.writer);
	notify_watchdog(d.host.loop, daemon_is_healthy, &d);
	notify_status("%u sources, recording to %s", sources_running(d.sources),
		      d.writer ? d.host.config.record_file : "nothing");
	privilege_lower();
	notify_ready();

	code = loop_run(d.host.loop);
	if (code < 0) {
		log_line(LOG_ERR, "loop", "%s", strerror(-code));
		code = EXIT_FAILED;
	}

	endpoint_stop(d.endpoint);
	annotations_stop(annotations);
	/* The sources hand over what they still have: more than the queue takes at once. */
	if (d.writer)
		writer_stats(d.writer, &stats);
	d.host.patient = d.writer && !stats.stopped;
	d.host.stuck = false;
	sources_stop(d.sources);
	cost_stop(cost);
	board_end(&d.host);
stop_writer:
	writer_stop(d.writer);
	if (d.writer && (d.host.lost || queue_fill(d.host.queue))) {
		log_line(LOG_WARNING, "record",
			 "%llu records at the end were not written: the disk is too slow or full",
			 (unsigned long long)(d.host.lost + queue_fill(d.host.queue)));
		code = code ? code : EXIT_RECORD;
	}
free_host:
	queue_free(d.host.queue);
	rails_forget(&d.host);
	tracker_free(d.host.tracker);
	metrics_free(d.host.metrics);
	loop_free(d.host.loop);
	return code;
}
