// SPDX-License-Identifier: GPL-2.0-or-later
#include "wake-latency.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../ctl.h"

#define FILE_PM_QOS "/dev/cpu_dma_latency"
#define LATENCY_MAX 1000000

int wake_latency_limit(const char *us)
{
	char *end;
	const long value = strtol(us, &end, 10);
	int32_t latency;
	int fd;

	if (end == us || *end || value < 0 || value > LATENCY_MAX) {
		ctl_error("run: --wake-latency takes microseconds, 0 to %d, not %s", LATENCY_MAX,
			  us);
		return CTL_USAGE;
	}
	/* O_NOFOLLOW, and no O_CREAT: never a file in its place. */
	fd = open(FILE_PM_QOS, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0) {
		ctl_error("--wake-latency: " FILE_PM_QOS ": %s; %s", strerror(errno),
			  errno == EACCES || errno == EPERM ?
				  "run gchintctl as root" :
				  "a container has to be given that file");
		return CTL_FAILED;
	}
	latency = (int32_t)value;
	if (write(fd, &latency, sizeof(latency)) != sizeof(latency)) {
		ctl_error("--wake-latency: " FILE_PM_QOS ": %s", strerror(errno));
		close(fd);
		return CTL_FAILED;
	}
	/* Left open: it ends with us. */
	return CTL_OK;
}
