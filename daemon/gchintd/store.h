/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording file: opened, filled in transactions, closed so that a single
 * file is left. The writer's thread owns it.
 */
#ifndef GCHINTD_STORE_H
#define GCHINTD_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"

struct store;

/**
 * store_open - make a new recording
 * @path: must not exist
 * @durable: sync each transaction to the medium
 * @error: receives what is wrong and the mend
 * @size: of @error
 *
 * Returns NULL on failure, and then leaves no file behind.
 */
struct store *store_open(const char *path, bool durable, char *error, size_t size);

/* 0, or -ENOSPC (full, or at a limit) or -EIO with store_error() set. */
int store_begin(struct store *s);
int store_record(struct store *s, const struct record *r);
int store_define(struct store *s, const struct definition *d);
int store_commit(struct store *s);
void store_rollback(struct store *s);

const char *store_error(const struct store *s);
/* Bytes of the file and its log. */
uint64_t store_size(const struct store *s);
/* Folds the log in and leaves one file. */
void store_close(struct store *s);

/* Moves PATH to PATH.1, PATH.1 to PATH.2, up to @keep; 0 or -errno. */
int store_rotate(const char *path, unsigned int keep);

#endif
