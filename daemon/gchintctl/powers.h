/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a busy CPU draws at each frequency, as a recording says: its OPPs. */
#ifndef GCHINTCTL_POWERS_H
#define GCHINTCTL_POWERS_H

#include <sqlite3.h>
#include <stdint.h>

struct powers;

/* NULL without memory; powers_free() takes NULL. */
struct powers *powers_of(sqlite3 *db);
void powers_free(struct powers *p);
/* Who told them; "" none of them is known. */
const char *powers_source(const struct powers *p);
/* uW; 0 not known. Cores of two kinds may share a frequency, never its power. */
double powers_at(const struct powers *p, int cpu, uint32_t khz);

#endif
