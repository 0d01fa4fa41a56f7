/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Phases of a program that cannot announce them: this process has the kernel probe functions of its
 * runtime, and reports to a recorder as libgchint does from within a program.
 */
#ifndef GCHINTCTL_WATCHER_H
#define GCHINTCTL_WATCHER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "child.h"
#include "phase-probe.h"

struct watcher;

/**
 * watcher_open - find what is to be probed
 * @probe: the phases
 * @count: of these
 * @program: the file of the program; NULL: unknown, or that of @pid
 * @pid: a process that runs; 0: none
 * @why: receives the reason of a failure: what is missing, why, and what to do
 * @size: of @why
 */
struct watcher *watcher_open(const struct phase_probe *probe, size_t count, const char *program,
			     pid_t pid, char *why, size_t size);
void watcher_close(struct watcher *w);

/* Whether this process may probe on this machine; if not, sets @why. */
bool watcher_check(const struct watcher *w, char *why, size_t size);

/**
 * watcher_throws - find a probe that an exception of the program must not pass
 * @why: receives what it is, and what to do
 * @size: of @why
 *
 * The kernel changes the address to which a function returns whose return is probed, so that an
 * exception which leaves it ends the program. Returns false if no exception of the code is known, or
 * if the probes are those of a known runtime, which throws none there.
 */
bool watcher_throws(const struct watcher *w, char *why, size_t size);

/**
 * watcher_run - run a command, with probes on it and on what it starts, until it ends
 * @w: from watcher_open()
 * @child: how to run it; its setup() runs before that of the watcher
 * @socket: the recorder's socket
 *
 * Returns what child_run() returns.
 */
int watcher_run(struct watcher *w, const struct child *child, const char *socket);

/**
 * watcher_attach - watch a process, and what it starts, until it ends or a signal arrives
 * @w: from watcher_open()
 * @pid: the process
 * @socket: the recorder's socket
 *
 * Returns an exit code.
 */
int watcher_attach(struct watcher *w, pid_t pid, const char *socket);

#endif
