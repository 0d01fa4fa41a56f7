// SPDX-License-Identifier: GPL-2.0-or-later
#include "lock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Beyond the bytes that SQLite locks, 510 from 0x40000000 on (its os.h): on a network file
 * system that merges both types of lock, the ranges must not overlap.
 */
#define LOCK_BYTE (0x40000000 + 4096)

bool lock_names(int fd, const char *path)
{
	struct stat ours, named;

	return !fstat(fd, &ours) && !stat(path, &named) && ours.st_ino == named.st_ino &&
	       ours.st_dev == named.st_dev;
}

int lock_take(const char *path)
{
	struct flock lock = {
		.l_type = F_WRLCK,
		.l_whence = SEEK_SET,
		.l_start = LOCK_BYTE,
		.l_len = 1,
	};
	int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC), ret;

	/*
	 * Another user's old file may be rotated too; a read lock still conflicts with a
	 * recorder's.
	 */
	if (fd < 0 && errno == EACCES) {
		fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		lock.l_type = F_RDLCK;
	}
	if (fd < 0)
		return -errno;
	if (fcntl(fd, F_OFD_SETLK, &lock)) {
		ret = errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
		close(fd);
		return ret;
	}
	/* The previous holder of the lock may have renamed the file. */
	if (!lock_names(fd, path)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

void lock_release(int fd)
{
	if (fd >= 0)
		close(fd);
}
