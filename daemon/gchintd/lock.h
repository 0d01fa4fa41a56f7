/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose a recording is: one byte of the file, locked as long as it grows. Held by
 * an open file description, so that the lock follows the file when it is renamed
 * and goes with the process, however that ends.
 */
#ifndef GCHINTD_LOCK_H
#define GCHINTD_LOCK_H

#include <stdbool.h>

/**
 * lock_take - become the only recorder of a file
 * @path: the file, which exists
 *
 * Returns a descriptor to be closed by lock_release(), -EBUSY when another
 * process records into the file, -ESTALE when it was moved away meanwhile, or
 * another -errno.
 */
int lock_take(const char *path);
/*
 * Closing a descriptor of a file drops the locks that SQLite has on it: only after
 * the database was closed.
 */
void lock_release(int fd);
/* Whether @path is still the name of the locked file. */
bool lock_names(int fd, const char *path);

#endif
