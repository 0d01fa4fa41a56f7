/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source provides one type of observation. Each has a file and a line in sources.def. The
 * daemon probes every enabled source at start; an absent one is skipped with the message of
 * its probe. gchintctl status shows the same messages.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include "context.h"

/**
 * struct probe - what a source found
 * @what: found: what ("2 policies"); absent: what is missing
 * @remedy: absent: what helps; "" if nothing does
 */
struct probe {
	char what[256];
	char remedy[192];
};

/**
 * struct source - operations of a source
 * @probe: checks without changing anything. 0 if it can be started, else
 *	-errno with @probe filled. Called with context->loop NULL by gchintctl.
 * @start: starts; *@state is private to the source. 0 or -errno; on failure
 *	nothing is left behind.
 * @stop: stops and frees @state
 */
struct source {
	int (*probe)(const struct source_context *context, struct probe *probe);
	int (*start)(struct source_context *context, void **state);
	void (*stop)(void *state);
};

/* By enum source_id. */
extern const struct source *const source_table[SOURCE_NR];

/* Fills @p and returns @error, for probes. */
int probe_absent(struct probe *p, int error, const char *remedy, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
int probe_found(struct probe *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Running sources of a daemon. */
struct sources;

struct sources *sources_start(struct source_context *context);
/* After a reload: stops, starts and restarts sources as the new configuration says. */
void sources_reload(struct sources *s, const struct config *old);
void sources_stop(struct sources *s);
unsigned int sources_running(const struct sources *s);

#endif
