/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a command gave no hints. */
#ifndef GCHINTCTL_HINT_REPORT_H
#define GCHINTCTL_HINT_REPORT_H

#include <stdbool.h>

#include "hint-count.h"
#include "runtime.h"

/* The environment forbids hints. */
bool hints_disabled(void);

/**
 * hints_report_none - print in one line that a command gave no hints, why, and what to do
 * @count: what was counted; no phase
 * @program: the command's first word
 * @file: the recording; NULL: none
 * @loaded: the runtime whose adapter was loaded, into it or the programs that it starts; NULL: none
 * @launched: by gchintctl run, which looks for a runtime in each process
 * @status: the command's
 */
void hints_report_none(const struct hint_count *count, const char *program, const char *file,
		       const struct runtime *loaded, bool launched, int status);

#endif
