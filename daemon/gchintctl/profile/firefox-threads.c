// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads of a profile for the Firefox Profiler, and their markers. */
#include <inttypes.h>
#include <string.h>

#include "../../common/names.h"
#include "../../recording/reader/db.h"
#include "firefox.h"

enum {
	MARKER_INSTANT,
	MARKER_INTERVAL
};

/* @process: NULL if unknown */
static void thread_write_begin(struct json *j, const char *name, const char *process, int64_t tgid,
			       int64_t tid)
{
	char pid[24];

	snprintf(pid, sizeof(pid), "%" PRId64, tgid);
	json_line(j);
	json_object(j, NULL);
	json_text(j, "processType", "default");
	json_int(j, "processStartupTime", 0);
	json_null(j, "processShutdownTime");
	json_int(j, "registerTime", 0);
	json_null(j, "unregisterTime");
	json_list(j, "pausedRanges");
	json_end(j);
	json_bool(j, "showMarkersInTimeline", true);
	json_text(j, "name", name);
	if (process)
		json_text(j, "processName", process);
	json_bool(j, "isMainThread", tid == tgid);
	json_text(j, "pid", pid);
	json_int(j, "tid", tid);
}

void firefox_thread(struct firefox *x, int32_t tgid, int32_t tid, uint64_t t)
{
	const char *name = threads_name(x->names, tgid, tid, t);
	char number[32];

	snprintf(number, sizeof(number), "thread %d", tid);
	thread_write_begin(&x->j,
			   !tid ? "thread not known" :
			   name ? name :
				  number,
			   threads_name(x->names, tgid, tgid, t), tgid, tid);
}

void firefox_no_samples(struct firefox *x)
{
	static const char *const columns[] = { "stack", "time", NULL };
	struct json *j = &x->j;

	json_object(j, "samples");
	for (size_t i = 0; columns[i]; i++) {
		json_list(j, columns[i]);
		json_end(j);
	}
	json_null(j, "weight");
	json_text(j, "weightType", "samples");
	json_int(j, "length", 0);
	json_end(j);
}

static void thread_write_end(struct json *j, size_t markers)
{
	json_uint(j, "length", markers);
	json_end(j);
	json_end(j);
}

size_t firefox_phases_of_thread(const struct firefox *x, size_t first)
{
	const struct recording_phase *p = x->phase[first];
	size_t n;

	for (n = 1; first + n < x->rec->phases && x->phase[first + n]->tgid == p->tgid &&
		    x->phase[first + n]->tid == p->tid;)
		n++;
	return n;
}

void firefox_phases(struct firefox *x, size_t first, size_t nr)
{
	struct recording_phase *const *phase = x->phase + first;
	const struct recording *rec = x->rec;
	struct json *j = &x->j;

	json_object(j, "markers");
	json_list(j, "name");
	for (size_t i = 0; i < nr; i++)
		json_int(j, NULL, phase[i]->group);
	json_end(j);
	json_list(j, "startTime");
	for (size_t i = 0; i < nr; i++)
		json_fixed(j, NULL, firefox_ms(rec, phase[i]->t0), 6);
	json_end(j);
	json_list(j, "endTime");
	for (size_t i = 0; i < nr; i++)
		json_fixed(j, NULL, firefox_ms(rec, phase[i]->t1), 6);
	json_end(j);
	json_list(j, "phase");
	for (size_t i = 0; i < nr; i++)
		json_int(j, NULL, MARKER_INTERVAL);
	json_end(j);
	json_list(j, "category");
	for (size_t i = 0; i < nr; i++)
		json_int(j, NULL, phase[i]->group % CLASS_NR);
	json_end(j);
	json_list(j, "data");
	for (size_t i = 0; i < nr; i++) {
		json_object(j, NULL);
		json_text(j, "type", "gc-phase");
		json_text(j, "cause", name_cause(phase[i]->cause));
		if (phase[i]->cpu >= 0)
			json_int(j, "cpu", phase[i]->cpu);
		json_end(j);
	}
	json_end(j);
	thread_write_end(j, nr);
}

static void instant_put_name(const struct recording *rec, struct json *j, sqlite3_stmt *s)
{
	uint32_t reason = db_u32(s, 2, GCHINT_REASON_NR);

	(void)rec;
	json_int(j, NULL,
		 db_text(s, 1, NULL) ?
			 FIREFOX_MARK :
			 FIREFOX_REASONS +
				 (int)(reason < GCHINT_REASON_NR ? reason : GCHINT_REASON_NR));
}

static void instant_put_time(const struct recording *rec, struct json *j, sqlite3_stmt *s)
{
	json_fixed(j, NULL, firefox_ms(rec, (uint64_t)db_int(s, 0, 0)), 6);
}

static void instant_put_no_end(const struct recording *rec, struct json *j, sqlite3_stmt *s)
{
	(void)rec;
	(void)s;
	json_null(j, NULL);
}

static void instant_put_phase(const struct recording *rec, struct json *j, sqlite3_stmt *s)
{
	(void)rec;
	(void)s;
	json_int(j, NULL, MARKER_INSTANT);
}

static void instant_put_category(const struct recording *rec, struct json *j, sqlite3_stmt *s)
{
	(void)rec;
	json_int(j, NULL, db_text(s, 1, NULL) ? FIREFOX_OTHER : FIREFOX_GOVERNOR);
}

static void instant_put_data(const struct recording *rec, struct json *j, sqlite3_stmt *s)
{
	const char *mark = db_text(s, 1, NULL);

	(void)rec;
	json_object(j, NULL);
	json_text(j, "type", mark ? "mark" : "decision");
	if (mark) {
		json_text(j, "text", mark);
	} else {
		db_json(j, "policy", s, 3);
		db_json(j, "from_mhz", s, 4);
		db_json(j, "mhz", s, 5);
		db_json(j, "latency", s, 6);
	}
	json_end(j);
}

void firefox_instants(struct firefox *x)
{
	static const struct {
		const char *name;
		void (*of)(const struct recording *rec, struct json *j, sqlite3_stmt *s);
	} columns[] = {
		{ "name", instant_put_name },	      { "startTime", instant_put_time },
		{ "endTime", instant_put_no_end },    { "phase", instant_put_phase },
		{ "category", instant_put_category }, { "data", instant_put_data },
	};
	const struct recording *rec = x->rec;
	struct json *j = &x->j;
	size_t nr = 0;

	thread_write_begin(j, "governor and annotations", rec->host[0] ? rec->host : "the machine",
			   0, 0);
	firefox_no_samples(x);
	json_object(j, "markers");
	for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
		sqlite3_stmt *s = db_query(
			rec->db,
			"SELECT t, text, NULL, NULL, NULL, NULL, NULL FROM annotations UNION ALL "
			"SELECT t, 'cpu' || cpu || CASE online WHEN 1 THEN ' online' ELSE ' "
			"offline' "
			"END, NULL, NULL, NULL, NULL, NULL FROM hotplug UNION ALL SELECT t, NULL, "
			"reason, policy, khz_from / 1000.0, khz / 1000.0, latency_ns FROM "
			"decisions "
			"ORDER BY 1");

		nr = 0;
		json_list(j, columns[c].name);
		for (; db_next(s); nr++)
			columns[c].of(rec, j, s);
		json_end(j);
		sqlite3_finalize(s);
	}
	thread_write_end(j, nr);
}
