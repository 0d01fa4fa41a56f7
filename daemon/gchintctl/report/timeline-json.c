// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The timeline as JSON for the page's script, finest around the listed pauses, so that zooming
 * shows more; and the frequency decisions and policy limits that the readout under the pointer
 * shows. Instants of lists are the time since the entry before: they have fewer digits.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../common/json.h"
#include "../../common/names.h"
#include "../../recording/reader/db.h"
#include "../../recording/reader/memory.h"
#include "collector-cpu.h"
#include "lanes.h"
#include "plot.h"
#include "report.h"
#include "timeline.h"

struct timeline_writer {
	struct timeline line;
	struct json json;
	int64_t last; /* us: the last instant of the list */
	unsigned int type[PHASE_GROUPS]; /* index into "types" */
};

/* Microseconds since the recording began: a JSON number is exact, and the screen needs no more. */
static int64_t time_to_us(const struct timeline_writer *w, uint64_t t)
{
	return (int64_t)(t - w->line.rec->t0) / 1000;
}

static void instants_begin(struct timeline_writer *w, const char *key)
{
	json_list(&w->json, key);
	w->last = 0;
}

static void instant_write(struct timeline_writer *w, uint64_t t)
{
	const int64_t us = time_to_us(w, t);

	json_int(&w->json, NULL, us - w->last);
	w->last = us;
}

static void page_write_point(void *data, uint64_t t, double value)
{
	struct timeline_writer *w = data;

	instant_write(w, t);
	json_real(&w->json, NULL, value, 4);
}

static void page_write_gap(void *data)
{
	struct timeline_writer *w = data;

	json_int(&w->json, NULL, 0);
	json_null(&w->json, NULL);
}

static void page_write_box(void *data, uint64_t from, uint64_t to)
{
	struct timeline_writer *w = data;

	instant_write(w, from);
	instant_write(w, to);
}

static void page_begin_line(struct timeline_writer *w, const char *name)
{
	json_line(&w->json);
	json_object(&w->json, NULL);
	json_text(&w->json, "name", name);
	instants_begin(w, "points");
}

static void page_end_line(struct timeline_writer *w)
{
	json_end(&w->json);
	json_end(&w->json);
}

static void page_write_heaps(struct timeline_writer *w, const struct timeline_sink *sink)
{
	const struct recording *rec = w->line.rec;
	struct processes p;
	char name[96];

	json_list(&w->json, "heaps");
	for (size_t i = 0; i < w->line.heaps && processes_of(rec, &p); i++) {
		const struct recording_heap *h = &rec->heap[w->line.heap[i]];
		unsigned int group = 0;

		for (unsigned int g = 1; g <= p.nr; g++)
			group = p.tgid[g] == h->tgid ? g : group;
		snprintf(name, sizeof(name), "process %d", h->tgid);
		if (group)
			processes_name(&p, group, name, sizeof(name));
		page_begin_line(w, name);
		timeline_heap(&w->line, i, sink);
		page_end_line(w);
		processes_free(&p);
	}
	json_end(&w->json);
}

/* CPUs that collection used, in % of one: each value is that of the time until the next. */
static void page_write_collector(struct timeline_writer *w)
{
	struct collector_curve *curve = malloc(sizeof(*curve));
	const struct recording *rec = w->line.rec;

	double share = 0;

	json_list(&w->json, "collector");
	if (curve)
		collector_curve_of(rec, curve);
	else
		recording_no_memory(rec);
	if (curve && curve->parts) {
		page_begin_line(w, "collection");
		for (size_t i = 0; i < curve->parts; i++) {
			const uint64_t from = rec->t0 + i * curve->length;
			const uint64_t left = rec->t1 - from;

			share = curve->run[i] /
				(double)(left < curve->length ? left : curve->length);
			page_write_point(w, from, 100 * share);
		}
		page_write_point(w, rec->t1, 100 * share);
		page_end_line(w);
	}
	json_end(&w->json);
	free(curve);
}

static void page_write_lines(struct timeline_writer *w)
{
	const struct timeline_sink sink = { page_write_point, page_write_gap, w };
	struct json *j = &w->json;
	char name[32];

	page_write_heaps(w, &sink);
	page_write_collector(w);
	json_list(j, "rails");
	for (size_t i = 0; i < w->line.rails; i++) {
		page_begin_line(w, timeline_rail_name(&w->line, i));
		timeline_rail(&w->line, i, &sink);
		page_end_line(w);
	}
	json_end(j);
	json_list(j, "cpus");
	for (size_t i = 0; i < w->line.cpus; i++) {
		snprintf(name, sizeof(name), "cpu%u", w->line.rec->cpu[w->line.cpu[i]].cpu);
		page_begin_line(w, name);
		timeline_cpu(&w->line, i, &sink);
		page_end_line(w);
	}
	json_end(j);
}

static void page_write_types(struct timeline_writer *w)
{
	struct json *j = &w->json;
	bool seen[PHASE_GROUPS];
	unsigned int nr = 0;
	char name[48];

	recording_find_groups(w->line.rec, seen);
	json_list(j, "types");
	for (unsigned int g = CLASS_NR; g < PHASE_GROUPS; g++) {
		if (!seen[g])
			continue;
		w->type[g] = nr++;
		json_object(j, NULL);
		json_text(j, "name", phase_group_name(g, name, sizeof(name)));
		json_text(j, "colour", plot_phase_colour(g));
		json_bool(j, "waited", g % CLASS_NR >= CLASS_FOREGROUND);
		json_end(j);
	}
	json_end(j);
}

/* The share of each part in 1/10000; below 0: so many parts without any. */
static void page_write_shares(struct timeline_writer *w, const struct lanes *l, size_t lane,
			      unsigned int group, uint64_t *ns)
{
	const uint64_t part = (w->line.t1 - w->line.t0) / l->parts + 1;
	int64_t none = 0;

	lanes_shares(l, lane, group, ns);
	json_list(&w->json, "share");
	for (size_t i = 0; i < l->parts; i++) {
		if (!ns[i]) {
			none++;
			continue;
		}
		if (none)
			json_int(&w->json, NULL, -none);
		none = 0;
		json_int(&w->json, NULL, (int64_t)ceil(1e4 * (double)ns[i] / (double)part));
	}
	json_end(&w->json);
}

static void page_write_pause(void *data, const struct recording_pause *pause, unsigned int group)
{
	struct timeline_writer *w = data;

	instant_write(w, pause->t0);
	json_int(&w->json, NULL, (int64_t)(pause->t1 - pause->t0 + 999) / 1000);
	json_int(&w->json, NULL, w->type[group]);
}

static void page_write_lane(struct timeline_writer *w, const struct lanes *l, size_t lane,
			    uint64_t *ns)
{
	struct json *j = &w->json;
	char name[48];

	json_line(j);
	json_object(j, NULL);
	json_text(j, "name", lanes_name(l, lane, name, sizeof(name)));
	json_list(j, "phases");
	for (unsigned int g = CLASS_NR; g < PHASE_GROUPS; g++) {
		if (!l->seen[lane][g])
			continue;
		json_line(j);
		json_object(j, NULL);
		json_uint(j, "type", w->type[g]);
		if (l->parts)
			page_write_shares(w, l, lane, g, ns);
		instants_begin(w, "boxes");
		lanes_boxes(l, lane, g, page_write_box, w);
		json_end(j);
		json_end(j);
	}
	json_end(j);
	json_line(j);
	instants_begin(w, "pauses");
	lanes_pauses(l, lane, page_write_pause, w);
	json_end(j);
	json_end(j);
}

static void page_write_lanes(struct timeline_writer *w)
{
	uint64_t *ns = calloc(LANES_PARTS_MOST, sizeof(*ns));
	struct lanes *l = calloc(1, sizeof(*l));
	bool good = ns && l;

	if (good)
		good = lanes_of(&w->line, l);
	else
		recording_no_memory(w->line.rec);
	json_uint(&w->json, "parts", good ? l->parts : 0);
	json_list(&w->json, "lanes");
	for (size_t i = 0; good && w->line.rec->phases && i < l->nr; i++)
		page_write_lane(w, l, i, ns);
	json_end(&w->json);
	if (good)
		lanes_free(l);
	free(l);
	free(ns);
}

struct decision {
	uint64_t t;
	int64_t khz, tid;
	uint32_t reason;
	struct timeline_cell cell;
};

static void page_write_decision(struct timeline_writer *w, const struct decision *d)
{
	struct json *j = &w->json;

	json_int(j, NULL, time_to_us(w, d->t));
	json_int(j, NULL, d->khz / 1000);
	json_text(j, NULL, name_reason(d->reason));
	json_int(j, NULL, d->tid);
}

static bool decisions_share_cell(const struct decision *a, const struct decision *b,
				 const struct timeline *t)
{
	/* All decisions before t0 are in one part. */
	return (a->t < t->t0 && b->t < t->t0) ||
	       ((a->t < t->t0) == (b->t < t->t0) && a->cell.number == b->cell.number &&
		a->cell.window == b->cell.window && a->cell.inside == b->cell.inside);
}

/*
 * Writes [us, MHz, reason, thread]... Of several decisions in one part only the last is written,
 * unless there are few: it is the one in force until the next.
 */
static void page_write_decisions(struct timeline_writer *w, int64_t policy)
{
	sqlite3_stmt *s = db_query(
		w->line.rec->db, "SELECT t, khz, reason, tid, (SELECT count(*) FROM decisions "
				 "WHERE policy = ?1) FROM decisions WHERE policy = ?1 ORDER BY t");
	struct decision now = { 0 }, last = { 0 };
	bool any = false;

	json_list(&w->json, "decisions");
	if (s)
		sqlite3_bind_int64(s, 1, policy);
	while (db_next(s)) {
		now.t = (uint64_t)db_int(s, 0, 0);
		if (now.t > w->line.t1)
			break;
		now.khz = db_int(s, 1, 0);
		now.reason = db_u32(s, 2, UINT32_MAX);
		now.tid = db_int(s, 3, 0);
		timeline_find_cell(&w->line, now.t, &now.cell);
		if (any && ((uint64_t)db_int(s, 4, 0) <= w->line.whole ||
			    !decisions_share_cell(&last, &now, &w->line)))
			page_write_decision(w, &last);
		last = now;
		any = true;
	}
	if (any)
		page_write_decision(w, &last);
	sqlite3_finalize(s);
	json_end(&w->json);
}

/* Writes [us, governor, lowest MHz, highest MHz]... */
static void page_write_bounds(struct timeline_writer *w, int64_t policy)
{
	sqlite3_stmt *s = db_query(w->line.rec->db,
				   "SELECT t, governor, min_khz / 1000, max_khz / 1000 "
				   "FROM policy_states WHERE policy = ? ORDER BY t LIMIT 1000");
	struct json *j = &w->json;

	json_list(j, "bounds");
	if (s)
		sqlite3_bind_int64(s, 1, policy);
	while (db_next(s)) {
		json_int(j, NULL, time_to_us(w, (uint64_t)db_int(s, 0, 0)));
		for (int c = 1; c < 4; c++)
			db_json(j, NULL, s, c);
	}
	sqlite3_finalize(s);
	json_end(j);
}

static void page_write_policies(struct timeline_writer *w)
{
	sqlite3_stmt *s =
		db_query(w->line.rec->db, "SELECT policy, cpus, hw_max_khz / 1000 FROM policies "
					  "ORDER BY policy");
	struct json *j = &w->json;

	json_list(j, "policies");
	while (db_next(s)) {
		json_line(j);
		json_object(j, NULL);
		db_json(j, "policy", s, 0);
		db_json(j, "cpus", s, 1);
		db_json(j, "top", s, 2);
		page_write_decisions(w, db_int(s, 0, -1));
		page_write_bounds(w, db_int(s, 0, -1));
		json_end(j);
	}
	sqlite3_finalize(s);
	json_end(j);
}

void page_timeline(const struct recording *rec, const struct timeline_window *window,
		   size_t windows, FILE *html)
{
	struct timeline_writer w = {
		.line = { .rec = rec,
			  .t0 = rec->t0,
			  .t1 = rec->t1,
			  .cells = REPORT_CELLS,
			  .window = window,
			  .windows = windows,
			  .whole = REPORT_WHOLE },
		.json = { .f = html },
	};

	timeline_choose(&w.line);
	fputs("<script type=\"application/json\">", html);
	json_object(&w.json, NULL);
	json_int(&w.json, "from", 0);
	json_int(&w.json, "to", time_to_us(&w, rec->t1));
	json_int(&w.json, "cells", REPORT_CELLS);
	json_list(&w.json, "windows");
	for (size_t i = 0; i < windows; i++) {
		json_int(&w.json, NULL, time_to_us(&w, window[i].t0));
		json_int(&w.json, NULL, time_to_us(&w, window[i].t1));
	}
	json_end(&w.json);
	json_bool(&w.json, "whole", timeline_is_whole(&w.line));
	json_text(&w.json, "axis", w.line.axis);
	json_bool(&w.json, "steps", w.line.steps);
	page_write_lines(&w);
	page_write_types(&w);
	page_write_lanes(&w);
	page_write_policies(&w);
	json_end(&w.json);
	fputs("</script>\n", html);
}
