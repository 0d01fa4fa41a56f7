// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>

#include "../../common/escape.h"
#include "../../recording/reader/db.h"
#include "report.h"

void report_absence(const struct recording *rec, const char *names, FILE *html)
{
	sqlite3_stmt *s = db_select(rec->db, sources,
				    "WHERE instr(?, ' ' || name || ' ') AND state != 'running' AND "
				    "what != '' ORDER BY name",
				    COLUMN(sources, name), COLUMN(sources, what));
	bool any = false;

	if (s)
		sqlite3_bind_text(s, 1, names, -1, SQLITE_STATIC);
	while (db_next(s)) {
		fputs(any ? "; " : " (", html);
		escape_html(html, db_text(s, COLUMN(sources, name), "?"));
		fputs(": ", html);
		escape_html(html, db_text(s, COLUMN(sources, what), ""));
		any = true;
	}
	sqlite3_finalize(s);
	fputs(any ? ")" : "", html);
}
