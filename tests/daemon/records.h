/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of a source as text, and its calls of the loop. */
#ifndef TESTS_DAEMON_RECORDS_H
#define TESTS_DAEMON_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "../../daemon/source/loop.h"

struct queue;

/*
 * Compares the queue's records with @want, a line per record, and removes them. Timestamps below a
 * millisecond are printed, later ones are the clock's: "-".
 */
void records_are(struct queue *q, const char *want, const char *name);

/* The same for any text; prints the first line that differs. */
void text_is(const char *got, const char *want, const char *name);

/* A watch that was created since watched_forget(), the first one is 0. */
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
/* Watches that were not freed. */
unsigned int watched_open(void);
void watched_forget(void);

#endif
