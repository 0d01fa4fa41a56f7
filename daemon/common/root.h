/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the kernel's file systems are mounted. Every source takes its paths from here, so
 * that tests can replace them by a directory of their own.
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

/* The usual paths; GCHINT_SYSFS etc. override them. */
void root_init(struct root *root);

/**
 * root_read - read a small file as a string
 * @buf: receives at most @size - 1 bytes, always NUL-terminated, stripped of
 *	trailing white space
 * @size: of @buf
 * @fmt: path, printf-like
 *
 * Returns the length or -errno.
 */
int root_read(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Reads one unsigned (signed) number from a file; 0 or -errno, -EINVAL if it has none. */
int root_u64(uint64_t *value, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int root_s64(int64_t *value, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* access(2) with our effective IDs and capabilities: 0, or -1 and errno. */
int root_access(const char *path, int mode);

/* Writes a string to a file; 0 or -errno. */
int root_write(const char *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * root_list - list a directory in natural order (in2 before in10)
 * @path: directory
 * @prefix: of the entries to list
 * @fn: called with each name; stops on a non-zero result
 * @data: for @fn
 *
 * Returns the non-zero result of @fn, 0, or -errno if the directory cannot be read.
 */
int root_list(const char *path, const char *prefix, int (*fn)(void *data, const char *name),
	      void *data);

#endif
