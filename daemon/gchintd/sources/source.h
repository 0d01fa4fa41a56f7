/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source: where one kind of observation comes from. One file each, one line
 * in sources.def. The daemon probes every enabled source at start; an absent
 * one is skipped with the line that its probe gives. gchintctl status shows
 * the same lines.
 */
#ifndef GCHINTD_SOURCE_H
#define GCHINTD_SOURCE_H

#include "../host.h"

/**
 * struct probe - what a source found
 * @what: found: what ("2 policies"); absent: what is missing
 * @mend: absent: what to do about it; "" when nothing can be done
 */
struct probe {
	char what[256];
	char mend[192];
};

/**
 * struct source - operations of a source
 * @probe: looks without changing anything. 0 if it can be started, else
 *	-errno with @probe filled. Called with host->loop NULL by gchintctl.
 * @start: begins; *@state is the source's own. 0 or -errno; on failure nothing
 *	stays behind.
 * @stop: ends, frees @state
 */
struct source {
	int (*probe)(const struct host *host, struct probe *probe);
	int (*start)(struct host *host, void **state);
	void (*stop)(void *state);
};

/* By enum source_id. */
extern const struct source *const source_table[SOURCE_NR];

/* Fills @p and returns @error, for probes. */
int probe_absent(struct probe *p, int error, const char *mend, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
int probe_found(struct probe *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Running sources of a daemon. */
struct sources;

struct sources *sources_start(struct host *host);
/* After a reload: stops, starts and restarts what the new configuration asks. */
void sources_reload(struct sources *s, const struct config *old);
void sources_stop(struct sources *s);
unsigned int sources_running(const struct sources *s);

#endif
