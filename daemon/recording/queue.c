// SPDX-License-Identifier: GPL-2.0-or-later
#include "queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../common/clock.h"

struct queue {
	struct record *ring;
	size_t mask;
	/*
	 * head: next to be written; stored with release by the producer after
	 * the record, pairs with the acquire in queue_fill().
	 * tail: next to be consumed; stored with release by the consumer after
	 * its last access, pairs with the acquire in queue_room().
	 */
	_Atomic size_t head, tail;
	/* Guards @kicked and the sleep of the consumer; nothing else. */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool kicked;
};

struct queue *queue_new(size_t records)
{
	struct queue *q = calloc(1, sizeof(*q));
	pthread_condattr_t attr;
	size_t size = 64;

	if (!q)
		return NULL;
	while (size < records)
		size *= 2;
	q->ring = calloc(size, sizeof(*q->ring));
	if (!q->ring) {
		free(q);
		return NULL;
	}
	q->mask = size - 1;
	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&q->wake, &attr);
	pthread_condattr_destroy(&attr);
	return q;
}

void queue_free(struct queue *q)
{
	if (!q)
		return;
	for (size_t i = 0, n = queue_fill(q); i < n; i++) {
		const struct record *r = queue_peek(q, i);

		if (r->type == RECORD_DEFINE)
			definition_free(r->define);
	}
	pthread_cond_destroy(&q->wake);
	pthread_mutex_destroy(&q->lock);
	free(q->ring);
	free(q);
}

size_t queue_size(const struct queue *q)
{
	return q->mask + 1;
}

size_t queue_room(const struct queue *q)
{
	size_t used = atomic_load_explicit(&q->head, memory_order_relaxed) -
		      atomic_load_explicit(&q->tail, memory_order_acquire);

	return q->mask + 1 - used;
}

bool queue_push(struct queue *q, const struct record *r)
{
	size_t head = atomic_load_explicit(&q->head, memory_order_relaxed);
	size_t room = queue_room(q);

	if (!room)
		return false;
	q->ring[head & q->mask] = *r;
	atomic_store_explicit(&q->head, head + 1, memory_order_release);
	/* Below a quarter full, the consumer's own timer, twice a second, is enough. */
	if (q->mask + 1 - room == (q->mask + 1) / 4)
		queue_kick(q);
	return true;
}

bool queue_wait_room(struct queue *q, size_t records, uint64_t patience_ns)
{
	const uint64_t end = clock_now() + patience_ns;

	while (queue_room(q) < records) {
		if (clock_now() >= end)
			return false;
		queue_kick(q);
		usleep(1000);
	}
	return true;
}

void queue_kick(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->kicked = true;
	pthread_cond_signal(&q->wake);
	pthread_mutex_unlock(&q->lock);
}

void queue_wait(struct queue *q, uint64_t until_ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(until_ns / NSEC_PER_SEC),
		.tv_nsec = (long)(until_ns % NSEC_PER_SEC),
	};

	pthread_mutex_lock(&q->lock);
	while (!q->kicked && pthread_cond_timedwait(&q->wake, &q->lock, &ts) != ETIMEDOUT)
		;
	q->kicked = false;
	pthread_mutex_unlock(&q->lock);
}

size_t queue_fill(const struct queue *q)
{
	return atomic_load_explicit(&q->head, memory_order_acquire) -
	       atomic_load_explicit(&q->tail, memory_order_relaxed);
}

const struct record *queue_peek(const struct queue *q, size_t i)
{
	return &q->ring[(atomic_load_explicit(&q->tail, memory_order_relaxed) + i) & q->mask];
}

void queue_consume(struct queue *q, size_t n)
{
	size_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);

	atomic_store_explicit(&q->tail, tail + n, memory_order_release);
}
