/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a recording, finished or still growing. */
#ifndef GCHINTCTL_DB_H
#define GCHINTCTL_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * db_open - open a recording for reading
 * @path: the file
 *
 * Says what is wrong and returns NULL when it is no recording, or one of a
 * newer version.
 */
sqlite3 *db_open(const char *path);

/* The statement for @sql, or NULL with the mistake told. */
sqlite3_stmt *db_query(sqlite3 *db, const char *sql);

/*
 * The next row of @stmt, which may be NULL: false at the end, or where the file
 * cannot be read further, which is told and remembered.
 */
bool db_next(sqlite3_stmt *stmt);
/* True once a query of any recording broke off: what was shown is not all. */
bool db_broken(void);

/* One value of a query with at most one integer parameter; false if none or NULL. */
bool db_number(sqlite3 *db, const char *sql, int64_t parameter, int64_t *value);
/* A row of meta; false and an empty string if it is not there. */
bool db_meta(sqlite3 *db, const char *key, char *buf, size_t size);

/* First and last instant of a recording; false if it holds nothing. */
bool db_span(sqlite3 *db, uint64_t *t0, uint64_t *t1);

/* A column, or the given value where it is NULL. */
int64_t db_int(sqlite3_stmt *stmt, int column, int64_t null);
const char *db_text(sqlite3_stmt *stmt, int column, const char *null);

#endif
