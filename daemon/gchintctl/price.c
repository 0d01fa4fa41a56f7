// SPDX-License-Identifier: GPL-2.0-or-later
#include "price.h"

#include <stdio.h>

#include "db.h"

bool price_words(sqlite3 *db, char *buf, size_t size)
{
	sqlite3_stmt *s = db_query(db, "SELECT max(cpu_ns) - min(cpu_ns), max(t) - min(t), "
				       "max(wakeups) - min(wakeups), max(rss_kib) FROM costs");
	bool known = db_next(s) && db_int(s, 1, 0) > 0;

	*buf = '\0';
	if (known)
		snprintf(buf, size, "%.2f %% of one CPU, %.1f wake-ups a second, %s KiB",
			 100.0 * (double)db_int(s, 0, 0) / (double)db_int(s, 1, 0),
			 (double)db_int(s, 2, 0) / ((double)db_int(s, 1, 0) / 1e9),
			 db_text(s, 3, "?"));
	sqlite3_finalize(s);
	return known;
}
