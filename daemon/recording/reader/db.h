/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a recording, finished or still growing. */
#ifndef RECORDING_READER_DB_H
#define RECORDING_READER_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../common/json.h"
#include "../schema.h"

/**
 * db_open - open a recording for reading
 * @path: the file
 *
 * Recordings are untrusted: no statement of the file's own schema is run, and a query that
 * finds more than the file can hold is aborted. Returns NULL, after an error message, if the
 * file is no recording or has a schema version that is not supported.
 */
sqlite3 *db_open(const char *path);

/* Prepares @sql. Returns NULL after an error message. */
sqlite3_stmt *db_query(sqlite3 *db, const char *sql);

/**
 * db_select - prepare a query of columns of a table
 * @db: the recording
 * @table: the table's name
 * @rest: what follows in the statement: WHERE, ORDER BY
 *
 * The other arguments are the columns to read, as COLUMN(table, column). Each is at that place in the
 * rows, too; columns that are not named are NULL there. Returns NULL after an error message.
 */
#define db_select(db, table, rest, ...)                                                            \
	db_select_columns(db, SCHEMA_OF_##table, rest, (const int[]){ __VA_ARGS__ },               \
			  sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int))
sqlite3_stmt *db_select_columns(sqlite3 *db, enum schema_table table, const char *rest,
				const int *columns, size_t nr);

/*
 * Steps to the next row of @stmt, which may be NULL. Returns false at the end, or where the file
 * cannot be read further, which is reported and remembered.
 */
bool db_next(sqlite3_stmt *stmt);
/* True once a query of any recording was aborted: the output is incomplete. */
bool db_broken(void);
/* Reports that part of a recording could not be read, and remembers it. */
void db_missing(const char *path, const char *what);

/* One value of a query with at most one integer parameter; false if none or NULL. */
bool db_number(sqlite3 *db, const char *sql, int64_t parameter, int64_t *value);
/* A row of meta; false and an empty string if it is not there. */
bool db_meta(sqlite3 *db, const char *key, char *buf, size_t size);

/* First and last instant of a recording; false if it holds nothing. */
bool db_span(sqlite3 *db, uint64_t *t0, uint64_t *t1);

/* A column, or @null where it is NULL, no integer, or out of range. */
int64_t db_int(sqlite3_stmt *stmt, int column, int64_t null);
uint32_t db_u32(sqlite3_stmt *stmt, int column, uint32_t null);
/* A column as a value of JSON, whatever its type. */
void db_json(struct json *j, const char *key, sqlite3_stmt *stmt, int column);
const char *db_text(sqlite3_stmt *stmt, int column, const char *null);

#endif
