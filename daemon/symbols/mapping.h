/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of /proc/PID/maps. */
#ifndef SYMBOLS_MAPPING_H
#define SYMBOLS_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct mapping - a mapping of a process
 * @start: its first address
 * @end: the address after it
 * @offset: of @start in the file
 * @executable: code may run there
 * @path: the file, or a name in brackets; "" if it has none
 */
struct mapping {
	uint64_t start, end, offset;
	bool executable;
	const char *path;
};

/* Returns false if the line is malformed. The path points into @line, whose newline is removed. */
bool mapping_parse(char *line, struct mapping *m);

#endif
