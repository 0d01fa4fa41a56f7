// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The Trace Event Format, which Perfetto's UI opens: phases are slices of
 * their thread, frequencies, rails and heaps are counters, decisions and annotations
 * are instants. Times are microseconds of CLOCK_MONOTONIC. A counter is shown under
 * its name and the key of its value: the key is the unit.
 */
#include <inttypes.h>

#include "../../common/json.h"
#include "../../common/names.h"
#include "../../recording/reader/db.h"
#include "../ctl.h"
#include "export.h"

/* Pids of processes that exist in the trace only, far above any pid_max (2^22). */
enum {
	PID_FREQUENCY = 1 << 23,
	PID_RAILS,
	PID_GOVERNOR
};

static void chrome_event_begin(struct json *j, const char *ph, int64_t t)
{
	json_line(j);
	json_object(j, NULL);
	json_text(j, "ph", ph);
	json_us(j, "ts", t < 0 ? 0 : (uint64_t)t);
}

static void chrome_write_name(struct json *j, const char *what, int64_t pid, int64_t tid,
			      const char *value)
{
	json_line(j);
	json_object(j, NULL);
	json_text(j, "ph", "M");
	json_text(j, "name", what);
	json_int(j, "pid", pid);
	json_int(j, "tid", tid);
	json_object(j, "args");
	json_text(j, "name", value);
	json_end(j);
	json_end(j);
}

static void chrome_counter_begin(struct json *j, int64_t t, int64_t pid, const char *track)
{
	chrome_event_begin(j, "C", t);
	json_int(j, "pid", pid);
	json_text(j, "name", track);
	json_object(j, "args");
}

static void chrome_counter_end(struct json *j)
{
	json_end(j);
	json_end(j);
}

static void chrome_write_processes(sqlite3 *db, struct json *j)
{
	sqlite3_stmt *s = db_select(db, processes, "", COLUMN(processes, tgid),
				    COLUMN(processes, tid), COLUMN(processes, comm));
	char policy[32];

	while (db_next(s)) {
		int64_t tgid = db_int(s, COLUMN(processes, tgid), 0),
			tid = db_int(s, COLUMN(processes, tid), 0);
		const char *comm = db_text(s, COLUMN(processes, comm), NULL);

		if (comm && tgid == tid)
			chrome_write_name(j, "process_name", tgid, tid, comm);
		if (comm)
			chrome_write_name(j, "thread_name", tgid, tid, comm);
	}
	sqlite3_finalize(s);
	chrome_write_name(j, "process_name", PID_FREQUENCY, 0, "frequency");
	chrome_write_name(j, "process_name", PID_RAILS, 0, "rails");
	chrome_write_name(j, "process_name", PID_GOVERNOR, 0, "governor and annotations");
	/* Each policy has a thread of its own for its decisions; others are the governor's. */
	chrome_write_name(j, "thread_name", PID_GOVERNOR, PID_GOVERNOR, "governor");
	s = db_query(db, "SELECT policy FROM policies UNION SELECT policy FROM decisions "
			 "WHERE policy IS NOT NULL");
	while (db_next(s)) {
		snprintf(policy, sizeof(policy), "policy%" PRId64, db_int(s, 0, 0));
		chrome_write_name(j, "thread_name", PID_GOVERNOR, db_int(s, 0, 0), policy);
	}
	sqlite3_finalize(s);
}

static void chrome_write_phases(sqlite3 *db, struct json *j, uint64_t end)
{
	sqlite3_stmt *s = db_select(
		db, phases, "ORDER BY t0", COLUMN(phases, t0), COLUMN(phases, t1),
		COLUMN(phases, tgid), COLUMN(phases, tid), COLUMN(phases, phase),
		COLUMN(phases, flags), COLUMN(phases, cause), COLUMN(phases, cpu),
		COLUMN(phases, work_done), COLUMN(phases, work_total), COLUMN(phases, slot));
	char flags[48];

	while (db_next(s)) {
		int64_t t0 = db_int(s, COLUMN(phases, t0), 0),
			t1 = db_int(s, COLUMN(phases, t1), (int64_t)end), ns = t1 - t0;

		if (t0 < 0 || t1 < t0) {
			db_missing("phases", "one that ends before it begins");
			continue;
		}
		chrome_event_begin(j, "X", t0);
		json_us(j, "dur", (uint64_t)ns);
		json_int(j, "pid", db_int(s, COLUMN(phases, tgid), 0));
		json_int(j, "tid", db_int(s, COLUMN(phases, tid), 0));
		json_text(j, "cat", "gc");
		json_text(j, "name", name_phase((uint32_t)db_int(s, COLUMN(phases, phase), 0)));
		json_object(j, "args");
		db_json(j, "cpu", s, COLUMN(phases, cpu));
		json_text(j, "flags",
			  name_flags((uint32_t)db_int(s, COLUMN(phases, flags), 0), flags,
				     sizeof(flags)));
		json_text(j, "cause",
			  name_cause((uint32_t)db_int(s, COLUMN(phases, cause), UINT32_MAX)));
		db_json(j, "work_done", s, COLUMN(phases, work_done));
		db_json(j, "work_total", s, COLUMN(phases, work_total));
		db_json(j, "slot", s, COLUMN(phases, slot));
		json_end(j);
		json_end(j);
	}
	sqlite3_finalize(s);
}

static void chrome_write_frequencies(sqlite3 *db, struct json *j)
{
	sqlite3_stmt *s =
		db_select(db, transitions, "WHERE khz > 0 ORDER BY t", COLUMN(transitions, t),
			  COLUMN(transitions, cpu), COLUMN(transitions, khz));
	char track[32];

	while (db_next(s)) {
		snprintf(track, sizeof(track), "cpu%lld",
			 (long long)db_int(s, COLUMN(transitions, cpu), 0));
		chrome_counter_begin(j, db_int(s, COLUMN(transitions, t), 0), PID_FREQUENCY, track);
		json_fixed(j, "MHz", (double)db_int(s, COLUMN(transitions, khz), 0) / 1000, 3);
		chrome_counter_end(j);
	}
	sqlite3_finalize(s);
}

/* The format cannot express a gap: the counter keeps its last value. */
static void chrome_write_rails(sqlite3 *db, struct json *j)
{
	sqlite3_stmt *s =
		db_query(db, "SELECT s.t, s.value, r.name, r.label, r.kind FROM samples s "
			     "JOIN rails r ON r.id = s.rail WHERE s.value IS NOT NULL "
			     "ORDER BY s.t");
	char track[200];

	while (db_next(s)) {
		const char *label = db_text(s, 3, "");
		const char *unit = rail_kind_unit(rail_kind_of(db_text(s, 4, ""))) + 1;

		snprintf(track, sizeof(track), "%s%s%s%s", db_text(s, 2, "?"), *label ? " (" : "",
			 label, *label ? ")" : "");
		chrome_counter_begin(j, db_int(s, 0, 0), PID_RAILS, track);
		json_fixed(j, unit, (double)db_int(s, 1, 0) / 1e6, 6);
		chrome_counter_end(j);
	}
	sqlite3_finalize(s);
}

/* A process with several heaps, such as Node.js with workers, has a counter for each thread. */
static void chrome_write_heaps(sqlite3 *db, struct json *j)
{
	sqlite3_stmt *s =
		db_select(db, heaps, "WHERE used IS NOT NULL ORDER BY t", COLUMN(heaps, t),
			  COLUMN(heaps, tgid), COLUMN(heaps, tid), COLUMN(heaps, used));
	char track[48];

	while (db_next(s)) {
		snprintf(track, sizeof(track), "heap of thread %lld",
			 (long long)db_int(s, COLUMN(heaps, tid), 0));
		chrome_counter_begin(j, db_int(s, COLUMN(heaps, t), 0),
				     db_int(s, COLUMN(heaps, tgid), 0), track);
		json_int(j, "bytes", db_int(s, COLUMN(heaps, used), 0));
		chrome_counter_end(j);
	}
	sqlite3_finalize(s);
}

static void chrome_write_instants(sqlite3 *db, struct json *j)
{
	sqlite3_stmt *s = db_select(db, decisions, "ORDER BY t", COLUMN(decisions, t),
				    COLUMN(decisions, policy), COLUMN(decisions, khz_from),
				    COLUMN(decisions, khz), COLUMN(decisions, reason),
				    COLUMN(decisions, latency_ns));

	while (db_next(s)) {
		chrome_event_begin(j, "i", db_int(s, COLUMN(decisions, t), 0));
		json_text(j, "s", "t");
		json_int(j, "pid", PID_GOVERNOR);
		json_int(j, "tid", db_int(s, COLUMN(decisions, policy), PID_GOVERNOR));
		json_text(j, "name",
			  name_reason((uint32_t)db_int(s, COLUMN(decisions, reason), UINT32_MAX)));
		json_object(j, "args");
		db_json(j, "from_khz", s, COLUMN(decisions, khz_from));
		db_json(j, "khz", s, COLUMN(decisions, khz));
		db_json(j, "latency_ns", s, COLUMN(decisions, latency_ns));
		json_end(j);
		json_end(j);
	}
	sqlite3_finalize(s);
	s = db_query(db, "SELECT t, text FROM annotations UNION ALL "
			 "SELECT t, 'cpu' || cpu || CASE online WHEN 1 THEN ' online' ELSE ' "
			 "offline' END FROM hotplug "
			 "ORDER BY 1");
	while (db_next(s)) {
		chrome_event_begin(j, "i", db_int(s, 0, 0));
		json_text(j, "s", "g");
		json_int(j, "pid", PID_GOVERNOR);
		json_int(j, "tid", 0);
		json_text(j, "name", db_text(s, 1, "?"));
		json_end(j);
	}
	sqlite3_finalize(s);
}

int export_chrome_trace(sqlite3 *db, FILE *out, const char *table)
{
	struct json j = { .f = out };
	uint64_t t0 = 0, t1 = 0;

	(void)table;
	db_span(db, &t0, &t1);
	json_object(&j, NULL);
	json_text(&j, "displayTimeUnit", "ms");
	json_list(&j, "traceEvents");
	chrome_write_processes(db, &j);
	chrome_write_phases(db, &j, t1);
	chrome_write_frequencies(db, &j);
	chrome_write_rails(db, &j);
	chrome_write_heaps(db, &j);
	chrome_write_instants(db, &j);
	json_line(&j);
	json_end(&j);
	json_end(&j);
	return CTL_OK;
}
