// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ctl.h"
#include "printable.h"

void ctl_error(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	fflush(stdout);
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fputs("gchintctl: ", stderr);
	printable(stderr, text, strlen(text));
	fputc('\n', stderr);
}

int ctl_usage(const char *command)
{
	ctl_error("%s: see gchintctl %s --help", command, command);
	return CTL_USAGE;
}
