// SPDX-License-Identifier: GPL-2.0-or-later
#include "methods.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/regular.h"
#include "../../common/root.h"
#include "../privilege.h"
#include "filter.h"

#define SPANS_MAX (1 << 20)

/* Whether the file is the process's own: any user can create that of another's in /tmp. */
static bool map_is_of(const struct stat *st, int32_t pid)
{
	char status[2048];
	const char *uid;
	char *end;

	if (root_read(status, sizeof(status), "/proc/%d/status", pid) <= 0)
		return false;
	uid = strstr(status, "\nUid:");
	/* The real user, then the effective one. */
	return uid && (st->st_uid == strtoul(uid + strlen("\nUid:"), &end, 10) ||
		       st->st_uid == strtoul(end, NULL, 10));
}

/* Opens the program's map file; O_NOFOLLOW, since other users may write to the directory. */
static FILE *map_open(int32_t pid)
{
	const char *dir = getenv("GCHINT_SYMBOLS");
	const char *const dirs[] = { dir, "/tmp" };
	char path[512];
	struct stat st;
	FILE *f;
	int fd;

	for (size_t i = 0; i < 2; i++) {
		if (!dirs[i])
			continue;
		snprintf(path, sizeof(path), "%s/perf-%d.map", dirs[i], pid);
		privilege_raise();
		fd = regular_open(path, O_NOFOLLOW, &st);
		privilege_lower();
		if (fd < 0)
			continue;
		f = dirs[i] == dir || map_is_of(&st, pid) ? fdopen(fd, "r") : NULL;
		if (f)
			return f;
		close(fd);
	}
	return NULL;
}

static void map_parse_line(struct methods *m, char *line, const char *list)
{
	struct span s, *more;
	char *end;

	s.start = strtoull(line, &end, 16);
	s.size = strtoull(end, &end, 16);
	if (*end != ' ' || !s.size || m->nr >= SPANS_MAX)
		return;
	end[strcspn(end, "\n")] = '\0';
	s.wanted = filter_name(list, end + 1);
	if (!(m->nr & (m->nr - 1))) {
		more = realloc(m->span, (m->nr ? m->nr * 2 : 1) * sizeof(*more));
		if (!more)
			return;
		m->span = more;
	}
	m->span[m->nr++] = s;
}

/* Reads lines that were added since; an incomplete one is left for the next call. */
static void map_read_more(struct methods *m, int32_t pid, const char *list)
{
	char line[RING_NAME];
	FILE *f;

	while (m->ring && ring_name(m->ring, &m->received, false, line))
		map_parse_line(m, line, list);
	f = map_open(pid);
	if (!f)
		return;
	if (!fseek(f, (long)m->read, SEEK_SET))
		while (fgets(line, sizeof(line), f) && strchr(line, '\n')) {
			m->read = ftell(f);
			map_parse_line(m, line, list);
		}
	fclose(f);
}

static const struct span *span_find(const struct methods *m, uint64_t address)
{
	for (size_t i = m->nr; i-- > 0;)
		if (address - m->span[i].start < m->span[i].size)
			return &m->span[i];
	return NULL;
}

bool methods_want(struct methods *m, int32_t pid, const char *list, uint64_t address)
{
	const struct span *s = span_find(m, address);

	if (!s) {
		map_read_more(m, pid, list);
		s = span_find(m, address);
	}
	return s && s->wanted;
}

void methods_forget(struct methods *m)
{
	free(m->span);
	*m = (struct methods){ .ring = m->ring };
}
