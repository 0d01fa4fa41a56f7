/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Describes the machine and the run, in rows of the table meta. */
#ifndef GCHINTD_BOARD_H
#define GCHINTD_BOARD_H

#include "../../source/context.h"

/* Rows of meta at the start, and the instant of the end. */
void board_describe(struct source_context *context);
void board_end(struct source_context *context);

#endif
