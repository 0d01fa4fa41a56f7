// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: what a full disk, a broken one and a reload leave behind, with parts of gchintd that
 * are linked unchanged except for faults.h.
 */
#include "unit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../daemon/common/clock.h"
#include "../../daemon/recording/queue.h"
#include "../../daemon/recording/store.h"
#include "../../daemon/recording/writer.h"
#include "../../daemon/source/log.h"
#include "../../daemon/source/metrics.h"
#include "../../daemon/source/privilege.h"
#include "../../daemon/source/sensor/iio_buffer.h"
#include "../../daemon/source/source.h"
#include "faults.h"

static char nothing; /* represents the buffers of an absent device */

struct iio_buffers *__wrap_iio_buffers_start(struct source_context *context);
void __wrap_iio_buffers_stop(struct iio_buffers *b);

struct iio_buffers *__wrap_iio_buffers_start(struct source_context *context)
{
	(void)context;
	return (struct iio_buffers *)(void *)&nothing;
}

void __wrap_iio_buffers_stop(struct iio_buffers *b)
{
	(void)b;
}

/* How long the writer sleeps: half a second since it last woke, however late it is. */
static _Atomic uint64_t woken;
static _Atomic unsigned int sleeps, bad_sleeps;

void __real_queue_wait(struct queue *q, uint64_t until_ns);
void __wrap_queue_wait(struct queue *q, uint64_t until_ns);

void __wrap_queue_wait(struct queue *q, uint64_t until_ns)
{
	const uint64_t now = clock_now();

	if (woken &&
	    (until_ns < woken + 500 * NSEC_PER_MSEC || until_ns > now + 500 * NSEC_PER_MSEC))
		bad_sleeps++;
	sleeps++;
	__real_queue_wait(q, until_ns);
	woken = clock_now();
}

static bool waits_for(const struct writer *w, uint64_t records)
{
	const uint64_t end = clock_now() + 250 * NSEC_PER_SEC;
	struct writer_stats stats;

	do {
		usleep(10000);
		writer_stats(w, &stats);
	} while (stats.records < records && clock_now() < end);
	return stats.records >= records;
}

static bool file_holds(const char *path, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	sqlite3 *db = NULL;
	bool found = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
		     sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
		     sqlite3_step(stmt) == SQLITE_ROW;

	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return found;
}

/* A writer with its own file, and the result of its input. */
struct recorder {
	struct queue *queue;
	struct writer *writer;
};

static bool recorder_begin(struct recorder *r, const char *path, uint64_t max_size, uint32_t keep,
			   size_t room)
{
	const struct writer_limits limits = {
		path, max_size, keep, false, { log_line, privilege_drop }
	};
	char error[300] = "no memory";

	faults.said[0] = '\0';
	r->queue = queue_new(room);
	r->writer = r->queue ? writer_start(&limits, r->queue, error, sizeof(error)) : NULL;
	if (!r->writer) {
		printf("# %s\n", error);
		CHECK(false, "a writer starts");
		queue_free(r->queue);
	}
	return r->writer;
}

static void recorder_end(struct recorder *r)
{
	writer_stop(r->writer);
	queue_free(r->queue);
}

static void sample_push(struct recorder *r, int64_t value)
{
	const struct record sample = { .t = 7,
				       .type = RECORD_SAMPLE,
				       .sample = { .value = value, .rail = 1, .error_ns = 1 } };

	queue_push(r->queue, &sample);
}

static void definition_push(struct recorder *r, enum definition_kind kind, int64_t a, int64_t b,
			    const char *string)
{
	const int64_t numbers[] = { a, b };
	const char *strings[] = { string, "one" };
	const struct record define = { .type = RECORD_DEFINE,
				       .define = definition_new(kind, 7, numbers, 2, strings, 2) };

	queue_push(r->queue, &define);
}

static struct writer_stats stats_of(const struct recorder *r)
{
	struct writer_stats stats;

	writer_stats(r->writer, &stats);
	return stats;
}

/* The disk is full exactly at a rotation, and has space again. */
static void rotation_check(const char *path)
{
	struct recorder r;
	bool came;

	if (!recorder_begin(&r, path, 0, 5, 4096))
		return;
	definition_push(&r, DEFINE_META, 0, 0, "board.model");
	queue_kick(r.queue);
	came = waits_for(r.writer, 1);
	faults.defines = 1;
	writer_limit(r.writer, 1, 5);
	sample_push(&r, 1);
	queue_kick(r.queue);
	came = came && waits_for(r.writer, 2);
	while (faults.defines)
		usleep(1000);
	writer_limit(r.writer, 0, 5);
	sample_push(&r, 1);
	came = came && waits_for(r.writer, 3);
	recorder_end(&r);
	CHECK(came && file_holds(path, "SELECT * FROM samples") &&
		      file_holds(path, "SELECT * FROM meta WHERE key = 'board.model'"),
	      "a file begun on a full disk gets its definitions later");
	CHECK(strstr(faults.said, "3 record: ") && strstr(faults.said, ": no room on the disk ("),
	      "the full disk is reported");
}

/* Which of a file's definitions the next one has, and which of them were replaced. */
static void kept_check(const char *path)
{
	char old[300];
	struct recorder r;
	bool came;

	if (!recorder_begin(&r, path, 0, 5, 16384))
		return;
	definition_push(&r, DEFINE_ANNOTATION, 1, 1, "an annotation");
	definition_push(&r, DEFINE_OPP, 0, 300000, NULL);
	definition_push(&r, DEFINE_OPP, 0, 600000, NULL);
	definition_push(&r, DEFINE_OPP, 1, 300000, NULL);
	definition_push(&r, DEFINE_META, 0, 0, "board.model");
	definition_push(&r, DEFINE_META, 0, 0, "label");
	definition_push(&r, DEFINE_META, 0, 0, "label");
	definition_push(&r, DEFINE_RAIL, 4, 1, "a rail");
	definition_push(&r, DEFINE_RAIL, 4, 2, "another");
	definition_push(&r, DEFINE_RAIL, 5, 2, "a third");
	for (int64_t i = 0; i < 8192; i++)
		definition_push(&r, DEFINE_PROCESS, 1000 + i, 7, "java");
	/* The number's second thread replaces its first, not another one. */
	definition_push(&r, DEFINE_PROCESS, 9000, 7, "ruby");
	queue_kick(r.queue);
	came = waits_for(r.writer, 8203);
	writer_limit(r.writer, 1, 5);
	sample_push(&r, 1);
	queue_kick(r.queue);
	came = came && waits_for(r.writer, 8204);
	while (!stats_of(&r).rotations)
		usleep(1000);
	writer_limit(r.writer, 0, 5);
	recorder_end(&r);
	snprintf(old, sizeof(old), "%s.1", path);
	CHECK(came && file_holds(old, "SELECT 1 FROM annotations") &&
		      file_holds(old, "SELECT 1 WHERE (SELECT count(*) FROM processes) = 8192") &&
		      file_holds(old, "SELECT 1 WHERE (SELECT count(*) FROM samples) = 1"),
	      "a rotated file has the records that belong to it");
	CHECK(!file_holds(path, "SELECT 1 FROM annotations") &&
		      !file_holds(path, "SELECT 1 FROM samples") &&
		      file_holds(path, "SELECT 1 WHERE (SELECT count(*) FROM opps) = 3") &&
		      file_holds(path, "SELECT 1 WHERE (SELECT count(*) FROM rails) = 2") &&
		      file_holds(path, "SELECT 1 FROM rails WHERE id = 4 AND name = 'another'") &&
		      file_holds(path, "SELECT 1 WHERE (SELECT count(*) FROM meta WHERE key IN "
				       "('board.model', 'label')) = 2") &&
		      file_holds(path, "SELECT 1 FROM meta WHERE key = 'file_start_ns' AND "
				       "value > 0"),
	      "the next file has its definitions once, and its own begin");
	CHECK(file_holds(path, "SELECT 1 WHERE (SELECT count(*) FROM processes) = 8185") &&
		      file_holds(path, "SELECT 1 WHERE (SELECT min(tgid) FROM processes) = 1007") &&
		      file_holds(path, "SELECT 1 WHERE (SELECT max(tgid) FROM processes) = 9191") &&
		      file_holds(path,
				 "SELECT 1 FROM processes WHERE tgid = 9000 AND comm = 'ruby'"),
	      "the oldest processes beyond the limit are left out");
	CHECK(strstr(faults.said, ": rotated\n"), "the rotation is reported");
	CHECK(file_holds(old, "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = "
			      "'hotspots_by_time'") &&
		      file_holds(old, "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = "
				      "'samples_by_rail'"),
	      "a file that was rotated has the indexes");
}

/* Definitions alone pass the limit: the next file would have them, too. */
static void definitions_check(const char *path)
{
	struct recorder r;
	bool came, stayed;
	char old[300];

	if (!recorder_begin(&r, path, 1, 5, 4096))
		return;
	definition_push(&r, DEFINE_RAIL, 4, 1, "a rail");
	queue_kick(r.queue);
	came = waits_for(r.writer, 1);
	definition_push(&r, DEFINE_RAIL, 5, 1, "another");
	queue_kick(r.queue);
	came = came && waits_for(r.writer, 2);
	stayed = !stats_of(&r).rotations;
	sample_push(&r, 1);
	queue_kick(r.queue);
	came = came && waits_for(r.writer, 3);
	while (!stats_of(&r).rotations)
		usleep(1000);
	recorder_end(&r);
	snprintf(old, sizeof(old), "%s.1", path);
	CHECK(came && stayed &&
		      file_holds(old, "SELECT 1 WHERE (SELECT count(*) FROM rails) = 2") &&
		      file_holds(old, "SELECT 1 FROM samples"),
	      "a file with nothing but definitions is not rotated");
}

/* More at once than one transaction holds. */
static void many_check(const char *path)
{
	struct recorder r;
	struct writer_stats stats;

	woken = 0;
	sleeps = bad_sleeps = 0;
	if (!recorder_begin(&r, path, 0, 0, 65536))
		return;
	for (int i = 0; i < 5; i++) {
		queue_kick(r.queue);
		usleep(5000);
	}
	for (int64_t i = 0; i < 40000; i++)
		sample_push(&r, i);
	waits_for(r.writer, 40000);
	stats = stats_of(&r);
	recorder_end(&r);
	CHECK(sleeps > 3 && !bad_sleeps, "a writer sleeps half a second unless it is woken");
	CHECK(stats.records == 40000 && stats.bytes > 100000 && !stats.rotations &&
		      !stats.stopped &&
		      file_holds(path,
				 "SELECT 1 WHERE (SELECT count(DISTINCT value) FROM samples) = "
				 "40000"),
	      "a burst is written completely, in several transactions");
}

/* A disk that fails a commit: nothing is lost, and nothing written twice. */
static void commit_refuse(const char *path)
{
	struct writer_stats at;
	struct recorder r;
	bool again;

	if (!recorder_begin(&r, path, 0, 0, 4096))
		return;
	faults.commits = SQLITE_IOERR;
	faults.detail = SQLITE_IOERR_WRITE;
	faults.system = EIO;
	sample_push(&r, 1);
	queue_kick(r.queue);
	again = faults_said("3 record: ") && faults_said(": recording stopped, trying again\n");
	at = stats_of(&r);
	CHECK(again && at.stopped && !at.records, "a failed commit stops the recording");
	/* It is not tried again earlier. */
	faults.commits = 0;
	queue_kick(r.queue);
	usleep(30000);
	CHECK(stats_of(&r).stopped && !stats_of(&r).records, "it stays stopped for two seconds");
	faults.ahead_ns += 3 * NSEC_PER_SEC;
	queue_kick(r.queue);
	again = faults_said("5 record: recording goes on after ") && waits_for(r.writer, 1);
	at = stats_of(&r);
	CHECK(again && !at.stopped && at.records == 1, "it then continues");
	recorder_end(&r);
	CHECK(file_holds(path, "SELECT 1 WHERE (SELECT count(*) FROM samples) = 1") &&
		      file_holds(path,
				 "SELECT 1 FROM notes WHERE priority = 5 AND source = 'record' "
				 "AND text LIKE 'recording goes on after _._ s' AND "
				 "CAST(substr(text, 25) AS REAL) BETWEEN 3 AND 20"),
	      "each row is written once, with a note of the interruption");
}

/* Neither the first nor the second attempt moves anything. */
static void unmoved_check(const char *path)
{
	struct recorder r;
	bool stood, came;
	char old[300];

	if (!recorder_begin(&r, path, 0, 3, 4096))
		return;
	faults.renames = 2;
	writer_limit(r.writer, 1, 3);
	sample_push(&r, 1);
	queue_kick(r.queue);
	came = waits_for(r.writer, 1) && faults_said(": cannot rotate: Input/output error\n");
	writer_limit(r.writer, 0, 3);
	sample_push(&r, 2);
	while (faults.renames) {
		queue_kick(r.queue);
		usleep(1000);
	}
	queue_kick(r.queue);
	usleep(30000);
	stood = stats_of(&r).stopped && stats_of(&r).records == 1;
	CHECK(came && stood, "a failed rotation stops the recording");
	faults.ahead_ns += 3 * NSEC_PER_SEC;
	queue_kick(r.queue);
	came = faults_said("5 record: recording goes on in a new file\n") && waits_for(r.writer, 2);
	CHECK(came && !stats_of(&r).stopped, "it continues once the rotation succeeds");
	recorder_end(&r);
	snprintf(old, sizeof(old), "%s.1", path);
	CHECK(file_holds(old, "SELECT 1 FROM samples WHERE value = 1") &&
		      !file_holds(old, "SELECT 1 FROM samples WHERE value = 2") &&
		      file_holds(path, "SELECT 1 FROM samples WHERE value = 2") &&
		      file_holds(path, "SELECT 1 FROM meta WHERE key = 'file_start_ns'"),
	      "both files have their own records");
}

/* After a rotation that failed the old file may no longer be moved: keep is 0 now. */
static void unmovable_check(const char *path)
{
	struct recorder r;
	const char *first;
	bool came;

	if (!recorder_begin(&r, path, 0, 3, 4096))
		return;
	faults.renames = 2;
	writer_limit(r.writer, 1, 3);
	sample_push(&r, 1);
	queue_kick(r.queue);
	came = waits_for(r.writer, 1) && faults_said(": cannot rotate: Input/output error\n");
	while (faults.renames) {
		queue_kick(r.queue);
		usleep(1000);
	}
	writer_limit(r.writer, 0, 0);
	for (int i = 0; i < 3; i++) {
		faults.ahead_ns += 3 * NSEC_PER_SEC;
		queue_kick(r.queue);
		usleep(30000);
	}
	came = came && faults_said(": exists, and keep is 0: recording stopped; ");
	first = strstr(faults.said, ": exists, and keep is 0");
	CHECK(came && first && !strstr(first + 1, ": exists, and keep is 0") &&
		      stats_of(&r).stopped,
	      "an old file that may not be rotated away is reported once");
	writer_limit(r.writer, 0, 1);
	faults.ahead_ns += 3 * NSEC_PER_SEC;
	sample_push(&r, 2);
	queue_kick(r.queue);
	CHECK(waits_for(r.writer, 2) && !stats_of(&r).stopped, "and recording goes on once it may");
	recorder_end(&r);
	CHECK(file_holds(path, "SELECT 1 FROM samples WHERE value = 2"), "in a file of its own");
}

static void limit_check(const char *path)
{
	struct writer_stats at;
	struct recorder r;
	bool came;

	if (!recorder_begin(&r, path, 1, 0, 4096))
		return;
	sample_push(&r, 1);
	queue_kick(r.queue);
	came = waits_for(r.writer, 1);
	sample_push(&r, 2);
	queue_kick(r.queue);
	came = came && faults_said("3 record: size limit reached: recording stopped;");
	usleep(30000);
	at = stats_of(&r);
	CHECK(came && at.stopped && at.records == 1, "a recording stops above its size limit");
	writer_limit(r.writer, at.bytes, 0);
	queue_kick(r.queue);
	usleep(30000);
	CHECK(stats_of(&r).stopped && stats_of(&r).records == 1,
	      "a recording stops at exactly its size limit");
	writer_limit(r.writer, at.bytes + (1 << 30), 0);
	queue_kick(r.queue);
	came = waits_for(r.writer, 2);
	CHECK(came && !stats_of(&r).stopped, "it continues when the limit is raised");
	recorder_end(&r);
	CHECK(file_holds(path, "SELECT 1 FROM notes WHERE text LIKE 'size limit%'"),
	      "the interruption is recorded");
}

/* A thread that hangs in a commit. */
static void hang_check(const char *path)
{
	struct recorder r;
	bool alive, late;

	if (!recorder_begin(&r, path, 0, 0, 4096))
		return;
	faults.held = false;
	faults.hold = true;
	sample_push(&r, 1);
	queue_kick(r.queue);
	while (!faults.held)
		usleep(1000);
	alive = writer_alive(r.writer);
	faults.ahead_ns += 25 * NSEC_PER_SEC;
	alive = alive && writer_alive(r.writer);
	faults.ahead_ns += 6 * NSEC_PER_SEC;
	late = !writer_alive(r.writer);
	faults.hold = false;
	queue_kick(r.queue);
	waits_for(r.writer, 1);
	CHECK(alive && late && writer_alive(r.writer),
	      "a writer without progress for 30 s counts as hung");
	recorder_end(&r);
}

static void reload_check(const char *dir)
{
	struct source_context context = { .root = { dir, dir, dir, dir, dir }, .loop = loop_new() };
	void *state = NULL;
	bool had;

	config_defaults(&context.config);
	if (!context.loop || source_table[SOURCE_iio]->start(&context, &state)) {
		CHECK(false, "the iio source starts");
		return;
	}
	had = context.iio_buffers != NULL;
	source_table[SOURCE_iio]->stop(state);
	CHECK(had && !context.iio_buffers, "a stopped source leaves no buffers");
	loop_free(context.loop);
}

static void unknown_memory(void)
{
	const struct record r = { .t = 7,
				  .type = RECORD_COST,
				  .cost = { .cpu_ns = 1,
					    .wakeups = 2,
					    .records = 3,
					    .bytes = 4,
					    .rss_kib = UNKNOWN_U32 } };
	struct metrics *m = metrics_new();
	char *text = NULL;
	size_t size;

	if (m) {
		metrics_observe(m, &r);
		text = metrics_text(m, NULL, NULL, METRICS_FOR_GROUP, METRICS_OPENMETRICS, &size);
	}
	CHECK(text && strstr(text, "daemon_wakeups_total 2") && !strstr(text, "resident"),
	      "unknown memory has no line in the metrics");
	free(text);
	metrics_free(m);
}

static void unhinted_decision(void)
{
	struct record r = { .t = 7, .type = RECORD_DECISION };
	struct metrics *m = metrics_new();
	char *text = NULL;
	size_t size;

	if (m) {
		r.decision.latency_ns = 4000000000;
		metrics_observe(m, &r);
		r.decision.has_latency = true;
		r.decision.latency_ns = 30000000;
		metrics_observe(m, &r);
		text = metrics_text(m, NULL, NULL, METRICS_FOR_GROUP, METRICS_OPENMETRICS, &size);
	}
	CHECK(text && strstr(text, "hint_latency_seconds_sum 0.030000000\n") &&
		      strstr(text, "hint_latency_seconds_count 1\n"),
	      "a decision without a hint has no latency in the metrics");
	free(text);
	metrics_free(m);
}

void unit_writer(void)
{
	static void (*const parts[])(
		const char *path) = { kept_check,    definitions_check, many_check,  commit_refuse,
				      unmoved_check, unmovable_check,	limit_check, hang_check };
	char dir[] = "/tmp/gchint-unit.XXXXXX", path[64];

	if (!mkdtemp(dir)) {
		CHECK(false, "a temporary directory");
		return;
	}
	snprintf(path, sizeof(path), "%s/r.db", dir);
	rotation_check(path);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(path, sizeof(path), "%s/%zu.db", dir, i);
		parts[i](path);
	}
	reload_check(dir);
	unknown_memory();
	unhinted_decision();
	unit_remove(dir);
}
