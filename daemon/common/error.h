/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors that the user of a program reads, on stderr. */
#ifndef GCHINT_ERROR_H
#define GCHINT_ERROR_H

#include <stdarg.h>

/* Sets PROGRAM; without it, it is the name by which the program was called. */
void error_set_program(const char *name);

/* "PROGRAM: ...", with what a terminal would act on escaped. */
void error_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void error_print_list(const char *fmt, va_list args) __attribute__((format(printf, 1, 0)));

#endif
