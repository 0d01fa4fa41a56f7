/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text inside of other formats. Names come from devices and processes. */
#ifndef GCHINT_ESCAPE_H
#define GCHINT_ESCAPE_H

#include <stdio.h>

/* Bytes of the UTF-8 sequence at @s, 0 if it is none; reads no further than a NUL. */
int escape_utf8(const unsigned char *s);

/*
 * Inside double quotes of JSON; bytes that are no UTF-8 become U+FFFD. '<' goes by its
 * number: in a page it could end the script that the JSON stands in.
 */
void escape_json(FILE *f, const char *s);
/* A CSV field, quoted when it must be. NULL is an empty field. */
void escape_csv(FILE *f, const char *s);
/* HTML text or a quoted attribute. */
void escape_html(FILE *f, const char *s);
/* Inside double quotes of OpenMetrics: \\, \" and \n; no UTF-8 becomes U+FFFD. */
void escape_c(FILE *f, const char *s);

#endif
