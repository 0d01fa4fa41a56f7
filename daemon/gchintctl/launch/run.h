/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running a program with the adapter of its runtime. */
#ifndef GCHINTCTL_RUN_H
#define GCHINTCTL_RUN_H

#include <stdbool.h>

struct runtime;

#define NODE_MAP "--perf-basic-prof" /* Node writes /tmp/perf-PID.map */

/**
 * launch_command - prepare a command to run with the adapter of its runtime
 * @named: the runtime of the programs that it starts; NULL: that of the command
 * @command: its words, and NULL
 * @count: number of words; changed if the adapter is an argument
 * @interpreted: a JVM compiles nothing and reports each method; for other runtimes a message
 *	says that this changes nothing
 *
 * Sets the environment variables of libgchint-launch.so, which gives a Node NODE_MAP if GCHINT_PROFILE
 * is set. Returns the command to run. It is unchanged if the program has no adapter, or if the adapter
 * is not installed, which is reported.
 */
char **launch_command(const struct runtime *named, char **command, int *count, bool interpreted);

/**
 * struct launch_after - what run does with a recording that it made
 * @answer: prints what stopped the program, and why, to standard error
 * @page: writes its page; a name of NULL is made of the recording's
 */
struct launch_after {
	void (*answer)(const char *file);
	void (*page)(const char *file, const char *name);
};

/* gchintctl run. Returns an exit code: the program's, if it ran. */
int launch_main(int argc, char **argv, const struct launch_after *after);

/* The argument of --runtime of @command; NULL, and a message, if nothing can be loaded for it. */
const struct runtime *launch_runtime(const char *command, const char *name);

#endif
