// SPDX-License-Identifier: GPL-2.0-or-later
#include "mapping.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool mapping_parse(char *line, struct mapping *m)
{
	int at = 0;
	char x;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*2c%c%*c %" SCNx64 " %*s %*s %n", &m->start,
		   &m->end, &x, &m->offset, &at) < 4 ||
	    !at)
		return false;
	line[strcspn(line, "\n")] = '\0';
	m->executable = x == 'x';
	m->path = line + at;
	return true;
}
