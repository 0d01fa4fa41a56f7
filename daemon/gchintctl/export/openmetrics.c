// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Totals of a recording, under the names that the daemon exposes: the rows are
 * fed to the daemon's own code.
 */
#include <stdlib.h>
#include <string.h>

#include "../../recording/reader/db.h"
#include "../../recording/schema.h"
#include "../../source/metrics.h"
#include "../ctl.h"
#include "export.h"

static void totals_add_rails(sqlite3 *db, struct metrics *m)
{
	sqlite3_stmt *s = db_select(db, rails, "", COLUMN(rails, id), COLUMN(rails, name),
				    COLUMN(rails, label), COLUMN(rails, kind));

	while (db_next(s))
		metrics_rail(m, (uint32_t)db_int(s, COLUMN(rails, id), 0),
			     db_text(s, COLUMN(rails, name), "?"),
			     db_text(s, COLUMN(rails, label), NULL),
			     (int)rail_kind_of(db_text(s, COLUMN(rails, kind), "")), true);
	sqlite3_finalize(s);
	s = db_select(db, samples, "ORDER BY t", COLUMN(samples, t), COLUMN(samples, rail),
		      COLUMN(samples, value));
	while (db_next(s)) {
		const struct record r = {
			.t = (uint64_t)db_int(s, COLUMN(samples, t), 0),
			.type = RECORD_SAMPLE,
			.sample = { .value = db_int(s, COLUMN(samples, value), UNKNOWN_S64),
				    .rail = (uint32_t)db_int(s, COLUMN(samples, rail), 0),
				    .error_ns = 0 },
		};

		metrics_observe(m, &r);
	}
	sqlite3_finalize(s);
}

static void totals_add_phases(sqlite3 *db, struct metrics *m)
{
	sqlite3_stmt *s =
		db_select(db, phases, "WHERE t1 IS NOT NULL ORDER BY t0, id", COLUMN(phases, t0),
			  COLUMN(phases, t1), COLUMN(phases, phase), COLUMN(phases, flags),
			  COLUMN(phases, tgid), COLUMN(phases, uncertain));

	while (db_next(s)) {
		struct record r = { .t = (uint64_t)db_int(s, COLUMN(phases, t1), 0),
				    .type = RECORD_PHASE };

		r.phase.t0 = (uint64_t)db_int(s, COLUMN(phases, t0), 0);
		r.phase.phase = (uint32_t)db_int(s, COLUMN(phases, phase), 0);
		r.phase.flags = db_u32(s, COLUMN(phases, flags), UNKNOWN_U32);
		r.phase.tgid = (int32_t)db_int(s, COLUMN(phases, tgid), 0);
		r.phase.uncertain = db_int(s, COLUMN(phases, uncertain), 0);
		r.phase.id = UINT64_MAX; /* its begin is not observed */
		r.phase.how = PHASE_EDGE;
		metrics_observe(m, &r);
	}
	sqlite3_finalize(s);
}

static void totals_add_decisions(sqlite3 *db, struct metrics *m)
{
	sqlite3_stmt *s = db_select(db, decisions, "", COLUMN(decisions, t),
				    COLUMN(decisions, reason), COLUMN(decisions, latency_ns));

	while (db_next(s)) {
		struct record r = { .t = (uint64_t)db_int(s, COLUMN(decisions, t), 0),
				    .type = RECORD_DECISION };

		r.decision.reason = (uint32_t)db_int(s, COLUMN(decisions, reason), UNKNOWN_U32);
		r.decision.has_latency =
			sqlite3_column_type(s, COLUMN(decisions, latency_ns)) != SQLITE_NULL;
		r.decision.latency_ns = (uint64_t)db_int(s, COLUMN(decisions, latency_ns), 0);
		metrics_observe(m, &r);
	}
	sqlite3_finalize(s);
	s = db_select(db, transitions, "ORDER BY t", COLUMN(transitions, t),
		      COLUMN(transitions, cpu), COLUMN(transitions, khz), COLUMN(transitions, how));
	while (db_next(s)) {
		const struct record r = {
			.t = (uint64_t)db_int(s, COLUMN(transitions, t), 0),
			.type = RECORD_TRANSITION,
			.transition = { .cpu = (uint32_t)db_int(s, COLUMN(transitions, cpu), 0),
					.khz = (uint32_t)db_int(s, COLUMN(transitions, khz), 0),
					.how = strcmp(db_text(s, COLUMN(transitions, how), ""),
						      "start") ?
						       HOW_TRACE :
						       HOW_START },
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
