// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: a recording's file: reasons to refuse it and what is left then, the meaning of a
 * disk's errors, and the row of numbered files.
 */
#include "unit.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../daemon/common/clock.h"
#include "../../daemon/recording/lock.h"
#include "../../daemon/recording/rows.h"
#include "../../daemon/recording/schema.h"
#include "../../daemon/recording/store.h"
#include "faults.h"
#include "records.h"

static void file_write(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

/* The content of @path: the first line of a file, "folder", "none". */
static const char *content_of(const char *path)
{
	static char line[64];
	struct stat st;
	FILE *f;

	if (lstat(path, &st))
		return "none";
	if (S_ISDIR(st.st_mode))
		return "folder";
	line[0] = '\0';
	f = fopen(path, "r");
	if (f) {
		if (!fgets(line, sizeof(line), f))
			line[0] = '\0';
		fclose(f);
	}
	return line;
}

/* SQLite's result of a commit, the error beneath it, and our classification. */
static void errors_check(const char *path)
{
	static const struct {
		int code, detail, system, means;
	} all[] = {
		{ SQLITE_IOERR, SQLITE_IOERR_WRITE, EDQUOT, -ENOSPC },
		{ SQLITE_IOERR, SQLITE_IOERR_WRITE, EFBIG, -ENOSPC },
		{ SQLITE_IOERR_WRITE, SQLITE_IOERR_WRITE, 0, -ENOSPC },
		{ SQLITE_IOERR, SQLITE_IOERR_WRITE, EIO, -EIO },
		{ SQLITE_IOERR, SQLITE_IOERR_FSYNC, EDQUOT, -EIO },
		{ SQLITE_FULL, SQLITE_FULL, 0, -ENOSPC },
		{ SQLITE_CORRUPT, SQLITE_IOERR_WRITE, EDQUOT, -EIO },
		{ 0, SQLITE_IOERR_WRITE, EDQUOT, 0 },
	};
	char error[300] = "", got[128] = "", want[128] = "";
	struct store *s = store_open(path, false, error, sizeof(error));

	for (size_t i = 0; s && i < sizeof(all) / sizeof(all[0]); i++) {
		store_begin(s);
		faults.commits = all[i].code;
		faults.detail = all[i].detail;
		faults.system = all[i].system;
		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%d ", store_commit(s));
		snprintf(want + strlen(want), sizeof(want) - strlen(want), "%d ", all[i].means);
		faults.commits = 0;
		store_rollback(s);
	}
	text_is(got, want, "a quota counts as a full disk, an I/O error does not");
	CHECK(s && store_begin(s) == 0 && store_begin(s) == -EIO &&
		      strstr(store_error(s), "within a transaction"),
	      "SQLite's own message is reported");
	store_close(s);
}

static void durable_check(const char *path)
{
	char error[300];
	struct store *s;
	bool yes;

	faults.synced = false;
	s = store_open(path, true, error, sizeof(error));
	yes = faults.synced;
	store_close(s);
	unlink(path);
	faults.synced = false;
	s = store_open(path, false, error, sizeof(error));
	CHECK(yes && s && !faults.synced, "only a durable recording syncs each commit");
	store_close(s);
}

/* Refused with an error that contains @says; no descriptor stays open. */
static void open_refuse(const char *path, const char *says, const char *name)
{
	char error[700] = "";
	int lowest = dup(STDOUT_FILENO), next;
	struct store *s;

	close(lowest);
	s = store_open(path, false, error, sizeof(error));
	next = dup(STDOUT_FILENO);
	close(next);
	if (s || !strstr(error, says))
		printf("# '%s'\n", error);
	CHECK(!s && strstr(error, says) && next == lowest, name);
	store_close(s);
}

static void refusals_check(const char *dir)
{
	char path[300], other[300], says[700], error[300];
	struct store *s;
	int fd;

	for (int more = 0; more < 2; more++) {
		memset(path, 'x', sizeof(path));
		snprintf(path, sizeof(path), "%s/", dir);
		memset(path + strlen(path), 'x', sizeof(path) - strlen(path));
		path[239 + more] = '\0';
		if (more) {
			open_refuse(path, ": path too long",
				    "a path without space for suffixes is refused");
			CHECK(!strcmp(content_of(path), "none"),
			      "a recording that is refused is not created");
			continue;
		}
		s = store_open(path, false, error, sizeof(error));
		CHECK(s, "a path that just fits is accepted");
		store_close(s);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/a.db", dir);
	snprintf(other, sizeof(other), "%s/a.db-wal", dir);
	file_write(other, "log");
	snprintf(says, sizeof(says), "%s: a log without its recording; move it", other);
	open_refuse(path, says, "a log without its recording is refused");
	CHECK(!strcmp(content_of(path), "none"), "no second file is created");
	file_write(path, "mine");
	open_refuse(path, "a.db: exists; name another file, or --keep N to rotate",
		    "an existing file with a log is refused");
	unlink(other);
	open_refuse(path, "a.db: exists; name another file, or --keep N to rotate",
		    "an existing file without a log is refused");
	CHECK(!strcmp(content_of(path), "mine"), "an existing file is kept");
	unlink(path);
	snprintf(path, sizeof(path), "%s/none/a.db", dir);
	snprintf(says, sizeof(says),
		 "%s: cannot write in %s/none: No such file or directory; name another with "
		 "--record",
		 path, dir);
	open_refuse(path, says, "a missing directory is named");
	snprintf(other, sizeof(other), "%s/program", dir);
	file_write(other, "one that may be written and run");
	CHECK(!chmod(other, 0755), "a program can be made");
	snprintf(path, sizeof(path), "%s/program/a.db", dir);
	open_refuse(path, "program/a.db: Not a directory", "any other error is the system's");
	unlink(other);
	faults.commits = SQLITE_FULL;
	snprintf(path, sizeof(path), "%s/b.db", dir);
	open_refuse(path, "b.db: ", "a disk that is full at the first write is reported");
	faults.commits = 0;
	CHECK(!strcmp(content_of(path), "none"), "a failed recording leaves no file");
	s = store_open(path, false, error, sizeof(error));
	CHECK(s && lock_take(path) == -EBUSY && store_size(s) > 4096,
	      "an open recording is locked");
	store_close(s);
	fd = lock_take(path);
	CHECK(fd >= 0, "a closed recording is unlocked");
	lock_release(fd);
	unlink(path);
}

static void reasons_check(void)
{
	char text[200];

	store_why_not(-EBUSY, "/r.db", text, sizeof(text));
	text_is(text, "/r.db: another gchintd records into it; stop that one, or name another file",
		"a file of another recorder is reported");
	store_why_not(-ESTALE, "/r.db", text, sizeof(text));
	text_is(text, "/r.db: another gchintd records into it; stop that one, or name another file",
		"a file that was replaced meanwhile is reported");
	store_why_not(-EISDIR, "/r.db", text, sizeof(text));
	text_is(text, "/r.db: cannot rotate: Is a directory", "a directory is reported");
}

/* The row of files as text: the content of r.db to r.db.5, and their logs. */
static const char *files_read(const char *dir)
{
	static const char *const suffixes[] = { "", "-wal", "-shm" };
	static char text[512];
	char path[300];

	text[0] = '\0';
	for (int n = 0; n < 6; n++)
		for (int i = 0; i < 3; i++) {
			if (n)
				snprintf(path, sizeof(path), "%s/r.db.%d%s", dir, n, suffixes[i]);
			else
				snprintf(path, sizeof(path), "%s/r.db%s", dir, suffixes[i]);
			if (strcmp(content_of(path), "none"))
				snprintf(text + strlen(text), sizeof(text) - strlen(text),
					 "%d%s:%s ", n, suffixes[i], content_of(path));
		}
	return text;
}

static void rotation_check(const char *dir)
{
	char path[64], next[64], third[64];
	int fd;

	snprintf(path, sizeof(path), "%s/r.db", dir);
	snprintf(next, sizeof(next), "%s/r.db.1", dir);
	snprintf(third, sizeof(third), "%s/r.db.3", dir);
	CHECK(!store_rotate(path, 3), "rotating a missing file does nothing");
	file_write(path, "a");
	CHECK(!store_rotate(path, 0), "keeping no old files moves nothing");
	text_is(files_read(dir), "0:a ", "no old file is lost");
	CHECK(!store_rotate(path, 2), "a file gets a number");
	text_is(files_read(dir), "1:a ", "the first file is numbered");
	file_write(path, "b");
	snprintf(next, sizeof(next), "%s/r.db-wal", dir);
	file_write(next, "bw");
	snprintf(next, sizeof(next), "%s/r.db-shm", dir);
	file_write(next, "bs");
	CHECK(!store_rotate(path, 2), "the next rotation increments it");
	text_is(files_read(dir), "1:b 1-wal:bw 1-shm:bs 2:a ", "the log is numbered with its file");
	file_write(path, "c");
	CHECK(!store_rotate(path, 2), "a file beyond the highest number is removed");
	text_is(files_read(dir), "1:c 2:b 2-wal:bw 2-shm:bs ", "the oldest file is removed");
	file_write(path, "d");
	file_write(third, "x");
	CHECK(!store_rotate(path, 2), "a log is moved with its file");
	text_is(files_read(dir), "1:d 2:c 3:x ", "a file beyond the row is left alone");
	snprintf(next, sizeof(next), "%s/r.db-wal", dir);
	file_write(next, "ew");
	CHECK(!store_rotate(path, 2), "a log without its file is moved");
	text_is(files_read(dir), "1-wal:ew 2:d 3:x ", "a log is moved as if its file existed");
	snprintf(next, sizeof(next), "%s/r.db.1-wal", dir);
	unlink(next);
	file_write(path, "f");
	CHECK(!store_rotate(path, 5), "a gap ends the renumbering");
	text_is(files_read(dir), "1:f 2:d 3:x ", "files behind a gap stay");

	file_write(path, "g");
	fd = lock_take(path);
	CHECK(store_rotate(path, 5) == -EBUSY, "a file in use is not moved");
	lock_release(fd);
	fd = lock_take(third);
	CHECK(store_rotate(path, 5) == -EBUSY, "a numbered file in use is not moved");
	text_is(files_read(dir), "0:g 1:f 2:d 3:x ", "a file in use stops all moves");
	lock_release(fd);
	fd = lock_take(path);
	CHECK(fd >= 0, "no lock remains");
	lock_release(fd);
	faults.renames = 1;
	CHECK(store_rotate(path, 5) == -EIO && !faults.renames, "a failed move is an error");
	text_is(files_read(dir), "0:g 1:f 2:d 3:x ", "the last file stays");

	unlink(path);
	mkdir(path, 0700);
	CHECK(store_rotate(path, 5) == -EISDIR, "a directory is not moved");
	rmdir(path);
	mkfifo(path, 0600);
	CHECK(store_rotate(path, 5) == -EINVAL, "a special file is not moved");
	unlink(path);
	text_is(files_read(dir), "1:f 2:d 3:x ", "no other file is moved");
}

/* Byte @at of a file: 18 of a database is 2 with a log, 1 without. */
static int byte_at(const char *path, long offset)
{
	FILE *f = fopen(path, "r");
	int c = -1;

	if (f) {
		if (!fseek(f, offset, SEEK_SET))
			c = fgetc(f);
		fclose(f);
	}
	return c;
}

static void closing_check(const char *path, const char *away)
{
	char error[400], log[80];
	struct store *s = store_open(path, false, error, sizeof(error));
	int grows = byte_at(path, 18);

	CHECK(s && store_size(s) > 4096 * 2, "the log counts towards the size");
	store_close(s);
	CHECK(grows == 2 && byte_at(path, 18) == 1 && byte_at(path, 63) == SCHEMA_VERSION &&
		      byte_at(path, 16) == 16 && byte_at(path, 17) == 0,
	      "a closed recording has no log and carries its schema version");
	unlink(path);
	s = store_open(path, false, error, sizeof(error));
	CHECK(s && !rename(path, away), "a recording that was moved");
	file_write(path, "another");
	store_close(s);
	CHECK(byte_at(away, 18) == 2 && !strcmp(content_of(path), "another"),
	      "a moved recording keeps its log");
	unlink(path);
	unlink(away);
	for (int i = 0; i < 2; i++) {
		snprintf(log, sizeof(log), "%s-%s", path, i ? "shm" : "wal");
		unlink(log);
	}
	store_close(NULL);
	store_finish(NULL);
}

/* A file without one of its tables gets no rows at all. */
static void tables_check(void)
{
	static const char *const lacks[] = { "DROP TABLE samples", "DROP TABLE annotations" };
	struct rows *rows;
	sqlite3 *db = NULL;

	for (int i = 0; i < 3; i++) {
		if (sqlite3_open(":memory:", &db) || rows_create_tables(db))
			break;
		if (i)
			sqlite3_exec(db, lacks[i - 1], NULL, NULL, NULL);
		rows = rows_new(db);
		CHECK(!rows == !!i, "rows are available if a file has all tables");
		rows_free(rows);
		CHECK(sqlite3_close(db) == SQLITE_OK, "no statement remains open");
	}
	rows_free(NULL);
}

/* The indexes of a finished recording, or none where they take too long. */
static void finish_check(const char *path)
{
	const struct record r = { .t = 7,
				  .type = RECORD_SAMPLE,
				  .sample = { .value = 1, .rail = 1, .error_ns = 1 } };
	int indexes[2] = { 0, 0 };
	char error[300];

	for (int slow = 0; slow < 2; slow++) {
		struct store *s = store_open(path, false, error, sizeof(error));
		sqlite3_stmt *stmt = NULL;
		sqlite3 *db = NULL;

		if (!s || store_begin(s) || store_record(s, &r))
			break;
		if (slow)
			/* Enough for SQLite to ask whether to continue. */
			for (int i = 0; i < 30000; i++)
				store_record(s, &r);
		store_commit(s);
		faults.leap_ns = slow ? 6 * NSEC_PER_SEC : 0;
		store_finish(s);
		faults.leap_ns = 0;
		faults.ahead_ns = 0;
		if (!sqlite3_open(path, &db) &&
		    !sqlite3_prepare_v2(db,
					"SELECT count(*) FROM sqlite_master WHERE type = 'index' "
					"AND sql IS NOT NULL",
					-1, &stmt, NULL) &&
		    sqlite3_step(stmt) == SQLITE_ROW)
			indexes[slow] = sqlite3_column_int(stmt, 0);
		sqlite3_finalize(stmt);
		sqlite3_close(db);
		unlink(path);
	}
	CHECK(indexes[0] > 3 && !indexes[1],
	      "a finished recording has indexes unless they take ten seconds");
}

void unit_store(void)
{
	char dir[] = "/tmp/gchint-unit.XXXXXX", path[64], away[80];

	if (!mkdtemp(dir)) {
		CHECK(false, "a temporary directory");
		return;
	}
	snprintf(path, sizeof(path), "%s/s.db", dir);
	snprintf(away, sizeof(away), "%s/away.db", dir);
	closing_check(path, away);
	tables_check();
	errors_check(path);
	unlink(path);
	durable_check(path);
	unlink(path);
	finish_check(path);
	refusals_check(dir);
	reasons_check();
	rotation_check(dir);
	unit_remove(dir);
}
