// SPDX-License-Identifier: GPL-2.0-or-later
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-journal.h>

static int level = LOG_INFO;

void log_level(int priority)
{
	level = priority;
}

void log_line(int priority, const char *source, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if (priority > level)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (getenv("JOURNAL_STREAM") &&
	    !sd_journal_send("MESSAGE=%s: %s", source, line, "PRIORITY=%d", priority,
			     "SYSLOG_IDENTIFIER=gchintd", "GCHINT_SOURCE=%s", source, NULL))
		return;
	fprintf(stderr, "gchintd: %s: %s\n", source, line);
}
