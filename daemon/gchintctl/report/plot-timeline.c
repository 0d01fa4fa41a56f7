// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Power, collection phases and the frequency of each policy in three panels on one time axis, as
 * in Figure 4 of the Dalvik seed.
 */
#include <stdlib.h>
#include <string.h>

#include "../../common/escape.h"
#include "plot.h"
#include "timeline.h"

#define WIDTH  1120
#define HEIGHT 560
#define PIXELS 1000 /* approximate width of the time axis */

/* Screen fractions of the three panels. */
#define LEFT	     0.075
#define RIGHT	     0.985
#define POWER_TOP    0.93
#define POWER_BOTTOM 0.575
#define LANE_TOP     0.552
#define LANE_BOTTOM  0.467
#define FREQ_TOP     0.405
#define FREQ_BOTTOM  0.095

struct drawing {
	struct timeline line;
	FILE *f;
	bool group[RUN_GROUPS];
	size_t rail_points[TIMELINE_RAILS], cpu_points[TIMELINE_CPUS];
};

static void drawing_write_box(void *data, uint64_t from, uint64_t to)
{
	const struct drawing *d = data;

	fprintf(d->f, "%.9f %.9f\n", run_seconds(d->line.run, from), run_seconds(d->line.run, to));
}

static void drawing_write_point(void *data, uint64_t t, double value)
{
	const struct drawing *d = data;

	fprintf(d->f, "%.9f %.6f\n", run_seconds(d->line.run, t), value);
}

static void drawing_write_gap(void *data)
{
	fputc('\n', ((const struct drawing *)data)->f);
}

static void drawing_write_data(struct drawing *d)
{
	const struct timeline_sink sink = { drawing_write_point, drawing_write_gap, d };

	for (unsigned int g = CLASS_NR; g < RUN_GROUPS; g++) {
		fprintf(d->f, "$G%u << EOD\n", g);
		d->group[g] = timeline_boxes(&d->line, g, drawing_write_box, d) > 0;
		fputs("EOD\n", d->f);
	}
	for (size_t i = 0; i < d->line.rails; i++) {
		fprintf(d->f, "$R%zu << EOD\n", i);
		d->rail_points[i] = timeline_rail(&d->line, i, &sink);
		fputs("EOD\n", d->f);
	}
	for (size_t i = 0; i < d->line.cpus; i++) {
		fprintf(d->f, "$C%zu << EOD\n", i);
		d->cpu_points[i] = timeline_cpu(&d->line, i, &sink);
		fputs("EOD\n", d->f);
	}
}

static void panel_begin(struct drawing *d, double top, double bottom)
{
	fprintf(d->f,
		"set tmargin at screen %g\nset bmargin at screen %g\n"
		"set key at screen %g, screen %g right bottom horizontal\n",
		top, bottom, RIGHT, top + 0.005);
}

/*
 * Shades the time of each phase in its colour, behind the lines. LO and HI are gnuplot variables
 * that the panel sets to its own range. Returns the separator for the next plot element.
 */
static const char *panel_shade_phases(struct drawing *d, const char *separator)
{
	for (unsigned int g = CLASS_NR; g < RUN_GROUPS; g++) {
		if (!d->group[g])
			continue;
		fprintf(d->f,
			"%s $G%u using (($1+$2)/2):(LO):1:2:(LO):(HI) with boxxyerror fs solid "
			"0.16 "
			"noborder fc rgb '%s' notitle",
			separator, g, plot_phase_colour(g));
		separator = ",\\\n";
	}
	return separator;
}

static void panel_write_power(struct drawing *d)
{
	const char *separator = "plot ";
	size_t drawn = 0;

	panel_begin(d, POWER_TOP, POWER_BOTTOM);
	fprintf(d->f, "set ylabel '%s' offset 1\nset format x ''\n", d->line.axis);
	/* Measure the range first, then shade all of its height. */
	fputs("stats_lo = 1e300; stats_hi = -1e300\n", d->f);
	for (size_t i = 0; i < d->line.rails; i++)
		if (d->rail_points[i])
			fprintf(d->f,
				"stats $R%zu using 2 nooutput\n"
				"stats_lo = STATS_min < stats_lo ? STATS_min : stats_lo\n"
				"stats_hi = STATS_max > stats_hi ? STATS_max : stats_hi\n",
				i);
	fprintf(d->f,
		"if (stats_lo > stats_hi) { stats_lo = 0; stats_hi = 1 }\n"
		"LO = %s\nHI = stats_hi + (stats_hi > 0 ? stats_hi * 0.06 : 1)\n"
		"set yrange [LO:HI]\nset ytics auto\n",
		strstr(d->line.axis, "power") ? "0" : "stats_lo * 0.97");
	for (size_t i = 0; i < d->line.rails; i++)
		drawn += d->rail_points[i] > 0;
	if (!drawn)
		fputs("set label 1 'no rail is known here' at graph 0.5,0.5 center textcolor rgb "
		      "'#8a94a0'\n",
		      d->f);
	separator = panel_shade_phases(d, separator);
	for (size_t i = 0; i < d->line.rails; i++) {
		if (!d->rail_points[i])
			continue;
		fprintf(d->f, "%s $R%zu using 1:2 with %s lw 1.3 lc rgb '%s' title ", separator, i,
			d->line.steps	       ? "steps" :
			d->rail_points[i] == 1 ? "points pt 7 ps 0.5" :
						 "lines",
			plot_line_colour(i));
		plot_text(d->f, timeline_rail_name(&d->line, i));
		fputs(" noenhanced", d->f);
		separator = ",\\\n";
	}
	if (!drawn)
		fprintf(d->f, "%s 0 with lines lc rgb '#ffffff' notitle", separator);
	fputs("\nunset label 1\n", d->f);
}

static void panel_write_lanes(struct drawing *d)
{
	const char *separator = "plot ";

	panel_begin(d, LANE_TOP, LANE_BOTTOM);
	fputs("set yrange [0:2]\nunset grid\nset ylabel ''\n"
	      "set ytics ('concurrent' 0.5, 'waited for' 1.5) scale 0 font ',11'\n",
	      d->f);
	for (unsigned int g = CLASS_NR; g < RUN_GROUPS; g++) {
		bool pause = g % CLASS_NR >= CLASS_FOREGROUND;

		if (!d->group[g])
			continue;
		fprintf(d->f,
			"%s $G%u using (($1+$2)/2):(%g):1:2:(%g):(%g) with boxxyerror fs solid 1 "
			"border lc rgb '%s' lw 0.6 fc rgb '%s' notitle",
			separator, g, pause ? 1.5 : 0.5, pause ? 1.08 : 0.08, pause ? 1.92 : 0.92,
			plot_phase_colour(g), plot_phase_colour(g));
		separator = ",\\\n";
	}
	fprintf(d->f, "%s 1 with lines lc rgb '#d5dae0' lw 0.7 notitle\n", separator);
	fputs("set grid ytics lc rgb '#e3e7ec' lt 1 lw 1\n", d->f);
}

static void panel_write_frequency(struct drawing *d)
{
	const char *separator = "plot ";
	uint32_t highest = 0;
	bool any = false;

	for (size_t k = 0; k < d->line.run->khzs; k++)
		highest = d->line.run->khz[k];
	panel_begin(d, FREQ_TOP, FREQ_BOTTOM);
	fprintf(d->f,
		"set ylabel 'frequency (MHz)' offset 1\nset xlabel 'time (s)' offset 0,0.3\n"
		"set format x '%%g'\nset ytics auto\nLO = 0\nHI = %g\nset yrange [LO:HI]\n",
		highest ? highest / 1000.0 * 1.06 : 1);
	separator = panel_shade_phases(d, separator);
	for (size_t i = 0; i < d->line.cpus; i++) {
		if (!d->cpu_points[i])
			continue;
		fprintf(d->f, "%s $C%zu using 1:2 with steps lw 1.5 lc rgb '%s' title 'cpu%u'",
			separator, i, plot_line_colour(i), d->line.run->cpu[d->line.cpu[i]].cpu);
		separator = ",\\\n";
		any = true;
	}
	if (!any)
		fprintf(d->f, "%s 0 with lines lc rgb '#ffffff' title 'frequency not known'",
			separator);
	fputs("\n", d->f);
}

/* Says which rails and CPUs the picture leaves out. */
static void drawing_note_omitted(const struct drawing *d, FILE *html)
{
	size_t cpus = d->line.run->cpus - d->line.cpus - d->line.cpus_left;

	if (!d->line.rails_left && !d->line.cpus_left && !cpus)
		return;
	fputs("<p class=\"note\">", html);
	if (cpus)
		fprintf(html,
			"Of each policy one CPU is drawn, for all of it have one frequency. ");
	if (d->line.cpus_left)
		fprintf(html, "Not drawn: %zu more policies. ", d->line.cpus_left);
	if (d->line.rails_left)
		fprintf(html, "Not drawn: %zu more rails; the table below has all. ",
			d->line.rails_left);
	fputs("</p>\n", html);
}

int plot_timeline(const struct run *run, uint64_t t0, uint64_t t1, FILE *html)
{
	struct drawing d = { .line = { .run = run, .t0 = t0, .t1 = t1, .cells = PIXELS } };
	struct plot p;
	int ret = plot_begin(&p, WIDTH, HEIGHT);

	if (ret)
		return ret;
	d.f = p.script;
	timeline_choose(&d.line);
	drawing_write_data(&d);
	fprintf(d.f,
		"set multiplot\nset lmargin at screen %g\nset rmargin at screen %g\n"
		"set xrange [%.9f:%.9f]\n"
		"set key samplen 1.6 font ',12' textcolor rgb "
		"'#33404d'\n",
		LEFT, RIGHT, run_seconds(run, t0), run_seconds(run, t1));
	panel_write_power(&d);
	panel_write_lanes(&d);
	panel_write_frequency(&d);
	fputs("unset multiplot\n", d.f);
	ret = plot_end(&p, html, "Rails, collection phases and core frequencies over time");
	drawing_note_omitted(&d, html);
	return ret;
}
