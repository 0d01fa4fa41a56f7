// SPDX-License-Identifier: GPL-2.0-or-later
/* csv and jsonl: rows as they are. NULL is an empty field, or null. */
#include <string.h>

#include "../../common/escape.h"
#include "../../common/json.h"
#include "../../common/schema.h"
#include "../ctl.h"
#include "../recording/db.h"
#include "export.h"

static bool table_known(const char *table)
{
	for (size_t i = 0; i < SCHEMA_TABLES; i++)
		if (!strcmp(table, schema_tables[i]))
			return true;
	for (size_t i = 0; i < SCHEMA_VIEWS; i++)
		if (!strcmp(table, schema_views[i].name))
			return true;
	return false;
}

static sqlite3_stmt *table_query(sqlite3 *db, const char *table)
{
	char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
	sqlite3_stmt *stmt = sql ? db_query(db, sql) : NULL;

	sqlite3_free(sql);
	return stmt;
}

int export_csv(sqlite3 *db, FILE *out, const char *table)
{
	sqlite3_stmt *s;
	int n;

	if (!table)
		table = "phase_list";
	if (!table_known(table)) {
		ctl_error("export: no table '%s': see docs/recording.md", table);
		return CTL_USAGE;
	}
	s = table_query(db, table);
	if (!s)
		return CTL_FILE;
	n = sqlite3_column_count(s);
	for (int c = 0; c < n; c++) {
		escape_csv(out, sqlite3_column_name(s, c));
		fputc(c + 1 < n ? ',' : '\n', out);
	}
	while (db_next(s))
		for (int c = 0; c < n; c++) {
			escape_csv(out, db_text(s, c, NULL));
			fputc(c + 1 < n ? ',' : '\n', out);
		}
	sqlite3_finalize(s);
	return CTL_OK;
}

int export_jsonl(sqlite3 *db, FILE *out, const char *table)
{
	struct json j = { .f = out };

	(void)table;
	for (size_t i = 0; i < SCHEMA_TABLES; i++) {
		sqlite3_stmt *s = table_query(db, schema_tables[i]);

		if (!s)
			return CTL_FILE;
		while (db_next(s)) {
			json_object(&j, NULL);
			json_text(&j, "table", schema_tables[i]);
			for (int c = 0; c < sqlite3_column_count(s); c++)
				db_json(&j, sqlite3_column_name(s, c), s, c);
			json_end(&j);
		}
		sqlite3_finalize(s);
	}
	return CTL_OK;
}
