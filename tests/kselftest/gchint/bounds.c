// SPDX-License-Identifier: GPL-2.0 OR MIT
#include "bounds.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sysfs.h"
#include "worker.h"

#define TRACING "/sys/kernel/tracing"
#define EVENT TRACING "/events/power/cpu_frequency_limits/enable"

static char lines[1 << 20];

int bounds_watch(void)
{
	int ret = file_put(TRACING "/trace", "");

	return ret ?: file_put(EVENT, "1");
}

void bounds_stop(void)
{
	file_put(EVENT, "0");
}

int bounds_seen(void)
{
	int fd, changes = 0;
	size_t n = 0;
	ssize_t got;
	char *at;

	fd = open(TRACING "/trace", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while (n < sizeof(lines) - 1 &&
	       (got = read(fd, lines + n, sizeof(lines) - 1 - n)) > 0)
		n += got;
	close(fd);
	lines[n] = '\0';
	for (at = lines; (at = strstr(at, "cpu_frequency_limits: ")); at++)
		changes++;
	return changes;
}

int bounds_changes(long us)
{
	if (bounds_watch())
		return -1;
	sleep_us(us);
	bounds_stop();
	return bounds_seen();
}
