// SPDX-License-Identifier: GPL-2.0-or-later
#include "price.h"

#include <stdio.h>

#include "db.h"

/* What the CPU time took at the least and at the most: at which OPP it was is not recorded. */
static void energy(sqlite3 *db, double seconds, char *buf, size_t size)
{
	sqlite3_stmt *s = db_query(db, "SELECT min(power_uw), max(power_uw) FROM opps WHERE "
				       "power_uw > 0");

	if (db_next(s) && db_int(s, 0, 0) > 0)
		snprintf(buf, size, ", %.3g to %.3g J modelled",
			 (double)db_int(s, 0, 0) * seconds / 1e6,
			 (double)db_int(s, 1, 0) * seconds / 1e6);
	sqlite3_finalize(s);
}

bool price_words(sqlite3 *db, char *buf, size_t size)
{
	sqlite3_stmt *s = db_query(db, "SELECT max(cpu_ns) - min(cpu_ns), max(t) - min(t), "
				       "max(wakeups) - min(wakeups), max(rss_kib) FROM costs");
	bool known = db_next(s) && db_int(s, 1, 0) > 0;
	char joules[64] = "";

	*buf = '\0';
	if (known) {
		energy(db, (double)db_int(s, 0, 0) / 1e9, joules, sizeof(joules));
		snprintf(buf, size, "%.2f %% of one CPU, %.1f wake-ups a second, %s KiB%s",
			 100.0 * (double)db_int(s, 0, 0) / (double)db_int(s, 1, 0),
			 (double)db_int(s, 2, 0) / ((double)db_int(s, 1, 0) / 1e9),
			 db_text(s, 3, "?"), joules);
	}
	sqlite3_finalize(s);
	return known;
}
