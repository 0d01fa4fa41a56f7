// SPDX-License-Identifier: GPL-2.0-or-later
#include "context.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/clock.h"
#include "../recording/queue.h"
#include "log.h"
#include "metrics.h"
#include "privilege.h"

/* How long the writer may take for a batch before records are dropped all the same. */
#define PATIENCE (5 * NSEC_PER_SEC)

static bool context_has_room(struct source_context *context, size_t records)
{
	bool room = queue_room(context->queue) >= records;

	/* Once is enough: a disk that has failed would delay each record by so much. */
	if (!room && context_waits(context)) {
		room = queue_wait_room(context->queue, records, PATIENCE);
		context->stuck = !room;
	}
	if (room)
		context->stuck = false;
	return room;
}

static bool context_push(struct source_context *context, const struct record *r)
{
	return context_has_room(context, 1) && queue_push(context->queue, r);
}

bool context_waits(const struct source_context *context)
{
	return context->patient && !context->stuck;
}

void context_lose(struct source_context *context, uint64_t records)
{
	context->lost += records;
	context->lost_total += records;
}

void context_record(struct source_context *context, const struct record *r)
{
	if (context->metrics)
		metrics_observe(context->metrics, r);
	if (!context->queue)
		return;
	if (context->lost) {
		const struct record drop = {
			.t = clock_now(),
			.type = RECORD_DROP,
			.drop = { .count = context->lost,
				  .source = "record",
				  .why = "queue full: the disk is too slow or full" },
		};

		/* Push both or neither, so that the gap is recorded before the next record. */
		if (!context_has_room(context, 2)) {
			context_lose(context, 1);
			return;
		}
		queue_push(context->queue, &drop);
		context->lost = 0;
	}
	if (!context_push(context, r))
		context_lose(context, 1);
}

void context_define(struct source_context *context, struct definition *d)
{
	struct record r = { .type = RECORD_DEFINE, .define = d };

	if (!d)
		return;
	r.t = d->t;
	if (!context->queue || !context_push(context, &r)) {
		context_lose(context, !!context->queue);
		definition_free(d);
	}
}

__attribute__((format(printf, 5, 0))) static void context_emit_note(struct source_context *context,
								    uint64_t t, int priority,
								    const char *source,
								    const char *fmt, va_list ap)
{
	const int64_t number = priority;
	char text[400];
	const char *strings[] = { source, text };

	vsnprintf(text, sizeof(text), fmt, ap);
	log_line(priority, source, "%s", text);
	context_define(context, definition_new(DEFINE_NOTE, t, &number, 1, strings, 2));
}

void context_note(struct source_context *context, int priority, const char *source, const char *fmt,
		  ...)
{
	va_list ap;

	va_start(ap, fmt);
	context_emit_note(context, clock_now(), priority, source, fmt, ap);
	va_end(ap);
}

void context_note_at(struct source_context *context, uint64_t t, int priority, const char *source,
		     const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	context_emit_note(context, t, priority, source, fmt, ap);
	va_end(ap);
}

void context_drop(struct source_context *context, const char *source, uint64_t count,
		  const char *why)
{
	const struct record r = {
		.t = clock_now(),
		.type = RECORD_DROP,
		.drop = { .count = count, .source = source, .why = why },
	};

	context_record(context, &r);
}

void context_service(struct source_context *context, int32_t tgid, const char *service)
{
	if (context->metrics)
		metrics_process(context->metrics, tgid, service);
}

void context_meta(struct source_context *context, const char *key, const char *value)
{
	const char *strings[] = { key, value };

	context_define(context, definition_new(DEFINE_META, clock_now(), NULL, 0, strings, 2));
}

void context_clock(struct source_context *context, const char *source, const char *clock,
		   int64_t offset_ns, uint64_t error_ns, const char *how)
{
	const int64_t numbers[] = { offset_ns, error_ns == CLOCK_PER_SAMPLE ? UNKNOWN_S64 :
									      (int64_t)error_ns };
	const char *strings[] = { source, clock, how };

	context_define(context, definition_new(DEFINE_CLOCK, clock_now(), numbers, 2, strings, 3));
}

int32_t context_own_tid(const struct source_context *context, int32_t pid, int32_t tid)
{
	char text[4096];
	const char *at;
	int32_t own = tid;

	if (root_read(text, sizeof(text), "%s/%d/task/%d/status", context->root.procfs, pid, tid) <=
	    0)
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
static bool process_read_offset(const struct source_context *context, const char *process,
				int64_t *ns)
{
	long long s, rest;
	char text[256];

	if (root_read(text, sizeof(text), "%s/%s/timens_offsets", context->root.procfs, process) <=
		    0 ||
	    sscanf(text, " monotonic %lld %lld", &s, &rest) != 2)
		return false;
	*ns = (int64_t)s * (int64_t)NSEC_PER_SEC + rest;
	return true;
}

/* "time:[4026531834]"; false where it cannot be read, as on kernels without such namespaces. */
static bool process_read_time(const struct source_context *context, const char *process,
			      const char *which, char *name, size_t size)
{
	char path[80];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s/ns/%s", context->root.procfs, process, which);
	n = readlink(path, name, size - 1);
	name[n > 0 ? n : 0] = '\0';
	return n > 0;
}

bool context_clock_ahead(const struct source_context *context, int32_t pid, int64_t *ahead_ns)
{
	char process[16], theirs[48], children[48], ours[48];
	int64_t here = 0, there = 0;
	bool known;

	*ahead_ns = 0;
	snprintf(process, sizeof(process), "%d", pid);
	privilege_raise();
	known = process_read_time(context, process, "time", theirs, sizeof(theirs)) &&
		process_read_time(context, process, "time_for_children", children,
				  sizeof(children)) &&
		process_read_time(context, "self", "time", ours, sizeof(ours)) &&
		process_read_offset(context, process, &there) &&
		process_read_offset(context, "self", &here);
	privilege_lower();
	/* A kernel without time namespaces, or a process that has ended. */
	if (!known || !strcmp(theirs, ours))
		return true;
	*ahead_ns = there - here;
	return !strcmp(theirs, children);
}

size_t context_threads(const struct source_context *context, int32_t pid,
		       struct context_thread *threads, size_t most)
{
	struct dirent *entry;
	size_t nr = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%d/task", context->root.procfs, pid);
	dir = opendir(path);
	while (dir && nr < most && (entry = readdir(dir))) {
		const int32_t tid = (int32_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0)
			threads[nr++] =
				(struct context_thread){ tid, context_own_tid(context, pid, tid) };
	}
	if (dir)
		closedir(dir);
	return nr;
}
