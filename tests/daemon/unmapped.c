// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Preloaded into gchintd: the index of a write-ahead log cannot be mapped, as on 9p without a
 * cache and on some FUSE and network file systems.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void *(*mmap_fn)(void *addr, size_t length, int prot, int flags, int fd, off_t offset);

static int fd_is_index(int fd)
{
	char link[64], path[512];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path));
	return n > 4 && !memcmp(path + n - 4, "-shm", 4);
}

static void *map_file(const char *name, void *addr, size_t length, int prot, int flags, int fd,
		      off_t offset)
{
	const mmap_fn next = (mmap_fn)dlsym(RTLD_NEXT, name);

	if (fd >= 0 && flags & MAP_SHARED && fd_is_index(fd)) {
		errno = ENODEV;
		return MAP_FAILED;
	}
	return next(addr, length, prot, flags, fd, offset);
}

/* Two names of one call; SQLite and its C library may use either. */
__attribute__((visibility("default"))) void *mmap(void *addr, size_t length, int prot, int flags,
						  int fd, off_t offset)
{
	return map_file("mmap", addr, length, prot, flags, fd, offset);
}

__attribute__((visibility("default"))) void *mmap64(void *addr, size_t length, int prot, int flags,
						    int fd, off_t offset)
{
	return map_file("mmap64", addr, length, prot, flags, fd, offset);
}
