// SPDX-License-Identifier: GPL-2.0-or-later
#include "db.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../common/error.h"
#include "../schema.h"

/*
 * Pages that refer to each other in a cycle yield more rows than the file can hold. Therefore the
 * steps of a query are bounded by the size of the file: rows of a sound file take some tens of
 * steps per byte, sorting included.
 */
#define STEPS_A_CHECK 100000
#define STEPS_A_BYTE  30
#define STEPS_ANY     20000000ull

/*
 * A query returns each stored row about once: the rows are bounded by the size as well, because to
 * print one costs far more than its steps. A stored row takes more bytes than this.
 */
#define ROW_BYTES 4
#define ROWS_ANY  100000ull

/* Longer than any text that is recorded. */
#define LENGTH_MAX (1 << 20)

/* Global, because it decides the exit code, however deep in a command the failed query was. */
static bool broken;

/* Steps of the current query, and their limit by the size of the file that was opened last. */
static uint64_t steps, steps_max;
/* The same of its rows. */
static uint64_t rows, rows_max;

void db_missing(const char *path, const char *what)
{
	broken = true;
	error_print("%s: %s: the rows after that are missing", path, what);
}

static const char too_many_rows[] = "it claims more rows than a file of its size can hold";

static void db_report_error(sqlite3 *db)
{
	/* The file is crafted or damaged: abort further queries of it as well. */
	if (sqlite3_errcode(db) == SQLITE_INTERRUPT)
		steps_max = 0;
	db_missing(sqlite3_db_filename(db, "main"),
		   sqlite3_errcode(db) == SQLITE_INTERRUPT ? too_many_rows : sqlite3_errmsg(db));
}

static int on_progress(void *unused)
{
	(void)unused;
	steps += STEPS_A_CHECK;
	return steps > steps_max;
}

/* A recording is untrusted data: no statement of its own schema may run. */
static int db_harden(sqlite3 *db, uint64_t size)
{
	int ret = sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);

	if (!ret)
		ret = sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	if (!ret)
		ret = sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LENGTH_MAX);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
	steps_max = STEPS_ANY + size * STEPS_A_BYTE;
	rows_max = 0;
	sqlite3_progress_handler(db, STEPS_A_CHECK, on_progress, NULL);
	return ret;
}

/* A temporary view goes before what the file has under its name. */
static bool add_view(sqlite3 *db, const char *path, const char *name, const char *select)
{
	char *sql = sqlite3_mprintf("CREATE TEMP VIEW %s AS %s", name, select);
	int ret = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	if (ret)
		error_print("%s: %s", path, sqlite3_errmsg(db));
	return !ret;
}

/*
 * A file of an earlier release lacks the columns that were added since: a temporary view of the table
 * has them, as NULL.
 */
static bool add_missing_columns(sqlite3 *db, const char *path, const struct schema_line *table)
{
	sqlite3_str *select = sqlite3_str_new(db);
	bool missing = false, good = true;
	char *sql;

	sqlite3_str_appendall(select, "SELECT ");
	for (const struct schema_line *c = table + 1; c < schema_next_table(table); c++) {
		bool has = sqlite3_table_column_metadata(db, "main", table->name, c->name, NULL,
							 NULL, NULL, NULL, NULL) == SQLITE_OK;

		sqlite3_str_appendf(select, "%s%s%s", c == table + 1 ? "" : ", ",
				    has ? "" : "NULL AS ", c->name);
		missing = missing || !has;
	}
	sqlite3_str_appendf(select, " FROM main.%s", table->name);
	sql = sqlite3_str_finish(select);
	if (missing)
		good = sql && add_view(db, path, table->name, sql);
	sqlite3_free(sql);
	return good;
}

/* Tables that release 0.1.0 did not have: a file without one of them has no rows of it. */
static const char *const later_tables[] = { "allocations", "heaps" };

static bool table_is_later(const char *name)
{
	for (size_t i = 0; i < sizeof(later_tables) / sizeof(later_tables[0]); i++)
		if (!strcmp(name, later_tables[i]))
			return true;
	return false;
}

static bool add_missing_table(sqlite3 *db, const char *path, const struct schema_line *table)
{
	sqlite3_str *select = sqlite3_str_new(db);
	char *sql;
	bool good;

	for (const struct schema_line *c = table + 1; c < schema_next_table(table); c++)
		sqlite3_str_appendf(select, "%s NULL AS %s", c == table + 1 ? "SELECT" : ",",
				    c->name);
	sqlite3_str_appendall(select, " WHERE 0");
	sql = sqlite3_str_finish(select);
	good = sql && add_view(db, path, table->name, sql);
	sqlite3_free(sql);
	return good;
}

/* All tables must be real tables, not views of a crafted file; the views are our own. */
static bool check_schema(sqlite3 *db, const char *path)
{
	for (const struct schema_line *table = schema_lines; table->line != SCHEMA_END;
	     table = schema_next_table(table)) {
		char *sql = sqlite3_mprintf("SELECT count(*) FROM main.sqlite_master WHERE "
					    "type = 'table' AND rootpage > 0 AND name = %Q",
					    table->name);
		int64_t n = 0;

		if (sql)
			db_number(db, sql, 0, &n);
		sqlite3_free(sql);
		if (n != 1 && table_is_later(table->name)) {
			if (!add_missing_table(db, path, table))
				return false;
			continue;
		}
		if (n != 1) {
			error_print("%s: not a recording of gchintd: it has no table '%s'", path,
				    table->name);
			return false;
		}
		if (!add_missing_columns(db, path, table))
			return false;
	}
	for (size_t i = 0; i < SCHEMA_VIEWS; i++)
		if (!add_view(db, path, schema_views[i].name, schema_views[i].select))
			return false;
	return true;
}

/* Whether there is a write-ahead log with changes that are not yet in the file. */
static bool has_log(const char *path)
{
	char log[4200];
	struct stat st;

	snprintf(log, sizeof(log), "%s-wal", path);
	return !stat(log, &st) && st.st_size > 0;
}

/*
 * SQLite needs a writable directory to read a recording with a log. One without a log can be read
 * as it is, which only a URI can request; %, ? and # have a meaning in it and are escaped.
 */
static int db_open_immutable(const char *path, sqlite3 **db)
{
	sqlite3_str *uri = sqlite3_str_new(NULL);
	char *text;
	int ret;

	sqlite3_str_appendall(uri, "file:");
	for (; *path; path++)
		if (strchr("%?#", *path))
			sqlite3_str_appendf(uri, "%%%02x", *path);
		else
			sqlite3_str_appendchar(uri, 1, *path);
	sqlite3_str_appendall(uri, "?immutable=1");
	text = sqlite3_str_finish(uri);
	if (!text)
		return SQLITE_NOMEM;
	ret = sqlite3_open_v2(text, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
	sqlite3_free(text);
	return ret;
}

sqlite3 *db_open(const char *path)
{
	int64_t application = 0, version = 0;
	sqlite3 *db = NULL;
	struct stat st;
	int ret;

	if (access(path, R_OK) || stat(path, &st)) {
		error_print("%s: %s", path, strerror(errno));
		return NULL;
	}
	if (!S_ISREG(st.st_mode)) {
		error_print("%s: not a regular file, and so no recording of gchintd", path);
		return NULL;
	}
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
		goto cannot;
	sqlite3_busy_timeout(db, 2000);
	/* Before the first statement, which reads the schema. */
	if (db_harden(db, (uint64_t)st.st_size))
		goto cannot;
	/* Either error means that the log's index cannot be created in this directory. */
	ret = sqlite3_exec(db, "SELECT 1 FROM sqlite_master", NULL, NULL, NULL);
	if (ret == SQLITE_CANTOPEN || ret == SQLITE_READONLY) {
		sqlite3_close(db);
		db = NULL;
		if (has_log(path)) {
			error_print(
				"%s: its log %s-wal can only be read in a directory that you may "
				"write to; copy both files there, or become root",
				path, path);
			return NULL;
		}
		if (db_open_immutable(path, &db) != SQLITE_OK ||
		    db_harden(db, (uint64_t)st.st_size))
			goto cannot;
	}
	/* Damage inside the file is reported by the query that meets it; this is no database. */
	if (ret == SQLITE_NOTADB || !db_number(db, "PRAGMA application_id", 0, &application) ||
	    application != SCHEMA_APPLICATION) {
		error_print("%s: not a recording of gchintd", path);
		goto close_db;
	}
	db_number(db, "PRAGMA user_version", 0, &version);
	if (version != SCHEMA_VERSION) {
		error_print(
			"%s: schema version %lld, this program reads %d; use the gchintctl that "
			"came with the gchintd that made it",
			path, (long long)version, SCHEMA_VERSION);
		goto close_db;
	}
	if (!check_schema(db, path))
		goto close_db;
	return db;

cannot:
	error_print("%s: %s", path, db ? sqlite3_errmsg(db) : "no memory");
close_db:
	sqlite3_close(db);
	return NULL;
}

/* How many rows a recording and its log have space for now: it may be written at the same time. */
static uint64_t file_max_rows(const char *path)
{
	uint64_t bytes = 0;
	char log[4200];
	struct stat st;

	snprintf(log, sizeof(log), "%s-wal", path);
	if (!stat(path, &st))
		bytes += (uint64_t)st.st_size;
	if (!stat(log, &st))
		bytes += (uint64_t)st.st_size;
	return ROWS_ANY + bytes / ROW_BYTES;
}

sqlite3_stmt *db_query(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt;

	steps = 0;
	rows = 0;
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK)
		return stmt;
	db_report_error(db);
	return NULL;
}

sqlite3_stmt *db_select_columns(sqlite3 *db, enum schema_table table, const char *rest,
				const int *columns, size_t nr)
{
	const struct schema_line *of = schema_lines;
	sqlite3_str *text = sqlite3_str_new(db);
	sqlite3_stmt *stmt = NULL;
	uint64_t wanted = 0;
	char *sql;

	for (size_t i = 0; i < nr; i++)
		wanted |= UINT64_C(1) << columns[i];
	while (strcmp(of->name, schema_tables[table]))
		of = schema_next_table(of);
	/* Columns after the last one would cost time in each row. */
	for (const struct schema_line *c = of + 1; wanted; c++, wanted >>= 1)
		sqlite3_str_appendf(text, "%s%s", c == of + 1 ? "SELECT " : ", ",
				    wanted & 1 ? c->name : "NULL");
	sqlite3_str_appendf(text, " FROM %s %s", of->name, rest);
	sql = sqlite3_str_finish(text);
	if (sql)
		stmt = db_query(db, sql);
	else
		db_missing(sqlite3_db_filename(db, "main"), "no memory");
	sqlite3_free(sql);
	return stmt;
}

bool db_next(sqlite3_stmt *stmt)
{
	const int ret = stmt ? sqlite3_step(stmt) : SQLITE_DONE;
	const char *path;

	if (ret != SQLITE_ROW && ret != SQLITE_DONE)
		db_report_error(sqlite3_db_handle(stmt));
	if (ret != SQLITE_ROW || ++rows <= rows_max)
		return ret == SQLITE_ROW;
	path = sqlite3_db_filename(sqlite3_db_handle(stmt), "main");
	rows_max = file_max_rows(path);
	if (rows <= rows_max)
		return true;
	/* As after an interrupt. */
	steps_max = 0;
	db_missing(path, too_many_rows);
	return false;
}

bool db_broken(void)
{
	return broken;
}

bool db_number(sqlite3 *db, const char *sql, int64_t parameter, int64_t *value)
{
	sqlite3_stmt *stmt;
	bool found = false;

	stmt = db_query(db, sql);
	if (!stmt)
		return false;
	if (sqlite3_bind_parameter_count(stmt))
		sqlite3_bind_int64(stmt, 1, parameter);
	if (db_next(stmt) && sqlite3_column_type(stmt, 0) == SQLITE_INTEGER) {
		*value = sqlite3_column_int64(stmt, 0);
		found = true;
	}
	sqlite3_finalize(stmt);
	return found;
}

bool db_meta(sqlite3 *db, const char *key, char *buf, size_t size)
{
	sqlite3_stmt *stmt = db_query(db, "SELECT value FROM meta WHERE key = ?");
	bool found = false;

	*buf = '\0';
	if (!stmt)
		return false;
	sqlite3_bind_text(stmt, 1, key, -1, SQLITE_STATIC);
	if (db_next(stmt)) {
		snprintf(buf, size, "%s", db_text(stmt, 0, ""));
		found = true;
	}
	sqlite3_finalize(stmt);
	return found;
}

bool db_span(sqlite3 *db, uint64_t *t0, uint64_t *t1)
{
	static const char *const last[] = {
		"SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'end_ns'",
		"SELECT max(t) FROM costs",
		"SELECT max(t) FROM samples WHERE rowid > (SELECT max(rowid) FROM samples) - 64",
		"SELECT max(coalesce(t1, t0)) FROM phases",
		"SELECT max(t) FROM transitions",
		"SELECT max(t) FROM residency",
	};
	/* The earliest times, among the rows that were written first. */
	static const char *const first[] = {
		"SELECT min(coalesce(t1, t0)) FROM (SELECT * FROM phases ORDER BY id LIMIT 64)",
		"SELECT min(t) FROM (SELECT t FROM samples ORDER BY rowid LIMIT 64)",
		"SELECT min(t) FROM (SELECT t FROM transitions ORDER BY rowid LIMIT 64)",
	};
	int64_t v;

	if (!db_number(db, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'start_ns'", 0,
		       &v) ||
	    v < 0)
		return false;
	*t0 = *t1 = (uint64_t)v;
	for (size_t i = 0; i < sizeof(last) / sizeof(last[0]); i++)
		if (db_number(db, last[i], 0, &v) && v > 0 && (uint64_t)v > *t1)
			*t1 = (uint64_t)v;
	/*
	 * A rotated recording began in an older file. This file begins when it was opened, or
	 * with the oldest event that was still queued then.
	 */
	if (db_number(db, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'file_start_ns'", 0,
		      &v) &&
	    v > 0) {
		*t0 = (uint64_t)v;
		for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
			if (db_number(db, first[i], 0, &v) && v > 0 && (uint64_t)v < *t0)
				*t0 = (uint64_t)v;
	}
	return *t1 > *t0;
}

/* gchintd writes integers only: a value of another type counts as unknown. */
int64_t db_int(sqlite3_stmt *stmt, int column, int64_t null)
{
	return sqlite3_column_type(stmt, column) == SQLITE_INTEGER ?
		       sqlite3_column_int64(stmt, column) :
		       null;
}

uint32_t db_u32(sqlite3_stmt *stmt, int column, uint32_t null)
{
	int64_t v = db_int(stmt, column, -1);

	return v >= 0 && v <= UINT32_MAX ? (uint32_t)v : null;
}

const char *db_text(sqlite3_stmt *stmt, int column, const char *null)
{
	const unsigned char *s = sqlite3_column_text(stmt, column);

	return s ? (const char *)s : null;
}

void db_json(struct json *j, const char *key, sqlite3_stmt *stmt, int column)
{
	switch (sqlite3_column_type(stmt, column)) {
	case SQLITE_INTEGER:
		json_int(j, key, sqlite3_column_int64(stmt, column));
		break;
	case SQLITE_FLOAT:
		json_real(j, key, sqlite3_column_double(stmt, column), 17);
		break;
	default:
		json_text(j, key, db_text(stmt, column, NULL));
	}
}
