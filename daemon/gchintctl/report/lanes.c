// SPDX-License-Identifier: GPL-2.0-or-later
#include "lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../recording/reader/memory.h"

#define NO_PAUSE SIZE_MAX

/* The lane of a group of processes, which are numbered from 1. */
static size_t lane_of_group(const struct lanes *l, size_t group)
{
	return group > l->nr ? l->nr - 1 : group - 1;
}

static size_t lane_of_process(const struct lanes *l, int32_t tgid)
{
	for (size_t g = 1; g <= l->p.nr; g++)
		if (l->p.tgid[g] == tgid)
			return lane_of_group(l, g);
	return l->nr - 1;
}

/*
 * The longest phase of each pause, in one walk: phases are by begin, and so are the pauses of a
 * process, which do not overlap. @next is the next pause of the same lane.
 */
static void pauses_find_groups(struct lanes *l, size_t *next, uint64_t *longest)
{
	const struct recording *rec = l->timeline.rec;
	size_t current[LANES];

	for (size_t i = 0; i < LANES; i++)
		current[i] = NO_PAUSE;
	for (size_t i = rec->pauses; i-- > 0;) {
		const size_t lane = l->pause_lanes[i];

		next[i] = current[lane];
		current[lane] = i;
	}
	for (size_t i = 0; i < rec->phases; i++) {
		const struct recording_phase *phase = &rec->phase[i];
		size_t *at = &current[lane_of_group(l, l->p.group[i])];

		if (!phase->stw)
			continue;
		while (*at != NO_PAUSE && rec->pause[*at].t1 <= phase->t0)
			*at = next[*at];
		for (size_t k = *at; k != NO_PAUSE && rec->pause[k].t0 < phase->t1; k = next[k])
			if (rec->pause[k].tgid == phase->tgid &&
			    phase->t1 - phase->t0 > longest[k]) {
				longest[k] = phase->t1 - phase->t0;
				l->pause_groups[k] = phase->group;
			}
	}
}

static bool pauses_load(struct lanes *l)
{
	const struct recording *rec = l->timeline.rec;
	size_t *next = malloc((rec->pauses + 1) * sizeof(*next));
	uint64_t *longest = calloc(rec->pauses + 1, sizeof(*longest));
	bool good;

	l->pause_groups = calloc(rec->pauses + 1, sizeof(*l->pause_groups));
	l->pause_lanes = calloc(rec->pauses + 1, sizeof(*l->pause_lanes));
	good = next && longest && l->pause_groups && l->pause_lanes;
	for (size_t i = 0; good && i < rec->pauses; i++)
		l->pause_lanes[i] = (uint16_t)lane_of_process(l, rec->pause[i].tgid);
	if (good)
		pauses_find_groups(l, next, longest);
	free(next);
	free(longest);
	return good || recording_no_memory(rec);
}

bool lanes_of(const struct timeline *t, struct lanes *l)
{
	const struct recording *rec = t->rec;
	size_t seen = 0, parts;

	memset(l, 0, sizeof(*l));
	l->timeline = *t;
	if (!processes_of(rec, &l->p))
		return false;
	l->nr = l->p.nr < 1 ? 1 : l->p.nr < LANES ? l->p.nr : LANES;
	for (size_t i = 0; i < rec->phases; i++) {
		bool *group = &l->seen[lane_of_group(l, l->p.group[i])][rec->phase[i].group];

		seen += !*group;
		*group = true;
	}
	if (rec->phases > LANES_WHOLE) {
		parts = LANES_PARTS / seen;
		parts = parts > LANES_PARTS_MOST  ? LANES_PARTS_MOST :
			parts < LANES_PARTS_LEAST ? LANES_PARTS_LEAST :
						    parts;
		l->parts = (unsigned int)parts;
	}
	l->timeline.cells = l->timeline.cells / (unsigned int)l->nr + 1;
	if (!pauses_load(l)) {
		lanes_free(l);
		return false;
	}
	return true;
}

void lanes_free(struct lanes *l)
{
	processes_free(&l->p);
	free(l->pause_groups);
	free(l->pause_lanes);
	l->pause_groups = l->pause_lanes = NULL;
}

const char *lanes_name(const struct lanes *l, size_t lane, char *buf, size_t size)
{
	if (lane + 1 == l->nr && l->p.nr > l->nr)
		snprintf(buf, size, "%zu others", l->p.nr - l->nr + 1);
	else
		processes_name(&l->p, (unsigned int)lane + 1, buf, size);
	return buf;
}

/* @windows: only phases in windows. */
static void phases_join(const struct lanes *l, size_t lane, unsigned int group, bool windows,
			lanes_box_fn box, void *data)
{
	const struct recording *rec = l->timeline.rec;
	struct timeline_cell cell = { 0 };
	uint64_t from = 0, to = 0;
	bool any = false;

	if (!l->seen[lane][group])
		return;
	for (size_t i = 0; i < rec->phases; i++) {
		const struct recording_phase *p = &rec->phase[i];

		if (p->group != group || p->t1 <= rec->t0 || p->t0 >= rec->t1 ||
		    lane_of_group(l, l->p.group[i]) != lane)
			continue;
		if (windows) {
			timeline_find_cell(&l->timeline, p->t0, &cell);
			/* One that begins before a window may last into it. */
			if (!cell.inside && (cell.window == l->timeline.windows ||
					     p->t1 <= l->timeline.window[cell.window].t0))
				continue;
		}
		if (any && p->t0 <= to + (windows ? cell.length / 2 : 0)) {
			to = p->t1 > to ? p->t1 : to;
			continue;
		}
		if (any)
			box(data, from, to);
		from = p->t0;
		to = p->t1;
		any = true;
	}
	if (any)
		box(data, from, to);
}

void lanes_boxes(const struct lanes *l, size_t lane, unsigned int group, lanes_box_fn box,
		 void *data)
{
	phases_join(l, lane, group, l->parts, box, data);
}

struct shares {
	uint64_t t0, t1, part; /* ns */
	uint64_t *ns;
};

static void shares_add_box(void *data, uint64_t from, uint64_t to)
{
	const struct shares *s = data;

	from = from > s->t0 ? from : s->t0;
	to = to < s->t1 ? to : s->t1;
	while (from < to) {
		const uint64_t i = (from - s->t0) / s->part, end = s->t0 + (i + 1) * s->part;
		const uint64_t until = to < end ? to : end;

		s->ns[i] += until - from;
		from = until;
	}
}

void lanes_shares(const struct lanes *l, size_t lane, unsigned int group, uint64_t *ns)
{
	const struct recording *rec = l->timeline.rec;
	struct shares s = {
		.t0 = rec->t0,
		.t1 = rec->t1,
		.part = (rec->t1 - rec->t0) / l->parts + 1,
		.ns = ns,
	};

	memset(ns, 0, l->parts * sizeof(*ns));
	phases_join(l, lane, group, false, shares_add_box, &s);
}

/* The part that a pause begins in, see timeline_find_cell(). */
static struct timeline_cell pause_find_part(const struct lanes *l, const struct recording_pause *p,
					    struct timeline_cell *run, struct timeline_cell *window)
{
	struct timeline parts = l->timeline;

	parts.cells = LANES_PAUSES / (unsigned int)l->nr;
	timeline_find_cell(&parts, p->t0, run);
	parts.cells = LANES_PAUSES_WINDOW;
	timeline_find_cell(&parts, p->t0, window);
	return window->inside ? *window : *run;
}

static bool part_is_same(const struct timeline_cell *a, const struct timeline_cell *b)
{
	return a->number == b->number && a->inside == b->inside &&
	       (!a->inside || a->window == b->window);
}

size_t lanes_pauses(const struct lanes *l, size_t lane,
		    void (*pause)(void *data, const struct recording_pause *pause,
				  unsigned int group),
		    void *data)
{
	const struct recording *rec = l->timeline.rec;
	struct timeline_cell run = { 0 }, window = { 0 }, last = { 0 };
	const struct recording_pause *longest = NULL;
	const bool whole = rec->pauses <= LANES_PAUSES;
	size_t nr = 0;

	for (size_t i = 0; i < rec->pauses; i++) {
		const struct recording_pause *p = &rec->pause[i];
		struct timeline_cell part;

		if (l->pause_lanes[i] != lane)
			continue;
		nr++;
		part = pause_find_part(l, p, &run, &window);
		if (longest && (whole || !part_is_same(&part, &last)))
			pause(data, longest, l->pause_groups[longest - rec->pause]);
		else if (longest && p->t1 - p->t0 <= longest->t1 - longest->t0)
			continue;
		longest = p;
		last = part;
	}
	if (longest)
		pause(data, longest, l->pause_groups[longest - rec->pause]);
	return nr;
}
