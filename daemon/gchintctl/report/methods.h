/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The methods of a recording that has samples, on its page. */
#ifndef GCHINTCTL_METHODS_H
#define GCHINTCTL_METHODS_H

#include <stdbool.h>
#include <stdio.h>

#include "../../recording/reader/recording.h"

bool methods_are_recorded(const struct recording *rec);
/* Writes a table of the methods with most CPU time, and a flame graph; nothing without samples. */
void methods_write_html(const struct recording *rec, FILE *html);

#endif
