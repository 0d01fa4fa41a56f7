/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads files that hold a number, each read bracketed by two readings of the clock. Reads
 * run on the calling thread or on a thread of their own: a sensor behind a slow bus may
 * block for milliseconds, which the main loop cannot afford.
 */
#ifndef SOURCE_READER_H
#define SOURCE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../loop.h"

struct reader;

/**
 * struct reading - one read of one channel
 * @owner: the caller's
 * @fd: file to read
 * @factor_fd: second file, or -1
 * @event: @fd is a perf counter (pmu.h)
 * @value: the number in @fd
 * @factor: the number in @factor_fd, 1 without one
 * @t0: clock before the read, ns
 * @t1: clock after it
 * @error: 0 or -errno; then the numbers mean nothing
 */
struct reading {
	void *owner;
	int fd, factor_fd;
	bool event;
	int64_t value, factor;
	uint64_t t0, t1;
	int error;
};

/* Reads now, on the calling thread. */
void reading_take(struct reading *r);

/* Called on the loop's thread with all readings, which the callee may use until it returns. */
typedef void (*reader_fn)(void *data, const struct reading *reading, size_t nr);

/* A thread of @loop's program; NULL without memory, descriptors or threads. */
struct reader *reader_new(struct loop *loop, reader_fn fn, void *data);
/* Waits for the read that is under way; the rest of the list is not read. */
void reader_free(struct reader *reader);

/* True from reader_start() until its call of @fn: the descriptors are in use. */
bool reader_busy(const struct reader *reader);
/**
 * reader_start - have a list read
 * @reader: not busy
 * @reading: owner, fd, factor_fd and event are set; copied
 * @nr: how many
 *
 * Without memory nothing is read, and the reader is not busy.
 */
void reader_start(struct reader *reader, const struct reading *reading, size_t nr);

#endif
