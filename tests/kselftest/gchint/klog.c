// SPDX-License-Identifier: GPL-2.0 OR MIT
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "klog.h"

int klog_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int klog_open_now(void)
{
	int fd = klog_open();

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

int klog_count(int fd, const char *text)
{
	char line[8192];
	ssize_t n;
	int count = 0;

	/* Each read is one line. */
	while ((n = read(fd, line, sizeof(line) - 1)) > 0) {
		line[n] = '\0';
		count += !!strstr(line, text);
	}
	return n < 0 && errno != EAGAIN ? -errno : count;
}
