/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GCHINTCTL_SUMMARY_H
#define GCHINTCTL_SUMMARY_H

#include "../../recording/reader/recording.h"

/* The answer that readers look for, before the tables, to stdout. */
void summary_print_answer(const struct recording *rec);

/* The answers of summary as JSON. */
void summary_print_json(const struct recording *rec);

#endif
