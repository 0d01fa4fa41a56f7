// SPDX-License-Identifier: GPL-2.0-or-later
#include "plot.h"

#include <math.h>

#include "../../common/escape.h"

/* Units of the SVG, which is stretched to the panel's size. */
#define ACROSS 1000.0
#define DOWN   100.0

/* Distances of ticks are 1, 2 or 5 times a power of ten. */
#define TICKS 6

/* Styles of lines that the page has; more lines use them again. */
#define STYLES 12

const char *plot_phase_colour(unsigned int group)
{
	/* Distinguishable with the common forms of colour blindness (after Okabe and Ito,
	 * jfly.uni-koeln.de/color). */
	static const char *const colours[GCHINT_PHASE_NR] = {
		[GCHINT_PHASE_NONE] = "#b8bec6",      [GCHINT_PHASE_COLLECT] = "#d55e00",
		[GCHINT_PHASE_SAFEPOINT] = "#8c510a", [GCHINT_PHASE_ROOTS] = "#e69f00",
		[GCHINT_PHASE_MARK] = "#0072b2",      [GCHINT_PHASE_REMARK] = "#cc3311",
		[GCHINT_PHASE_REFS] = "#ee99aa",      [GCHINT_PHASE_SWEEP] = "#009e73",
		[GCHINT_PHASE_COPY] = "#56b4e9",      [GCHINT_PHASE_COMPACT] = "#7b5ea7",
		[GCHINT_PHASE_TRIM] = "#94a323",      [GCHINT_PHASE_WAIT] = "#cc79a7",
		[GCHINT_PHASE_WORK] = "#5f7f8f",
	};
	unsigned int phase = group / CLASS_NR;

	return phase < GCHINT_PHASE_NR ? colours[phase] : "#999999";
}

void plot_phase_write_dot(unsigned int group, FILE *html)
{
	fprintf(html, "<span class=\"dot%s\" style=\"background-color:%s\"></span>",
		group && group % CLASS_NR < CLASS_FOREGROUND ? " hatched" : "",
		group ? plot_phase_colour(group) : "transparent");
}

void plot_group_write_key(size_t i, FILE *html)
{
	fprintf(html,
		"<svg class=\"key\" width=\"22\" height=\"8\" aria-hidden=\"true\"><path "
		"class=\"group%zu\" d=\"M0 4H22\"/></svg>",
		i % STYLES);
}

static double axis_place(const struct plot_axis *a, double v)
{
	if (a->logarithmic)
		return (log(v) - log(a->from)) / (log(a->to) - log(a->from));
	return (v - a->from) / (a->to - a->from);
}

static double axis_choose_step(const struct plot_axis *a)
{
	double least = (a->to - a->from) / TICKS, power = pow(10, floor(log10(least)));

	return power * (least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10);
}

/* Calls @fn for each tick with its value and its place on the axis, 0 to 1. */
static void axis_each_tick(const struct plot_axis *a,
			   void (*fn)(const struct plot_panel *p, double v, double at),
			   const struct plot_panel *p)
{
	double step;

	if (a->logarithmic) {
		for (double v = pow(10, ceil(log10(a->from) - 1e-9)); v <= a->to * 1.0001; v *= 10)
			fn(p, v, axis_place(a, v));
		return;
	}
	step = axis_choose_step(a);
	/* Plus 0: never a tick at -0. */
	for (double n = ceil(a->from / step - 1e-6) + 0.0; n * step <= a->to + step * 1e-6; n++)
		fn(p, n * step, axis_place(a, n * step));
}

static void tick_write_y(const struct plot_panel *p, double v, double at)
{
	fprintf(p->html, "<span style=\"bottom:%.2f%%\">%.6g</span>", 100 * at,
		fabs(v) < 1e-12 ? 0 : v);
}

static void tick_write_x(const struct plot_panel *p, double v, double at)
{
	/* The last value would be cut off at the edge of the page. */
	if (at < 0.97)
		fprintf(p->html, "<span style=\"left:%.2f%%\">%.9g</span>", 100 * at,
			fabs(v) < 1e-12 ? 0 : v);
}

static void tick_write_grid_y(const struct plot_panel *p, double v, double at)
{
	(void)v;
	fprintf(p->html, "M0 %.2fH%.0f", DOWN * (1 - at), ACROSS);
}

static void tick_write_grid_x(const struct plot_panel *p, double v, double at)
{
	(void)v;
	fprintf(p->html, "M%.2f 0V%.0f", ACROSS * at, DOWN);
}

void plot_panel_begin(const struct plot_panel *p)
{
	fprintf(p->html, "<div class=\"panel%s\"><div class=\"ticks\" style=\"height:%dpx\">",
		p->x_labels ? " labelled" : "", p->height);
	if (p->y.to > p->y.from)
		axis_each_tick(&p->y, tick_write_y, p);
	fprintf(p->html,
		"</div><svg viewBox=\"0 0 %.0f %.0f\" preserveAspectRatio=\"none\" "
		"style=\"height:%dpx\" role=\"img\" aria-label=\"",
		ACROSS, DOWN, p->height);
	escape_html(p->html, p->title);
	fputs("\"><path class=\"grid\" d=\"", p->html);
	if (p->y.to > p->y.from)
		axis_each_tick(&p->y, tick_write_grid_y, p);
	if (p->x_labels)
		axis_each_tick(&p->x, tick_write_grid_x, p);
	fputs("\"/>\n", p->html);
}

void plot_panel_end(const struct plot_panel *p)
{
	fputs("</svg>", p->html);
	if (p->x_labels) {
		fputs("<div class=\"across\">", p->html);
		axis_each_tick(&p->x, tick_write_x, p);
		fprintf(p->html, "</div><div class=\"unit\">%s</div>", p->x_title);
	}
	fputs("</div>\n", p->html);
}

void plot_box(const struct plot_panel *p, double from, double to)
{
	double left = ACROSS * axis_place(&p->x, from), right = ACROSS * axis_place(&p->x, to);

	left = left < 0 ? 0 : left;
	right = right > ACROSS ? ACROSS : right;
	fprintf(p->html, "M%.2f 0h%.2fv%.0fh-%.2fz", left, fmax(right - left, 0.5), DOWN,
		fmax(right - left, 0.5));
}

void plot_path_begin(struct plot_path *path, const struct plot_panel *p, size_t i)
{
	*path = (struct plot_path){ .panel = p };
	fprintf(p->html, "<path class=\"group%zu\" d=\"", i % STYLES);
}

void plot_path_put(struct plot_path *path, double x, double y)
{
	const struct plot_panel *p = path->panel;

	fprintf(p->html, "%c%.2f %.2f", path->points ? 'L' : 'M', ACROSS * axis_place(&p->x, x),
		DOWN * (1 - axis_place(&p->y, y)));
	path->points++;
}

void plot_path_end(struct plot_path *path)
{
	fputs("\"/>\n", path->panel->html);
}
