// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: what a full disk, a broken one and a reload leave behind, of parts of
 * gchintd that are linked as they are but for the calls below, which the linker
 * hands to us first (--wrap).
 */
#include "unit.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../daemon/common/clock.h"
#include "../../daemon/gchintd/metrics.h"
#include "../../daemon/gchintd/queue.h"
#include "../../daemon/gchintd/sources/iio_buffer.h"
#include "../../daemon/gchintd/sources/source.h"
#include "../../daemon/gchintd/store.h"
#include "../../daemon/gchintd/writer.h"

static _Atomic int full; /* definitions still to be refused */
static int broken; /* errno of the next commits; 0 they are let through */
static bool synced; /* a database was told to sync each transaction */
static char nothing; /* stands for the buffers of a device that is not here */

int __real_store_define(struct store *s, const struct definition *d);
int __wrap_store_define(struct store *s, const struct definition *d);
int __real_sqlite3_exec(sqlite3 *db, const char *sql, int (*fn)(void *, int, char **, char **),
			void *data, char **error);
int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, int (*fn)(void *, int, char **, char **),
			void *data, char **error);
int __wrap_sqlite3_extended_errcode(sqlite3 *db);
int __wrap_sqlite3_system_errno(sqlite3 *db);
struct iio_buffers *__wrap_iio_buffers_start(struct host *host);
void __wrap_iio_buffers_stop(struct iio_buffers *b);

int __wrap_store_define(struct store *s, const struct definition *d)
{
	if (full > 0) {
		full--;
		return -ENOSPC;
	}
	return __real_store_define(s, d);
}

int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, int (*fn)(void *, int, char **, char **),
			void *data, char **error)
{
	if (strstr(sql, "PRAGMA synchronous=FULL"))
		synced = true;
	if (broken && !strcmp(sql, "COMMIT"))
		return SQLITE_IOERR;
	return __real_sqlite3_exec(db, sql, fn, data, error);
}

int __wrap_sqlite3_extended_errcode(sqlite3 *db)
{
	(void)db;
	return SQLITE_IOERR_WRITE;
}

int __wrap_sqlite3_system_errno(sqlite3 *db)
{
	(void)db;
	return broken;
}

struct iio_buffers *__wrap_iio_buffers_start(struct host *host)
{
	(void)host;
	return (struct iio_buffers *)(void *)&nothing;
}

void __wrap_iio_buffers_stop(struct iio_buffers *b)
{
	(void)b;
}

static bool waits_for(const struct writer *w, uint64_t records)
{
	const uint64_t end = clock_now() + 20 * NSEC_PER_SEC;
	struct writer_stats stats;

	do {
		usleep(10000);
		writer_stats(w, &stats);
	} while (stats.records < records && clock_now() < end);
	return stats.records >= records;
}

static bool holds(const char *path, const char *sql)
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

static void remove_all(const char *dir)
{
	char command[300];

	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command))
		printf("# %s is left\n", dir);
}

/* The disk is full at the very moment of a rotation, and has room again. */
static void rotation(const char *path)
{
	const struct record sample = { .t = 7, .type = RECORD_SAMPLE, .sample = { 1, 1, 1 } };
	const struct writer_limits limits = { path, 0, 5, false };
	const char *strings[] = { "board.model", "one" };
	struct record define = { .type = RECORD_DEFINE };
	struct queue *q = queue_new(4096);
	struct writer *w;
	char error[300];
	bool came;

	w = writer_start(&limits, q, error, sizeof(error));
	if (!q || !w) {
		CHECK(false, "a writer starts");
		return;
	}
	define.define = definition_new(DEFINE_META, 7, NULL, 0, strings, 2);
	queue_push(q, &define);
	queue_kick(q);
	came = waits_for(w, 1);
	full = 1;
	writer_limit(w, 1, 5);
	queue_push(q, &sample);
	queue_kick(q);
	came = came && waits_for(w, 2);
	while (full)
		usleep(1000);
	writer_limit(w, 0, 5);
	queue_push(q, &sample);
	came = came && waits_for(w, 3);
	writer_stop(w);
	queue_free(q);
	CHECK(came && holds(path, "SELECT * FROM samples") &&
		      holds(path, "SELECT * FROM meta WHERE key = 'board.model'"),
	      "a file that began on a full disk has its definitions once there is room");
}

static void disk(const char *path)
{
	char error[300] = "";
	struct store *s = store_open(path, false, error, sizeof(error));
	int limit = 0, dead = 0;

	if (s && !store_begin(s)) {
		broken = EDQUOT;
		limit = store_commit(s);
		broken = EIO;
		dead = store_commit(s);
	}
	CHECK(s && limit == -ENOSPC && strstr(store_error(s), "error") && dead == -EIO,
	      "a user's limit is a full disk, a broken disk is not");
	broken = 0;
	store_close(s);
}

static void durable(const char *path)
{
	char error[300];
	struct store *s;
	bool yes;

	synced = false;
	s = store_open(path, true, error, sizeof(error));
	yes = synced;
	store_close(s);
	unlink(path);
	synced = false;
	s = store_open(path, false, error, sizeof(error));
	CHECK(yes && s && !synced, "a durable recording syncs each commit, another does not");
	store_close(s);
}

static void reload(const char *dir)
{
	struct host host = { .root = { dir, dir, dir, dir, dir }, .loop = loop_new() };
	void *state = NULL;
	bool had;

	config_defaults(&host.config);
	if (!host.loop || source_table[SOURCE_iio]->start(&host, &state)) {
		CHECK(false, "the iio source starts");
		return;
	}
	had = host.iio_buffers != NULL;
	source_table[SOURCE_iio]->stop(state);
	CHECK(had && !host.iio_buffers, "no buffers of a stopped source are left to be asked");
	loop_free(host.loop);
}

static void unknown_memory(void)
{
	const struct record r = { .t = 7,
				  .type = RECORD_COST,
				  .cost = { 1, 2, 3, 4, UNKNOWN_U32 } };
	struct metrics *m = metrics_new();
	char *text = NULL;
	size_t size;

	if (m) {
		metrics_observe(m, &r);
		text = metrics_text(m, NULL, NULL, METRICS_FOR_EVERYONE, METRICS_OPENMETRICS,
				    &size);
	}
	CHECK(text && strstr(text, "daemon_wakeups_total 2") && !strstr(text, "resident"),
	      "memory that is not known has no line in the metrics");
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
		text = metrics_text(m, NULL, NULL, METRICS_FOR_EVERYONE, METRICS_OPENMETRICS,
				    &size);
	}
	CHECK(text && strstr(text, "hint_latency_seconds_sum 0.030000000\n") &&
		      strstr(text, "hint_latency_seconds_count 1\n"),
	      "a decision that no hint brought about has no latency in the metrics");
	free(text);
	metrics_free(m);
}

void unit_writer(void)
{
	char dir[] = "/tmp/gchint-unit.XXXXXX", path[64];

	if (!mkdtemp(dir)) {
		CHECK(false, "a folder of its own");
		return;
	}
	snprintf(path, sizeof(path), "%s/r.db", dir);
	rotation(path);
	snprintf(path, sizeof(path), "%s/s.db", dir);
	disk(path);
	snprintf(path, sizeof(path), "%s/d.db", dir);
	durable(path);
	reload(dir);
	unknown_memory();
	unhinted_decision();
	remove_all(dir);
}
