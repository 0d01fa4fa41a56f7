// SPDX-License-Identifier: GPL-2.0-or-later
#include "schema.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define STRING_OF(x) #x
#define STRING(x)    STRING_OF(x)

/* clang-format off */
const struct schema_line schema_lines[] = {
#define RECORD(table, name, TYPE, verb, meaning) \
	{ SCHEMA_RECORD, #table, NULL, NULL, NULL, meaning, "", verb, "" },
#define DEFINITION(table, TYPE, verb, same, where, key, meaning) \
	{ SCHEMA_DEFINITION, #table, NULL, NULL, NULL, meaning, key, verb, where },
#define TABLE(table, key, meaning) \
	{ SCHEMA_TABLE, #table, NULL, NULL, NULL, meaning, key, NULL, NULL },
#define LINE(line, column, type, unit, null, meaning) \
	{ line, #column, type, unit, null, meaning, NULL, NULL, NULL },
#define INSTANT(column, type, known, null, meaning) LINE(SCHEMA_INSTANT, column, type, "ns", null, meaning)
#define VALUE(column, ctype, type, known, unit, null, meaning) LINE(SCHEMA_NUMBER, column, type, unit, null, meaning)
#define WORD(column, declaration, known, text, null, meaning) LINE(SCHEMA_TEXT, column, "TEXT", "", null, meaning)
#define INSTANT_OF(column, type, meaning) LINE(SCHEMA_INSTANT, column, type, "ns", "", meaning)
#define NUMBER(column, type, unit, null, meaning) LINE(SCHEMA_NUMBER, column, type, unit, null, meaning)
#define TEXT(column, null, meaning) LINE(SCHEMA_TEXT, column, "TEXT", "", null, meaning)
#include "schema.def"
	{ SCHEMA_END, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};

const char *const schema_tables[SCHEMA_TABLES] = {
#define RECORD(table, ...)     #table,
#define DEFINITION(table, ...) #table,
#define TABLE(table, ...)      #table,
#include "schema.def"
};

const char schema_index_sql[] =
"CREATE INDEX phases_by_begin ON phases(t0);"
"CREATE INDEX phases_by_thread ON phases(tgid, tid, t0, t1 DESC);"
"CREATE INDEX decisions_by_policy ON decisions(policy, t);"
"CREATE INDEX decisions_by_time ON decisions(t);"
"CREATE INDEX leases_by_thread ON leases(tgid, tid, t);"
"CREATE INDEX hotspots_by_time ON hotspots(t);"
"CREATE INDEX thermal_by_sensor ON thermal(sensor, t, value);"
"CREATE INDEX transitions_by_cpu ON transitions(cpu, t, khz);"
"CREATE INDEX samples_by_rail ON samples(rail, t, value);";

const struct schema_view schema_views[SCHEMA_VIEWS] = {
	/* The thread's name at that time: thread numbers are reused. */
	{ "phase_list",
	  "SELECT p.id, p.t0, p.t1, p.t1 - p.t0 AS ns, p.cpu, p.tgid, p.tid,"
	  " r.comm, n.name AS phase, p.flags & 1 AS stw, (p.flags >> 1) & 1 AS concurrent,"
	  " (p.flags >> 2) & 1 AS foreground, (p.flags >> 3) & 1 AS urgent, c.name AS cause,"
	  " p.work_done, p.work_total, p.uncertain,"
	  " CASE WHEN p.session >> 62 & 1 THEN 'library' ELSE 'kernel' END AS source"
	  " FROM phases p LEFT JOIN names n ON n.kind = 'phase' AND n.number = p.phase"
	  " LEFT JOIN names c ON c.kind = 'cause' AND c.number = p.cause"
	  " LEFT JOIN processes r ON r.tgid = p.tgid AND r.tid = p.tid AND r.t ="
	  " coalesce((SELECT max(t) FROM processes x WHERE x.tgid = p.tgid AND x.tid = p.tid"
	  " AND x.t <= p.t0), (SELECT min(t) FROM processes x WHERE x.tgid = p.tgid AND"
	  " x.tid = p.tid))" },
	{ "sample_list",
	  "SELECT s.t, r.name, r.label, r.kind, s.value, r.unit, s.error_ns"
	  " FROM samples s JOIN rails r ON r.id = s.rail" },
	/*
	 * What a pause is, for all readers: a time in which all mutators of one process are
	 * stopped. It is the union of the stop-the-world phases of the process's threads, joined over gaps of
	 * up to SCHEMA_PAUSE_GAP_NS. Phases whose end is not known are left out. @id is the
	 * longest of its phases. The single max() makes SQLite take id from the same row.
	 */
	{ "pauses",
	  "WITH stop AS (SELECT id, t0, t1, tgid, t0 > " STRING(SCHEMA_PAUSE_GAP_NS)
	  " + max(t1) OVER (PARTITION BY tgid ORDER BY t0, id ROWS BETWEEN UNBOUNDED PRECEDING"
	  " AND 1 PRECEDING) AS fresh FROM phases WHERE flags & 1 AND NOT uncertain AND t1 >= t0),"
	  " part AS (SELECT id, t0, t1, tgid, sum(ifnull(fresh, 1)) OVER (PARTITION BY tgid"
	  " ORDER BY t0, id ROWS UNBOUNDED PRECEDING) AS nr FROM stop),"
	  " span AS (SELECT id, tgid, nr, t1 - t0 AS ns, min(t0) OVER pause AS p0,"
	  " max(t1) OVER pause AS p1 FROM part WINDOW pause AS (PARTITION BY tgid, nr)),"
	  " longest AS (SELECT p0, p1, tgid, count(*) AS phases, id, max(ns) FROM span"
	  " GROUP BY tgid, nr)"
	  " SELECT p0 AS t0, p1 AS t1, p1 - p0 AS ns, tgid, phases, id FROM longest" },
	/* A pause with the thread, CPU, phase and cause of the longest of its phases. */
	{ "pause_list",
	  "SELECT s.t0, s.t1, s.ns, p.cpu, (SELECT x.khz FROM transitions x WHERE x.cpu = p.cpu"
	  " AND x.t <= s.t0 ORDER BY x.t DESC LIMIT 1) AS khz, p.tgid, p.tid, p.comm, s.phases,"
	  " p.phase, p.cause, p.urgent, p.source FROM pauses s JOIN phase_list p ON p.id = s.id" },
	{ "frequency_list",
	  "SELECT t AS t0, lead(t) OVER (PARTITION BY cpu ORDER BY t) AS t1, cpu, khz, how"
	  " FROM transitions" },
	{ "decision_list",
	  "SELECT d.t, d.policy, d.cpu, d.khz_from, d.khz, r.name AS reason, d.load,"
	  " d.latency_ns, d.tgid, d.tid, n.name AS phase, d.flags & 1 AS stw FROM decisions d"
	  " LEFT JOIN names r ON r.kind = 'reason' AND r.number = d.reason"
	  " LEFT JOIN names n ON n.kind = 'phase' AND n.number = d.phase" },
};
/* clang-format on */

const struct schema_line *schema_next_table(const struct schema_line *line)
{
	do
		line++;
	while (line->line > SCHEMA_TABLE && line->line != SCHEMA_END);
	return line;
}

void schema_write_sql(char sql[SCHEMA_SQL_MAX])
{
	size_t used = 0;

	for (const struct schema_line *table = schema_lines; table->line != SCHEMA_END;
	     table = schema_next_table(table)) {
		used += (size_t)snprintf(sql + used, SCHEMA_SQL_MAX - used, "CREATE TABLE %s(",
					 table->name);
		for (const struct schema_line *c = table + 1; c < schema_next_table(table); c++)
			used += (size_t)snprintf(sql + used, SCHEMA_SQL_MAX - used, "%s%s %s",
						 c == table + 1 ? "" : ", ", c->name, c->type);
		if (*table->key)
			used += (size_t)snprintf(sql + used, SCHEMA_SQL_MAX - used,
						 ", PRIMARY KEY(%s)", table->key);
		used += (size_t)snprintf(sql + used, SCHEMA_SQL_MAX - used, ")%s STRICT;\n",
					 *table->key ? " WITHOUT ROWID," : "");
	}
}

static const char *const rail_kinds[] = { "power", "energy", "voltage", "current", "other" };

const char *rail_kind_name(enum rail_kind kind)
{
	return rail_kinds[kind];
}

enum rail_kind rail_kind_of(const char *name)
{
	int kind = 0;

	while (kind < RAIL_OTHER && strcmp(rail_kinds[kind], name))
		kind++;
	return (enum rail_kind)kind;
}

const char *rail_kind_unit(enum rail_kind kind)
{
	static const char *const units[] = { "uW", "uJ", "uV", "uA", "?" };

	return units[kind];
}
