/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes text safe for a terminal. Names of devices and programs, labels and annotations are
 * untrusted: a terminal would act on the escape sequences in them.
 */
#ifndef GCHINT_PRINTABLE_H
#define GCHINT_PRINTABLE_H

#include <stddef.h>
#include <stdio.h>

/**
 * printable - write text with unsafe characters escaped
 * @to: the stream to write to
 * @text: UTF-8 with newlines and tabs
 * @len: its length in bytes
 *
 * Control characters and bytes that are not UTF-8 are written as \x1b, characters that
 * change the direction of text as \u202e. Returns how many bytes were consumed: all but an
 * incomplete sequence at the end.
 */
size_t printable(FILE *to, const char *text, size_t len);

/* Sends everything that is written to stdout from now on through printable(). */
void printable_output(void);

#endif
