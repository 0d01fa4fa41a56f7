// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The timeline as JSON for the page's script: the lines of plot-timeline.c at a finer
 * resolution, so that zooming shows more, and the frequency decisions and policy limits that
 * the readout under the pointer shows.
 */
#include <stdio.h>

#include "../../common/json.h"
#include "../../common/names.h"
#include "../recording/db.h"
#include "plot.h"
#include "report.h"
#include "timeline.h"

#define CELLS 4000

struct writing {
	struct timeline line;
	struct json json;
};

/* Microseconds since the recording began: a JSON number is exact, and the screen needs no more. */
static int64_t time_to_us(const struct writing *w, uint64_t t)
{
	return (int64_t)(t - w->line.run->t0) / 1000;
}

static void page_write_point(void *data, uint64_t t, double value)
{
	struct writing *w = data;

	json_int(&w->json, NULL, time_to_us(w, t));
	json_real(&w->json, NULL, value, 6);
}

static void page_write_gap(void *data)
{
	struct writing *w = data;

	json_null(&w->json, NULL);
	json_null(&w->json, NULL);
}

static void page_write_box(void *data, uint64_t from, uint64_t to)
{
	struct writing *w = data;

	json_int(&w->json, NULL, time_to_us(w, from));
	json_int(&w->json, NULL, time_to_us(w, to));
}

static void page_begin_line(struct json *j, const char *name, const char *colour)
{
	json_line(j);
	json_object(j, NULL);
	json_text(j, "name", name);
	json_text(j, "colour", colour);
	json_list(j, "points");
}

static void page_write_lines(struct writing *w)
{
	const struct timeline_sink sink = { page_write_point, page_write_gap, w };
	struct json *j = &w->json;
	char name[32];

	json_list(j, "rails");
	for (size_t i = 0; i < w->line.rails; i++) {
		page_begin_line(j, timeline_rail_name(&w->line, i), plot_line_colour(i));
		timeline_rail(&w->line, i, &sink);
		json_end(j);
		json_end(j);
	}
	json_end(j);
	json_list(j, "cpus");
	for (size_t i = 0; i < w->line.cpus; i++) {
		snprintf(name, sizeof(name), "cpu%u", w->line.run->cpu[w->line.cpu[i]].cpu);
		page_begin_line(j, name, plot_line_colour(i));
		timeline_cpu(&w->line, i, &sink);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void page_write_phases(struct writing *w)
{
	bool seen[RUN_GROUPS] = { false };
	struct json *j = &w->json;
	char name[48];

	for (size_t i = 0; i < w->line.run->phases; i++)
		seen[w->line.run->phase[i].group] = true;
	json_list(j, "kinds");
	for (unsigned int g = CLASS_NR; g < RUN_GROUPS; g++) {
		if (!seen[g])
			continue;
		page_begin_line(j, run_group_name(g, name, sizeof(name)), plot_phase_colour(g));
		timeline_boxes(&w->line, g, page_write_box, w);
		json_end(j);
		json_bool(j, "waited", g % CLASS_NR >= CLASS_FOREGROUND);
		json_end(j);
	}
	json_end(j);
}

/*
 * Writes [us, MHz, reason, thread]... Of several decisions in one cell only the last is written:
 * it is the one in force until the next.
 */
static void page_write_decisions(struct writing *w, int64_t policy)
{
	sqlite3_stmt *s = db_query(w->line.run->db,
				   "SELECT t, khz, reason, tid FROM decisions WHERE policy = ? "
				   "ORDER BY t");
	const uint64_t part = (w->line.t1 - w->line.t0) / CELLS + 1;
	struct json *j = &w->json;
	uint64_t t, cell, last_cell = 0, last_t = 0;
	int64_t khz = 0, tid = 0;
	uint32_t reason = 0;
	bool more;

	json_list(j, "decisions");
	if (s)
		sqlite3_bind_int64(s, 1, policy);
	do {
		more = db_next(s);
		t = more ? (uint64_t)db_int(s, 0, 0) : UINT64_MAX;
		/* All decisions before t0 share one cell, and all after t1 another. */
		cell = t > w->line.t1 ? UINT64_MAX :
		       t < w->line.t0 ? UINT64_MAX - 1 :
					(t - w->line.t0) / part;
		if (last_t && cell != last_cell) {
			json_int(j, NULL, time_to_us(w, last_t));
			json_int(j, NULL, khz / 1000);
			json_text(j, NULL, name_reason(reason));
			json_int(j, NULL, tid);
		}
		last_cell = cell;
		last_t = t <= w->line.t1 ? t : 0;
		if (more) {
			khz = db_int(s, 1, 0);
			reason = db_u32(s, 2, UINT32_MAX);
			tid = db_int(s, 3, 0);
		}
	} while (last_t);
	sqlite3_finalize(s);
	json_end(j);
}

/* Writes [us, governor, lowest MHz, highest MHz]... */
static void page_write_bounds(struct writing *w, int64_t policy)
{
	sqlite3_stmt *s = db_query(w->line.run->db,
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

static void page_write_policies(struct writing *w)
{
	sqlite3_stmt *s =
		db_query(w->line.run->db, "SELECT policy, cpus, hw_max_khz / 1000 FROM policies "
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

void page_timeline(const struct run *run, uint64_t t0, uint64_t t1, FILE *html)
{
	struct writing w = {
		.line = { .run = run, .t0 = t0, .t1 = t1, .cells = CELLS },
		.json = { .f = html },
	};

	timeline_choose(&w.line);
	fputs("<script type=\"application/json\">", html);
	json_object(&w.json, NULL);
	json_int(&w.json, "from", time_to_us(&w, t0));
	json_int(&w.json, "to", time_to_us(&w, t1));
	json_text(&w.json, "axis", w.line.axis);
	json_bool(&w.json, "steps", w.line.steps);
	page_write_lines(&w);
	page_write_phases(&w);
	page_write_policies(&w);
	json_end(&w.json);
	fputs("</script>\n", html);
}
