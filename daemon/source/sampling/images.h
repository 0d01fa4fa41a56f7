/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executable mappings of a process, each recorded once. */
#ifndef SOURCE_IMAGES_H
#define SOURCE_IMAGES_H

#include <stddef.h>
#include <stdint.h>

struct source_context;

struct images {
	struct image {
		uint64_t start, end, name; /* @name: hash of its path */
	} * image; /* to be freed */
	size_t nr;
	uint64_t scanned_at; /* when the mappings were read last */
	uint64_t cost_ns; /* of reading them */
};

/* Records the executable mappings in /proc/PID/maps that are not recorded yet. */
void images_scan(struct images *i, struct source_context *context, int32_t pid);
/* Reads the mappings again, at most twice a second, if none is known at @ip. */
void images_know(struct images *i, struct source_context *context, int32_t pid, uint64_t ip);

/*
 * Reads them again for a process that was sampled: a library may have been unloaded, and another
 * one loaded at its address. This takes at most a half per cent of a CPU.
 */
void images_refresh(struct images *i, struct source_context *context, int32_t pid);

#endif
