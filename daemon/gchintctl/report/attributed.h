/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prints the energy of a rail that is attributed to threads, in each format of a report. */
#ifndef GCHINTCTL_ATTRIBUTED_H
#define GCHINTCTL_ATTRIBUTED_H

#include <stdio.h>

#include "../../common/json.h"
#include "../../recording/reader/processes.h"
#include "../../recording/reader/recording.h"

/* Instead of a rail: all rails that feed one core each. */
#define ATTRIBUTED_CORES SIZE_MAX

/* Lines of a text, by phase and, if there are several, by process. */
void attributed_print(const struct recording *rec, size_t rail, const struct processes *p);
/* The member "attributed" of the rail's object. */
void attributed_print_json(struct json *j, const struct recording *rec, size_t rail,
			   const struct processes *p);
/* A table for each rail, and what its figures mean; nothing without rails. */
void attributed_print_html(const struct recording *rec, FILE *html);

#endif
