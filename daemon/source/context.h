/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The context of a source: where the kernel's file systems are, the configuration, the
 * event loop, and where records go. It is the only structure that is passed around.
 */
#ifndef SOURCE_CONTEXT_H
#define SOURCE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "../common/cpus.h"
#include "../common/root.h"
#include "../recording/record.h"
#include "config.h"
#include "loop.h"

struct hotspots;
struct iio_buffers;
struct metrics;
struct queue;
struct tracker;

struct source_context {
	struct root root;
	struct config config;
	const char *feed; /* socket that replaces netlink, or NULL; for tests */
	const char *command; /* that is recorded, or NULL */
	struct loop *loop; /* NULL while only probing */
	struct queue *queue; /* NULL when nothing is recorded */
	struct tracker *tracker;
	struct metrics *metrics;
	bool patient; /* wait for the writer if the queue is full, do not drop */
	bool stuck; /* the last such wait was in vain, and the queue is still full */
	bool traced; /* a tracepoint reports changes of frequency, if the driver emits it: */
	uint8_t traced_cpu[CPUS_MAX]; /* it has, for this CPU */
	struct hotspots *hotspots; /* of the hotspots source; NULL: no thread is sampled */
	struct iio_buffers *iio_buffers; /* of the iio source, or NULL */
	char **rail_name; /* of rail number N at index N - 1 */
	uint32_t rails;
	uint64_t lost; /* records that found the queue full, not yet recorded as a drop */
	uint64_t lost_total;
};

/* Every observation passes through here, to the metrics and to the queue. */
void context_record(struct source_context *context, const struct record *r);
/* Takes ownership of @d, even on failure. NULL is allowed. */
void context_define(struct source_context *context, struct definition *d);
/* Reports a change of state in the journal and in the recording. */
void context_note(struct source_context *context, int priority, const char *source, const char *fmt,
		  ...) __attribute__((format(printf, 4, 5)));
/* The same for a change at @t. */
void context_note_at(struct source_context *context, uint64_t t, int priority, const char *source,
		     const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* Records that observations were lost. @source and @why are constant strings. */
void context_drop(struct source_context *context, const char *source, uint64_t count,
		  const char *why);

/* Whether the next record will wait for the writer if the queue is full. */
bool context_waits(const struct source_context *context);
/* Counts records that the full queue did not take. */
void context_lose(struct source_context *context, uint64_t records);

/* The service that a process belongs to, for monitors: see metrics_process(). */
void context_service(struct source_context *context, int32_t tgid, const char *service);

/* Shorthands for definitions. */
void context_meta(struct source_context *context, const char *key, const char *value);
/* error_ns of context_clock() when each sample carries its own. */
#define CLOCK_PER_SAMPLE UINT64_MAX
void context_clock(struct source_context *context, const char *source, const char *clock,
		   int64_t offset_ns, uint64_t error_ns, const char *how);

/*
 * The number of a thread of @pid in that process's own, innermost pid namespace; @tid if there is
 * no such thread or the kernel does not say. @pid and @tid are in ours.
 */
int32_t context_own_tid(const struct source_context *context, int32_t pid, int32_t tid);

struct context_thread {
	int32_t tid, own; /* in our pid namespace, and in its own */
};

/**
 * context_clock_ahead - by how much CLOCK_MONOTONIC of a process is ahead of ours
 * @ahead_ns: receives it; another time namespace has an offset
 *
 * Returns false if the process is in another time namespace than its children will be, so that the
 * kernel does not report its offset.
 */
bool context_clock_ahead(const struct source_context *context, int32_t pid, int64_t *ahead_ns);

/* Finds the threads of @pid; returns how many, at most @most. */
size_t context_threads(const struct source_context *context, int32_t pid,
		       struct context_thread *threads, size_t most);

#endif
