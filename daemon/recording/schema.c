// SPDX-License-Identifier: GPL-2.0-or-later
#include "schema.h"

#define STRING_OF(x) #x
#define STRING(x)    STRING_OF(x)

/* Instants (t, t0, t1) are CLOCK_MONOTONIC ns. NULL is "not known". */
/* clang-format off */
const char schema_sql[] =
"CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID, STRICT;"
"CREATE TABLE names(kind TEXT, number INTEGER, name TEXT,"
"  PRIMARY KEY(kind, number)) WITHOUT ROWID, STRICT;"
"CREATE TABLE clocks(source TEXT PRIMARY KEY, clock TEXT, offset_ns INTEGER,"
"  error_ns INTEGER, how TEXT) WITHOUT ROWID, STRICT;"
"CREATE TABLE sources(name TEXT PRIMARY KEY, t INTEGER, state TEXT, what TEXT, remedy TEXT,"
"  period_ns INTEGER) WITHOUT ROWID, STRICT;"
"CREATE TABLE policies(policy INTEGER PRIMARY KEY, t INTEGER, cpus TEXT, driver TEXT,"
"  governor TEXT, hw_min_khz INTEGER, hw_max_khz INTEGER, latency_ns INTEGER) STRICT;"
"CREATE TABLE policy_states(t INTEGER, policy INTEGER, governor TEXT, min_khz INTEGER,"
"  max_khz INTEGER) STRICT;"
"CREATE TABLE opps(policy INTEGER, khz INTEGER, uv INTEGER, power_uw INTEGER, source TEXT,"
"  PRIMARY KEY(policy, khz)) WITHOUT ROWID, STRICT;"
"CREATE TABLE processes(tgid INTEGER, tid INTEGER, t INTEGER, uid INTEGER, comm TEXT,"
"  cmdline TEXT, PRIMARY KEY(tgid, tid, t)) WITHOUT ROWID, STRICT;"
"CREATE TABLE phases(id INTEGER PRIMARY KEY, t0 INTEGER NOT NULL, t1 INTEGER, cpu INTEGER,"
"  tgid INTEGER, tid INTEGER, session INTEGER, slot INTEGER, phase INTEGER NOT NULL,"
"  flags INTEGER, cause INTEGER, seq INTEGER, work_done INTEGER, work_total INTEGER,"
"  stall_ns INTEGER, how INTEGER NOT NULL, uncertain INTEGER NOT NULL) STRICT;"
"CREATE TABLE decisions(t INTEGER NOT NULL, cpu INTEGER, policy INTEGER, khz_from INTEGER,"
"  khz INTEGER, reason INTEGER, load INTEGER, latency_ns INTEGER, tgid INTEGER, tid INTEGER,"
"  slot INTEGER, phase INTEGER, flags INTEGER) STRICT;"
"CREATE TABLE leases(t INTEGER NOT NULL, tgid INTEGER, tid INTEGER, session INTEGER,"
"  slot INTEGER, role INTEGER, lease INTEGER) STRICT;"
"CREATE TABLE transitions(t INTEGER NOT NULL, cpu INTEGER, khz INTEGER, how TEXT) STRICT;"
"CREATE TABLE residency(t INTEGER NOT NULL, policy INTEGER, khz INTEGER, total_ns INTEGER) STRICT;"
"CREATE TABLE rails(id INTEGER PRIMARY KEY, t INTEGER, name TEXT, label TEXT, kind TEXT,"
"  unit TEXT, source TEXT, path TEXT, period_ns INTEGER, derived TEXT, cpus TEXT,"
"  update_ns INTEGER, wraps_at INTEGER) STRICT;"
"CREATE TABLE samples(t INTEGER NOT NULL, rail INTEGER NOT NULL, value INTEGER,"
"  error_ns INTEGER) STRICT;"
"CREATE TABLE idle_states(cpu INTEGER, state INTEGER, name TEXT, PRIMARY KEY(cpu, state))"
"  WITHOUT ROWID, STRICT;"
"CREATE TABLE idle(t INTEGER NOT NULL, cpu INTEGER, state INTEGER, total_us INTEGER,"
"  usage INTEGER) STRICT;"
"CREATE TABLE hotplug(t INTEGER NOT NULL, cpu INTEGER, online INTEGER) STRICT;"
"CREATE TABLE thermal_sensors(id INTEGER PRIMARY KEY, kind TEXT, name TEXT, path TEXT) STRICT;"
"CREATE TABLE thermal(t INTEGER NOT NULL, sensor INTEGER, value INTEGER) STRICT;"
"CREATE TABLE sched(t INTEGER NOT NULL, tgid INTEGER, tid INTEGER, run_ns INTEGER,"
"  wait_ns INTEGER, slices INTEGER, migrations INTEGER, utime_ns INTEGER, stime_ns INTEGER,"
"  cpu INTEGER) STRICT;"
"CREATE TABLE perf(t INTEGER NOT NULL, tgid INTEGER, tid INTEGER, cycles INTEGER,"
"  instructions INTEGER, misses INTEGER, enabled_ns INTEGER, running_ns INTEGER) STRICT;"
"CREATE TABLE drops(t INTEGER NOT NULL, source TEXT, count INTEGER, why TEXT) STRICT;"
"CREATE TABLE costs(t INTEGER NOT NULL, cpu_ns INTEGER, wakeups INTEGER, records INTEGER,"
"  bytes INTEGER, rss_kib INTEGER) STRICT;"
"CREATE TABLE notes(t INTEGER NOT NULL, priority INTEGER, source TEXT, text TEXT) STRICT;"
"CREATE TABLE annotations(t INTEGER NOT NULL, pid INTEGER, uid INTEGER, text TEXT) STRICT;"
"CREATE TABLE hotspots(t INTEGER NOT NULL, tgid INTEGER, tid INTEGER, cpu INTEGER, phase INTEGER,"
"  flags INTEGER, method INTEGER, ip INTEGER, kernel INTEGER, stack INTEGER) STRICT;"
"CREATE TABLE stacks(id INTEGER PRIMARY KEY, frames TEXT) STRICT;"
"CREATE TABLE images(t INTEGER NOT NULL, tgid INTEGER, first INTEGER, last INTEGER,"
"  offset INTEGER, path TEXT) STRICT;"
"CREATE TABLE symbols(tgid INTEGER, address INTEGER, t INTEGER, image TEXT, name TEXT,"
"  PRIMARY KEY(tgid, address, t)) WITHOUT ROWID, STRICT;"
"CREATE TABLE lines(tgid INTEGER, address INTEGER, t INTEGER, offset INTEGER, file TEXT,"
"  line INTEGER, PRIMARY KEY(tgid, address, t)) WITHOUT ROWID, STRICT;"
"CREATE TABLE actuators(t INTEGER NOT NULL, policy INTEGER, tgid INTEGER, actuator TEXT) STRICT;";

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

const char *const schema_tables[SCHEMA_TABLES] = {
	"meta",	     "clocks",	  "sources",  "policies",  "policy_states", "opps",    "rails",
	"processes", "leases",	  "phases",   "decisions", "transitions",   "samples", "residency",
	"idle",	     "hotplug",	  "thermal",  "sched",	   "perf",	    "annotations", "drops",
	"notes",     "costs",	  "names",    "idle_states", "thermal_sensors",
	"hotspots",  "stacks",	  "images",   "symbols",
	"lines",     "actuators",
};
/* clang-format on */
