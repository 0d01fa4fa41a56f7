/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marks: a local datagram socket on which anybody with permission to write to
 * it puts a text at an instant into the recording: "NS TEXT", NS in
 * CLOCK_MONOTONIC, or TEXT alone for now. gchintctl marks --add speaks it.
 */
#ifndef GCHINTD_MARKS_H
#define GCHINTD_MARKS_H

#include "host.h"

struct marks;

/* NULL on failure, with a note said. A path that nobody listens on is replaced. */
struct marks *marks_start(struct host *host, const char *path);
void marks_stop(struct marks *m);

#endif
