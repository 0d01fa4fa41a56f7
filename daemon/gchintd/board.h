/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine and the run, as rows of meta. */
#ifndef GCHINTD_BOARD_H
#define GCHINTD_BOARD_H

#include "host.h"

/* Rows of meta at the start, and the instant of the end. */
void board_describe(struct host *host);
void board_end(struct host *host);

#endif
