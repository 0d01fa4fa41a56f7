/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Log messages: changes of state only. They go to the journal, with fields, when stderr is
 * connected to it, and to stderr otherwise. Safe from any thread.
 */
#ifndef SOURCE_LOG_H
#define SOURCE_LOG_H

#include <syslog.h>

/* @source: GCHINT_SOURCE= in the journal, the prefix of the line elsewhere. */
void log_line(int priority, const char *source, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Drops messages less urgent than @priority (default: LOG_INFO). */
void log_level(int priority);

#endif
