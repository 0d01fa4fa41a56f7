// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: the queue between two threads, under ThreadSanitizer: what the producer wrote before
 * it published the head is what the consumer reads, and what the consumer released is no longer
 * read when it is overwritten.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../daemon/common/clock.h"
#include "../../daemon/recording/queue.h"

#define RECORDS 200000u

static void *records_produce(void *data)
{
	struct queue *q = data;

	for (uint32_t i = 0; i < RECORDS;) {
		const struct record r = {
			.t = i,
			.type = RECORD_SAMPLE,
			.sample = { .value = (int64_t)i * 3, .rail = i, .error_ns = i + 1 },
		};

		i += queue_push(q, &r);
	}
	queue_kick(q);
	return NULL;
}

int main(void)
{
	struct queue *q = queue_new(64);
	uint32_t next = 0;
	bool good = true;
	pthread_t thread;

	if (!q || pthread_create(&thread, NULL, records_produce, q))
		return 1;
	while (next < RECORDS) {
		size_t n = queue_fill(q);

		for (size_t i = 0; i < n; i++, next++) {
			const struct record *r = queue_peek(q, i);

			good = good && r->t == next && r->sample.value == (int64_t)next * 3 &&
			       r->sample.rail == next && r->sample.error_ns == next + 1;
		}
		queue_consume(q, n);
		if (!n)
			queue_wait(q, clock_now() + NSEC_PER_MSEC);
	}
	pthread_join(thread, NULL);
	queue_free(q);
	return !good;
}
