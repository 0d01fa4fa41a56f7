// SPDX-License-Identifier: GPL-2.0-or-later
/* Files that commands write. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "ctl.h"

/* The first bytes of every SQLite file, the NUL too. */
static bool is_database(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char head[sizeof(magic)];
	struct stat st;
	FILE *f;
	bool is;

	/* A pipe or a terminal would wait for somebody to write. */
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	f = fopen(path, "re");
	if (!f)
		return false;
	is = fread(head, sizeof(head), 1, f) == 1 && !memcmp(head, magic, sizeof(magic));
	fclose(f);
	return is;
}

FILE *ctl_create(const char *path)
{
	FILE *f;

	if (is_database(path)) {
		ctl_error("%s: is a database, and stays; name another output with -o", path);
		return NULL;
	}
	f = fopen(path, "we");
	if (!f)
		ctl_error("%s: %s", path, strerror(errno));
	return f;
}
