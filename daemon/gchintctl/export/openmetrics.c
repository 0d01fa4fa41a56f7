// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Totals of a recording, under the names that the daemon exposes: the rows are
 * fed to the daemon's own code.
 */
#include <stdlib.h>

#include "../../recording/schema.h"
#include "../../source/metrics.h"
#include "../ctl.h"
#include "../../recording/reader/db.h"
#include "export.h"

static int rail_type(const char *name)
{
	switch (*name) {
	case 'p':
		return RAIL_POWER;
	case 'e':
		return RAIL_ENERGY;
	case 'v':
		return RAIL_VOLTAGE;
	default:
		return RAIL_CURRENT;
	}
}

static void totals_add_rails(sqlite3 *db, struct metrics *m)
{
	sqlite3_stmt *s = db_query(db, "SELECT id, name, label, kind FROM rails");

	while (db_next(s))
		metrics_rail(m, (uint32_t)db_int(s, 0, 0), db_text(s, 1, "?"), db_text(s, 2, NULL),
			     rail_type(db_text(s, 3, "")), true);
	sqlite3_finalize(s);
	s = db_query(db, "SELECT t, rail, value FROM samples ORDER BY t");
	while (db_next(s)) {
		const struct record r = {
			.t = (uint64_t)db_int(s, 0, 0),
			.type = RECORD_SAMPLE,
			.sample = { .value = db_int(s, 2, UNKNOWN_S64),
				    .rail = (uint32_t)db_int(s, 1, 0),
				    .error_ns = 0 },
		};

		metrics_observe(m, &r);
	}
	sqlite3_finalize(s);
}

static void totals_add_phases(sqlite3 *db, struct metrics *m)
{
	sqlite3_stmt *s = db_query(db, "SELECT t0, t1, phase, flags, tgid, uncertain FROM phases "
				       "WHERE t1 IS NOT NULL ORDER BY t0, id");

	while (db_next(s)) {
		struct record r = { .t = (uint64_t)db_int(s, 1, 0), .type = RECORD_PHASE };

		r.phase.t0 = (uint64_t)db_int(s, 0, 0);
		r.phase.phase = (uint32_t)db_int(s, 2, 0);
		r.phase.flags = db_u32(s, 3, UNKNOWN_U32);
		r.phase.tgid = (int32_t)db_int(s, 4, 0);
		r.phase.uncertain = db_int(s, 5, 0);
		r.phase.id = UINT64_MAX; /* its begin is not observed */
		r.phase.how = PHASE_EDGE;
		metrics_observe(m, &r);
	}
	sqlite3_finalize(s);
}

static void totals_add_decisions(sqlite3 *db, struct metrics *m)
{
	sqlite3_stmt *s = db_query(db, "SELECT t, reason, latency_ns FROM decisions");

	while (db_next(s)) {
		struct record r = { .t = (uint64_t)db_int(s, 0, 0), .type = RECORD_DECISION };

		r.decision.reason = (uint32_t)db_int(s, 1, UNKNOWN_U32);
		r.decision.has_latency = sqlite3_column_type(s, 2) != SQLITE_NULL;
		r.decision.latency_ns = (uint64_t)db_int(s, 2, 0);
		metrics_observe(m, &r);
	}
	sqlite3_finalize(s);
	s = db_query(db, "SELECT t, cpu, khz, how = 'start' FROM transitions ORDER BY t");
	while (db_next(s)) {
		const struct record r = {
			.t = (uint64_t)db_int(s, 0, 0),
			.type = RECORD_TRANSITION,
			.transition = { .cpu = (uint32_t)db_int(s, 1, 0),
					.khz = (uint32_t)db_int(s, 2, 0),
					.how = db_int(s, 3, 0) ? HOW_START : HOW_TRACE },
		};

		metrics_observe(m, &r);
	}
	sqlite3_finalize(s);
}

static int totals_write(sqlite3 *db, FILE *out, enum metrics_format format)
{
	struct metrics *m = metrics_new();
	char *text = NULL;
	size_t size;

	if (m) {
		totals_add_rails(db, m);
		totals_add_phases(db, m);
		totals_add_decisions(db, m);
		metrics_finish(m);
		text = metrics_text(m, NULL, NULL, METRICS_FOR_KNOWN, format, &size);
	}
	metrics_free(m);
	if (!text) {
		ctl_error("export: no memory for totals");
		return CTL_FAILED;
	}
	fwrite(text, 1, size, out);
	free(text);
	return CTL_OK;
}

int export_openmetrics(sqlite3 *db, FILE *out, const char *table)
{
	(void)table;
	return totals_write(db, out, METRICS_OPENMETRICS);
}

int export_prometheus(sqlite3 *db, FILE *out, const char *table)
{
	(void)table;
	return totals_write(db, out, METRICS_PROMETHEUS);
}
