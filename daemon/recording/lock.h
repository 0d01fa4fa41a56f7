/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ownership of a recording: one byte of the file is locked as long as the file grows. The
 * lock belongs to an open file description, so it follows the file when it is renamed and
 * is released when the process ends, however that happens.
 */
#ifndef RECORDING_LOCK_H
#define RECORDING_LOCK_H

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
 * Call only after the database was closed: closing any descriptor of a file drops the locks
 * that SQLite holds on it.
 */
void lock_release(int fd);
/* Whether @path is still the name of the locked file. */
bool lock_names(int fd, const char *path);

#endif
