// SPDX-License-Identifier: GPL-2.0-or-later
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <uapi/linux/gchint.h>

#include "../common/clock.h"
#include "../common/names.h"
#include "../common/root.h"
#include "lock.h"
#include "rows.h"
#include "schema.h"

/* Time limit for building the indexes, since service managers limit the time to stop. */
#define INDEX_NS (10 * NSEC_PER_SEC)

/* STRICT tables. */
#define SQLITE_NEEDED 3037000
_Static_assert(SQLITE_VERSION_NUMBER >= SQLITE_NEEDED, "build with SQLite 3.37 or newer");

/* How long a commit without a log waits for readers, which it would not have to with one. */
#define READERS_MS 5000

struct store {
	sqlite3 *db;
	int lock;
	char no_log[96]; /* why there is no write-ahead log; "" there is one */
	struct rows *rows;
	char path[256];
	char error[256];
};

static int store_check(struct store *s, int code)
{
	if (code == SQLITE_OK)
		return 0;
	snprintf(s->error, sizeof(s->error), "%s", sqlite3_errmsg(s->db));
	if ((code & 0xff) == SQLITE_FULL)
		return -ENOSPC;
	if ((code & 0xff) != SQLITE_IOERR)
		return -EIO;
	/*
	 * SQLite knows ENOSPC only: EFBIG and EDQUOT, limits of a file and of a user,
	 * come as a write that failed, and what errno was is not always kept.
	 */
	if (sqlite3_extended_errcode(s->db) != SQLITE_IOERR_WRITE)
		return -EIO;
	return sqlite3_system_errno(s->db) == EIO ? -EIO : -ENOSPC;
}

static int schema_add_names(sqlite3 *db)
{
	const struct {
		const char *kind;
		const char *(*name)(uint32_t);
		uint32_t nr;
	} lists[] = {
		{ "phase", name_phase, GCHINT_PHASE_NR },
		{ "cause", name_cause, GCHINT_CAUSE_NR },
		{ "role", name_role, GCHINT_ROLE_NR },
		{ "reason", name_reason, GCHINT_REASON_NR },
		{ "lease", name_lease, GCHINT_LEASE_FRESH + 1 },
	};
	int ret = SQLITE_OK;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		for (uint32_t n = 0; n < lists[i].nr && ret == SQLITE_OK; n++) {
			char *sql = sqlite3_mprintf("INSERT INTO names VALUES(%Q,%u,%Q)",
						    lists[i].kind, n, lists[i].name(n));

			ret = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
			sqlite3_free(sql);
		}
	return ret;
}

static int schema_add_views(sqlite3 *db)
{
	int ret = SQLITE_OK;

	for (size_t i = 0; i < SCHEMA_VIEWS && ret == SQLITE_OK; i++) {
		char *sql = sqlite3_mprintf("CREATE VIEW %s AS %s", schema_views[i].name,
					    schema_views[i].select);

		ret = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
		sqlite3_free(sql);
	}
	return ret;
}

static int on_journal_mode(void *data, int columns, char **values, char **names)
{
	(void)names;
	if (columns == 1 && values[0] && !strcmp(values[0], "wal"))
		*(bool *)data = true;
	return 0;
}

static int db_open_writable(const char *path, sqlite3 **db)
{
	return sqlite3_open_v2(path, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
}

/*
 * Opens a file with a write-ahead log, whose index readers and writer map together. File
 * systems without such mappings (9p, some of FUSE and of the network) report that only at the
 * next statement. They get a rollback journal, and @why the reason; "" where there is a log.
 */
static int journal_open(const char *path, sqlite3 **db, char *why, size_t size)
{
	char index[300];
	bool log = false;
	int ret = db_open_writable(path, db);

	*why = '\0';
	if (ret == SQLITE_OK)
		ret = sqlite3_exec(*db, "PRAGMA page_size=4096; PRAGMA journal_mode=WAL",
				   on_journal_mode, &log, NULL);
	if (ret == SQLITE_OK && log)
		ret = sqlite3_exec(*db, "SELECT 1 FROM sqlite_master", NULL, NULL, NULL);
	if ((ret == SQLITE_OK && log) || !*db)
		return ret;
	if (ret && (ret & 0xff) != SQLITE_CANTOPEN && (ret & 0xff) != SQLITE_IOERR &&
	    (ret & 0xff) != SQLITE_PROTOCOL)
		return ret;
	snprintf(why, size, "%s", ret ? sqlite3_errmsg(*db) : "no shared memory");
	/* In this connection every statement fails from now on. */
	sqlite3_close(*db);
	snprintf(index, sizeof(index), "%s-shm", path);
	unlink(index);
	ret = db_open_writable(path, db);
	if (ret != SQLITE_OK)
		return ret;
	sqlite3_busy_timeout(*db, READERS_MS);
	/* Alone with the file it needs no index to leave the log. */
	return sqlite3_exec(*db,
			    "PRAGMA locking_mode=EXCLUSIVE; PRAGMA page_size=4096;"
			    "PRAGMA journal_mode=TRUNCATE; PRAGMA locking_mode=NORMAL;"
			    "SELECT 1 FROM sqlite_master",
			    NULL, NULL, NULL);
}

static int store_create(struct store *s, bool durable)
{
	char *pragmas =
		sqlite3_mprintf("PRAGMA application_id=%d; PRAGMA user_version=%d;"
				"PRAGMA synchronous=%s; PRAGMA cache_size=-2048;"
				"PRAGMA temp_store=MEMORY; PRAGMA journal_size_limit=4194304;"
				"BEGIN;",
				SCHEMA_APPLICATION, SCHEMA_VERSION, durable ? "FULL" : "NORMAL");
	int ret;

	ret = pragmas ? sqlite3_exec(s->db, pragmas, NULL, NULL, NULL) : SQLITE_NOMEM;
	sqlite3_free(pragmas);
	if (ret == SQLITE_OK)
		ret = rows_create_tables(s->db);
	if (ret == SQLITE_OK)
		ret = schema_add_views(s->db);
	if (ret == SQLITE_OK)
		ret = schema_add_names(s->db);
	if (ret == SQLITE_OK)
		ret = sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
	return ret;
}

/* SQLite reports "unable to open database file" for most causes; errno says more. */
static void open_explain_error(const char *path, char *error, size_t size, const char *otherwise)
{
	char dir[256];
	const char *slash = strrchr(path, '/');

	snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
	if (root_access(*dir ? dir : "/", W_OK | X_OK))
		snprintf(error, size, "%s: cannot write in %s: %s; name another with --record",
			 path, *dir ? dir : "/", strerror(errno));
	else
		snprintf(error, size, "%s: %s", path, otherwise);
}

void store_why_not(int ret, const char *path, char *error, size_t size)
{
	if (ret == -EBUSY || ret == -ESTALE)
		snprintf(error, size,
			 "%s: another gchintd records into it; stop that one, or name another file",
			 path);
	else
		snprintf(error, size, "%s: cannot rotate: %s", path, strerror(-ret));
}

static struct store *store_discard(struct store *s)
{
	lock_release(s->lock);
	free(s);
	return NULL;
}

struct store *store_open(const char *path, bool durable, char *error, size_t size)
{
	struct store *s = calloc(1, sizeof(*s));
	static const char *const logs[] = { "-wal", "-journal" };
	char log[264];
	int fd, ret;

	if (!s || strlen(path) >= sizeof(s->path) - 16) {
		snprintf(error, size, "%s: %s", path, s ? "path too long" : "no memory");
		free(s);
		return NULL;
	}
	s->lock = -1;
	if (sqlite3_libversion_number() < SQLITE_NEEDED) {
		snprintf(error, size, "SQLite %s is too old: install 3.37 or newer",
			 sqlite3_libversion());
		return store_discard(s);
	}
	/* SQLite would mistake it for a leftover of the new file, and remove it. */
	for (size_t i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		snprintf(log, sizeof(log), "%s%s", path, logs[i]);
		if (access(path, F_OK) && !access(log, F_OK)) {
			snprintf(error, size,
				 "%s: a log without its recording; move it next to its recording, "
				 "or remove it",
				 log);
			return store_discard(s);
		}
	}
	/* O_EXCL: neither a file that another daemon just created, nor the target of a link. */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (fd < 0 && errno == EEXIST) {
		snprintf(error, size, "%s: exists; name another file, or --keep N to rotate", path);
		return store_discard(s);
	}
	if (fd < 0) {
		open_explain_error(path, error, size, strerror(errno));
		return store_discard(s);
	}
	close(fd);
	strcpy(s->path, path);
	/* Until now another daemon may have mistaken the empty file for an old one. */
	s->lock = lock_take(path);
	if (s->lock < 0) {
		store_why_not(s->lock, path, error, size);
		return store_discard(s);
	}
	ret = journal_open(path, &s->db, s->no_log, sizeof(s->no_log));
	if (ret == SQLITE_OK)
		ret = store_create(s, durable);
	if (ret != SQLITE_OK) {
		open_explain_error(path, error, size, s->db ? sqlite3_errmsg(s->db) : "no memory");
		goto close_db;
	}
	s->rows = rows_new(s->db);
	if (!s->rows) {
		snprintf(error, size, "%s: %s", path, sqlite3_errmsg(s->db));
		goto close_db;
	}
	return s;

close_db:
	sqlite3_close(s->db);
	unlink(path);
	return store_discard(s);
}

int store_begin(struct store *s)
{
	return store_check(s, sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL));
}

int store_record(struct store *s, const struct record *r)
{
	return store_check(s, rows_record(s->rows, r));
}

int store_define(struct store *s, const struct definition *d)
{
	return store_check(s, rows_define(s->rows, d));
}

int store_commit(struct store *s)
{
	return store_check(s, sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL));
}

void store_rollback(struct store *s)
{
	/* SQLite may have rolled back by itself when the disk was full. */
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

const char *store_no_log(const struct store *s)
{
	return *s->no_log ? s->no_log : NULL;
}

const char *store_error(const struct store *s)
{
	return s->error;
}

uint64_t store_size(const struct store *s)
{
	char wal[264];
	struct stat st;
	uint64_t size = 0;

	snprintf(wal, sizeof(wal), "%s-wal", s->path);
	if (!stat(s->path, &st))
		size += (uint64_t)st.st_size;
	if (!stat(wal, &st))
		size += (uint64_t)st.st_size;
	return size;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	rows_free(s->rows);
	/* Leaving WAL mode removes the log by name, which is another file's after a rename. */
	if (lock_names(s->lock, s->path))
		sqlite3_exec(s->db, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE",
			     NULL, NULL, NULL);
	else
		sqlite3_exec(s->db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
	sqlite3_close(s->db);
	lock_release(s->lock);
	free(s);
}

/* SQLite's progress handler: interrupts the statement after the deadline. */
static int deadline_passed(void *data)
{
	return clock_now() > *(const uint64_t *)data;
}

/* Leaves the file without indexes where they take too long, or where the disk is full. */
static void indexes_create(sqlite3 *db)
{
	uint64_t until = clock_now() + INDEX_NS;

	/* Sort in a file: the unit's memory limit may be smaller than a full recording. */
	sqlite3_exec(db, "PRAGMA temp_store=FILE", NULL, NULL, NULL);
	sqlite3_progress_handler(db, 100000, deadline_passed, &until);
	if ((sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) ||
	     sqlite3_exec(db, schema_index_sql, NULL, NULL, NULL) ||
	     sqlite3_exec(db, "COMMIT", NULL, NULL, NULL)) &&
	    !sqlite3_get_autocommit(db))
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_progress_handler(db, 0, NULL, NULL);
}

void store_finish(struct store *s)
{
	if (!s)
		return;
	rows_free(s->rows);
	s->rows = NULL;
	indexes_create(s->db);
	store_close(s);
}

void store_index(const char *path)
{
	int lock = lock_take(path);
	sqlite3 *db = NULL;
	char why[96];

	if (lock < 0)
		return;
	/* With a log, a crash leaves the recording whole and readable for all. */
	if (!journal_open(path, &db, why, sizeof(why)) &&
	    !sqlite3_exec(db, "PRAGMA synchronous=NORMAL", NULL, NULL, NULL)) {
		indexes_create(db);
		sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE",
			     NULL, NULL, NULL);
	}
	sqlite3_close(db);
	lock_release(lock);
}

static void path_number(char *buf, size_t size, const char *path, unsigned int n,
			const char *suffix)
{
	if (n)
		snprintf(buf, size, "%s.%u%s", path, n, suffix);
	else
		snprintf(buf, size, "%s%s", path, suffix);
}

/* Fails if another daemon records into the file, whatever its number in the rotation. */
static int recording_check_lock(const char *path)
{
	struct stat st;
	int fd;

	if (lstat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	fd = lock_take(path);
	if (fd == -EBUSY || fd == -ESTALE)
		return fd;
	lock_release(fd);
	return 0;
}

int store_rotate(const char *path, unsigned int keep)
{
	/* A log left by a crash belongs to its database and moves along. */
	static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
	char from[300], to[300];
	unsigned int last = 0;
	int lock = -1, ret = 0;
	struct stat st;

	if (!keep)
		return 0;
	/* A directory named by mistake would be moved with all its content. */
	if (!stat(path, &st)) {
		if (!S_ISREG(st.st_mode))
			return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
		/*
		 * Held until the file has its new name, so that no other daemon renames it
		 * meanwhile.
		 */
		lock = lock_take(path);
		if (lock < 0)
			return lock;
	}
	/* Files after a gap in the numbering need not move. */
	do {
		path_number(to, sizeof(to), path, ++last, "");
		ret = recording_check_lock(to);
	} while (!ret && last < keep && !access(to, F_OK));
	for (unsigned int n = last; n-- > 0 && !ret;)
		for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]) && !ret; i++) {
			path_number(from, sizeof(from), path, n, suffixes[i]);
			path_number(to, sizeof(to), path, n + 1, suffixes[i]);
			unlink(to);
			if (rename(from, to) && errno != ENOENT)
				ret = -errno;
		}
	lock_release(lock);
	return ret;
}
