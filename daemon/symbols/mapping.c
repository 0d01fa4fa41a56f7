// SPDX-License-Identifier: GPL-2.0-or-later
#include "mapping.h"

#include <stdlib.h>
#include <string.h>

/* The text after the next run of blanks; NULL at the end of the line. */
static char *field_skip(char *at)
{
	at += strcspn(at, " \n");
	return *at == ' ' ? at + strspn(at, " ") : NULL;
}

/* By hand: a recorder reads thousands of them a second, and sscanf() takes three times as long. */
bool mapping_parse(char *line, struct mapping *m)
{
	char *rights, *at;

	m->start = strtoull(line, &at, 16);
	if (at == line || *at != '-')
		return false;
	m->end = strtoull(at + 1, &at, 16);
	rights = *at == ' ' ? at + 1 : NULL;
	if (!rights || strcspn(rights, " \n") != 4)
		return false;
	m->executable = rights[2] == 'x';
	at = field_skip(rights);
	m->offset = at ? strtoull(at, &at, 16) : 0;
	/* The device and the inode, then blanks, also where there is no name. */
	for (int field = 0; field < 3 && at; field++)
		at = field_skip(at);
	if (!at)
		return false;
	at[strcspn(at, "\n")] = '\0';
	m->path = at;
	return true;
}
