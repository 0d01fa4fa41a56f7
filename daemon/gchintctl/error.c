// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdarg.h>

#include "../common/error.h"
#include "ctl.h"

void ctl_error(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	error_print_list(fmt, args);
	va_end(args);
}

int ctl_usage(const char *command)
{
	ctl_error("%s: see gchintctl %s --help", command, command);
	return CTL_USAGE;
}
