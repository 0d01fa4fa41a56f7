// SPDX-License-Identifier: GPL-2.0-or-later
#include "methods.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../common/regular.h"
#include "filter.h"

#define SPANS_MAX (1 << 20)

/* The program's own file, whoever else may write into the folder. */
static FILE *open_map(int32_t pid)
{
	const char *folder = getenv("GCHINT_SYMBOLS");
	const char *const folders[] = { folder, "/tmp" };
	char path[512];
	struct stat st;
	FILE *f;
	int fd;

	for (size_t i = 0; i < 2; i++) {
		if (!folders[i])
			continue;
		snprintf(path, sizeof(path), "%s/perf-%d.map", folders[i], pid);
		fd = regular_open(path, O_NOFOLLOW, &st);
		if (fd < 0)
			continue;
		f = fdopen(fd, "r");
		if (f)
			return f;
		close(fd);
	}
	return NULL;
}

static void take_line(struct methods *m, char *line, const char *list)
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

/* What came since; a line that is not whole yet is for the next time. */
static void read_more(struct methods *m, int32_t pid, const char *list)
{
	FILE *f = open_map(pid);
	char line[1024];

	if (!f)
		return;
	if (!fseek(f, (long)m->read, SEEK_SET))
		while (fgets(line, sizeof(line), f) && strchr(line, '\n')) {
			m->read = ftell(f);
			take_line(m, line, list);
		}
	fclose(f);
}

static const struct span *find(const struct methods *m, uint64_t address)
{
	for (size_t i = m->nr; i-- > 0;)
		if (address - m->span[i].start < m->span[i].size)
			return &m->span[i];
	return NULL;
}

bool methods_want(struct methods *m, int32_t pid, const char *list, uint64_t address)
{
	const struct span *s = find(m, address);

	if (!s) {
		read_more(m, pid, list);
		s = find(m, address);
	}
	return s && s->wanted;
}

void methods_forget(struct methods *m)
{
	free(m->span);
	*m = (struct methods){ NULL, 0, 0 };
}
