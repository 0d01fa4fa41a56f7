/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a recording in other formats. Each function returns an exit code. */
#ifndef GCHINTCTL_EXPORT_H
#define GCHINTCTL_EXPORT_H

#include <sqlite3.h>
#include <stdio.h>

/* @table is not used. */
int export_chrome_trace(sqlite3 *db, FILE *out, const char *table);
int export_openmetrics(sqlite3 *db, FILE *out, const char *table);
int export_perfetto(sqlite3 *db, FILE *out, const char *table);
int export_prometheus(sqlite3 *db, FILE *out, const char *table);

#endif
