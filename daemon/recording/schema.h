/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a recording. docs/recording.md describes them for readers. A change that
 * would mislead a reader of the old version increments the version. Version 3 is that of release
 * 0.1.0; there was none before it.
 */
#ifndef RECORDING_SCHEMA_H
#define RECORDING_SCHEMA_H

#include <stddef.h>

#define SCHEMA_VERSION	   3
#define SCHEMA_APPLICATION 0x67636869 /* "gchi": PRAGMA application_id */

#define SCHEMA_VIEWS 6

/*
 * Stop-the-world phases of one process that are no further apart than this, in ns, are one pause.
 * A collector that ends a phase and then begins the next makes two calls of 0.1 to 2 us each; to
 * wake a stopped thread takes longer, so no mutator gets any work done meanwhile. Collections of a
 * single-threaded program, which needs no wake-up, are tens of us apart and stay pauses of their
 * own.
 */
#define SCHEMA_PAUSE_GAP_NS 5000

/* A line of schema.def: the begin of a table, or one of its columns. */
enum schema_line_type {
	SCHEMA_RECORD,
	SCHEMA_DEFINITION,
	SCHEMA_TABLE,
	SCHEMA_INSTANT,
	SCHEMA_NUMBER,
	SCHEMA_TEXT,
	SCHEMA_END
};

/**
 * struct schema_line - a line of schema.def
 * @line: what it is; types up to SCHEMA_TABLE begin a table
 * @name: of the table or column
 * @type: a column's type and constraints in SQLite
 * @unit: a column's unit, "" for none
 * @null: what NULL means beyond "not known"
 * @meaning: what a row or a value is
 * @key: a table's primary key; "" if it has row numbers
 * @verb: how a row is added
 * @where: on which condition
 */
struct schema_line {
	enum schema_line_type line;
	const char *name, *type, *unit, *null, *meaning, *key, *verb, *where;
};

/* Those of schema.def in its order; the last one is SCHEMA_END. */
extern const struct schema_line schema_lines[];
/* The line after @line and its columns: the next table, or SCHEMA_END. */
const struct schema_line *schema_next_table(const struct schema_line *line);

/* Longer than the statements that create all tables. */
#define SCHEMA_SQL_MAX 16384
/* Writes these statements. */
void schema_write_sql(char sql[SCHEMA_SQL_MAX]);

/* Creates the indexes, once the file is complete. */
extern const char schema_index_sql[];

/* The number of tables, and their names in the order in which data flows. */
enum schema_table {
#define RECORD(table, ...)     SCHEMA_OF_##table,
#define DEFINITION(table, ...) SCHEMA_OF_##table,
#define TABLE(table, ...)      SCHEMA_OF_##table,
#include "schema.def"
	SCHEMA_TABLES
};
extern const char *const schema_tables[SCHEMA_TABLES];

/* A byte a column: the offset is the column's place in its table. */
/* clang-format off */
#define RECORD(table, ...)     struct columns_of_##table {
#define DEFINITION(table, ...) struct columns_of_##table {
#define TABLE(table, ...)      struct columns_of_##table {
#define INSTANT(column, ...)    char column;
#define VALUE(column, ...)      char column;
#define WORD(column, ...)       char column;
#define INSTANT_OF(column, ...) char column;
#define NUMBER(column, ...)     char column;
#define TEXT(column, ...)       char column;
#define END_RECORD             };
#define END_DEFINITION         };
#define END_TABLE              };
#include "schema.def"
/* clang-format on */

/* The place of a column in its table, from 0. */
#define COLUMN(table, column) ((int)offsetof(struct columns_of_##table, column))

/*
 * Views, by name and statement. A file contains them for its users; gchintctl uses those
 * of this table, since a view of a file may be any statement.
 */
struct schema_view {
	const char *name, *select;
};
extern const struct schema_view schema_views[SCHEMA_VIEWS];

#define ANNOTATION_MAX 400 /* bytes of a text of annotations */

/* rails.kind; readers take a kind that they do not know as RAIL_OTHER. */
enum rail_kind {
	RAIL_POWER,
	RAIL_ENERGY,
	RAIL_VOLTAGE,
	RAIL_CURRENT,
	RAIL_OTHER
};

/* As the file has it. */
const char *rail_kind_name(enum rail_kind kind);
enum rail_kind rail_kind_of(const char *name);
/* "uW", "uJ", "uV", "uA"; "?" for another kind. */
const char *rail_kind_unit(enum rail_kind kind);

#endif
