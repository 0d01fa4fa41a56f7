/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a command: signals of other processes are passed on to it, and its exit status is ours. */
#ifndef GCHINTCTL_CHILD_H
#define GCHINTCTL_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "counters.h"

/* The last signal caught since child_signals(), whether or not a command ran; 0 if none. */
extern volatile sig_atomic_t child_caught;

/* Catches the signals that would end us, except those ignored when we started (nohup). */
void child_signals(sigset_t *taken);

/**
 * struct child_usage - what a command took
 * @cpu_ns: CPU time, user and system, of the command and of all its descendants that were waited
 *	for: by their parents, or by us, the subreaper (prctl(2)) of orphans
 * @peak_kib: resident memory of the largest of these processes at its peak; 0: not known, as it is
 *	not above ours, which a process inherits
 * @count: cycles and instructions of all that ended, and of what still runs up to now;
 *	COUNTER_UNKNOWN
 * @counter: their descriptors until child_reap()
 * @left: descendants still run, whose time is not in @cpu_ns
 */
struct child_usage {
	uint64_t cpu_ns, peak_kib;
	int64_t count[COUNTERS];
	int counter[COUNTERS];
	bool left;
};

/* What to do when the command ends and leaves processes running. */
enum child_left {
	CHILD_LEFT_IGNORE,
	CHILD_LEFT_REPORT,
	CHILD_LEFT_FOLLOW, /* wait until they end too */
};

/**
 * struct child - a command and how to run it
 * @argv: the command
 * @taken: from child_signals(); these and all others are passed on while the command runs
 * @setup: called in the new process before the command takes its place; may be NULL
 * @poll: called every 200 ms while the command runs; NULL: sleep until it ends
 * @data: argument of both callbacks
 * @failed: set to true if the command could not be executed; may be NULL
 * @usage: receives what the command took; may be NULL
 * @left: what to do about processes that it leaves running
 * @ended: receives the process of the command, which has ended and is kept as it was, with its
 *	accounts in /proc, until child_reap(); then @usage stays as it is. 0 if no process could be
 *	created, and with CHILD_LEFT_FOLLOW. NULL: it is reaped
 */
struct child {
	char **argv;
	const sigset_t *taken;
	void (*setup)(void *data);
	void (*poll)(void *data);
	void *data;
	bool *failed;
	struct child_usage *usage;
	enum child_left left;
	pid_t *ended;
};

/**
 * child_run - run a command and wait for its end
 *
 * Returns its exit status; 128 + the number of the signal that ended it; 126 or 127 if it
 * could not be executed; CTL_FAILED, after an error message, if no process could be created.
 */
int child_run(const struct child *child);
/* Reaps what child_run() left; nothing for 0. @usage may be NULL. */
void child_reap(pid_t ended, struct child_usage *usage);

#endif
