// SPDX-License-Identifier: MIT
/*
 * Description: preloaded into gchintctl: appends the plan of each query to the file
 * $GCHINT_PLAN, a line "STEP: QUERY" for each step of it.
 */
#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

typedef int prepare_fn(sqlite3 *db, const char *sql, int len, sqlite3_stmt **stmt,
		       const char **tail);

/* In place of the one of SQLite. */
int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int len, sqlite3_stmt **stmt,
		       const char **tail)
{
	prepare_fn *const real = (prepare_fn *)dlsym(RTLD_NEXT, "sqlite3_prepare_v2");
	const char *path = getenv("GCHINT_PLAN");
	char *explain = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
	sqlite3_stmt *plan = NULL;
	FILE *f = path ? fopen(path, "ae") : NULL;

	if (f && explain && real(db, explain, -1, &plan, NULL) == SQLITE_OK)
		while (sqlite3_step(plan) == SQLITE_ROW)
			fprintf(f, "%s: %s\n", (const char *)sqlite3_column_text(plan, 3), sql);
	sqlite3_finalize(plan);
	sqlite3_free(explain);
	if (f)
		fclose(f);
	return real(db, sql, len, stmt, tail);
}
