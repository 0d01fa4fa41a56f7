// SPDX-License-Identifier: GPL-2.0-or-later
#include "methods.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/root.h"
#include "../../symbols/perf-map.h"
#include "../privilege.h"
#include "filter.h"

#define SPANS_MAX (1 << 20)

/* The real user of a process, then the effective one. Returns their number. */
static size_t process_users(int32_t pid, uid_t users[2])
{
	char status[2048], *end;
	const char *uid;

	if (root_read(status, sizeof(status), "/proc/%d/status", pid) <= 0)
		return 0;
	uid = strstr(status, "\nUid:");
	if (!uid)
		return 0;
	users[0] = (uid_t)strtoul(uid + strlen("\nUid:"), &end, 10);
	users[1] = (uid_t)strtoul(end, NULL, 10);
	return 2;
}

/* Opens the program's map file. */
static FILE *map_open(int32_t pid)
{
	const char *directory = getenv("GCHINT_SYMBOLS");
	uid_t users[2];
	struct stat st;
	FILE *f = NULL;
	int fd = -1;

	privilege_raise();
	if (directory)
		fd = perf_map_open(directory, pid, &st);
	if (fd < 0) {
		directory = NULL;
		fd = perf_map_open(PERF_MAP_PUBLIC, pid, &st);
	}
	privilege_lower();
	if (fd >= 0 && (directory || symbol_file_is_trusted(&st, users, process_users(pid, users))))
		f = fdopen(fd, "r");
	if (fd >= 0 && !f)
		close(fd);
	return f;
}

static void map_parse_line(struct methods *m, char *line, const char *list)
{
	struct symbol symbol;
	struct span s, *more;

	line[strcspn(line, "\n")] = '\0';
	if (!perf_map_parse_line(line, &symbol) || !symbol.size || m->nr >= SPANS_MAX)
		return;
	s = (struct span){ symbol.start, symbol.size, filter_name(list, symbol.name) };
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
