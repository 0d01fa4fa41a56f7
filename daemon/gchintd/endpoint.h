/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where metrics are handed out: a text file, replaced whole, for node_exporter's
 * textfile collector; an HTTP endpoint, on loopback unless told otherwise.
 */
#ifndef GCHINTD_ENDPOINT_H
#define GCHINTD_ENDPOINT_H

#include "host.h"
#include "writer.h"

struct endpoint;

/* Says what it could not do and goes on without it. NULL only without memory. */
struct endpoint *endpoint_start(struct host *host, const struct writer *writer);
void endpoint_stop(struct endpoint *e);

#endif
