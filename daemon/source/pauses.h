/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pauses of processes, from the stop-the-world phases of their threads as these begin and end. A
 * pause is what the view "pauses" of schema.c says it is. It is reported once nothing can make it
 * longer: after a later one began, or after a second.
 */
#ifndef SOURCE_PAUSES_H
#define SOURCE_PAUSES_H

#include <stdbool.h>
#include <stdint.h>

#define PAUSES_PROCESSES 1024
#define PAUSES_PARTS	 8

struct pauses_process {
	int32_t tgid;
	unsigned int open; /* stop-the-world phases that have begun */
	unsigned int parts;
	struct pauses_part {
		uint64_t t0, t1;
	} part[PAUSES_PARTS]; /* by begin; further apart than what makes one pause of two */
};

struct pauses {
	void (*fn)(void *data, int32_t tgid, uint64_t ns);
	void *data;
	/* By process number. A new process replaces the one in its place. */
	struct pauses_process process[PAUSES_PROCESSES];
};

/* A stop-the-world phase begins. */
void pauses_begin(struct pauses *p, int32_t tgid);
/*
 * It ends. @begun: with an earlier pauses_begin(). Without, phases have to come by their begin.
 * @certain: its end is known; else it is in no pause.
 */
void pauses_end(struct pauses *p, int32_t tgid, uint64_t t0, uint64_t t1, bool begun, bool certain);
/* Reports pauses that ended a second before @now. */
void pauses_settle(struct pauses *p, uint64_t now);

#endif
