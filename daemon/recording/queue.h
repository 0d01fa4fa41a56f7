/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The queue between the sources (one producer: the main loop) and the writer (one consumer:
 * its thread), so that a slow disk never delays a sample. The consumer releases records
 * only after they are committed: a batch that fails stays in the queue and is tried again.
 */
#ifndef RECORDING_QUEUE_H
#define RECORDING_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"

struct queue;

/* @records: capacity, rounded up to a power of two. NULL without memory. */
struct queue *queue_new(size_t records);
void queue_free(struct queue *q);

/* Producer. False when full: the record was not taken. */
bool queue_push(struct queue *q, const struct record *r);
/* How many records it holds at most. */
size_t queue_size(const struct queue *q);
/* Producer. Number of records that still fit. */
size_t queue_room(const struct queue *q);
/* Producer. Waits until so many fit; returns false if the consumer takes longer than that. */
bool queue_wait_room(struct queue *q, size_t records, uint64_t patience_ns);
/* Producer: wake the consumer now, for a flush or the end. */
void queue_kick(struct queue *q);

/* Consumer. Waits until @until_ns (monotonic), a kick, or a quarter full. */
void queue_wait(struct queue *q, uint64_t until_ns);
/* Consumer. Number of records that queue_peek() can access. */
size_t queue_fill(const struct queue *q);
/* Consumer. The @i-th unconsumed record, i < queue_fill(). */
const struct record *queue_peek(const struct queue *q, size_t i);
/* Consumer. Releases the first @n records. */
void queue_consume(struct queue *q, size_t n);

#endif
