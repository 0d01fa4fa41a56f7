/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Description: a directory for a test, with files as the kernel would show them. */
#ifndef TESTS_DAEMON_PLACE_H
#define TESTS_DAEMON_PLACE_H

#include <stdbool.h>

#include "../../daemon/source/source.h"

struct place {
	char dir[32];
	int before; /* the previous working directory */
};

/* False: it could not be made, which is reported. */
bool place_enter(struct place *p);
/* Removes it with everything in it. */
void place_leave(struct place *p);

/* A file, and its directories; an existing file is overwritten. */
void place_file(const char *path, const char *text);
/* Removes a file, or a directory with everything in it. */
void place_gone(const char *path);
/* The first line of a file; "none" without one. */
const char *place_line(const char *path);

/* A context whose kernel files are in the working directory. */
void place_context(struct source_context *context);
void place_context_free(struct source_context *context);

/* A source of rails starts with its clock at 1 us; its state. */
void *place_start(struct source_context *context, enum source_id id);
/* It stops, and no watch of it remains. */
void place_stop(enum source_id id, void *state);

/* Whether descriptor 0 is free to use: a daemon may be started without a standard input. */
void place_low(bool low);

/* The result of probing a source, as one line. */
const char *place_probe(const struct source *source, const struct source_context *context);

#endif
