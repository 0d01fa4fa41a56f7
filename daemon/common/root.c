// SPDX-License-Identifier: GPL-2.0-or-later
#include "root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

static const char *env_or_default(const char *variable, const char *otherwise)
{
	const char *v = getenv(variable);

	return v && *v ? v : otherwise;
}

void root_init(struct root *root)
{
	root->sysfs = env_or_default("GCHINT_SYSFS", "/sys");
	root->procfs = env_or_default("GCHINT_PROCFS", "/proc");
	root->tracefs = env_or_default("GCHINT_TRACEFS", "/sys/kernel/tracing");
	root->debugfs = env_or_default("GCHINT_DEBUGFS", "/sys/kernel/debug");
	root->dev = env_or_default("GCHINT_DEV", "/dev");
}

static int root_read_path(char *buf, size_t size, const char *path)
{
	size_t used = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	while (used < size - 1) {
		ssize_t n = read(fd, buf + used, size - 1 - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			ret = -errno;
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	close(fd);
	while (used && (buf[used - 1] == '\n' || buf[used - 1] == ' '))
		used--;
	buf[used] = '\0';
	return ret ? ret : (int)used;
}

/* Formats the path; makes the function return -ENAMETOOLONG if it does not fit. */
#define FORMAT_PATH(path, fmt)                                                                     \
	do {                                                                                       \
		va_list ap;                                                                        \
		int path_len;                                                                      \
		va_start(ap, fmt);                                                                 \
		path_len = vsnprintf(path, sizeof(path), fmt, ap);                                 \
		va_end(ap);                                                                        \
		if (path_len < 0 || (size_t)path_len >= sizeof(path))                              \
			return -ENAMETOOLONG;                                                      \
	} while (0)

int root_read(char *buf, size_t size, const char *fmt, ...)
{
	char path[512];

	*buf = '\0';
	FORMAT_PATH(path, fmt);
	return root_read_path(buf, size, path);
}

int root_u64(uint64_t *value, const char *fmt, ...)
{
	char path[512], buf[64];
	int ret;

	FORMAT_PATH(path, fmt);
	ret = root_read_path(buf, sizeof(buf), path);
	return ret < 0 ? ret : text_u64(buf, value);
}

int root_s64(int64_t *value, const char *fmt, ...)
{
	char path[512], buf[64];
	int ret;

	FORMAT_PATH(path, fmt);
	ret = root_read_path(buf, sizeof(buf), path);
	return ret < 0 ? ret : text_s64(buf, value);
}

int root_access(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, AT_EACCESS);
}

int root_write(const char *text, const char *fmt, ...)
{
	char path[512];
	ssize_t n;
	int fd, ret = 0;

	FORMAT_PATH(path, fmt);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	if (n < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static int name_compare_natural(const struct dirent **a, const struct dirent **b)
{
	return strverscmp((*a)->d_name, (*b)->d_name);
}

int root_list(const char *path, const char *prefix, int (*fn)(void *data, const char *name),
	      void *data)
{
	struct dirent **names;
	int n, ret = 0;

	n = scandir(path, &names, NULL, name_compare_natural);
	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		if (!ret && names[i]->d_name[0] != '.' &&
		    !strncmp(names[i]->d_name, prefix, strlen(prefix)))
			ret = fn(data, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	return ret;
}
