/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the daemon says: changes of state only, to the journal with fields when
 * it stands behind stderr, else to stderr. Safe from any thread.
 */
#ifndef GCHINTD_LOG_H
#define GCHINTD_LOG_H

#include <syslog.h>

/* @source: GCHINT_SOURCE= in the journal, the prefix of the line elsewhere. */
void log_line(int priority, const char *source, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Drops what is less urgent than @priority; LOG_INFO at first. */
void log_level(int priority);

#endif
