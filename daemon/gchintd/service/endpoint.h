/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exports metrics: a text file, replaced atomically, for node_exporter's textfile
 * collector, and an HTTP endpoint at the configured address.
 */
#ifndef GCHINTD_ENDPOINT_H
#define GCHINTD_ENDPOINT_H

#include "../../recording/writer.h"
#include "../../source/context.h"

struct endpoint;

/* Reports what cannot be started in a note and leaves it out. NULL only without memory. */
struct endpoint *endpoint_start(struct source_context *context, const struct writer *writer);
void endpoint_stop(struct endpoint *e);

#endif
