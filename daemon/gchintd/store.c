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

#include "../common/names.h"
#include "../common/root.h"
#include "../common/schema.h"
#include "rows.h"

struct store {
	sqlite3 *db;
	struct rows *rows;
	char path[256];
	char error[256];
};

static int fail(struct store *s, int code)
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

static int add_names(sqlite3 *db)
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

static int create(struct store *s, bool durable)
{
	char *pragmas =
		sqlite3_mprintf("PRAGMA page_size=4096; PRAGMA application_id=%d;"
				"PRAGMA user_version=%d; PRAGMA journal_mode=WAL;"
				"PRAGMA synchronous=%s; PRAGMA cache_size=-2048;"
				"PRAGMA temp_store=MEMORY; PRAGMA journal_size_limit=4194304;"
				"BEGIN;",
				SCHEMA_APPLICATION, SCHEMA_VERSION, durable ? "FULL" : "NORMAL");
	int ret;

	ret = pragmas ? sqlite3_exec(s->db, pragmas, NULL, NULL, NULL) : SQLITE_NOMEM;
	sqlite3_free(pragmas);
	if (ret == SQLITE_OK)
		ret = sqlite3_exec(s->db, schema_sql, NULL, NULL, NULL);
	if (ret == SQLITE_OK)
		ret = add_names(s->db);
	if (ret == SQLITE_OK)
		ret = sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
	return ret;
}

/* SQLite tells "unable to open database file" for most causes; ask the system. */
static void why_not(const char *path, char *error, size_t size, const char *otherwise)
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

struct store *store_open(const char *path, bool durable, char *error, size_t size)
{
	struct store *s = calloc(1, sizeof(*s));
	int fd, ret;

	if (!s || strlen(path) >= sizeof(s->path) - 8) {
		snprintf(error, size, "%s: %s", path, s ? "path too long" : "no memory");
		free(s);
		return NULL;
	}
	/* Ours alone: not one that another daemon just made, nor what a link points to. */
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 && errno == EEXIST) {
		snprintf(error, size, "%s: exists; name another file, or --keep N to rotate", path);
		free(s);
		return NULL;
	}
	if (fd < 0) {
		why_not(path, error, size, strerror(errno));
		free(s);
		return NULL;
	}
	close(fd);
	strcpy(s->path, path);
	ret = sqlite3_open_v2(path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (ret == SQLITE_OK)
		ret = create(s, durable);
	if (ret != SQLITE_OK) {
		why_not(path, error, size, s->db ? sqlite3_errmsg(s->db) : "no memory");
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
	free(s);
	return NULL;
}

int store_begin(struct store *s)
{
	return fail(s, sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL));
}

int store_record(struct store *s, const struct record *r)
{
	return fail(s, rows_record(s->rows, r));
}

int store_define(struct store *s, const struct definition *d)
{
	return fail(s, rows_define(s->rows, d));
}

int store_commit(struct store *s)
{
	return fail(s, sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL));
}

void store_rollback(struct store *s)
{
	/* Running out of disk may have rolled back already. */
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
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
	sqlite3_exec(s->db, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode=DELETE", NULL,
		     NULL, NULL);
	sqlite3_close(s->db);
	free(s);
}

static void numbered(char *buf, size_t size, const char *path, unsigned int n, const char *suffix)
{
	if (n)
		snprintf(buf, size, "%s.%u%s", path, n, suffix);
	else
		snprintf(buf, size, "%s%s", path, suffix);
}

int store_rotate(const char *path, unsigned int keep)
{
	/* A log left by a crash belongs to its database and moves along. */
	static const char *const suffixes[] = { "", "-wal", "-shm" };
	char from[300], to[300];
	unsigned int last = 0;
	struct stat st;

	if (!keep)
		return 0;
	/* A folder named by mistake would be moved with all that is in it. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	/* Where one of the row is missing, those behind it can stay. */
	do
		numbered(to, sizeof(to), path, ++last, "");
	while (last < keep && !access(to, F_OK));
	for (unsigned int n = last; n-- > 0;)
		for (size_t i = 0; i < 3; i++) {
			numbered(from, sizeof(from), path, n, suffixes[i]);
			numbered(to, sizeof(to), path, n + 1, suffixes[i]);
			unlink(to);
			if (rename(from, to) && errno != ENOENT)
				return -errno;
		}
	return 0;
}
