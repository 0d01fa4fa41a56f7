// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The Dalvik seed's Figure 4, with what it could not have: one time axis for
 * power, phases and frequency of each core.
 */
#include <stdlib.h>
#include <string.h>

#include "ctl.h"
#include "db.h"
#include "plot.h"

#define WIDTH  1120
#define HEIGHT 560
#define PIXELS 1000 /* of the time axis, about */
#define RAILS  5
#define LINES  8

/* Screen fractions of the three panels. */
#define LEFT	     0.075
#define RIGHT	     0.985
#define POWER_TOP    0.93
#define POWER_BOTTOM 0.575
#define LANE_TOP     0.552
#define LANE_BOTTOM  0.467
#define FREQ_TOP     0.405
#define FREQ_BOTTOM  0.095

/* Phases of a class as boxes, those closer than a pixel joined. */
static size_t boxes(const struct run *run, unsigned int group, uint64_t t0, uint64_t t1, FILE *f)
{
	uint64_t pixel = (t1 - t0) / PIXELS, from = 0, to = 0;
	size_t n = 0;

	for (size_t i = 0; i < run->phases; i++) {
		const struct run_phase *p = &run->phase[i];

		if (p->group != group || p->t1 <= t0 || p->t0 >= t1)
			continue;
		if (n && p->t0 <= to + pixel / 2) {
			if (p->t1 > to)
				to = p->t1;
			continue;
		}
		if (n)
			fprintf(f, "%.9f %.9f\n", (double)(from - run->t0) / 1e9,
				(double)(to - run->t0) / 1e9);
		from = p->t0;
		to = p->t1;
		n++;
	}
	if (n)
		fprintf(f, "%.9f %.9f\n", (double)(from - run->t0) / 1e9,
			(double)(to - run->t0) / 1e9);
	return n;
}

/* Samples of a rail, at most two (the extremes) a pixel; a gap breaks the line. */
static size_t samples(const struct run *run, const struct run_rail *rail, uint64_t t0, uint64_t t1,
		      FILE *f)
{
	sqlite3_stmt *s = db_query(run->db, "SELECT t, value FROM samples WHERE rail = ?1 AND "
					    "t >= ?2 AND t <= ?3 ORDER BY t");
	bool counter = !strcmp(rail->kind, "energy"), had = false;
	uint64_t pixel = (t1 - t0) / PIXELS + 1, cell = UINT64_MAX, last_t = 0;
	double low = 0, high = 0, last = 0;
	size_t n = 0;

	if (!s)
		return 0;
	sqlite3_bind_int64(s, 1, rail->id);
	sqlite3_bind_int64(s, 2, (int64_t)t0);
	sqlite3_bind_int64(s, 3, (int64_t)t1);
	while (db_next(s)) {
		uint64_t t = (uint64_t)db_int(s, 0, 0);
		double v = (double)db_int(s, 1, 0) / 1e6, w = v;

		if (sqlite3_column_type(s, 1) == SQLITE_NULL) {
			fputs("\n", f);
			had = false;
			continue;
		}
		if (counter) {
			w = had && t > last_t && v >= last ?
				    (v - last) * 1e9 / (double)(t - last_t) :
				    -1;
			last = v;
			last_t = t;
			if (w < 0) {
				had = true;
				continue;
			}
		}
		if ((t - t0) / pixel != cell) {
			if (cell != UINT64_MAX && high > low)
				fprintf(f, "%.9f %.6f\n",
					(double)(t0 + cell * pixel + pixel / 2 - run->t0) / 1e9,
					low);
			cell = (t - t0) / pixel;
			low = high = w;
			fprintf(f, "%.9f %.6f\n", (double)(t - run->t0) / 1e9, w);
			n++;
		} else {
			low = w < low ? w : low;
			high = w > high ? w : high;
		}
		had = true;
	}
	sqlite3_finalize(s);
	return n;
}

static void step(const struct run *run, uint64_t t, uint32_t khz, FILE *f)
{
	fprintf(f, "%.9f %.4f\n", (double)(t - run->t0) / 1e9, khz / 1000.0);
}

/* At most two steps in half a pixel, the first and the last: levels stay true. */
static size_t steps(const struct run *run, const struct run_cpu *c, uint64_t t0, uint64_t t1,
		    FILE *f)
{
	uint64_t pixel = (t1 - t0) / PIXELS / 2 + 1, drawn = 0;
	const struct run_step *pending = NULL;
	uint32_t khz = run_khz(run, (int)c->cpu, t0);
	size_t n = 0;

	if (khz) {
		step(run, t0, khz, f);
		n++;
	}
	for (size_t i = 0; i < c->nr; i++) {
		const struct run_step *s = &c->step[i];

		if (s->t <= t0 || s->t >= t1)
			continue;
		n++;
		if (s->t - drawn < pixel) {
			pending = s;
			continue;
		}
		if (pending)
			step(run, pending->t, pending->khz, f);
		pending = NULL;
		step(run, s->t, s->khz, f);
		drawn = s->t;
	}
	khz = run_khz(run, (int)c->cpu, t1);
	if (pending)
		step(run, pending->t, pending->khz, f);
	if (khz)
		step(run, t1, khz, f);
	return n;
}

/* A voltage is recorded when it changes: it holds from one sample to the next. */
static size_t levels(const struct run *run, const struct run_rail *rail, uint64_t t0, uint64_t t1,
		     FILE *f)
{
	sqlite3_stmt *s = db_query(
		run->db, "SELECT max(t, ?2), value FROM samples WHERE rail = ?1 AND t <= ?3 "
			 "AND t >= coalesce((SELECT max(t) FROM samples WHERE rail = ?1 AND "
			 "t <= ?2), 0) ORDER BY t");
	double last = 0;
	size_t n = 0;

	if (!s)
		return 0;
	sqlite3_bind_int64(s, 1, rail->id);
	sqlite3_bind_int64(s, 2, (int64_t)t0);
	sqlite3_bind_int64(s, 3, (int64_t)t1);
	while (db_next(s)) {
		double v = (double)db_int(s, 1, 0) / 1e6;

		if (sqlite3_column_type(s, 1) == SQLITE_NULL || (n && v == last))
			continue;
		fprintf(f, "%.9f %.6f\n", (double)((uint64_t)db_int(s, 0, 0) - run->t0) / 1e9, v);
		last = v;
		n++;
	}
	sqlite3_finalize(s);
	if (n)
		fprintf(f, "%.9f %.6f\n", (double)(t1 - run->t0) / 1e9, last);
	return n;
}

/* Power if there is any, else the voltages that changed, such as the core's. */
static const char *choose_rails(const struct run *run, const struct run_rail **rail, size_t *nr)
{
	static const struct {
		const char *kind, *axis;
	} kinds[] = { { "power", "power (W)" },
		      { "energy", "power (W)" },
		      { "voltage", "voltage (V)" } };

	*nr = 0;
	for (size_t k = 0; k < 3 && !*nr; k++)
		for (size_t i = 0; i < run->rails && *nr < RAILS; i++) {
			const char *sql = "SELECT 1 FROM samples WHERE rail = ? AND value "
					  "IS NOT NULL LIMIT 1";
			int64_t yes;

			if (k == 2)
				sql = "SELECT 1 FROM (SELECT min(value) a, max(value) b FROM "
				      "samples WHERE rail = ?) WHERE a < b";
			if (strcmp(run->rail[i].kind, kinds[k].kind) ||
			    !db_number(run->db, sql, run->rail[i].id, &yes))
				continue;
			rail[(*nr)++] = &run->rail[i];
		}
	for (size_t k = 0; k < 3 && *nr; k++)
		if (!strcmp(rail[0]->kind, kinds[k].kind))
			return kinds[k].axis;
	return "";
}

struct timeline {
	const struct run *run;
	FILE *f;
	uint64_t t0, t1;
	bool group[RUN_GROUPS];
	const struct run_rail *rail[RAILS];
	size_t rails;
	bool has_rail[RAILS];
	size_t cpu[LINES], cpus;
	const char *axis;
	bool steps; /* voltages */
};

static void data(struct timeline *t)
{
	FILE *f = t->f;

	for (unsigned int g = CLASS_NR; g < RUN_GROUPS; g++) {
		fprintf(f, "$G%u << EOD\n", g);
		t->group[g] = boxes(t->run, g, t->t0, t->t1, f) > 0;
		fputs("EOD\n", f);
	}
	for (size_t i = 0; i < t->rails; i++) {
		fprintf(f, "$R%zu << EOD\n", i);
		t->has_rail[i] =
			(t->steps ? levels : samples)(t->run, t->rail[i], t->t0, t->t1, f) > 0;
		fputs("EOD\n", f);
	}
	for (size_t i = 0; i < t->run->cpus && t->cpus < LINES; i++) {
		fprintf(f, "$C%zu << EOD\n", t->cpus);
		if (steps(t->run, &t->run->cpu[i], t->t0, t->t1, f))
			t->cpu[t->cpus++] = t->run->cpu[i].cpu;
		else
			fputs("0 0\n", f);
		fputs("EOD\n", f);
	}
}

static void panel(struct timeline *t, double top, double bottom)
{
	fprintf(t->f,
		"set tmargin at screen %g\nset bmargin at screen %g\n"
		"set key at screen %g, screen %g right bottom horizontal\n",
		top, bottom, RIGHT, top + 0.005);
}

/* Behind the lines, lightly: every phase in its colour. @low and @high in the
 * graph's own height, so that nothing need be known of its range.
 */
static const char *shade(struct timeline *t, const char *separator)
{
	for (unsigned int g = CLASS_NR; g < RUN_GROUPS; g++) {
		if (!t->group[g])
			continue;
		fprintf(t->f,
			"%s $G%u using (($1+$2)/2):(LO):1:2:(LO):(HI) with boxxyerror fs solid "
			"0.16 "
			"noborder fc rgb '%s' notitle",
			separator, g, plot_phase_colour(g));
		separator = ",\\\n";
	}
	return separator;
}

static void power_panel(struct timeline *t)
{
	const char *separator = "plot ";
	size_t drawn = 0;

	panel(t, POWER_TOP, POWER_BOTTOM);
	fprintf(t->f, "set ylabel '%s' offset 1\nset format x ''\n", t->axis);
	/* Measure the range first, then shade all of its height. */
	fputs("stats_lo = 1e300; stats_hi = -1e300\n", t->f);
	for (size_t i = 0; i < t->rails; i++)
		if (t->has_rail[i])
			fprintf(t->f,
				"stats $R%zu using 2 nooutput\n"
				"stats_lo = STATS_min < stats_lo ? STATS_min : stats_lo\n"
				"stats_hi = STATS_max > stats_hi ? STATS_max : stats_hi\n",
				i);
	fprintf(t->f,
		"if (stats_lo > stats_hi) { stats_lo = 0; stats_hi = 1 }\n"
		"LO = %s\nHI = stats_hi + (stats_hi > 0 ? stats_hi * 0.06 : 1)\n"
		"set yrange [LO:HI]\nset ytics auto\n",
		strstr(t->axis, "power") ? "0" : "stats_lo * 0.97");
	for (size_t i = 0; i < t->rails; i++)
		drawn += t->has_rail[i];
	if (!drawn)
		fputs("set label 1 'no rail is known here' at graph 0.5,0.5 center textcolor rgb "
		      "'#8a94a0'\n",
		      t->f);
	separator = shade(t, separator);
	for (size_t i = 0; i < t->rails; i++) {
		if (!t->has_rail[i])
			continue;
		fprintf(t->f, "%s $R%zu using 1:2 with %s lw 1.3 lc rgb '%s' title ", separator, i,
			t->steps ? "steps" : "lines", plot_line_colour(i));
		plot_text(t->f, *t->rail[i]->label ? t->rail[i]->label : t->rail[i]->name);
		fputs(" noenhanced", t->f);
		separator = ",\\\n";
	}
	if (!drawn)
		fprintf(t->f, "%s 0 with lines lc rgb '#ffffff' notitle", separator);
	fputs("\nunset label 1\n", t->f);
}

static void lane_panel(struct timeline *t)
{
	const char *separator = "plot ";

	panel(t, LANE_TOP, LANE_BOTTOM);
	fputs("set yrange [0:2]\nunset grid\nset ylabel ''\n"
	      "set ytics ('concurrent' 0.5, 'waited for' 1.5) scale 0 font ',11'\n",
	      t->f);
	for (unsigned int g = CLASS_NR; g < RUN_GROUPS; g++) {
		bool pause = g % CLASS_NR >= CLASS_FOREGROUND;

		if (!t->group[g])
			continue;
		fprintf(t->f,
			"%s $G%u using (($1+$2)/2):(%g):1:2:(%g):(%g) with boxxyerror fs solid 1 "
			"border lc rgb '%s' lw 0.6 fc rgb '%s' notitle",
			separator, g, pause ? 1.5 : 0.5, pause ? 1.08 : 0.08, pause ? 1.92 : 0.92,
			plot_phase_colour(g), plot_phase_colour(g));
		separator = ",\\\n";
	}
	fprintf(t->f, "%s 1 with lines lc rgb '#d5dae0' lw 0.7 notitle\n", separator);
	fputs("set grid ytics lc rgb '#e3e7ec' lt 1 lw 1\n", t->f);
}

static void frequency_panel(struct timeline *t)
{
	const char *separator = "plot ";
	uint32_t highest = 0;

	for (size_t k = 0; k < t->run->khzs; k++)
		highest = t->run->khz[k];
	panel(t, FREQ_TOP, FREQ_BOTTOM);
	fprintf(t->f,
		"set ylabel 'frequency (MHz)' offset 1\nset xlabel 'time (s)' offset 0,0.3\n"
		"set format x '%%g'\nset ytics auto\nLO = 0\nHI = %g\nset yrange [LO:HI]\n",
		highest ? highest / 1000.0 * 1.06 : 1);
	separator = shade(t, separator);
	for (size_t i = 0; i < t->cpus; i++) {
		fprintf(t->f, "%s $C%zu using 1:2 with steps lw 1.5 lc rgb '%s' title 'cpu%zu'",
			separator, i, plot_line_colour(i), t->cpu[i]);
		separator = ",\\\n";
	}
	if (!t->cpus)
		fprintf(t->f, "%s 0 with lines lc rgb '#ffffff' title 'frequency not known'",
			separator);
	fputs("\n", t->f);
}

int plot_timeline(const struct run *run, uint64_t t0, uint64_t t1, FILE *html)
{
	struct timeline t = { .run = run, .t0 = t0, .t1 = t1 };
	struct plot p;
	int ret = plot_begin(&p, WIDTH, HEIGHT);

	if (ret)
		return ret;
	t.f = p.script;
	t.axis = choose_rails(run, t.rail, &t.rails);
	t.steps = t.rails && !strcmp(t.rail[0]->kind, "voltage");
	data(&t);
	fprintf(t.f,
		"set multiplot\nset lmargin at screen %g\nset rmargin at screen %g\n"
		"set xrange [%.9f:%.9f]\n"
		"set key samplen 1.6 font ',12' textcolor rgb "
		"'#33404d'\n",
		LEFT, RIGHT, (double)(t0 - run->t0) / 1e9, (double)(t1 - run->t0) / 1e9);
	power_panel(&t);
	lane_panel(&t);
	frequency_panel(&t);
	fputs("unset multiplot\n", t.f);
	return plot_end(&p, html, "Rails, collection phases and core frequencies over time");
}
