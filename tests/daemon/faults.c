// SPDX-License-Identifier: GPL-2.0-or-later
#include "faults.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../daemon/common/clock.h"
#include "../../daemon/recording/store.h"

struct faults faults;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

int __real_store_define(struct store *s, const struct definition *d);
int __wrap_store_define(struct store *s, const struct definition *d);
int __real_sqlite3_exec(sqlite3 *db, const char *sql, int (*fn)(void *, int, char **, char **),
			void *data, char **error);
int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, int (*fn)(void *, int, char **, char **),
			void *data, char **error);
int __wrap_sqlite3_extended_errcode(sqlite3 *db);
int __wrap_sqlite3_system_errno(sqlite3 *db);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
ssize_t __real_pread(int fd, void *buf, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *buf, size_t size, off_t offset);
void __wrap_log_line(int priority, const char *source, const char *fmt, ...);

int __wrap_store_define(struct store *s, const struct definition *d)
{
	if (faults.defines > 0) {
		faults.defines--;
		return -ENOSPC;
	}
	return __real_store_define(s, d);
}

int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, int (*fn)(void *, int, char **, char **),
			void *data, char **error)
{
	if (strstr(sql, "PRAGMA synchronous=FULL"))
		faults.synced = true;
	if (!strcmp(sql, "COMMIT")) {
		for (; faults.hold; usleep(1000))
			faults.held = true;
		if (faults.commits)
			return faults.commits;
	}
	return __real_sqlite3_exec(db, sql, fn, data, error);
}

int __wrap_sqlite3_extended_errcode(sqlite3 *db)
{
	(void)db;
	return faults.detail;
}

int __wrap_sqlite3_system_errno(sqlite3 *db)
{
	(void)db;
	return faults.system;
}

int __wrap_rename(const char *from, const char *to)
{
	if (faults.renames > 0) {
		faults.renames--;
		errno = EIO;
		return -1;
	}
	return __real_rename(from, to);
}

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	const bool boot = id == CLOCK_BOOTTIME;
	const uint64_t ahead =
		boot ? faults.ahead_ns + faults.slept_ns : (faults.ahead_ns += faults.leap_ns);
	const uint64_t at = faults.at_ns;
	int ret = __real_clock_gettime(id, ts);
	uint64_t ns;

	if (!ret && (at || ahead)) {
		ns = (uint64_t)ts->tv_sec * NSEC_PER_SEC + (uint64_t)ts->tv_nsec;
		ns = (at ? at : ns) + ahead;
		ts->tv_sec = (time_t)(ns / NSEC_PER_SEC);
		ts->tv_nsec = (long)(ns % NSEC_PER_SEC);
	}
	return ret;
}

ssize_t __wrap_pread(int fd, void *buf, size_t size, off_t offset)
{
	if (faults.read) {
		errno = faults.read;
		return -1;
	}
	return __real_pread(fd, buf, size, offset);
}

void __wrap_log_line(int priority, const char *source, const char *fmt, ...)
{
	va_list args;
	size_t len;

	pthread_mutex_lock(&log_lock);
	len = strlen(faults.said);
	snprintf(faults.said + len, sizeof(faults.said) - len, "%d %s: ", priority, source);
	len = strlen(faults.said);
	va_start(args, fmt);
	vsnprintf(faults.said + len, sizeof(faults.said) - len, fmt, args);
	va_end(args);
	len = strlen(faults.said);
	snprintf(faults.said + len, sizeof(faults.said) - len, "\n");
	pthread_mutex_unlock(&log_lock);
}

static bool log_has(const char *text)
{
	bool found;

	pthread_mutex_lock(&log_lock);
	found = strstr(faults.said, text);
	pthread_mutex_unlock(&log_lock);
	return found;
}

bool faults_said(const char *text)
{
	for (int i = 0; i < 250000 && !log_has(text); i++)
		usleep(1000);
	return log_has(text);
}
