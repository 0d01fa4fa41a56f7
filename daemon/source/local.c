// SPDX-License-Identifier: GPL-2.0-or-later
#include "local.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Removes a socket file that has no listener; 0 or -errno. */
static int socket_remove_stale(int type, const struct sockaddr_un *addr)
{
	int fd, ret = -EADDRINUSE;
	struct stat st;

	if (lstat(addr->sun_path, &st))
		return -errno;
	/* Never remove another type of file, which may have been named by mistake. */
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) && errno == ECONNREFUSED)
		ret = unlink(addr->sun_path) ? -errno : 0;
	close(fd);
	return ret;
}

int local_bind(int type, const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, ret = 0;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		ret = errno == EADDRINUSE ? socket_remove_stale(type, &addr) : -errno;
		if (!ret && bind(fd, (struct sockaddr *)&addr, sizeof(addr)))
			ret = -errno;
	}
	if (ret)
		close(fd);
	return ret ? ret : fd;
}

void local_close(int fd, int type, const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	close(fd);
	strcpy(addr.sun_path, path);
	socket_remove_stale(type, &addr);
}
