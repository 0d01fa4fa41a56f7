/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Description: a folder of our own to work in, in which files are made as the kernel would show them. */
#ifndef TESTS_DAEMON_PLACE_H
#define TESTS_DAEMON_PLACE_H

#include <stdbool.h>

#include "../../daemon/gchintd/source/source.h"

struct place {
	char dir[32];
	int before; /* the folder that was worked in */
};

/* False: it could not be made, which is told. */
bool place_enter(struct place *p);
/* Removes it with all that is in it. */
void place_leave(struct place *p);

/* A file, and the folders to it; one that is there is written anew. */
void place_file(const char *path, const char *text);
/* A file, or a folder with all that is in it, is there no more. */
void place_gone(const char *path);
/* The first line of a file; "none" where there is none. */
const char *place_line(const char *path);

/* A host whose kernel's files stand in the folder that is worked in. */
void place_host(struct host *host);
void place_host_free(struct host *host);

/* A source of rails starts where its clock stands at 1 us; its state. */
void *place_start(struct host *host, enum source_id id);
/* It stops, and nothing of it is waited for. */
void place_stop(enum source_id id, void *state);

/*
 * Whether descriptor 0 is to be had, which is one like any other: nobody promises a
 * daemon a standard input.
 */
void place_low(bool low);

/* What probing of a source gives, a line. */
const char *place_probe(const struct source *source, const struct host *host);

#endif
