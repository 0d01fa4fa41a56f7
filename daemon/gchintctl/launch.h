/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program with the adapter of its runtime. */
#ifndef GCHINTCTL_LAUNCH_H
#define GCHINTCTL_LAUNCH_H

#include <stdbool.h>

#define NODE_MAP "--perf-basic-prof" /* of Node: writes /tmp/perf-PID.map */

/**
 * launch_command - a command as it is to be run
 * @command: its words, and NULL
 * @count: how many; changed where the adapter is an argument
 * @interpreted: a JVM compiles nothing, and tells of each method; of another, it is told that
 *	this changes nothing
 *
 * Sets what the adapter wants in the environment; where GCHINT_PROFILE is there, NODE_MAP for
 * Node as well. Without an adapter for it, or with one that is not installed, which is told, the
 * command as it is.
 */
char **launch_command(char **command, int *count, bool interpreted);

#endif
