/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Phases and pauses of a run by process, for a picture: a lane a process. Where there are more
 * phases than a picture can show, equal parts of the time have the share that phases took of each,
 * so that a short phase is as small as it was.
 */
#ifndef GCHINTCTL_LANES_H
#define GCHINTCTL_LANES_H

#include "../../recording/reader/processes.h"
#include "timeline.h"

#define LANES 24

/* A run of no more phases has each of them; of more, all lanes together have so many parts. */
#define LANES_WHOLE 8000
#define LANES_PARTS 16000
/* Parts of one lane. */
#define LANES_PARTS_MOST  4000
#define LANES_PARTS_LEAST 500

/* The same for pauses: parts of the run, and of each of its windows. */
#define LANES_PAUSES	    3000
#define LANES_PAUSES_WINDOW 250

/**
 * struct lanes - the processes of a run
 * @p: the processes
 * @nr: lanes; the last one has all processes that are left, if there are more
 * @seen: which groups of phases a lane has
 * @parts: of the run, in each lane; 0: each phase is known
 * @timeline: the run with its windows, in which each phase is known
 * @pause_groups: the group of the longest phase of each pause of the recording; 0 not known
 * @pause_lanes: the lane of each pause
 */
struct lanes {
	struct processes p;
	size_t nr;
	bool seen[LANES][PHASE_GROUPS];
	unsigned int parts;
	struct timeline timeline;
	uint16_t *pause_groups, *pause_lanes;
};

/* Returns false without memory, after reporting it; else call lanes_free(). */
bool lanes_of(const struct timeline *t, struct lanes *l);
void lanes_free(struct lanes *l);

/* "java (70)", or "5 others". */
const char *lanes_name(const struct lanes *l, size_t lane, char *buf, size_t size);

typedef void (*lanes_box_fn)(void *data, uint64_t from, uint64_t to);

/*
 * Calls @box for the phases of a group in a lane, joined where they overlap: all if there are no
 * parts, else those in windows, where phases closer than half a cell are joined too.
 */
void lanes_boxes(const struct lanes *l, size_t lane, unsigned int group, lanes_box_fn box,
		 void *data);

/* The time in ns that phases of a group took of each part; @ns has l->parts entries. */
void lanes_shares(const struct lanes *l, size_t lane, unsigned int group, uint64_t *ns);

/*
 * Calls @pause for the pauses of a lane: of several in one part, outside of windows, only for the
 * longest. Returns how many pauses there are.
 */
size_t lanes_pauses(const struct lanes *l, size_t lane,
		    void (*pause)(void *data, const struct recording_pause *pause,
				  unsigned int group),
		    void *data);

#endif
