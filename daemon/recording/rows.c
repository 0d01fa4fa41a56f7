// SPDX-License-Identifier: GPL-2.0-or-later
#include "rows.h"

#include <stdlib.h>

#include "schema.h"

/* How a definition's columns follow each other in its statement: its instant, numbers, strings. */
struct layout {
	bool instant;
	unsigned int numbers, strings;
};

struct rows {
	sqlite3_stmt *record[RECORD_NR];
	sqlite3_stmt *define[DEFINE_NR];
	struct layout layout[DEFINE_NR];
};

int rows_create_tables(sqlite3 *db)
{
	char sql[SCHEMA_SQL_MAX];

	schema_write_sql(sql);
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static bool statement_prepare(sqlite3 *db, sqlite3_str *text, sqlite3_stmt **stmt)
{
	char *sql = sqlite3_str_finish(text);
	int ret = sql ? sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL) :
			SQLITE_NOMEM;

	sqlite3_free(sql);
	return ret == SQLITE_OK;
}

static bool record_prepare(sqlite3 *db, const struct schema_line *table, sqlite3_stmt **stmt)
{
	sqlite3_str *sql = sqlite3_str_new(db);

	sqlite3_str_appendf(sql, "%s INTO %s VALUES(", table->verb, table->name);
	for (const struct schema_line *c = table + 1; c < schema_next_table(table); c++)
		sqlite3_str_appendall(sql, c == table + 1 ? "?" : ",?");
	sqlite3_str_appendall(sql, ")");
	return statement_prepare(db, sql, stmt);
}

static unsigned int columns_append(sqlite3_str *sql, const struct schema_line *table,
				   enum schema_line_type type)
{
	unsigned int nr = 0;

	for (const struct schema_line *c = table + 1; c < schema_next_table(table); c++)
		if (c->line == type) {
			sqlite3_str_appendf(sql, "%s,", c->name);
			nr++;
		}
	return nr;
}

static bool define_prepare(sqlite3 *db, const struct schema_line *table, struct layout *layout,
			   sqlite3_stmt **stmt)
{
	sqlite3_str *sql = sqlite3_str_new(db);
	unsigned int nr;

	sqlite3_str_appendf(sql, "%s INTO %s(", table->verb, table->name);
	layout->instant = columns_append(sql, table, SCHEMA_INSTANT);
	layout->numbers = columns_append(sql, table, SCHEMA_NUMBER);
	layout->strings = columns_append(sql, table, SCHEMA_TEXT);
	nr = layout->instant + layout->numbers + layout->strings;
	/* The last comma. */
	if (sqlite3_str_length(sql))
		sqlite3_str_value(sql)[sqlite3_str_length(sql) - 1] = ')';
	sqlite3_str_appendall(sql, " SELECT ?1");
	for (unsigned int i = 2; i <= nr; i++)
		sqlite3_str_appendf(sql, ", ?%u", i);
	sqlite3_str_appendf(sql, *table->where ? " WHERE %s" : "%s", table->where);
	return statement_prepare(db, sql, stmt);
}

struct rows *rows_new(sqlite3 *db)
{
	struct rows *rows = calloc(1, sizeof(*rows));
	int record = 0, define = 0;
	bool good = rows;

	for (const struct schema_line *table = schema_lines; good && table->line != SCHEMA_END;
	     table = schema_next_table(table))
		if (table->line == SCHEMA_RECORD) {
			good = record_prepare(db, table, &rows->record[record++]);
		} else if (table->line == SCHEMA_DEFINITION) {
			good = define_prepare(db, table, &rows->layout[define],
					      &rows->define[define]);
			define++;
		}
	if (good)
		return rows;
	rows_free(rows);
	return NULL;
}

void rows_free(struct rows *rows)
{
	if (!rows)
		return;
	for (int i = 0; i < RECORD_NR; i++)
		sqlite3_finalize(rows->record[i]);
	for (int i = 0; i < DEFINE_NR; i++)
		sqlite3_finalize(rows->define[i]);
	free(rows);
}

/* Binds columns from left to right; an unknown value stays NULL. */
struct binder {
	sqlite3_stmt *stmt;
	int column;
};

static void bind_number(struct binder *b, bool known, int64_t v)
{
	if (known)
		sqlite3_bind_int64(b->stmt, b->column, v);
	b->column++;
}

static void bind_text(struct binder *b, const char *s)
{
	if (s)
		sqlite3_bind_text(b->stmt, b->column, s, -1, SQLITE_STATIC);
	b->column++;
}

static const char *how_name(enum record_how how)
{
	static const char *const names[] = { "start", "trace", "poll", "sampling" };

	return names[how];
}

#define IS_U32(member) (p->member != UNKNOWN_U32)
#define IS_S64(member) (p->member != UNKNOWN_S64)

static void record_bind(struct binder *b, const struct record *r)
{
	/* clang-format off */
	switch (r->type) {
#define RECORD(table, name, TYPE, ...) \
	case RECORD_##TYPE: {                                                                      \
		const struct record_##name *p = &r->name;
#define INSTANT(column, type, known, ...)              bind_number(b, known, (int64_t)r->t);
#define VALUE(column, ctype, type, known, ...)         bind_number(b, known, (int64_t)p->column);
#define WORD(column, declaration, known, text, ...)    bind_text(b, (known) ? (text) : NULL);
#define END_RECORD                                                                                 \
		break;                                                                             \
	}
#include "schema.def"
	case RECORD_DEFINE:
	case RECORD_NR:
		break;
	}
	/* clang-format on */
}

static int stmt_run(sqlite3_stmt *stmt)
{
	int ret = sqlite3_step(stmt);

	sqlite3_reset(stmt);
	sqlite3_clear_bindings(stmt);
	return ret == SQLITE_DONE ? SQLITE_OK : ret;
}

int rows_record(struct rows *rows, const struct record *r)
{
	struct binder b = { rows->record[r->type], 1 };

	record_bind(&b, r);
	return stmt_run(b.stmt);
}

int rows_define(struct rows *rows, const struct definition *d)
{
	const struct layout *layout = &rows->layout[d->kind];
	struct binder b = { rows->define[d->kind], 1 };

	if (layout->instant)
		bind_number(&b, true, (int64_t)d->t);
	for (unsigned int i = 0; i < layout->numbers; i++)
		bind_number(&b, d->number[i] != UNKNOWN_S64, d->number[i]);
	for (unsigned int i = 0; i < layout->strings; i++)
		bind_text(&b, d->string[i]);
	return stmt_run(b.stmt);
}
