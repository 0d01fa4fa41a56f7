/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that other programs left or named: read, and nothing done to what is no file. */
#ifndef GCHINT_REGULAR_H
#define GCHINT_REGULAR_H

#include <sys/stat.h>

/**
 * regular_open - open a regular file for reading
 * @flags: O_NOFOLLOW, or 0
 * @st: of what was opened
 *
 * Never waits. A descriptor, or -1: it cannot be read, or is a device, a pipe, a folder.
 */
int regular_open(const char *path, int flags, struct stat *st);

#endif
