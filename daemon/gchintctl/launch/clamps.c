// SPDX-License-Identifier: GPL-2.0-or-later
#include "clamps.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* struct sched_attr of Linux 5.3, which C libraries do not have. */
struct clamps_attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t util_min, util_max;
};

#define KEEP_ALL       0x18 /* policy and parameters */
#define UTIL_CLAMP_MAX 0x40
#define UTIL_FULL      1024
#define UTIL_DEFAULT   UINT32_MAX /* since Linux 5.11 */

static int clamps_write(uint32_t max)
{
	struct clamps_attr a = { .size = sizeof(a),
				 .flags = KEEP_ALL | UTIL_CLAMP_MAX,
				 .util_max = max };

	return syscall(SYS_sched_setattr, 0, &a, 0) ? errno : 0;
}

static int clamps_try(void)
{
	struct clamps_attr a = { 0 };
	int error;

	if (syscall(SYS_sched_getattr, 0, &a, (unsigned int)sizeof(a), 0))
		return errno;
	/* An older kernel fills in a smaller structure. */
	if (a.size < sizeof(a) || a.util_max > UTIL_FULL)
		return EINVAL;
	error = clamps_write(a.util_max == UTIL_FULL ? UTIL_DEFAULT : a.util_max);
	return error == EINVAL ? clamps_write(a.util_max) : error;
}

const char *clamps_missing(void)
{
	const char *percent = getenv("GCHINT_CLAMP");

	if (percent && !strcmp(percent, "0"))
		return "GCHINT_CLAMP=0 forbids clamps";
	switch (clamps_try()) {
	case 0:
		return NULL;
	case EOPNOTSUPP:
		return "the kernel is built without CONFIG_UCLAMP_TASK, as Debian's are; "
		       "boot one that has it";
	case EINVAL:
	case E2BIG:
		return "utilisation clamps need Linux 5.3 or newer";
	case ENOSYS:
		return "the kernel is older than 3.14, or a seccomp filter hides sched_setattr(2)";
	case EACCES:
	case EPERM:
		return "sched_setattr(2) is not permitted; allow it in the seccomp filter of the "
		       "container or service";
	default:
		return "sched_setattr(2) fails unexpectedly";
	}
}
