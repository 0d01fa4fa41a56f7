// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Power, collection phases and the frequency of each policy in panels on one time axis, as in
 * Figure 4 of the Dalvik seed. What was not recorded has no panel.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../common/escape.h"
#include "plot.h"
#include "report.h"
#include "timeline.h"

#define PIXELS 1000 /* approximate width of the time axis */

struct timeline_plot {
	struct timeline line;
	bool group[PHASE_GROUPS]; /* has a phase */
	FILE *html;
	struct plot_axis time, value;
	const struct plot_panel *panel;
	struct plot_path path;
};

static void timeline_plot_write_box(void *data, uint64_t from, uint64_t to)
{
	const struct timeline_plot *d = data;

	plot_box(d->panel, recording_seconds(d->line.rec, from),
		 recording_seconds(d->line.rec, to));
}

static void timeline_plot_write_point(void *data, uint64_t t, double value)
{
	struct timeline_plot *d = data;

	plot_path_put(&d->path, recording_seconds(d->line.rec, t), value);
}

static void timeline_plot_write_gap(void *data)
{
	plot_path_gap(&((struct timeline_plot *)data)->path);
}

static void range_add_point(void *data, uint64_t t, double value)
{
	struct plot_axis *range = data;

	(void)t;
	range->from = fmin(range->from, value);
	range->to = fmax(range->to, value);
}

static void range_skip_gap(void *data)
{
	(void)data;
}

/* Boxes of one group on the panel; @style is a class of the page's style. */
static void group_write_boxes(struct timeline_plot *d, unsigned int group, const char *style)
{
	fprintf(d->html, "<path class=\"%s\" fill=\"%s\" d=\"", style, plot_phase_colour(group));
	timeline_boxes(&d->line, group, timeline_plot_write_box, d);
	fputs("\"/>\n", d->html);
}

static bool group_is_waited_for(unsigned int group)
{
	return group % CLASS_NR >= CLASS_FOREGROUND;
}

static void panel_shade_phases(struct timeline_plot *d)
{
	for (unsigned int g = CLASS_NR; g < PHASE_GROUPS; g++)
		if (d->group[g])
			group_write_boxes(d, g, "shade");
}

static void lane_write(struct timeline_plot *d, bool waited, const char *name)
{
	const struct plot_panel p = { .html = d->html, .x = d->time, .height = 20, .title = name };

	fprintf(d->html, "<div class=\"lane%s\"><span>%s</span>", waited ? "" : " hatched", name);
	d->panel = &p;
	plot_panel_begin(&p);
	for (unsigned int g = CLASS_NR; g < PHASE_GROUPS; g++)
		if (d->group[g] && group_is_waited_for(g) == waited)
			group_write_boxes(d, g, "phase");
	plot_panel_end(&p);
	fputs("</div>\n", d->html);
}

typedef size_t (*series_fn)(const struct timeline *t, size_t i, const struct timeline_sink *sink);

/* The lines of a panel; nothing if none of them has a point. */
static bool lines_write(struct timeline_plot *d, series_fn series, size_t nr, bool steps,
			bool from_zero, struct plot_panel *p)
{
	const struct timeline_sink sink = { timeline_plot_write_point, timeline_plot_write_gap, d };
	struct plot_axis range = { .from = INFINITY, .to = -INFINITY };
	const struct timeline_sink measure = { range_add_point, range_skip_gap, &range };

	for (size_t i = 0; i < nr; i++)
		series(&d->line, i, &measure);
	if (range.from > range.to)
		return false;
	p->y.from = from_zero ? 0 : range.from * 0.97;
	p->y.to = range.to > 0 ? range.to * 1.06 : 1;
	d->panel = p;
	plot_panel_begin(p);
	panel_shade_phases(d);
	for (size_t i = 0; i < nr; i++) {
		plot_path_begin(&d->path, p, "line", i, steps);
		series(&d->line, i, &sink);
		plot_path_end(&d->path);
	}
	plot_panel_end(p);
	return true;
}

static void legend_begin(FILE *html, const char *title)
{
	fprintf(html, "<p class=\"legend\"><b>%s</b>", title);
}

static void legend_write_line(FILE *html, size_t i, const char *name)
{
	fputs("<span class=\"item\">", html);
	plot_line_write_key("line", i, html);
	escape_html(html, name);
	fputs("</span>", html);
}

static void legend_write_phases(const struct timeline_plot *d, FILE *html)
{
	char name[48];

	legend_begin(html, "phases");
	for (unsigned int g = CLASS_NR; g < PHASE_GROUPS; g++) {
		if (!d->group[g])
			continue;
		fputs("<span class=\"item\">", html);
		plot_phase_write_dot(g, html);
		fprintf(html, "%s</span>", phase_group_name(g, name, sizeof(name)));
	}
	fputs("</p>\n", html);
}

static void timeline_plot_write_rails(struct timeline_plot *d)
{
	struct plot_panel p = { .html = d->html,
				.x = d->time,
				.height = 180,
				.title = "power of the rails over time" };

	if (!d->line.rails)
		return;
	legend_begin(d->html, d->line.axis);
	for (size_t i = 0; i < d->line.rails; i++)
		legend_write_line(d->html, i, timeline_rail_name(&d->line, i));
	fputs("</p>\n", d->html);
	if (!lines_write(d, timeline_rail, d->line.rails, d->line.steps, !d->line.steps, &p))
		fputs("<p class=\"note\">No reading of a rail is known in this time.</p>\n",
		      d->html);
}

static void timeline_plot_write_cpus(struct timeline_plot *d)
{
	struct plot_panel p = { .html = d->html,
				.x = d->time,
				.height = 180,
				.title = "frequency of the CPUs over time" };
	char name[32];

	if (!d->line.cpus)
		return;
	legend_begin(d->html, "frequency (MHz)");
	for (size_t i = 0; i < d->line.cpus; i++) {
		snprintf(name, sizeof(name), "cpu%u", d->line.rec->cpu[d->line.cpu[i]].cpu);
		legend_write_line(d->html, i, name);
	}
	fputs("</p>\n", d->html);
	if (!lines_write(d, timeline_cpu, d->line.cpus, true, true, &p))
		fputs("<p class=\"note\">No frequency is known in this time.</p>\n", d->html);
}

void plot_timeline(const struct recording *rec, uint64_t t0, uint64_t t1, FILE *html)
{
	struct timeline_plot d = {
		.line = { .rec = rec, .t0 = t0, .t1 = t1, .cells = PIXELS },
		.html = html,
		.time = { .from = recording_seconds(rec, t0), .to = recording_seconds(rec, t1) },
	};
	const struct plot_panel axis = { .html = html,
					 .x = d.time,
					 .height = 6,
					 .x_labels = true,
					 .x_title = "time (s)",
					 .title = "time" };

	timeline_choose(&d.line);
	recording_find_groups(rec, d.group);
	timeline_plot_write_rails(&d);
	if (rec->phases) {
		legend_write_phases(&d, html);
		lane_write(&d, true, "threads wait");
		lane_write(&d, false, "concurrent");
	}
	timeline_plot_write_cpus(&d);
	plot_panel_begin(&axis);
	plot_panel_end(&axis);
}
