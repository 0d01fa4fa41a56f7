/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which processes and samples to record: struct config_hotspots, which may change at any time. */
#ifndef SOURCE_FILTER_H
#define SOURCE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "../context.h"

/* Matches a process by its name or command line, its cgroup and its unit. */
bool filter_process(const struct source_context *context, const struct config_hotspots *c,
		    int32_t pid);

/* Whether @name matches one of the shell patterns of @list, which '|' separates. */
bool filter_name(const char *list, const char *name);

/* Describes the filter in a note: "command=..., unit=...", without what matches everything. */
const char *filter_words(const struct config_hotspots *c, char *text, size_t size);

#endif
