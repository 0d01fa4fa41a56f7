/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text inside of other formats. Names come from devices and processes. */
#ifndef GCHINT_ESCAPE_H
#define GCHINT_ESCAPE_H

#include <stdio.h>

/* Inside double quotes of JSON; bytes that are no UTF-8 become U+FFFD. */
void escape_json(FILE *f, const char *s);
/* A CSV field, quoted when it must be. NULL is an empty field. */
void escape_csv(FILE *f, const char *s);
/* HTML text or a quoted attribute. */
void escape_html(FILE *f, const char *s);
/* Inside double quotes of OpenMetrics: \\, \" and \n. */
void escape_c(FILE *f, const char *s);

#endif
