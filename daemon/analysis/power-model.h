/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Power of a busy CPU at each frequency, from the OPPs in a recording. */
#ifndef ANALYSIS_POWER_MODEL_H
#define ANALYSIS_POWER_MODEL_H

#include <sqlite3.h>
#include <stdint.h>

struct powers;

/* Returns NULL without memory; powers_free() accepts NULL. */
struct powers *powers_of(sqlite3 *db);
void powers_free(struct powers *p);
/* Where the powers come from, for example the energy model; "" if no power is known. */
const char *powers_source(const struct powers *p);
/*
 * Power in uW; 0 not known. Different core types may have a frequency in common but not its
 * power: if the policy of @cpu is not known and policies differ, the power is not known either.
 */
double powers_at(const struct powers *p, int cpu, uint32_t khz);

#endif
