// SPDX-License-Identifier: GPL-2.0-or-later
#include "memory-group.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../../recording/record.h"

#define UNLIMITED (1ull << 60) /* version 1 has a number of pages for that, near 2^63 */
#define OLD	  "/memory" /* directory of version 1 */

/* Version 2 counts what its processes did to the group, and to those below it. */
static int64_t events_parse(const char *text)
{
	int64_t pressed = 0;

	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		uint64_t count;

		line += *line == '\n';
		if (sscanf(line, "high %" SCNu64, &count) == 1 ||
		    sscanf(line, "max %" SCNu64, &count) == 1)
			pressed += (int64_t)count;
	}
	return pressed;
}

/* The lower one of its limits; UNLIMITED if it has none. */
static uint64_t group_limit(const struct root *root, const char *path, bool old)
{
	uint64_t most = UNLIMITED, high;

	root_u64(&most, "%s/fs/cgroup%s/%s", root->sysfs, path,
		 old ? "memory.limit_in_bytes" : "memory.max");
	if (!old && !root_u64(&high, "%s/fs/cgroup%s/memory.high", root->sysfs, path) &&
	    high < most)
		most = high;
	return most;
}

static bool group_read(const struct root *root, const char *path, struct memory_group *group)
{
	const bool old = !strncmp(path, OLD, strlen(OLD));
	const uint64_t most = group_limit(root, path, old);
	uint64_t used, failed;
	char text[512];

	if (most >= UNLIMITED || root_u64(&used, "%s/fs/cgroup%s/%s", root->sysfs, path,
					  old ? "memory.usage_in_bytes" : "memory.current"))
		return false;
	*group = (struct memory_group){ (int64_t)used, (int64_t)most, UNKNOWN_S64, "" };
	snprintf(group->path, sizeof(group->path), "%s", path);
	if (old && !root_u64(&failed, "%s/fs/cgroup%s/memory.failcnt", root->sysfs, path))
		group->pressed = (int64_t)failed;
	if (!old &&
	    root_read(text, sizeof(text), "%s/fs/cgroup%s/memory.events", root->sysfs, path) > 0)
		group->pressed = events_parse(text);
	return true;
}

bool memory_group_reread(const struct root *root, struct memory_group *group)
{
	char path[sizeof(group->path)];

	strcpy(path, group->path);
	return *path && group_read(root, path, group);
}

/* The path of a line such as "4:memory:/a/b" or "0::/a/b"; NULL if it is of other controllers. */
static const char *line_path(const char *line, bool old)
{
	const char *controllers = strchr(line, ':');
	const char *path = controllers ? strchr(controllers + 1, ':') : NULL;
	const size_t length = path ? (size_t)(path - controllers - 1) : 0;

	if (!path ||
	    (old ? length != strlen("memory") || strncmp(controllers + 1, "memory", length) :
		   length != 0))
		return NULL;
	return path + 1;
}

bool memory_group_read(const struct root *root, int32_t tgid, struct memory_group *group)
{
	char text[4096], path[sizeof(group->path)], *slash;
	struct memory_group found;

	*group = (struct memory_group){ .most = INT64_MAX };
	if (root_read(text, sizeof(text), "%s/%d/cgroup", root->procfs, tgid) <= 0)
		return false;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		for (int old = 0; old < 2; old++) {
			const char *of = line_path(line, old);

			/* One outside of our namespace has no path here. */
			if (!of || *of != '/' || !strncmp(of, "/..", 3))
				continue;
			snprintf(path, sizeof(path), "%s%s", old ? OLD : "", of);
			/* From its own group to the one of all. */
			for (bool more = true; more;) {
				if (group_read(root, path, &found) && found.most < group->most)
					*group = found;
				slash = strrchr(path, '/');
				more = slash && slash >= path + (old ? strlen(OLD) : 0);
				if (more)
					*slash = '\0';
			}
		}
	return group->most != INT64_MAX;
}
