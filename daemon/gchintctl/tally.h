/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many hints a run gave: counted as they come, or in its recording. */
#ifndef GCHINTCTL_TALLY_H
#define GCHINTCTL_TALLY_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct tally - the sums
 * @hints: phases that began
 * @pauses: stretches in which a process had stop-the-world phases open without a break;
 *	of a process that has none, foreground phases
 * @lost: events that could not be counted
 * @programs: processes that gave hints
 * @by_kernel: the kernel told of them, not the programs
 */
struct tally {
	uint64_t hints, pauses, lost;
	unsigned int programs;
	bool by_kernel;
};

struct tally_listener;

/**
 * tally_listen - be the recorder of programs that we start, and keep nothing
 *
 * Returns NULL with what failed in errno. tally_path() is for their GCHINT_STREAM.
 */
struct tally_listener *tally_listen(void);
const char *tally_path(const struct tally_listener *l);
/* Counts what has come; several times a second. @listener: struct tally_listener */
void tally_look(void *listener);
/* Counts what is left, and frees @l. */
struct tally tally_end(struct tally_listener *l);

/* Counts in the recording @path; false if it cannot be read, which is told. */
bool tally_recorded(struct tally *tally, const char *path);

#endif
