/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the kernel's file systems stand. Every source takes its paths from
 * here, so that a tree made by hand can stand in for a machine.
 */
#ifndef GCHINT_ROOT_H
#define GCHINT_ROOT_H

#include <stddef.h>
#include <stdint.h>

struct root {
	const char *sysfs; /* /sys */
	const char *procfs; /* /proc */
	const char *tracefs; /* /sys/kernel/tracing */
	const char *debugfs; /* /sys/kernel/debug */
	const char *dev; /* /dev */
};

/* The machine's own places, each replaced by GCHINT_SYSFS etc. when set. */
void root_init(struct root *root);

/**
 * root_read - a small file as a string
 * @buf: receives at most @size - 1 bytes, always NUL-terminated, stripped of
 *	trailing white space
 * @size: of @buf
 * @fmt: path, printf-like
 *
 * Returns the length or -errno.
 */
int root_read(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* One unsigned (signed) number from a file; 0 or -errno, -EINVAL if none. */
int root_u64(uint64_t *value, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int root_s64(int64_t *value, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* access(2), but with the capabilities we have: 0 or -1 and errno. */
int root_access(const char *path, int mode);

/* Writes a string to a file; 0 or -errno. */
int root_write(const char *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * root_list - entries of a directory, in natural order (in2 before in10)
 * @path: directory
 * @prefix: of the wanted entries
 * @fn: called with each name; stops on a non-zero result
 * @data: for @fn
 *
 * Returns what @fn stopped with, 0, or -errno when the directory is not there.
 */
int root_list(const char *path, const char *prefix, int (*fn)(void *data, const char *name),
	      void *data);

#endif
