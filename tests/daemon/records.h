/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a source made, as text, and what it asked of the loop. */
#ifndef TESTS_DAEMON_RECORDS_H
#define TESTS_DAEMON_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "../../daemon/gchintd/loop.h"

struct queue;

/*
 * Compares what the queue holds with @want, a line a record, and takes it. Instants below
 * a millisecond are told, later ones are the clock's: "-".
 */
void records_are(struct queue *q, const char *want, const char *name);

/* Likewise of any text; tells the first line that differs. */
void text_is(const char *got, const char *want, const char *name);

/* A watch that was asked for since watched_forget(), the first one is 0. */
struct watched {
	struct watch *watch; /* NULL: freed */
	int fd; /* -1: a timer */
	uint32_t events;
	uint64_t period_ns; /* of a timer, changed with it */
	loop_fn fn;
	void *data;
	unsigned int again; /* calls of watch_again() */
};

struct watched *watched_at(unsigned int i);
unsigned int watched_count(void);
/* Those that were not freed. */
unsigned int watched_open(void);
void watched_forget(void);

#endif
