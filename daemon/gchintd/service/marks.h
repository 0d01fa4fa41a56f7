/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Annotations (marks): a local datagram socket through which any process with write
 * permission adds a text at an instant to the recording: "NS TEXT", NS in CLOCK_MONOTONIC,
 * or TEXT alone for now. gchintctl marks --add is a client.
 */
#ifndef GCHINTD_MARKS_H
#define GCHINTD_MARKS_H

#include "../source/host.h"

struct marks;

/* NULL on failure, which a note reports. A socket file without a listener is replaced. */
struct marks *marks_start(struct host *host, const char *path);
void marks_stop(struct marks *m);

#endif
