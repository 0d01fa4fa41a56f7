// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf-map.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../common/regular.h"

void perf_map_path(char *path, size_t size, const char *directory, int32_t pid)
{
	snprintf(path, size, "%s/perf-%d.map", directory, pid);
}

int perf_map_open(const char *directory, int32_t pid, struct stat *st)
{
	char path[512];

	perf_map_path(path, sizeof(path), directory, pid);
	return regular_open(path, O_NOFOLLOW, st);
}

bool symbol_file_is_trusted(const struct stat *st, const uid_t *users, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (st->st_uid == users[i])
			return true;
	return st->st_uid == geteuid();
}

bool perf_map_parse_line(char *line, struct symbol *s)
{
	char *end;

	*s = (struct symbol){ .start = strtoull(line, &end, 16) };
	if (end == line || *end != ' ')
		return false;
	line = end + 1;
	s->size = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1])
		return false;
	s->name = end + 1;
	return s->start + s->size >= s->start;
}
