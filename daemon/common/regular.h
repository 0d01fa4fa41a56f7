/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Opens files whose path another program chose. Opening a device or a pipe could wait or
 * have side effects.
 */
#ifndef GCHINT_REGULAR_H
#define GCHINT_REGULAR_H

#include <sys/stat.h>

/**
 * regular_open - open a regular file for reading
 * @flags: O_NOFOLLOW, or 0
 * @st: receives the status of the file
 *
 * Never waits. Returns a descriptor, or -1 if the file cannot be read or is not regular.
 */
int regular_open(const char *path, int flags, struct stat *st);

#endif
