/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Escapes text for other formats. Names come from devices and processes, and may hold any
 * bytes.
 */
#ifndef GCHINT_ESCAPE_H
#define GCHINT_ESCAPE_H

#include <stdio.h>

/* Length of the UTF-8 sequence at @s, 0 if it is invalid; never reads beyond a NUL. */
int escape_utf8(const unsigned char *s);

/*
 * Inside double quotes of JSON; bytes that are not UTF-8 become U+FFFD. '<' is written as
 * \u003c: in a page it could end the script element that contains the JSON.
 */
void escape_json(FILE *f, const char *s);
/* A CSV field, quoted if necessary. NULL is an empty field. */
void escape_csv(FILE *f, const char *s);
/* HTML text or a quoted attribute. */
void escape_html(FILE *f, const char *s);
/* Inside double quotes of OpenMetrics: \\, \" and \n; invalid UTF-8 becomes U+FFFD. */
void escape_c(FILE *f, const char *s);

#endif
