/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hint count of a run: counted live, or from its recording. */
#ifndef GCHINTCTL_HINT_COUNT_H
#define GCHINTCTL_HINT_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct hint_count - hint counts
 * @phases: those that began
 * @pauses: times in which all mutators of a process were stopped, as the view "pauses" of schema.c
 *	defines them
 * @stops: of processes without pauses: intervals in which it always had a foreground phase open
 * @lost: events that could not be counted
 * @programs: processes that sent hints
 * @missed: processes whose hints were not received at all
 * @by_kernel: the events came from the kernel module, not from the programs
 */
struct hint_count {
	uint64_t phases, pauses, stops, lost;
	unsigned int programs;
	uint64_t missed;
	bool by_kernel;
};

struct hint_listener;

/*
 * Lets programs of root that change their user reach the socket @path in the private directory
 * @dir: renames it to a name that cannot be guessed. Does nothing for other users, whose programs cannot
 * do that. Returns false with errno.
 */
bool stream_share(const char *dir, char *path, size_t size);
/* Removes what late_open() made for the socket @path. */
void late_remove(const char *path);

/**
 * hint_listener_open - receive the events of the programs that we start, to count them
 *
 * Returns NULL with errno set. Pass hint_listener_path() to the programs as GCHINT_STREAM.
 */
struct hint_listener *hint_listener_open(void);
const char *hint_listener_path(const struct hint_listener *l);
/*
 * Counts the events that arrived. Call it several times a second, before the rings are
 * full. @listener is a struct hint_listener.
 */
void hint_count_poll(void *listener);
/* Counts the remaining events, and frees @l. */
struct hint_count hint_listener_close(struct hint_listener *l);

/* Counts from the recording @path; prints an error and returns false if it is unreadable. */
bool hint_count_read(struct hint_count *count, const char *path);

#endif
