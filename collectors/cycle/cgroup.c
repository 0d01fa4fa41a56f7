// SPDX-License-Identifier: MIT
/*
 * /proc/self/mountinfo names the mounted hierarchies, /proc/self/cgroup the group of the process in
 * each. A container may see a part of a hierarchy only: then the root of the mount is that part's
 * path, and groups above it cannot be read.
 */
#include "cgroup.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Undo the escapes of mountinfo: \040 for a space, and others. */
static void path_unescape(char *path)
{
	char *to = path;

	for (; *path; path++, to++) {
		if (*path == '\\' && isdigit((unsigned char)path[1]) &&
		    isdigit((unsigned char)path[2]) && isdigit((unsigned char)path[3])) {
			*to = (char)((path[1] - '0') << 6 | (path[2] - '0') << 3 | (path[3] - '0'));
			path += 3;
		} else {
			*to = *path;
		}
	}
	*to = '\0';
}

/* Is @word one of the words of @list, which commas separate? */
static bool list_has(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (!strncmp(list, word, length) && (!list[length] || list[length] == ','))
			return true;
	return false;
}

static int mount_set(struct gc_cgroup_mount *mount, char *root, char *path)
{
	/* The first one counts; bind mounts of parts come later. */
	if (mount->path)
		return 0;
	path_unescape(root);
	path_unescape(path);
	mount->root = strdup(root);
	mount->path = strdup(path);
	return mount->root && mount->path ? 0 : -ENOMEM;
}

/* "ID PARENT DEVICE ROOT PATH OPTIONS [FIELD...] - TYPE SOURCE OPTIONS" */
static int mount_parse(struct gc_cgroups *groups, char *line)
{
	char *tail = strstr(line, " - "), *field[5], *type, *options, *save;

	if (!tail)
		return 0;
	*tail = '\0';
	type = strtok_r(tail + 3, " \n", &save);
	strtok_r(NULL, " \n", &save);
	options = strtok_r(NULL, " \n", &save);
	field[0] = strtok_r(line, " ", &save);
	for (int i = 1; i < 5; i++)
		field[i] = strtok_r(NULL, " ", &save);
	if (!type || !options || !field[4])
		return 0;
	if (!strcmp(type, "cgroup2"))
		return mount_set(&groups->unified, field[3], field[4]);
	if (!strcmp(type, "cgroup") && list_has(options, "memory"))
		return mount_set(&groups->memory, field[3], field[4]);
	return 0;
}

/* 0 with *@file NULL: there is no such file to read. */
static int file_open(const char *path, FILE **file)
{
	*file = fopen(path, "re");
	if (!*file && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
		return -errno;
	return 0;
}

int gc_cgroups_init(struct gc_cgroups *groups)
{
	char *line = NULL;
	size_t size = 0;
	FILE *file;
	int ret;

	memset(groups, 0, sizeof(*groups));
	ret = file_open("/proc/self/mountinfo", &file);
	if (!file)
		return ret;
	while (!ret && getline(&line, &size, file) > 0)
		ret = mount_parse(groups, line);
	free(line);
	fclose(file);
	return ret;
}

void gc_cgroups_fini(struct gc_cgroups *groups)
{
	free(groups->unified.root);
	free(groups->unified.path);
	free(groups->memory.root);
	free(groups->memory.path);
	memset(groups, 0, sizeof(*groups));
}

/*
 * Lower *@lowest to the number of bytes in a file; one that does not exist, or says "max", sets no
 * limit.
 */
static int limit_read(const char *directory, const char *name, uint64_t *lowest)
{
	char path[PATH_MAX], text[32] = "";
	unsigned long long bytes;
	FILE *file;
	char *end;
	int ret;

	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >= (int)sizeof(path))
		return 0;
	ret = file_open(path, &file);
	if (!file)
		return ret;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	errno = 0;
	bytes = strtoull(text, &end, 10);
	if (end != text && !errno && bytes < *lowest)
		*lowest = bytes;
	return 0;
}

/* The directory of group @group in @mount; false: its path is too long */
static bool group_directory(const struct gc_cgroup_mount *mount, const char *group, char *directory,
			    size_t size)
{
	size_t length = strcmp(mount->root, "/") ? strlen(mount->root) : 0;
	const char *below = group + length;

	/* A group that is not below the root of the mount: all that can be read is that root. */
	if (strncmp(group, mount->root, length) || (*below && *below != '/') ||
	    !strncmp(group, "/..", 3))
		below = "";
	return snprintf(directory, size, "%s%s", mount->path, strcmp(below, "/") ? below : "") <
	       (int)size;
}

/* The lowest of @names in the directory of @group and in those above it, up to the mount's */
static int mount_limit(const struct gc_cgroup_mount *mount, const char *group,
		       const char *const *names, uint64_t *lowest)
{
	char directory[PATH_MAX], *slash;
	int ret = 0;

	if (!mount->path || !group_directory(mount, group, directory, sizeof(directory)))
		return 0;
	for (;;) {
		for (const char *const *name = names; *name && !ret; name++)
			ret = limit_read(directory, *name, lowest);
		slash = strrchr(directory, '/');
		if (ret || !slash || strlen(directory) <= strlen(mount->path))
			return ret;
		*slash = '\0';
	}
}

int gc_cgroups_limit(const struct gc_cgroups *groups, uint64_t *lowest)
{
	static const char *const v2[] = { "memory.max", "memory.high", NULL };
	static const char *const v1[] = { "memory.limit_in_bytes", NULL };
	char *line = NULL, *list, *group;
	size_t size = 0;
	FILE *file;
	int ret;

	*lowest = GC_CGROUP_UNLIMITED;
	if (!groups->unified.path && !groups->memory.path)
		return 0;
	ret = file_open("/proc/self/cgroup", &file);
	if (!file)
		return ret;
	/* "ID:CONTROLLERS:GROUP"; the unified hierarchy has no controllers here. */
	while (!ret && getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		list = strchr(line, ':');
		group = list ? strchr(list + 1, ':') : NULL;
		if (!group)
			continue;
		list++;
		*group++ = '\0';
		if (!*list)
			ret = mount_limit(&groups->unified, group, v2, lowest);
		else if (list_has(list, "memory"))
			ret = mount_limit(&groups->memory, group, v1, lowest);
	}
	free(line);
	fclose(file);
	return ret;
}
