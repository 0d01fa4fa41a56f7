// SPDX-License-Identifier: MIT
/* Descriptors that the library keeps open without the knowledge of the program. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fd.h"

void fd_identify(int fd, struct fd_identity *id)
{
	struct stat st;

	memset(id, 0, sizeof(*id));
	if (fstat(fd, &st) == 0) {
		id->dev = st.st_dev;
		id->ino = st.st_ino;
	}
}

int fd_is(int fd, const struct fd_identity *id)
{
	struct fd_identity now;

	fd_identify(fd, &now);
	return now.dev == id->dev && now.ino == id->ino;
}

int fd_above_stdio(int fd)
{
	int high, ret;

	if (fd > STDERR_FILENO)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	ret = -errno;
	close(fd);
	return high < 0 ? ret : high;
}
