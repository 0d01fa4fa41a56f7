// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Description: a recording's lock is on the file of that name, even if the file was moved between
 * open and lock: fcntl() is redirected here (--wrap).
 */
#include "unit.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../../daemon/recording/lock.h"

static const char *from, *to; /* moved at the next lock */
static bool another; /* and another file replaces it */

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...);

static bool file_make(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd >= 0 && !close(fd);
}

int __wrap_fcntl(int fd, int command, ...)
{
	va_list args;
	void *argument;

	va_start(args, command);
	argument = va_arg(args, void *);
	va_end(args);
	if (unit_hotspots_owner(command, argument))
		return 0;
	if (command == F_OFD_SETLK && from) {
		if (rename(from, to) || (another && !file_make(from)))
			return -1;
		from = NULL;
	}
	return __real_fcntl(fd, command, argument);
}

void unit_lock(void)
{
	char dir[] = "/tmp/gchint-unit.XXXXXX", path[64], away[64];
	int fd, next, lowest;

	if (!mkdtemp(dir))
		return;
	snprintf(path, sizeof(path), "%s/r.db", dir);
	snprintf(away, sizeof(away), "%s/r.db.1", dir);
	lowest = dup(STDOUT_FILENO);
	close(lowest);
	to = away;
	for (int i = 0; i < 2; i++) {
		another = i;
		from = file_make(path) ? path : NULL;
		CHECK(lock_take(path) == -ESTALE && !from,
		      another ? "a file that was replaced meanwhile is not locked" :
				"a file that was moved meanwhile is not locked");
	}
	fd = lock_take(path);
	CHECK(fd >= 0 && lock_names(fd, path) && !lock_names(fd, away),
	      "the locked file is the one of that name");
	CHECK(lock_take(path) == -EBUSY, "a second lock is refused");
	lock_release(fd);
	next = lock_take(path);
	CHECK(fd == lowest && next == fd, "a failed lock leaves no descriptor open");
	lock_release(next);
	unlink(path);
	unlink(away);
	rmdir(dir);
}
