/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How each record and each definition becomes a row. */
#ifndef RECORDING_ROWS_H
#define RECORDING_ROWS_H

#include <sqlite3.h>

#include "record.h"

struct rows;

/* Creates the tables of schema.def; SQLITE_OK or SQLite's code. */
int rows_create_tables(sqlite3 *db);

/* Prepares one statement a table. NULL on failure: see sqlite3_errmsg(). */
struct rows *rows_new(sqlite3 *db);
void rows_free(struct rows *rows);

/* Writes one row; SQLITE_OK or SQLite's code. */
int rows_record(struct rows *rows, const struct record *r);
int rows_define(struct rows *rows, const struct definition *d);

#endif
