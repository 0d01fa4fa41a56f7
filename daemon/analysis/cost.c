// SPDX-License-Identifier: GPL-2.0-or-later
#include "cost.h"

#include <math.h>
#include <stdio.h>

#include "../common/amount.h"
#include "../recording/reader/db.h"

/*
 * Bounds the energy by the OPPs with the lowest and the highest power, because the frequency at
 * which the daemon's CPU time passed is not recorded.
 */
static void cost_model_energy(sqlite3 *db, struct record_cost *p)
{
	sqlite3_stmt *s = db_query(db, "SELECT min(power_uw), max(power_uw) FROM opps WHERE "
				       "power_uw > 0");

	p->low = p->high = NAN;
	if (db_next(s) && db_int(s, 0, 0) > 0) {
		p->low = (double)db_int(s, 0, 0) * (double)p->cpu_ns / 1e15;
		p->high = (double)db_int(s, 1, 0) * (double)p->cpu_ns / 1e15;
	}
	sqlite3_finalize(s);
}

bool cost_read(sqlite3 *db, struct record_cost *p)
{
	sqlite3_stmt *s = db_query(db, "SELECT max(cpu_ns) - min(cpu_ns), max(t) - min(t), "
				       "max(wakeups) - min(wakeups), max(rss_kib) FROM costs");
	bool known = db_next(s) && db_int(s, 1, 0) > 0;

	if (known) {
		*p = (struct record_cost){ .cpu_ns = db_int(s, 0, 0),
					   .ns = db_int(s, 1, 0),
					   .wakeups = db_int(s, 2, 0),
					   .rss_kib = db_int(s, 3, -1) };
		cost_model_energy(db, p);
	}
	sqlite3_finalize(s);
	return known;
}

bool cost_format(sqlite3 *db, char *buf, size_t size)
{
	char joules[64] = "energy not known", rss[24] = "?";
	struct record_cost p;

	*buf = '\0';
	if (!cost_read(db, &p))
		return false;
	if (!isnan(p.low))
		snprintf(joules, sizeof(joules), "%s to %s J modelled",
			 amount_digits(p.low, 3, AMOUNT_BUFFER),
			 amount_digits(p.high, 3, AMOUNT_BUFFER));
	if (p.rss_kib >= 0)
		snprintf(rss, sizeof(rss), "%lld", (long long)p.rss_kib);
	snprintf(buf, size, "%.2f %% of one CPU, %.1f wake-ups a second, %s KiB, %s",
		 100.0 * (double)p.cpu_ns / (double)p.ns, (double)p.wakeups / ((double)p.ns / 1e9),
		 rss, joules);
	return true;
}

void cost_print_json(sqlite3 *db, struct json *j)
{
	struct record_cost p;

	if (!cost_read(db, &p)) {
		json_null(j, "cost");
		return;
	}
	json_object(j, "cost");
	json_uint(j, "ns", (uint64_t)p.ns);
	json_uint(j, "cpu_ns", (uint64_t)p.cpu_ns);
	json_uint(j, "wakeups", (uint64_t)p.wakeups);
	if (p.rss_kib >= 0)
		json_uint(j, "rss_kib", (uint64_t)p.rss_kib);
	else
		json_null(j, "rss_kib");
	json_text(j, "how", "modelled");
	json_real(j, "low_joules", p.low, 9);
	json_real(j, "high_joules", p.high, 9);
	json_end(j);
}
