/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Annotations: a local datagram socket through which any process with write
 * permission adds a text at an instant to the recording: "NS TEXT", NS in CLOCK_MONOTONIC,
 * or TEXT alone for now. gchintctl annotations --add is a client.
 */
#ifndef GCHINTD_ANNOTATIONS_H
#define GCHINTD_ANNOTATIONS_H

#include "../../source/context.h"

struct annotations;

/* NULL on failure, which a note reports. A socket file without a listener is replaced. */
struct annotations *annotations_start(struct source_context *context, const char *path);
void annotations_stop(struct annotations *m);

#endif
