// SPDX-License-Identifier: GPL-2.0-or-later
/* csv and jsonl: rows as they are. NULL is an empty field, or null. */
#include <string.h>

#include "../common/escape.h"
#include "ctl.h"
#include "db.h"
#include "export.h"

/* Tables of events, in the order of the way of the data. */
static const char *const tables[] = {
	"meta",	       "clocks",	  "sources",	 "policies",  "policy_states",
	"opps",	       "rails",		  "processes",	 "leases",    "phases",
	"decisions",   "transitions",	  "samples",	 "residency", "idle",
	"hotplug",     "thermal",	  "sched",	 "perf",      "phase_list",
	"marks",       "drops",		  "notes",	 "costs",     "names",
	"idle_states", "thermal_sensors", "sample_list",
};

#define NR (sizeof(tables) / sizeof(tables[0]))

static sqlite3_stmt *rows_of(sqlite3 *db, const char *table)
{
	char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", table);
	sqlite3_stmt *stmt = sql ? db_query(db, sql) : NULL;

	sqlite3_free(sql);
	return stmt;
}

int export_csv(sqlite3 *db, FILE *out, const char *table)
{
	sqlite3_stmt *s;
	size_t i = 0;
	int n;

	if (!table)
		table = "phase_list";
	while (i < NR && strcmp(table, tables[i]))
		i++;
	if (i == NR) {
		ctl_error("export: no table '%s': see docs/recording.md", table);
		return CTL_USAGE;
	}
	s = rows_of(db, table);
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

static void value(FILE *out, sqlite3_stmt *s, int c)
{
	switch (sqlite3_column_type(s, c)) {
	case SQLITE_NULL:
		fputs("null", out);
		break;
	case SQLITE_TEXT:
		fputc('"', out);
		escape_json(out, db_text(s, c, ""));
		fputc('"', out);
		break;
	default:
		fputs(db_text(s, c, "null"), out);
		break;
	}
}

int export_jsonl(sqlite3 *db, FILE *out, const char *table)
{
	(void)table;
	for (size_t i = 0; i < NR; i++) {
		sqlite3_stmt *s;

		if (strstr(tables[i], "_list"))
			continue; /* a view of rows that are there */
		s = rows_of(db, tables[i]);
		if (!s)
			return CTL_FILE;
		while (db_next(s)) {
			fprintf(out, "{\"table\":\"%s\"", tables[i]);
			for (int c = 0; c < sqlite3_column_count(s); c++) {
				fprintf(out, ",\"%s\":", sqlite3_column_name(s, c));
				value(out, s, c);
			}
			fputs("}\n", out);
		}
		sqlite3_finalize(s);
	}
	return CTL_OK;
}
