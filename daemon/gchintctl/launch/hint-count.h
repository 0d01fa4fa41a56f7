/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hint count of a run: counted live, or from its recording. */
#ifndef GCHINTCTL_HINT_COUNT_H
#define GCHINTCTL_HINT_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct tally - hint counts
 * @hints: phases that began
 * @pauses: intervals in which a process always had a stop-the-world phase open; for a
 *	process without any, the same of foreground phases
 * @lost: events that could not be counted
 * @programs: processes that sent hints
 * @by_kernel: the events came from the kernel module, not from the programs
 */
struct tally {
	uint64_t hints, pauses, lost;
	unsigned int programs;
	bool by_kernel;
};

struct tally_listener;

/**
 * tally_listen - receive the events of the programs that we start, to count them
 *
 * Returns NULL with errno set. Pass tally_path() to the programs as GCHINT_STREAM.
 */
struct tally_listener *tally_listen(void);
const char *tally_path(const struct tally_listener *l);
/*
 * Counts the events that arrived. Call it several times a second, before the rings are
 * full. @listener is a struct tally_listener.
 */
void tally_look(void *listener);
/* Counts the remaining events, and frees @l. */
struct tally tally_end(struct tally_listener *l);

/* Counts from the recording @path; prints an error and returns false if it is unreadable. */
bool tally_recorded(struct tally *tally, const char *path);

#endif
