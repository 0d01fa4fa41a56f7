/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GCHINTCTL_ATTACHABLE_H
#define GCHINTCTL_ATTACHABLE_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct attach_target - a process, as attaching sees it
 * @pid: the process
 * @own: its pid in its own namespace
 * @dotnet: connection to a .NET runtime; below 0 if it is none
 * @quits: it has no handler for SIGQUIT, which would end it
 * @socket: where a JVM listens
 */
struct attach_target {
	pid_t pid;
	int own, dotnet;
	bool quits;
	char socket[64];
};

/* Fills in all but @dotnet from /proc. @target->pid is set. Returns 0 or -errno. */
int attach_target_read(struct attach_target *target);

bool process_is_jvm(pid_t pid);

/* Prints the processes of a runtime with an adapter, and which can be attached to. An exit code. */
int attachable_list(void);

#endif
