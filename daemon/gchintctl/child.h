/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command that we run: the signals that end us reach it, and its end is ours. */
#ifndef GCHINTCTL_CHILD_H
#define GCHINTCTL_CHILD_H

#include <signal.h>

/* The last signal of child_signals() that came, a command running or not; 0 none. */
extern volatile sig_atomic_t child_caught;

/* Takes the signals that end us, but for those that who started us ignores (nohup). */
void child_signals(sigset_t *taken);

/**
 * struct child - how to run one
 * @argv: the command
 * @taken: of child_signals(): each of these is passed on
 * @setup: called in the new process before the command takes its place; may be NULL
 * @look: called each 200 ms while it runs, or NULL: then we sleep until it ends
 * @data: for both
 */
struct child {
	char **argv;
	const sigset_t *taken;
	void (*setup)(void *data);
	void (*look)(void *data);
	void *data;
};

/**
 * child_run - run it
 *
 * Returns its exit status; 128 + the number of the signal that ended it; 126 or 127 if it
 * could not be started, CTL_FAILED if there is no process for it, which is told.
 */
int child_run(const struct child *child);

#endif
