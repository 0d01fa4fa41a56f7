// SPDX-License-Identifier: GPL-2.0-or-later
#include "writer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "../common/clock.h"
#include "store.h"

#define BATCH	 16384 /* records of one transaction at most */
#define RETRY_NS (2 * NSEC_PER_SEC)
/*
 * Interval between commits. With the delays of the sources and the commit itself, a crash
 * loses less than a second.
 */
#define COMMIT_NS (500 * NSEC_PER_MSEC)

/* Definitions kept for the next file of a rotation. */
#define KEPT_MAX 8192

struct writer {
	char path[256];
	bool durable;
	struct writer_hooks hooks;
	struct queue *queue;
	struct store *store;
	pthread_t thread;
	/* Adds indexes to the file that was rotated last, while the next one is written. */
	pthread_t indexer;
	bool indexing;
	char indexed[264];

	struct definition **kept;
	size_t nr_kept;

	bool failing; /* the last batch was not committed */
	bool owed; /* the kept definitions are not in the file yet */
	bool recorded; /* the file has more than definitions, which the next one would have, too */
	bool at_limit; /* size limit reached, and no rotation allowed */
	bool blocked; /* no store, and the old file may not be rotated away */
	bool logless; /* reported that the file system has no write-ahead log */
	uint64_t failing_since, retry_at;

	/* Shared with the main loop, each a single word. */
	_Atomic uint64_t max_size, records, bytes, rotations, beat;
	_Atomic uint32_t keep;
	_Atomic bool stopped, stop;
};

static void definition_keep(struct writer *w, struct definition *d)
{
	if (!definition_is_kept(d)) {
		definition_free(d);
		return;
	}
	/* Search from the end: most redefinitions follow soon after the definition. */
	for (size_t i = w->nr_kept; i-- > 0;)
		if (definition_replaces(w->kept[i], d)) {
			definition_free(w->kept[i]);
			w->kept[i] = d;
			return;
		}
	if (w->nr_kept == KEPT_MAX) {
		/* Only processes reach this number: drop what is known of the oldest one. */
		for (size_t i = 0; i < w->nr_kept; i++)
			if (w->kept[i]->kind == DEFINE_PROCESS ||
			    w->kept[i]->kind == DEFINE_RUNTIME ||
			    (w->kept[i]->kind == DEFINE_ACTUATOR &&
			     w->kept[i]->number[1] != UNKNOWN_S64)) {
				definition_free(w->kept[i]);
				memmove(&w->kept[i], &w->kept[i + 1],
					(w->nr_kept - i - 1) * sizeof(*w->kept));
				w->nr_kept--;
				break;
			}
	}
	if (w->nr_kept < KEPT_MAX)
		w->kept[w->nr_kept++] = d;
	else
		definition_free(d);
}

/* In one transaction; on failure nothing of it is in the file. */
static int batch_write(struct writer *w, size_t n)
{
	int ret = store_begin(w->store);

	for (size_t i = 0; i < n && !ret; i++) {
		const struct record *r = queue_peek(w->queue, i);

		ret = r->type == RECORD_DEFINE ? store_define(w->store, r->define) :
						 store_record(w->store, r);
	}
	if (!ret)
		ret = store_commit(w->store);
	if (ret)
		store_rollback(w->store);
	return ret;
}

static void batch_consume(struct writer *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct record *r = queue_peek(w->queue, i);

		if (r->type == RECORD_DEFINE)
			definition_keep(w, r->define);
		else
			w->recorded = true;
	}
	queue_consume(w->queue, n);
	w->records += n;
}

static void writer_note(struct writer *w, int priority, const char *text)
{
	const char *strings[] = { "record", text };
	const int64_t number = priority;
	struct definition *d = definition_new(DEFINE_NOTE, clock_now(), &number, 1, strings, 2);

	if (d && !store_begin(w->store)) {
		store_define(w->store, d);
		if (store_commit(w->store))
			store_rollback(w->store);
	}
	definition_free(d);
	w->hooks.report(priority, "record", "%s", text);
}

/* Opens a new file. Sets @w->store; NULL with @error filled on failure. */
static void writer_open(struct writer *w, char *error, size_t size)
{
	char text[300];

	w->recorded = false;
	w->store = store_open(w->path, w->durable, error, size);
	if (!w->store || w->logless || !store_no_log(w->store))
		return;
	w->logless = true;
	snprintf(text, sizeof(text),
		 "no write-ahead log on this file system (%s): a rollback journal is used, and a "
		 "long query while it records delays the recording; a local disk has no such limit",
		 store_no_log(w->store));
	writer_note(w, LOG_WARNING, text);
}

static void writer_fail(struct writer *w, int error)
{
	if (!w->failing) {
		w->failing = true;
		w->failing_since = clock_now();
		w->stopped = true;
		if (error == -ENOSPC)
			w->hooks.report(
				LOG_ERR, "record",
				"%s: no room on the disk (%s): recording stopped, what is there "
				"is kept; free some space and it goes on by itself",
				w->path, store_error(w->store));
		else
			w->hooks.report(LOG_ERR, "record",
					"%s: %s: recording stopped, trying again", w->path,
					store_error(w->store));
	}
	w->retry_at = clock_now() + RETRY_NS;
}

static void writer_recover(struct writer *w)
{
	char text[128];

	w->failing = false;
	w->stopped = false;
	snprintf(text, sizeof(text), "recording goes on after %.1f s",
		 (double)(clock_now() - w->failing_since) / NSEC_PER_SEC);
	writer_note(w, LOG_NOTICE, text);
}

/*
 * Writes the definitions that the next file needs to be readable alone. @owed stays set
 * until they are committed.
 */
static int writer_write_kept(struct writer *w)
{
	char number[32];
	const char *strings[] = { "file_start_ns", number };
	struct definition *start;
	int ret = store_begin(w->store);

	snprintf(number, sizeof(number), "%llu", (unsigned long long)clock_now());
	start = definition_new(DEFINE_META, clock_now(), NULL, 0, strings, 2);
	if (!ret && start)
		ret = store_define(w->store, start);
	definition_free(start);
	for (size_t i = 0; i < w->nr_kept && !ret; i++)
		ret = store_define(w->store, w->kept[i]);
	if (!ret)
		ret = store_commit(w->store);
	if (ret)
		store_rollback(w->store);
	w->owed = ret != 0;
	return ret;
}

static void *indexer_run(void *data)
{
	const struct writer *w = data;

	store_index(w->indexed);
	return NULL;
}

static void indexer_start(struct writer *w)
{
	snprintf(w->indexed, sizeof(w->indexed), "%s.1", w->path);
	w->indexing = !pthread_create(&w->indexer, NULL, indexer_run, w);
}

static void indexer_join(struct writer *w)
{
	if (w->indexing)
		pthread_join(w->indexer, NULL);
	w->indexing = false;
}

static void writer_rotate(struct writer *w)
{
	char error[256];
	uint32_t keep = w->keep;
	int ret;

	if (!keep) {
		if (!w->at_limit)
			writer_note(
				w, LOG_ERR,
				"size limit reached: recording stopped; raise max_size or let keep "
				"be more than 0");
		w->at_limit = true;
		w->stopped = true;
		return;
	}
	/* It has the file open that is to be renamed. */
	indexer_join(w);
	store_close(w->store);
	w->store = NULL;
	ret = store_rotate(w->path, keep);
	if (!ret)
		indexer_start(w);
	if (ret) {
		store_why_not(ret, w->path, error, sizeof(error));
		w->hooks.report(LOG_ERR, "record", "%s", error);
	} else {
		writer_open(w, error, sizeof(error));
	}
	if (!w->store) {
		if (!ret)
			w->hooks.report(LOG_ERR, "record", "%s", error);
		w->stopped = true;
		return;
	}
	ret = writer_write_kept(w);
	if (ret)
		writer_fail(w, ret);
	w->rotations++;
	w->hooks.report(LOG_INFO, "record", "%s: rotated", w->path);
}

/* A failed rotation left no store: try to open one again. */
static void writer_reopen(struct writer *w)
{
	char error[256];
	int ret;

	if (clock_now() < w->retry_at)
		return;
	w->retry_at = clock_now() + RETRY_NS;
	if (!w->keep && !access(w->path, F_OK)) {
		if (!w->blocked)
			w->hooks.report(
				LOG_ERR, "record",
				"%s: exists, and keep is 0: recording stopped; move the file "
				"away, or let keep be more than 0",
				w->path);
		w->blocked = true;
		return;
	}
	w->blocked = false;
	indexer_join(w);
	if (store_rotate(w->path, w->keep))
		return;
	if (w->keep)
		indexer_start(w);
	writer_open(w, error, sizeof(error));
	if (!w->store)
		return;
	w->stopped = false;
	ret = writer_write_kept(w);
	if (ret)
		writer_fail(w, ret);
	else
		writer_note(w, LOG_NOTICE, "recording goes on in a new file");
}

static void writer_drain(struct writer *w)
{
	size_t n;

	while ((n = queue_fill(w->queue)) > 0) {
		int ret;

		if (w->at_limit)
			return;
		if (n > BATCH)
			n = BATCH;
		ret = w->owed ? writer_write_kept(w) : 0;
		if (!ret)
			ret = batch_write(w, n);
		if (ret) {
			writer_fail(w, ret);
			return;
		}
		batch_consume(w, n);
		if (w->failing)
			writer_recover(w);
		w->bytes = store_size(w->store);
		w->beat = clock_now();
		if (w->max_size && w->bytes >= w->max_size && w->recorded) {
			writer_rotate(w);
			if (!w->store)
				return;
		}
	}
}

static void *writer_run(void *data)
{
	struct writer *w = data;
	uint64_t next = clock_now() + COMMIT_NS;

	w->hooks.thread_begin();
	for (;;) {
		bool stop = w->stop;

		if (w->at_limit && (!w->max_size || w->bytes < w->max_size || w->keep)) {
			w->at_limit = false;
			w->stopped = false;
		}
		if (!w->store)
			writer_reopen(w);
		if (w->store && (!w->failing || clock_now() >= w->retry_at || stop))
			writer_drain(w);
		w->beat = clock_now();
		if (stop)
			break;
		queue_wait(w->queue, next);
		next = clock_now() + COMMIT_NS;
	}
	store_finish(w->store);
	indexer_join(w);
	return NULL;
}

struct writer *writer_start(const struct writer_limits *limits, struct queue *queue, char *error,
			    size_t size)
{
	struct writer *w = calloc(1, sizeof(*w));
	sigset_t all, old;
	int ret;

	if (!w || !(w->kept = calloc(KEPT_MAX, sizeof(*w->kept)))) {
		snprintf(error, size, "no memory");
		goto free_writer;
	}
	snprintf(w->path, sizeof(w->path), "%s", limits->path);
	w->queue = queue;
	w->durable = limits->durable;
	w->hooks = limits->hooks;
	w->max_size = limits->max_size;
	w->keep = limits->keep;
	w->beat = clock_now();
	ret = store_rotate(w->path, limits->keep);
	if (ret) {
		store_why_not(ret, w->path, error, size);
		goto free_kept;
	}
	writer_open(w, error, size);
	if (!w->store)
		goto free_kept;

	/* The main loop handles all signals; a write over a size limit fails with an error code. */
	signal(SIGXFSZ, SIG_IGN);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&w->thread, NULL, writer_run, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret) {
		snprintf(error, size, "no thread: %s", strerror(ret));
		goto close_store;
	}
	return w;

close_store:
	store_close(w->store);
free_kept:
	free(w->kept);
free_writer:
	free(w);
	return NULL;
}

void writer_stop(struct writer *w)
{
	if (!w)
		return;
	w->stop = true;
	queue_kick(w->queue);
	pthread_join(w->thread, NULL);
	for (size_t i = 0; i < w->nr_kept; i++)
		definition_free(w->kept[i]);
	free(w->kept);
	free(w);
}

void writer_limit(struct writer *w, uint64_t max_size, uint32_t keep)
{
	w->max_size = max_size;
	w->keep = keep;
}

bool writer_alive(const struct writer *w)
{
	/*
	 * Read the beat first: it may advance while the clock is read, but must not be later than
	 * it.
	 */
	const uint64_t beat = w->beat;

	return clock_now() - beat < 30 * NSEC_PER_SEC;
}

void writer_stats(const struct writer *w, struct writer_stats *stats)
{
	*stats = (struct writer_stats){
		.records = w->records,
		.bytes = w->bytes,
		.rotations = w->rotations,
		.stopped = w->stopped,
	};
}
