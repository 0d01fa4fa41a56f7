/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes and samples are wanted: struct config_hotspots, which may change at any time. */
#ifndef GCHINTD_FILTER_H
#define GCHINTD_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "../host.h"

/* By its name or command line, its cgroup and its unit. */
bool filter_process(const struct host *host, const struct config_hotspots *c, int32_t pid);

/* Whether one of the shell patterns of @list, between which are '|', is like @name. */
bool filter_name(const char *list, const char *name);

/* "command=..., unit=...": what is not everything, for a note. */
const char *filter_words(const struct config_hotspots *c, char *text, size_t size);

#endif
