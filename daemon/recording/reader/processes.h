/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Groups the phases of a recording by process, so that energy can be split by process. */
#ifndef RECORDING_READER_PROCESSES_H
#define RECORDING_READER_PROCESSES_H

#include "recording.h"

/**
 * struct processes - the processes with phases, in the order of their first phase
 * @nr: number of groups; they are numbered from 1. If there are too many processes, the last
 *	group has all that are left
 * @tgid: process of each group; 0 for the group of all others
 * @name: last recorded name of the process
 * @group: group of each phase of the recording
 */
struct processes {
	size_t nr;
	int32_t tgid[PHASE_GROUPS];
	char name[PHASE_GROUPS][64];
	uint16_t *group;
};

/* Returns false without memory, after reporting it; else call processes_free(). */
bool processes_of(const struct recording *rec, struct processes *p);
void processes_free(struct processes *p);

/* "java (70)", "all others", or "outside of phases" for 0. */
const char *processes_name(const struct processes *p, unsigned int group, char *buf, size_t size);

#endif
