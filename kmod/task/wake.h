/* SPDX-License-Identifier: GPL-2.0-only */
/* Decisions by load when a thread wakes on an idle CPU. */
#ifndef _GCHINT_WAKE_H
#define _GCHINT_WAKE_H

int gchint_wake_init(void);

#endif /* _GCHINT_WAKE_H */
