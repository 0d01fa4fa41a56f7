// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The Trace Event Format, which Perfetto's UI opens: phases are slices of
 * their thread, frequencies and rails are counters, decisions and marks are
 * instants. Times are microseconds of CLOCK_MONOTONIC. A counter is shown under
 * its name and the key of its value: the key is the unit.
 */
#include <inttypes.h>

#include "../common/escape.h"
#include "../common/names.h"
#include "ctl.h"
#include "db.h"
#include "export.h"

/* Processes of our own making, far above any pid_max (2^22). */
enum {
	PID_FREQUENCY = 1 << 23,
	PID_RAILS,
	PID_GOVERNOR
};

struct out {
	FILE *f;
	bool first;
};

static void begin(struct out *o, const char *ph, int64_t t)
{
	fprintf(o->f, "%s{\"ph\":\"%s\",\"ts\":%" PRId64 ".%03d", o->first ? "\n" : ",\n", ph,
		t / 1000, (int)(t % 1000));
	o->first = false;
}

static void text(struct out *o, const char *key, const char *value)
{
	fprintf(o->f, ",\"%s\":\"", key);
	escape_json(o->f, value);
	fputc('"', o->f);
}

static void name(struct out *o, const char *what, int64_t pid, int64_t tid, const char *value)
{
	fprintf(o->f,
		"%s{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%" PRId64 ",\"tid\":%" PRId64
		",\"args\":{\"name\":\"",
		o->first ? "\n" : ",\n", what, pid, tid);
	o->first = false;
	escape_json(o->f, value);
	fputs("\"}}", o->f);
}

static void processes(sqlite3 *db, struct out *o)
{
	sqlite3_stmt *s = db_query(db, "SELECT tgid, tid, comm FROM processes");
	char policy[32];

	while (db_next(s)) {
		int64_t tgid = db_int(s, 0, 0), tid = db_int(s, 1, 0);
		const char *comm = db_text(s, 2, NULL);

		if (comm && tgid == tid)
			name(o, "process_name", tgid, tid, comm);
		if (comm)
			name(o, "thread_name", tgid, tid, comm);
	}
	sqlite3_finalize(s);
	name(o, "process_name", PID_FREQUENCY, 0, "frequency");
	name(o, "process_name", PID_RAILS, 0, "rails");
	name(o, "process_name", PID_GOVERNOR, 0, "governor and marks");
	/* The decisions of a policy stand on a thread of their own. */
	s = db_query(db, "SELECT policy FROM policies UNION SELECT policy FROM decisions");
	while (db_next(s)) {
		snprintf(policy, sizeof(policy), "policy%" PRId64, db_int(s, 0, 0));
		name(o, "thread_name", PID_GOVERNOR, db_int(s, 0, 0), policy);
	}
	sqlite3_finalize(s);
}

static void phases(sqlite3 *db, struct out *o, uint64_t end)
{
	sqlite3_stmt *s = db_query(db, "SELECT t0, t1, tgid, tid, phase, flags, cause, cpu, "
				       "work_done, work_total, slot FROM phases ORDER BY t0");
	char flags[48];

	while (db_next(s)) {
		int64_t t0 = db_int(s, 0, 0), t1 = db_int(s, 1, (int64_t)end), ns = t1 - t0;

		begin(o, "X", t0);
		fprintf(o->f, ",\"dur\":%" PRId64 ".%03d,\"pid\":%" PRId64 ",\"tid\":%" PRId64,
			ns / 1000, (int)(ns % 1000), db_int(s, 2, 0), db_int(s, 3, 0));
		text(o, "cat", "gc");
		text(o, "name", name_phase((uint32_t)db_int(s, 4, 0)));
		fputs(",\"args\":{\"cpu\":", o->f);
		fputs(db_text(s, 7, "null"), o->f);
		text(o, "flags", name_flags((uint32_t)db_int(s, 5, 0), flags, sizeof(flags)));
		text(o, "cause", name_cause((uint32_t)db_int(s, 6, UINT32_MAX)));
		fprintf(o->f, ",\"work_done\":%s", db_text(s, 8, "null"));
		fprintf(o->f, ",\"work_total\":%s", db_text(s, 9, "null"));
		fprintf(o->f, ",\"slot\":%s}}", db_text(s, 10, "null"));
	}
	sqlite3_finalize(s);
}

static void frequencies(sqlite3 *db, struct out *o)
{
	sqlite3_stmt *s = db_query(db, "SELECT t, cpu, khz FROM transitions WHERE khz > 0 "
				       "ORDER BY t");
	char track[32];

	while (db_next(s)) {
		begin(o, "C", db_int(s, 0, 0));
		fprintf(o->f, ",\"pid\":%d", PID_FREQUENCY);
		snprintf(track, sizeof(track), "cpu%lld", (long long)db_int(s, 1, 0));
		text(o, "name", track);
		fprintf(o->f, ",\"args\":{\"MHz\":%.3f}}", (double)db_int(s, 2, 0) / 1000);
	}
	sqlite3_finalize(s);
}

/* A gap has no point: the counter keeps its last value, as the format wants. */
static void rails(sqlite3 *db, struct out *o)
{
	static const char *const units[] = { "W", "J", "V", "A" };
	sqlite3_stmt *s = db_query(db, "SELECT s.t, s.value, r.name, r.label, "
				       "instr('uWuJuVuA', r.unit) / 2 FROM samples s "
				       "JOIN rails r ON r.id = s.rail WHERE s.value IS NOT NULL "
				       "ORDER BY s.t");
	char track[200];

	while (db_next(s)) {
		const char *label = db_text(s, 3, "");
		const char *unit = units[db_int(s, 4, 0) & 3];

		begin(o, "C", db_int(s, 0, 0));
		fprintf(o->f, ",\"pid\":%d", PID_RAILS);
		snprintf(track, sizeof(track), "%s%s%s%s", db_text(s, 2, "?"), *label ? " (" : "",
			 label, *label ? ")" : "");
		text(o, "name", track);
		fprintf(o->f, ",\"args\":{\"%s\":%.6f}}", unit, (double)db_int(s, 1, 0) / 1e6);
	}
	sqlite3_finalize(s);
}

static void instants(sqlite3 *db, struct out *o)
{
	sqlite3_stmt *s = db_query(db, "SELECT t, policy, khz_from, khz, reason, latency_ns "
				       "FROM decisions ORDER BY t");

	while (db_next(s)) {
		begin(o, "i", db_int(s, 0, 0));
		fprintf(o->f, ",\"s\":\"t\",\"pid\":%d,\"tid\":%" PRId64, PID_GOVERNOR,
			db_int(s, 1, 0));
		text(o, "name", name_reason((uint32_t)db_int(s, 4, UINT32_MAX)));
		fprintf(o->f, ",\"args\":{\"from_khz\":%s", db_text(s, 2, "null"));
		fprintf(o->f, ",\"khz\":%s", db_text(s, 3, "null"));
		fprintf(o->f, ",\"latency_ns\":%s}}", db_text(s, 5, "null"));
	}
	sqlite3_finalize(s);
	s = db_query(db, "SELECT t, text FROM marks UNION ALL "
			 "SELECT t, 'cpu' || cpu || CASE online WHEN 1 THEN ' online' ELSE ' "
			 "offline' END FROM hotplug "
			 "ORDER BY 1");
	while (db_next(s)) {
		begin(o, "i", db_int(s, 0, 0));
		fprintf(o->f, ",\"s\":\"g\",\"pid\":%d,\"tid\":0", PID_GOVERNOR);
		text(o, "name", db_text(s, 1, "?"));
		fputc('}', o->f);
	}
	sqlite3_finalize(s);
}

int export_chrome_trace(sqlite3 *db, FILE *out, const char *table)
{
	struct out o = { out, true };
	uint64_t t0 = 0, t1 = 0;

	(void)table;
	db_span(db, &t0, &t1);
	fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", out);
	processes(db, &o);
	phases(db, &o, t1);
	frequencies(db, &o);
	rails(db, &o);
	instants(db, &o);
	fputs("\n]}\n", out);
	return CTL_OK;
}
