/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shows long output on a terminal one page at a time, as git and systemctl do. */
#ifndef GCHINTCTL_PAGER_H
#define GCHINTCTL_PAGER_H

/*
 * Sends standard output through $GCHINT_PAGER, else $PAGER, else less, which quits by itself
 * if the text fits on one screen. Does nothing if standard output is not a terminal, the
 * pager is "" or "cat", or no process can be created for it.
 */
void pager_start(void);
/* Closes standard output and waits until the pager exits. */
void pager_end(void);

#endif
