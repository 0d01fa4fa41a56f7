// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Perfetto's own format: one packet per event, with field numbers as in
 * protos/perfetto/trace of its source (perfetto.dev/docs/reference/synthetic-track-event).
 * Phases are slices of their thread, frequencies, rails and heaps are counters with their unit,
 * decisions and annotations are instants. The clock is CLOCK_MONOTONIC, to the nanosecond.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../../common/protobuf.h"
#include "../../common/names.h"
#include "../../recording/reader/db.h"
#include "../ctl.h"
#include "export.h"

/* Trace */
#define TRACE_PACKET 1

/* TracePacket */
enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_CLOCK = 58,
	PACKET_TRACK = 60
};

/* BuiltinClock */
enum {
	CLOCK_ID_REALTIME = 1,
	CLOCK_ID_MONOTONIC = 3
};

/* ClockSnapshot, its Clock */
enum {
	SNAPSHOT_CLOCKS = 1,
	SNAPSHOT_PRIMARY = 2,
	SNAPSHOT_CLOCK_ID = 1,
	SNAPSHOT_CLOCK_TIME = 2
};

/* TrackDescriptor, ProcessDescriptor, ThreadDescriptor, CounterDescriptor */
enum {
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	TRACK_COUNTER = 8,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	COUNTER_UNIT_NAME = 6
};

/* TrackEvent, its types, DebugAnnotation */
enum {
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_DOUBLE = 44,
	TYPE_BEGIN = 1,
	TYPE_END = 2,
	TYPE_INSTANT = 3,
	TYPE_COUNTER = 4,
	ANNOTATION_INT = 4,
	ANNOTATION_TEXT = 6,
	ANNOTATION_NAME = 10
};

/* Identifies the writer of the packets; any number but 0. */
#define SEQUENCE 1

/* The top byte of a track's UUID; the rest is a number from the recording. */
enum track_kind {
	TRACKS_GROUP = 1,
	TRACKS_PROCESS,
	TRACKS_THREAD,
	TRACKS_OVERLAP,
	TRACKS_CPU,
	TRACKS_RAIL,
	TRACKS_POLICY,
	TRACKS_HEAP
};

enum track_group {
	GROUP_FREQUENCY = 1,
	GROUP_RAILS,
	GROUP_GOVERNOR,
	GROUP_ANNOTATIONS
};

/* Maximum depth of nested phases on a thread's own track. */
#define NESTED 32

struct trace {
	struct wire w;
	FILE *f;
	uint64_t t0;
};

static uint64_t track_uuid(enum track_kind kind, uint64_t number)
{
	return (uint64_t)kind << 56 | (number & ((1ull << 56) - 1));
}

static uint64_t thread_uuid(enum track_kind kind, int64_t tgid, int64_t tid)
{
	return track_uuid(kind, ((uint64_t)tgid & 0xffffff) << 24 | ((uint64_t)tid & 0xffffff));
}

static size_t packet_begin(struct trace *t, uint64_t at)
{
	size_t begin;

	wire_clear(&t->w);
	begin = wire_begin(&t->w, TRACE_PACKET);
	wire_uint(&t->w, PACKET_SEQUENCE, SEQUENCE);
	wire_uint(&t->w, PACKET_TIMESTAMP, at);
	wire_uint(&t->w, PACKET_CLOCK, CLOCK_ID_MONOTONIC);
	return begin;
}

static void packet_end(struct trace *t, size_t begin)
{
	wire_end(&t->w, begin);
	if (!t->w.broken)
		fwrite(t->w.data, 1, t->w.nr, t->f);
}

static void perfetto_write_clocks(struct trace *t, sqlite3 *db)
{
	size_t p, snapshot, clock;
	int64_t offset;

	wire_clear(&t->w);
	p = wire_begin(&t->w, TRACE_PACKET);
	wire_uint(&t->w, PACKET_SEQUENCE, SEQUENCE);
	snapshot = wire_begin(&t->w, PACKET_CLOCK_SNAPSHOT);
	clock = wire_begin(&t->w, SNAPSHOT_CLOCKS);
	wire_uint(&t->w, SNAPSHOT_CLOCK_ID, CLOCK_ID_MONOTONIC);
	wire_uint(&t->w, SNAPSHOT_CLOCK_TIME, t->t0);
	wire_end(&t->w, clock);
	if (db_number(db, "SELECT offset_ns FROM clocks WHERE source = 'realtime'", 0, &offset)) {
		clock = wire_begin(&t->w, SNAPSHOT_CLOCKS);
		wire_uint(&t->w, SNAPSHOT_CLOCK_ID, CLOCK_ID_REALTIME);
		wire_uint(&t->w, SNAPSHOT_CLOCK_TIME, t->t0 - (uint64_t)offset);
		wire_end(&t->w, clock);
	}
	wire_uint(&t->w, SNAPSHOT_PRIMARY, CLOCK_ID_MONOTONIC);
	wire_end(&t->w, snapshot);
	packet_end(t, p);
}

struct track {
	uint64_t uuid, parent;
	const char *name, *unit; /* NULL: none */
	int64_t tgid, tid; /* of a thread; tid -1: of a process; tgid -1: neither */
};

static void track_describe(struct trace *t, const struct track *k)
{
	size_t p = packet_begin(t, t->t0), track = wire_begin(&t->w, PACKET_TRACK), inner;

	wire_uint(&t->w, TRACK_UUID, k->uuid);
	if (k->parent)
		wire_uint(&t->w, TRACK_PARENT, k->parent);
	if (k->tgid < 0) {
		wire_text(&t->w, TRACK_NAME, k->name);
	} else if (k->tid < 0) {
		inner = wire_begin(&t->w, TRACK_PROCESS);
		wire_uint(&t->w, PROCESS_PID, (uint64_t)k->tgid);
		wire_text(&t->w, PROCESS_NAME, k->name);
		wire_end(&t->w, inner);
	} else {
		inner = wire_begin(&t->w, TRACK_THREAD);
		wire_uint(&t->w, THREAD_PID, (uint64_t)k->tgid);
		wire_uint(&t->w, THREAD_TID, (uint64_t)k->tid);
		wire_text(&t->w, THREAD_NAME, k->name);
		wire_end(&t->w, inner);
	}
	if (k->unit) {
		inner = wire_begin(&t->w, TRACK_COUNTER);
		wire_text(&t->w, COUNTER_UNIT_NAME, k->unit);
		wire_end(&t->w, inner);
	}
	wire_end(&t->w, track);
	packet_end(t, p);
}

static void group_describe(struct trace *t, enum track_group number, const char *name)
{
	const struct track k = { .uuid = track_uuid(TRACKS_GROUP, number),
				 .name = name,
				 .tgid = -1 };

	track_describe(t, &k);
}

static size_t event_begin(struct trace *t, unsigned int type, uint64_t track)
{
	size_t e = wire_begin(&t->w, PACKET_EVENT);

	wire_uint(&t->w, EVENT_TYPE, type);
	wire_uint(&t->w, EVENT_TRACK, track);
	return e;
}

/* Adds no annotation for a NULL column. */
static void event_annotate(struct trace *t, const char *name, sqlite3_stmt *s, int column)
{
	size_t a;

	if (sqlite3_column_type(s, column) == SQLITE_NULL)
		return;
	a = wire_begin(&t->w, EVENT_ANNOTATION);
	wire_text(&t->w, ANNOTATION_NAME, name);
	if (sqlite3_column_type(s, column) == SQLITE_INTEGER)
		wire_uint(&t->w, ANNOTATION_INT, (uint64_t)sqlite3_column_int64(s, column));
	else
		wire_text(&t->w, ANNOTATION_TEXT, db_text(s, column, ""));
	wire_end(&t->w, a);
}

static void event_annotate_text(struct trace *t, const char *name, const char *value)
{
	size_t a = wire_begin(&t->w, EVENT_ANNOTATION);

	wire_text(&t->w, ANNOTATION_NAME, name);
	wire_text(&t->w, ANNOTATION_TEXT, value);
	wire_end(&t->w, a);
}

/* Board, kernel and label become an instant at the start: the format has no field for them. */
static void perfetto_write_facts(struct trace *t, sqlite3 *db)
{
	sqlite3_stmt *s = db_select(db, meta, "", COLUMN(meta, key), COLUMN(meta, value));
	size_t p, e;

	group_describe(t, GROUP_ANNOTATIONS, "annotations");
	p = packet_begin(t, t->t0);
	e = event_begin(t, TYPE_INSTANT, track_uuid(TRACKS_GROUP, GROUP_ANNOTATIONS));
	wire_text(&t->w, EVENT_NAME, "recording");
	while (db_next(s))
		event_annotate_text(t, db_text(s, COLUMN(meta, key), "?"),
				    db_text(s, COLUMN(meta, value), ""));
	wire_end(&t->w, e);
	packet_end(t, p);
	sqlite3_finalize(s);
}

static void perfetto_write_processes(struct trace *t, sqlite3 *db)
{
	sqlite3_stmt *s = db_query(
		db, "SELECT p.tgid, p.tid, (SELECT comm FROM processes c WHERE c.tgid = p.tgid AND "
		    "c.tid = p.tid ORDER BY t LIMIT 1), (SELECT comm FROM processes c WHERE "
		    "c.tgid = p.tgid AND c.tid = p.tgid ORDER BY t LIMIT 1) "
		    "FROM phases p WHERE p.tgid >= 0 GROUP BY p.tgid, p.tid");
	int64_t last = -1;

	while (db_next(s)) {
		int64_t tgid = db_int(s, 0, 0), tid = db_int(s, 1, 0);
		struct track k = { .uuid = thread_uuid(TRACKS_PROCESS, tgid, 0),
				   .name = db_text(s, 3, "?"),
				   .tgid = tgid,
				   .tid = -1 };

		if (tgid != last)
			track_describe(t, &k);
		last = tgid;
		k = (struct track){ .uuid = thread_uuid(TRACKS_THREAD, tgid, tid),
				    .parent = thread_uuid(TRACKS_PROCESS, tgid, 0),
				    .name = db_text(s, 2, "?"),
				    .tgid = tgid,
				    .tid = tid };
		track_describe(t, &k);
	}
	sqlite3_finalize(s);
}

static void slice_write(struct trace *t, sqlite3_stmt *s, uint64_t track, uint64_t t0, uint64_t t1)
{
	char flags[48];
	size_t p = packet_begin(t, t0), e = event_begin(t, TYPE_BEGIN, track);

	wire_text(&t->w, EVENT_CATEGORY, "gc");
	wire_text(&t->w, EVENT_NAME, name_phase(db_u32(s, COLUMN(phases, phase), 0)));
	event_annotate(t, "cpu", s, COLUMN(phases, cpu));
	event_annotate_text(t, "flags",
			    name_flags(db_u32(s, COLUMN(phases, flags), 0), flags, sizeof(flags)));
	event_annotate_text(t, "cause", name_cause(db_u32(s, COLUMN(phases, cause), UINT32_MAX)));
	event_annotate(t, "work_done", s, COLUMN(phases, work_done));
	event_annotate(t, "work_total", s, COLUMN(phases, work_total));
	event_annotate(t, "slot", s, COLUMN(phases, slot));
	wire_end(&t->w, e);
	packet_end(t, p);
	p = packet_begin(t, t1);
	e = event_begin(t, TYPE_END, track);
	wire_end(&t->w, e);
	packet_end(t, p);
}

/*
 * An end event closes the slice that was opened last. A phase that outlives the one it began in
 * would be closed by that one's end; therefore it goes to an additional track.
 */
static void perfetto_write_phases(struct trace *t, sqlite3 *db, uint64_t end)
{
	sqlite3_stmt *s =
		db_select(db, phases, "ORDER BY tgid, tid, t0, t1 DESC", COLUMN(phases, t0),
			  COLUMN(phases, t1), COLUMN(phases, tgid), COLUMN(phases, tid),
			  COLUMN(phases, phase), COLUMN(phases, flags), COLUMN(phases, cause),
			  COLUMN(phases, cpu), COLUMN(phases, work_done),
			  COLUMN(phases, work_total), COLUMN(phases, slot));
	int64_t last_tgid = -1, last_tid = -1;
	uint64_t open[NESTED];
	bool described = false;
	size_t depth = 0;

	while (db_next(s)) {
		int64_t t0 = db_int(s, COLUMN(phases, t0), -1),
			t1 = db_int(s, COLUMN(phases, t1), (int64_t)end);
		int64_t tgid = db_int(s, COLUMN(phases, tgid), 0),
			tid = db_int(s, COLUMN(phases, tid), 0);
		uint64_t track = thread_uuid(TRACKS_THREAD, tgid, tid);

		if (t0 < 0 || t1 < t0) {
			db_missing("phases", "one that ends before it begins");
			continue;
		}
		if (tgid != last_tgid || tid != last_tid) {
			depth = 0;
			described = false;
		}
		last_tgid = tgid;
		last_tid = tid;
		while (depth && open[depth - 1] <= (uint64_t)t0)
			depth--;
		if (depth < NESTED && (!depth || (uint64_t)t1 <= open[depth - 1])) {
			open[depth++] = (uint64_t)t1;
		} else {
			const struct track k = { .uuid = thread_uuid(TRACKS_OVERLAP, tgid, tid),
						 .parent = track,
						 .name = "overlapping phases",
						 .tgid = -1 };

			track = k.uuid;
			if (!described)
				track_describe(t, &k);
			described = true;
		}
		slice_write(t, s, track, (uint64_t)t0, (uint64_t)t1);
	}
	sqlite3_finalize(s);
}

static void counter_write(struct trace *t, uint64_t track, int64_t at, double value)
{
	size_t p = packet_begin(t, at < 0 ? 0 : (uint64_t)at),
	       e = event_begin(t, TYPE_COUNTER, track);

	wire_double(&t->w, EVENT_DOUBLE, value);
	wire_end(&t->w, e);
	packet_end(t, p);
}

static void perfetto_write_frequencies(struct trace *t, sqlite3 *db)
{
	sqlite3_stmt *s = db_query(db, "SELECT DISTINCT cpu FROM transitions WHERE cpu >= 0 "
				       "ORDER BY cpu");
	char name[32];

	group_describe(t, GROUP_FREQUENCY, "frequency");
	while (db_next(s)) {
		const struct track k = { .uuid = track_uuid(TRACKS_CPU, (uint64_t)db_int(s, 0, 0)),
					 .parent = track_uuid(TRACKS_GROUP, GROUP_FREQUENCY),
					 .name = name,
					 .unit = "MHz",
					 .tgid = -1 };

		snprintf(name, sizeof(name), "cpu%" PRId64, db_int(s, 0, 0));
		track_describe(t, &k);
	}
	sqlite3_finalize(s);
	s = db_select(db, transitions, "WHERE khz > 0 AND cpu >= 0 ORDER BY t",
		      COLUMN(transitions, t), COLUMN(transitions, cpu), COLUMN(transitions, khz));
	while (db_next(s))
		counter_write(
			t, track_uuid(TRACKS_CPU, (uint64_t)db_int(s, COLUMN(transitions, cpu), 0)),
			db_int(s, COLUMN(transitions, t), 0),
			(double)db_int(s, COLUMN(transitions, khz), 0) / 1000);
	sqlite3_finalize(s);
}

/* The format cannot express a gap: the counter keeps its last value. */
static void perfetto_write_rails(struct trace *t, sqlite3 *db)
{
	sqlite3_stmt *s = db_select(db, rails, "", COLUMN(rails, id), COLUMN(rails, name),
				    COLUMN(rails, label), COLUMN(rails, kind));
	char name[200];

	group_describe(t, GROUP_RAILS, "rails");
	while (db_next(s)) {
		const char *label = db_text(s, COLUMN(rails, label), "");
		const struct track k = {
			.uuid = track_uuid(TRACKS_RAIL, (uint64_t)db_int(s, COLUMN(rails, id), 0)),
			.parent = track_uuid(TRACKS_GROUP, GROUP_RAILS),
			.name = name,
			.unit = rail_kind_unit(rail_kind_of(db_text(s, COLUMN(rails, kind), ""))) +
				1,
			.tgid = -1
		};

		snprintf(name, sizeof(name), "%s%s%s%s", db_text(s, COLUMN(rails, name), "?"),
			 *label ? " (" : "", label, *label ? ")" : "");
		track_describe(t, &k);
	}
	sqlite3_finalize(s);
	s = db_select(db, samples, "WHERE value IS NOT NULL ORDER BY t", COLUMN(samples, t),
		      COLUMN(samples, rail), COLUMN(samples, value));
	while (db_next(s))
		counter_write(
			t, track_uuid(TRACKS_RAIL, (uint64_t)db_int(s, COLUMN(samples, rail), 0)),
			db_int(s, COLUMN(samples, t), 0),
			(double)db_int(s, COLUMN(samples, value), 0) / 1e6);
	sqlite3_finalize(s);
}

static void perfetto_write_heaps(struct trace *t, sqlite3 *db)
{
	sqlite3_stmt *s =
		db_query(db, "SELECT DISTINCT tgid, tid FROM heaps WHERE used IS NOT NULL "
			     "AND tgid >= 0 ORDER BY tgid, tid");
	char name[48];

	while (db_next(s)) {
		const int64_t tgid = db_int(s, 0, 0), tid = db_int(s, 1, 0);
		const struct track k = { .uuid = thread_uuid(TRACKS_HEAP, tgid, tid),
					 .parent = thread_uuid(TRACKS_PROCESS, tgid, 0),
					 .name = name,
					 .unit = "bytes",
					 .tgid = -1 };

		snprintf(name, sizeof(name), "heap of thread %" PRId64, tid);
		track_describe(t, &k);
	}
	sqlite3_finalize(s);
	s = db_select(db, heaps, "WHERE used IS NOT NULL AND tgid >= 0 ORDER BY t",
		      COLUMN(heaps, t), COLUMN(heaps, tgid), COLUMN(heaps, tid),
		      COLUMN(heaps, used));
	while (db_next(s))
		counter_write(t,
			      thread_uuid(TRACKS_HEAP, db_int(s, COLUMN(heaps, tgid), 0),
					  db_int(s, COLUMN(heaps, tid), 0)),
			      db_int(s, COLUMN(heaps, t), 0),
			      (double)db_int(s, COLUMN(heaps, used), 0));
	sqlite3_finalize(s);
}

static void perfetto_write_decisions(struct trace *t, sqlite3 *db)
{
	sqlite3_stmt *s = db_query(db, "SELECT policy FROM policies UNION SELECT policy FROM "
				       "decisions WHERE policy IS NOT NULL");
	char name[32];

	group_describe(t, GROUP_GOVERNOR, "governor");
	while (db_next(s)) {
		const struct track k = { .uuid = track_uuid(TRACKS_POLICY,
							    (uint64_t)db_int(s, 0, 0)),
					 .parent = track_uuid(TRACKS_GROUP, GROUP_GOVERNOR),
					 .name = name,
					 .tgid = -1 };

		snprintf(name, sizeof(name), "policy%" PRId64, db_int(s, 0, 0));
		track_describe(t, &k);
	}
	sqlite3_finalize(s);
	s = db_select(db, decisions, "ORDER BY t", COLUMN(decisions, t), COLUMN(decisions, policy),
		      COLUMN(decisions, reason), COLUMN(decisions, khz_from),
		      COLUMN(decisions, khz), COLUMN(decisions, latency_ns));
	while (db_next(s)) {
		size_t p = packet_begin(t, (uint64_t)db_int(s, COLUMN(decisions, t), 0));
		int64_t policy = db_int(s, COLUMN(decisions, policy), -1);
		/* One whose policy is not known is on the parent of the tracks of the policies. */
		uint64_t track = policy >= 0 ? track_uuid(TRACKS_POLICY, (uint64_t)policy) :
					       track_uuid(TRACKS_GROUP, GROUP_GOVERNOR);
		size_t e = event_begin(t, TYPE_INSTANT, track);

		wire_text(&t->w, EVENT_NAME,
			  name_reason(db_u32(s, COLUMN(decisions, reason), UINT32_MAX)));
		event_annotate(t, "from_khz", s, COLUMN(decisions, khz_from));
		event_annotate(t, "khz", s, COLUMN(decisions, khz));
		event_annotate(t, "latency_ns", s, COLUMN(decisions, latency_ns));
		wire_end(&t->w, e);
		packet_end(t, p);
	}
	sqlite3_finalize(s);
}

static void perfetto_write_annotations(struct trace *t, sqlite3 *db)
{
	sqlite3_stmt *s = db_query(
		db,
		"SELECT t, text FROM annotations UNION ALL SELECT t, 'cpu' || cpu || CASE online "
		"WHEN 1 THEN ' online' ELSE ' offline' END FROM hotplug ORDER BY 1");

	while (db_next(s)) {
		size_t p = packet_begin(t, (uint64_t)db_int(s, 0, 0));
		size_t e =
			event_begin(t, TYPE_INSTANT, track_uuid(TRACKS_GROUP, GROUP_ANNOTATIONS));

		wire_text(&t->w, EVENT_NAME, db_text(s, 1, "?"));
		wire_end(&t->w, e);
		packet_end(t, p);
	}
	sqlite3_finalize(s);
}

int export_perfetto(sqlite3 *db, FILE *out, const char *table)
{
	struct trace t = { .f = out };
	uint64_t t1 = 0;
	bool broken;

	(void)table;
	db_span(db, &t.t0, &t1);
	perfetto_write_clocks(&t, db);
	perfetto_write_facts(&t, db);
	perfetto_write_processes(&t, db);
	perfetto_write_phases(&t, db, t1);
	perfetto_write_frequencies(&t, db);
	perfetto_write_rails(&t, db);
	perfetto_write_heaps(&t, db);
	perfetto_write_decisions(&t, db);
	perfetto_write_annotations(&t, db);
	broken = t.w.broken;
	wire_free(&t.w);
	if (broken)
		ctl_error("export: no memory for a packet");
	return broken ? CTL_FAILED : CTL_OK;
}
