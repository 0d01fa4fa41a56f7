/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording file: opened, filled in transactions, and closed so that a single file is
 * left. Used by the writer's thread only.
 */
#ifndef RECORDING_STORE_H
#define RECORDING_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record.h"

struct store;

/**
 * store_open - make a new recording
 * @path: must not exist
 * @durable: sync each transaction to the medium
 * @error: receives the error and its remedy
 * @size: of @error
 *
 * Holds the file's lock until store_close(). Returns NULL on failure, and then
 * leaves no file behind.
 */
struct store *store_open(const char *path, bool durable, char *error, size_t size);

/* 0, or -ENOSPC (full, or at a limit) or -EIO with store_error() set. */
int store_begin(struct store *s);
int store_record(struct store *s, const struct record *r);
int store_define(struct store *s, const struct definition *d);
int store_commit(struct store *s);
void store_rollback(struct store *s);

/* Why the file has a rollback journal in place of a write-ahead log; NULL if it has a log. */
const char *store_no_log(const struct store *s);
const char *store_error(const struct store *s);
/* Bytes of the file and its log. */
uint64_t store_size(const struct store *s);
/* Checkpoints the log and leaves a single file. */
void store_close(struct store *s);
/*
 * The same at the end of a recording, with indexes for readers. They are left out if they
 * take too much time, memory or disk: the file is complete without them.
 */
void store_finish(struct store *s);

/*
 * Adds the indexes to a recording that was closed without them, if they can be had as in
 * store_finish(). Holds the file's lock meanwhile.
 */
void store_index(const char *path);

/**
 * store_rotate - move PATH to PATH.1, PATH.1 to PATH.2, and so on
 * @path: the recording; its log alone is moved, too
 * @keep: the highest number; what had it is removed
 *
 * Returns 0, -EBUSY or -ESTALE when another daemon records into one of them,
 * or another -errno; nothing was moved then unless a rename failed.
 */
int store_rotate(const char *path, unsigned int keep);
/* Explains an error of store_rotate() and its remedy. */
void store_why_not(int ret, const char *path, char *error, size_t size);

#endif
