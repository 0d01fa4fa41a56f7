/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which process each phase of a recording is of, as groups that energy can be split by. */
#ifndef GCHINTCTL_PROCESSES_H
#define GCHINTCTL_PROCESSES_H

#include "run.h"

/**
 * struct processes - those that had phases, in the order in which they had their first
 * @nr: how many groups, from 1 on; the last one is of all others where there are too many
 * @tgid: of each group; 0 of the others
 * @name: what it was called last
 * @group: of each phase of the run
 */
struct processes {
	size_t nr;
	int32_t tgid[RUN_GROUPS];
	char name[RUN_GROUPS][64];
	uint16_t *group;
};

/* False without memory, which is told; else to be freed. */
bool processes_of(const struct run *run, struct processes *p);
void processes_free(struct processes *p);

/* "java (70)", "all others", or "outside of phases" for 0. */
const char *processes_name(const struct processes *p, unsigned int group, char *buf, size_t size);

#endif
