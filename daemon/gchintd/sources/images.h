/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that a process has mapped, each told once. */
#ifndef GCHINTD_IMAGES_H
#define GCHINTD_IMAGES_H

#include <stddef.h>
#include <stdint.h>

struct host;

struct images {
	struct image {
		uint64_t start, end;
	} * image; /* to be freed */
	size_t nr;
	uint64_t looked; /* when it was looked last */
};

/* Tells what of /proc/PID/maps can be executed and was not told yet. */
void images_look(struct images *i, struct host *host, int32_t pid);
/* Looks anew, but not often, if nothing is known to be at @ip. */
void images_know(struct images *i, struct host *host, int32_t pid, uint64_t ip);

#endif
