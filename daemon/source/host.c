// SPDX-License-Identifier: GPL-2.0-or-later
#include "host.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/clock.h"
#include "../recording/queue.h"
#include "log.h"
#include "privilege.h"
#include "metrics.h"

/* How long the writer may take for a batch before records are dropped all the same. */
#define PATIENCE (5 * NSEC_PER_SEC)

static bool host_has_room(struct host *host, size_t records)
{
	bool room = queue_room(host->queue) >= records;

	/* Once is enough: a disk that has failed would delay each record by so much. */
	if (!room && host_waits(host)) {
		room = queue_wait_room(host->queue, records, PATIENCE);
		host->stuck = !room;
	}
	if (room)
		host->stuck = false;
	return room;
}

static bool host_push(struct host *host, const struct record *r)
{
	return host_has_room(host, 1) && queue_push(host->queue, r);
}

bool host_waits(const struct host *host)
{
	return host->patient && !host->stuck;
}

void host_lose(struct host *host, uint64_t records)
{
	host->lost += records;
	host->lost_total += records;
}

void host_record(struct host *host, const struct record *r)
{
	if (host->metrics)
		metrics_observe(host->metrics, r);
	if (!host->queue)
		return;
	if (host->lost) {
		const struct record drop = {
			.t = clock_now(),
			.type = RECORD_DROP,
			.drop = { .count = host->lost,
				  .source = "record",
				  .why = "queue full: the disk is too slow or full" },
		};

		/* Push both or neither, so that the gap is recorded before the next record. */
		if (!host_has_room(host, 2)) {
			host_lose(host, 1);
			return;
		}
		queue_push(host->queue, &drop);
		host->lost = 0;
	}
	if (!host_push(host, r))
		host_lose(host, 1);
}

void host_define(struct host *host, struct definition *d)
{
	struct record r = { .type = RECORD_DEFINE, .define = d };

	if (!d)
		return;
	r.t = d->t;
	if (!host->queue || !host_push(host, &r)) {
		host_lose(host, !!host->queue);
		definition_free(d);
	}
}

__attribute__((format(printf, 5, 0))) static void host_emit_note(struct host *host, uint64_t t,
								 int priority, const char *source,
								 const char *fmt, va_list ap)
{
	const int64_t number = priority;
	char text[400];
	const char *strings[] = { source, text };

	vsnprintf(text, sizeof(text), fmt, ap);
	log_line(priority, source, "%s", text);
	host_define(host, definition_new(DEFINE_NOTE, t, &number, 1, strings, 2));
}

void host_note(struct host *host, int priority, const char *source, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	host_emit_note(host, clock_now(), priority, source, fmt, ap);
	va_end(ap);
}

void host_note_at(struct host *host, uint64_t t, int priority, const char *source, const char *fmt,
		  ...)
{
	va_list ap;

	va_start(ap, fmt);
	host_emit_note(host, t, priority, source, fmt, ap);
	va_end(ap);
}

void host_drop(struct host *host, const char *source, uint64_t count, const char *why)
{
	const struct record r = {
		.t = clock_now(),
		.type = RECORD_DROP,
		.drop = { .count = count, .source = source, .why = why },
	};

	host_record(host, &r);
}

void host_meta(struct host *host, const char *key, const char *value)
{
	const char *strings[] = { key, value };

	host_define(host, definition_new(DEFINE_META, clock_now(), NULL, 0, strings, 2));
}

void host_clock(struct host *host, const char *source, const char *clock, int64_t offset_ns,
		uint64_t error_ns, const char *how)
{
	const int64_t numbers[] = { offset_ns, error_ns == CLOCK_PER_SAMPLE ? UNKNOWN_S64 :
									      (int64_t)error_ns };
	const char *strings[] = { source, clock, how };

	host_define(host, definition_new(DEFINE_CLOCK, clock_now(), numbers, 2, strings, 3));
}

int32_t host_own_tid(const struct host *host, int32_t pid, int32_t tid)
{
	char text[4096];
	const char *at;
	int32_t own = tid;

	if (root_read(text, sizeof(text), "%s/%d/task/%d/status", host->root.procfs, pid, tid) <= 0)
		return tid;
	at = strstr(text, "\nNSpid:");
	for (at = at ? at + 7 : ""; *at && *at != '\n';) {
		char *end;

		own = (int32_t)strtol(at, &end, 10);
		at = end + (end == at);
	}
	return own;
}

/* The offset of the monotonic clock in the namespace of a process's children, from the first one. */
static bool process_read_offset(const struct host *host, const char *process, int64_t *ns)
{
	long long s, rest;
	char text[256];

	if (root_read(text, sizeof(text), "%s/%s/timens_offsets", host->root.procfs, process) <=
		    0 ||
	    sscanf(text, " monotonic %lld %lld", &s, &rest) != 2)
		return false;
	*ns = (int64_t)s * (int64_t)NSEC_PER_SEC + rest;
	return true;
}

/* "time:[4026531834]"; false where it cannot be read, as on kernels without such namespaces. */
static bool process_read_time(const struct host *host, const char *process, const char *which,
			      char *name, size_t size)
{
	char path[80];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s/ns/%s", host->root.procfs, process, which);
	n = readlink(path, name, size - 1);
	name[n > 0 ? n : 0] = '\0';
	return n > 0;
}

bool host_clock_ahead(const struct host *host, int32_t pid, int64_t *ahead_ns)
{
	char process[16], theirs[48], children[48], ours[48];
	int64_t here = 0, there = 0;
	bool known;

	*ahead_ns = 0;
	snprintf(process, sizeof(process), "%d", pid);
	privilege_raise();
	known = process_read_time(host, process, "time", theirs, sizeof(theirs)) &&
		process_read_time(host, process, "time_for_children", children, sizeof(children)) &&
		process_read_time(host, "self", "time", ours, sizeof(ours)) &&
		process_read_offset(host, process, &there) &&
		process_read_offset(host, "self", &here);
	privilege_lower();
	/* A kernel without time namespaces, or a process that has ended. */
	if (!known || !strcmp(theirs, ours))
		return true;
	*ahead_ns = there - here;
	return !strcmp(theirs, children);
}

size_t host_threads(const struct host *host, int32_t pid, struct host_thread *threads, size_t most)
{
	struct dirent *entry;
	size_t nr = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%d/task", host->root.procfs, pid);
	dir = opendir(path);
	while (dir && nr < most && (entry = readdir(dir))) {
		const int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0)
			threads[nr++] = (struct host_thread){ tid, host_own_tid(host, pid, tid) };
	}
	if (dir)
		closedir(dir);
	return nr;
}
