/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory that a process's control group may use, and uses. */
#ifndef SOURCE_CPU_MEMORY_GROUP_H
#define SOURCE_CPU_MEMORY_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "../../common/root.h"

/**
 * struct memory_group - the group with the lowest limit, of a process's own and those around it
 * @used: bytes in use
 * @most: its limit in bytes
 * @pressed: how often its processes reached a limit; UNKNOWN_S64
 * @path: its directory, below that of all control groups
 */
struct memory_group {
	int64_t used, most, pressed;
	char path[1024];
};

/* Reads that of @tgid. Returns false if it has no limit, or if it is not known. */
bool memory_group_read(const struct root *root, int32_t tgid, struct memory_group *group);

/* Reads @group again, whose process may have ended. Returns false if it is gone. */
bool memory_group_reread(const struct root *root, struct memory_group *group);

#endif
