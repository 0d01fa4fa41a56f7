/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a command gave no hints. */
#ifndef GCHINTCTL_HINT_REPORT_H
#define GCHINTCTL_HINT_REPORT_H

#include <stdbool.h>

#include "hint-count.h"

/* The environment forbids hints. */
bool hints_disabled(void);

/**
 * hints_report_none - print in one line that a command gave no hints, why, and what to do
 * @count: what was counted; no hints
 * @program: the command's first word
 * @file: the recording; NULL: none
 * @loaded: the adapter of its runtime was loaded into it
 */
void hints_report_none(const struct hint_count *count, const char *program, const char *file,
		       bool loaded);

#endif
