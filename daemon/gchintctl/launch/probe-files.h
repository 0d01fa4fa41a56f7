/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The programs and libraries that the name in a probe means. */
#ifndef GCHINTCTL_PROBE_FILES_H
#define GCHINTCTL_PROBE_FILES_H

#include <stddef.h>
#include <sys/types.h>

#define PROBE_FILES 16

/**
 * struct probe_files - files
 * @path: their paths, each of another file
 * @nr: how many
 */
struct probe_files {
	char *path[PROBE_FILES];
	size_t nr;
};

/**
 * probe_files_find - find the files that a program may load by a name
 * @files: receives them, for probe_files_free()
 * @name: a path or a pattern of paths; the name of a library, which may have a version appended, or of
 *	the program; empty: the program
 * @program: its file; NULL: unknown
 *
 * Libraries are searched where the loader searches, and everywhere that it does, so that those are
 * found that a program loads later, or another one that it starts.
 */
void probe_files_find(struct probe_files *files, const char *name, const char *program);

/*
 * The same of the files that a process has mapped as code; if it has none of a path, those that it has
 * there, which it may load later.
 */
void probe_files_mapped(struct probe_files *files, const char *name, pid_t pid);

void probe_files_free(struct probe_files *files);

#endif
