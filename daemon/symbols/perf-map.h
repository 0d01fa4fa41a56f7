/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps in perf's format of the code that a runtime generates: perf-PID.map, in a directory of the
 * recorder or in /tmp, where perf(1) expects it. They are untrusted input.
 */
#ifndef SYMBOLS_PERF_MAP_H
#define SYMBOLS_PERF_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "symbols.h"

/* The environment variable by which programs know the recorder's directory. */
#define PERF_MAP_DIRECTORY "GCHINT_SYMBOLS"
/* Any user may write there. */
#define PERF_MAP_PUBLIC "/tmp"

/* Writes "DIRECTORY/perf-PID.map". */
void perf_map_path(char *path, size_t size, const char *directory, int32_t pid);

/*
 * Opens the map of a process in a directory; follows no link, which others may have made. Returns
 * -1 if there is none. In PERF_MAP_PUBLIC it may be another user's: see symbol_file_is_trusted().
 */
int perf_map_open(const char *directory, int32_t pid, struct stat *st);

/*
 * Whether a map or a dump of a process counts that is not in a directory of the recorder: as for
 * perf(1), if it belongs to one of the @nr users of that process, or to ours.
 */
bool symbol_file_is_trusted(const struct stat *st, const uid_t *users, size_t nr);

/*
 * Parses a line "START SIZE NAME", the numbers in hexadecimal. The name points into @line. Returns
 * false if it is malformed.
 */
bool perf_map_parse_line(char *line, struct symbol *s);

#endif
