/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Long text on a terminal, a page at a time, as git and systemctl do. */
#ifndef GCHINTCTL_PAGER_H
#define GCHINTCTL_PAGER_H

/*
 * From here on standard output goes through $GCHINT_PAGER, else $PAGER, else less, which
 * ends by itself where all fits. Nothing happens where standard output is no terminal,
 * the pager is "" or "cat", or cannot be started.
 */
void pager_start(void);
/* Waits until it was read. */
void pager_end(void);

#endif
