/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of gchintd. */
#ifndef GCHINTD_OPTIONS_H
#define GCHINTD_OPTIONS_H

#include <stdbool.h>

#include "../../source/config.h"
#include "../../source/context.h"

/* Exit codes, as gchintd(8) lists them. */
enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1, /* something broke while running */
	EXIT_USAGE = 2,
	EXIT_CONFIG = 3,
	EXIT_RECORD = 4, /* the recording could not be made */
	EXIT_NOTHING = 5, /* no source and no metrics: nothing to do */
};

struct options {
	const char *config; /* path, NULL for none */
	bool config_given;
	bool check;
	const char *annotations; /* socket, NULL for none */
	const char *command; /* that is recorded, NULL if not known */
	/* Values that override those of the file, again after each reload. */
	const char *record, *label, *keep, *max_size, *period_ms;
};

/**
 * options_parse - parse the command line
 * @o: result
 * @root: where the kernel's file systems are; changed by --sysfs etc.
 * @feed: receives the argument of --feed
 * @code: exit code when false is returned
 *
 * Returns false when the program should end: help was printed, or an error reported.
 */
bool options_parse(struct options *o, struct root *root, const char **feed, int argc, char **argv,
		   int *code);

/**
 * options_config - combine the configuration file with the command line
 * @o: the options
 * @config: result; left alone on failure
 * @error: receives what is wrong
 * @size: of @error
 *
 * Returns 0 or -errno.
 */
int options_config(const struct options *o, struct config *config, char *error, size_t size);

#endif
