/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The writer: a thread that takes records from the queue and commits them, twice a second
 * or when the queue is a quarter full. When the disk is full it reports that once, keeps
 * what is written, and tries again until it succeeds. Rotates the file at the size limit.
 */
#ifndef RECORDING_WRITER_H
#define RECORDING_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "queue.h"

struct writer;

/**
 * struct writer_hooks - what the program around the writer does for it
 * @report: prints a line of syslog's @priority about @subject; from the writer's thread, too
 * @thread_begin: called first in the writer's thread
 */
struct writer_hooks {
	void (*report)(int priority, const char *subject, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
	void (*thread_begin)(void);
};

struct writer_limits {
	const char *path;
	uint64_t max_size; /* 0: none */
	uint32_t keep;
	bool durable;
	struct writer_hooks hooks;
};

/**
 * writer_start - open the recording and start the thread
 * @limits: where and how much; copied
 * @queue: to take from
 * @error: receives the error and its remedy
 * @size: of @error
 *
 * An existing file is rotated away when limits->keep allows, else refused.
 * Returns NULL on failure.
 */
struct writer *writer_start(const struct writer_limits *limits, struct queue *queue, char *error,
			    size_t size);

/* Writes what is queued, closes the file, ends the thread. */
void writer_stop(struct writer *w);

/* Changes of limits take effect at the next batch; a new path at a rotation. */
void writer_limit(struct writer *w, uint64_t max_size, uint32_t keep);

/* True while the thread makes progress; false if it hung for over 30 s. */
bool writer_alive(const struct writer *w);

struct writer_stats {
	uint64_t records; /* committed */
	uint64_t bytes; /* size of the file now */
	uint64_t rotations;
	bool stopped; /* nothing is written now: disk or limit */
};

void writer_stats(const struct writer *w, struct writer_stats *stats);

#endif
