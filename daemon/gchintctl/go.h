/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Go programs, unchanged: nothing can be loaded into them, so a sidecar probes their
 * runtime's functions and tells a recorder, as libgchint would from within.
 */
#ifndef GCHINTCTL_GO_H
#define GCHINTCTL_GO_H

#include <stdbool.h>
#include <stddef.h>

#include "child.h"

/**
 * go_check - whether this program can be probed, by us, here
 * @path: the program's file
 * @why: receives the reason, if not
 * @size: of @why
 */
bool go_check(const char *path, char *why, size_t size);

/**
 * go_run - run a command with probes on its program, until it ends
 * @path: the program's file
 * @child: how to run it; its setup() comes before ours
 * @socket: the recorder's
 *
 * Returns as child_run().
 */
int go_run(const char *path, const struct child *child, const char *socket);

#endif
