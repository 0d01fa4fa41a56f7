/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unmodified Go programs: nothing can be loaded into them, so a sidecar probes functions of
 * their runtime and reports to a recorder as libgchint does from within a program.
 */
#ifndef GCHINTCTL_GO_H
#define GCHINTCTL_GO_H

#include <stdbool.h>
#include <stddef.h>

#include "child.h"

/**
 * go_check - check that this process may probe the program on this machine
 * @path: the program's file
 * @why: receives the reason, if not
 * @size: of @why
 */
bool go_check(const char *path, char *why, size_t size);

/**
 * go_run - run a command with probes on its program, until it ends
 * @path: the program's file
 * @child: how to run it; its setup() runs before that of the sidecar
 * @socket: the recorder's socket
 *
 * Returns what child_run() returns.
 */
int go_run(const char *path, const struct child *child, const char *socket);

#endif
