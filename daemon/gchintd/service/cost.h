/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon's own cost: one row every ten seconds and one at the end. */
#ifndef GCHINTD_COST_H
#define GCHINTD_COST_H

#include "../../recording/writer.h"
#include "../../source/context.h"

struct cost;

/* @writer: may be NULL. */
struct cost *cost_start(struct source_context *context, const struct writer *writer);
/* Writes the last row; the writer must still run. */
void cost_stop(struct cost *c);

#endif
