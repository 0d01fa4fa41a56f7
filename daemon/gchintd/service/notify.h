/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The service manager: readiness, watchdog, status. No-ops without one. */
#ifndef GCHINTD_NOTIFY_H
#define GCHINTD_NOTIFY_H

#include "../../source/loop.h"

void notify_ready(void);
void notify_reloading(void);
void notify_stopping(void);
void notify_status(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Feeds the watchdog from the loop, at half of what the manager allows. */
int notify_watchdog(struct loop *loop, int (*healthy)(void *data), void *data);

#endif
