/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gchintctl's commands. One file each, one line in the table of main.c. */
#ifndef GCHINTCTL_CTL_H
#define GCHINTCTL_CTL_H

#include <stdbool.h>
#include <stdio.h>

/* Exit codes, as gchintctl(1) lists them. */
enum {
	CTL_OK = 0,
	CTL_FAILED = 1,
	CTL_USAGE = 2,
	CTL_FILE = 3, /* a recording cannot be read, or an output cannot be written */
	CTL_DAEMON = 4, /* gchintd could not be started or reached */
	CTL_UNMEASURED = 5, /* a measured command failed, or a figure with a limit is unknown */
	CTL_INCONCLUSIVE = 6, /* runs do not say whether a figure is above its limit */
};

struct ctl {
	bool json;
};

/* @argv[0] is the command's name. Each returns an exit code. */
int cmd_attach(const struct ctl *ctl, int argc, char **argv);
int cmd_calibrate(const struct ctl *ctl, int argc, char **argv);
int cmd_compare(const struct ctl *ctl, int argc, char **argv);
int cmd_doctor(const struct ctl *ctl, int argc, char **argv);
int cmd_export(const struct ctl *ctl, int argc, char **argv);
int cmd_import(const struct ctl *ctl, int argc, char **argv);
int cmd_annotations(const struct ctl *ctl, int argc, char **argv);
int cmd_measure(const struct ctl *ctl, int argc, char **argv);
int cmd_profile(const struct ctl *ctl, int argc, char **argv);
int cmd_record(const struct ctl *ctl, int argc, char **argv);
int cmd_report(const struct ctl *ctl, int argc, char **argv);
int cmd_run(const struct ctl *ctl, int argc, char **argv);
int cmd_runtimes(const struct ctl *ctl, int argc, char **argv);
int cmd_status(const struct ctl *ctl, int argc, char **argv);
int cmd_summary(const struct ctl *ctl, int argc, char **argv);
int cmd_top(const struct ctl *ctl, int argc, char **argv);
int cmd_actuator(const struct ctl *ctl, int argc, char **argv);
int cmd_watch(const struct ctl *ctl, int argc, char **argv);
int cmd_why(const struct ctl *ctl, int argc, char **argv);

/* "gchintctl: ..." on stderr. */
void ctl_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * ctl_create - create an output file
 * @path: its name, or "-" for standard output; an existing file is replaced, unless it is a
 *	database: a recording named as the output by mistake is kept
 *
 * The file appears under its name with ctl_commit(); until then an existing file is kept. A
 * pipe or a device is written directly. Returns NULL after an error message.
 */
FILE *ctl_create(const char *path);
/* Closes a file of ctl_create() and moves it to @path. Returns an exit code. */
int ctl_commit(FILE *f, const char *path);
/* Closes the file and drops it; an existing file is kept. */
void ctl_discard(FILE *f);

/**
 * ctl_directory - make a temporary directory
 * @path: receives its path
 * @size: of @path
 * @name: the beginning of its name
 *
 * In /tmp; in /dev/shm where that is read-only, as in a container. Returns 0 or -errno.
 */
int ctl_directory(char *path, size_t size, const char *name);

/* Points to the command's --help, after getopt has named the mistake. Returns CTL_USAGE. */
int ctl_usage(const char *command);

#endif
