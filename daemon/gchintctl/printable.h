/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text for a terminal. Names of devices and programs, labels and marks come from
 * others; a terminal would take what is in them for orders.
 */
#ifndef GCHINTCTL_PRINTABLE_H
#define GCHINTCTL_PRINTABLE_H

#include <stddef.h>
#include <stdio.h>

/**
 * printable - what can be shown as it is stays, the rest is shown by number
 * @to: where to
 * @text: UTF-8 with newlines and tabs
 * @len: bytes of it
 *
 * Control characters, bytes that are no UTF-8, and characters that turn the
 * direction of what follows become \x1b or \u202e. Returns how many bytes were
 * taken: all but the begin of a sequence that @len cuts off.
 */
size_t printable(FILE *to, const char *text, size_t len);

/* From here on all that is printed on standard output passes printable(). */
void printable_output(void);

#endif
