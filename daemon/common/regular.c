// SPDX-License-Identifier: GPL-2.0-or-later
#include "regular.h"

#include <fcntl.h>
#include <unistd.h>

int regular_open(const char *path, int flags, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | flags);

	if (fd >= 0 && (fstat(fd, st) || !S_ISREG(st->st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}
