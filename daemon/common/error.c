// SPDX-License-Identifier: GPL-2.0-or-later
#include "error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "printable.h"

static const char *program;

void error_set_program(const char *name)
{
	program = name;
}

void error_print_list(const char *fmt, va_list args)
{
	char text[1024];

	fflush(stdout);
	vsnprintf(text, sizeof(text), fmt, args);
	fprintf(stderr, "%s: ", program ? program : program_invocation_short_name);
	printable(stderr, text, strlen(text));
	fputc('\n', stderr);
}

void error_print(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	error_print_list(fmt, args);
	va_end(args);
}
