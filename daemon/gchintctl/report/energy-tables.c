// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../analysis/energy.h"
#include "../../common/amount.h"
#include "../../common/escape.h"
#include "../../recording/reader/db.h"
#include "../../recording/reader/processes.h"
#include "attributed.h"
#include "report.h"

#define MS(ns) ((double)(ns) / 1e6)

static void energy_cell(const struct energy_part *p, bool measured, FILE *html)
{
	if (!p->ns && p->unknown_ns) {
		fputs("<td title=\"the rail was not known\">?</td>", html);
		return;
	}
	if (!p->ns) {
		fputs("<td></td>", html);
		return;
	}
	if (!measured) {
		fprintf(html, "<td>%.4f</td>", p->joules);
		return;
	}
	if (energy_resolved(p))
		fprintf(html, "<td>%.4f", p->joules);
	else
		fputs("<td title=\"not resolved: short against the time between two readings\">?",
		      html);
	if (isfinite(p->high))
		fprintf(html, " <span class=\"pm\">(%.4f&nbsp;to&nbsp;%.4f)</span></td>", p->low,
			p->high);
	else
		fprintf(html, " <span class=\"pm\">(%.0f&nbsp;%% whole)</span></td>",
			100 * (double)p->whole_ns / (double)p->ns);
}

/* A column of the energy tables: one rail, or the sum of the rails that feed one core each. */
struct column {
	struct energy e;
	const struct recording_rail *rail;
};

static const char *column_name(const struct column *c)
{
	if (*c->rail->cpus)
		return "all cores";
	return *c->rail->label ? c->rail->label : c->rail->name;
}

static bool column_is_rare(const struct column *c)
{
	return !*c->rail->cpus && c->e.samples < ENERGY_READINGS;
}

/* Moves columns of rails that were read too rarely behind the others; returns the others' number. */
static size_t columns_sort(struct column *column, size_t columns)
{
	size_t nr = 0;

	for (size_t c = 0; c < columns; c++) {
		struct column moved = column[c];

		if (column_is_rare(&moved))
			continue;
		memmove(&column[nr + 1], &column[nr], (c - nr) * sizeof(*column));
		column[nr++] = moved;
	}
	return nr;
}

/*
 * Returns the number of columns; @column has one element more than there are rails. Behind the
 * columns are @rare ones of rails that were read too rarely to be one.
 */
static size_t columns_load(const struct recording *rec, const uint16_t *group,
			   struct column *column, size_t *rare)
{
	const struct recording_rail *core = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < rec->rails; i++) {
		if (*rec->rail[i].cpus) {
			core = core ? core : &rec->rail[i];
			continue;
		}
		column[nr].rail = &rec->rail[i];
		nr += energy_of(rec, i, group, &column[nr].e);
	}
	if (core && energy_of_cores(rec, group, &column[nr].e))
		column[nr++].rail = core;
	*rare = nr - columns_sort(column, nr);
	return nr - *rare;
}

/* A sentence for each of the rails that were read too rarely. */
static void columns_write_rare(const struct column *column, size_t columns, FILE *html)
{
	if (!columns)
		return;
	fputs("<p class=\"note\">", html);
	for (size_t c = 0; c < columns; c++) {
		escape_html(html, column_name(&column[c]));
		fprintf(html,
			": %s J in the whole run, %s; it was read %zu times, too rarely for "
			"phases. ",
			amount_digits(column[c].e.total, 4, AMOUNT_BUFFER),
			recording_rail_how(column[c].rail), column[c].e.samples);
	}
	fputs("</p>\n", html);
}

static void energy_head(const char *what, const struct column *column, size_t columns, FILE *html)
{
	fprintf(html, "<div class=\"scroll\"><table class=\"energy\"><thead><tr><th>%s</th>", what);
	for (size_t c = 0; c < columns; c++) {
		fputs("<th>", html);
		escape_html(html, column_name(&column[c]));
		fprintf(html, "<br>%s</th>", recording_rail_how(column[c].rail));
	}
}

static void sensor_write(const struct column *c, FILE *html)
{
	const struct energy_limits *l = &c->rail->limits;

	escape_html(html, *c->rail->cpus ? "all cores" : c->rail->name);
	fputs(": ", html);
	escape_html(html, c->rail->source);
	fputs(*c->rail->derived ? ", " : "", html);
	escape_html(html, c->rail->derived);
	fprintf(html, ", a sample every %.1f ms", MS(c->e.interval_ns));
	if (!*c->rail->cpus)
		fprintf(html, " (%zu, of which %zu not known)", c->e.samples, c->e.unknown);
	fprintf(html, ", mean %.3f W", c->e.mean_w);
	if (l->update_ns && c->rail->kind == RAIL_POWER)
		fprintf(html, ", each the mean of %.0f ms, which its bounds allow for",
			MS(l->update_ns));
	else if (l->update_ns)
		fprintf(html, ", updates about every %.1f ms, which its bounds allow for",
			MS(l->update_ns));
	if (l->wraps > 0)
		fprintf(html, ", wraps after %.0f J", l->wraps);
	if (c->e.wrapped)
		fprintf(html, ", perhaps twice in %zu intervals, which are not known",
			c->e.wrapped);
	fputs(". ", html);
}

/* @modelled: from energy_modelled() with @source; NULL if it failed. */
static void energy_notes(const struct column *column, size_t columns, const struct energy *modelled,
			 const char *source, FILE *html)
{
	fputs("</tbody></table></div>\n<p class=\"note\">", html);
	for (size_t c = 0; c < columns; c++)
		sensor_write(&column[c], html);
	if (columns)
		fputs("Between two readings of a counter only the sum is known: a phase gets its "
		      "share by time, and the brackets are its lower and upper bound. Between two "
		      "readings of a power meter nothing is known: the brackets are the part of "
		      "the phases' time in intervals that phases fill entirely. ?: not resolved, "
		      "because the phases are shorter than the interval between two readings. ",
		      html);
	if (modelled) {
		fputs("Modelled: power of each OPP from ", html);
		escape_html(html, source);
		fputs(" times the phase's time at it, its CPU taken to be busy.", html);
		if (modelled->no_khz_ns)
			fprintf(html, " Not counted: %.3f ms of phases at an unknown frequency.",
				(double)modelled->no_khz_ns / 1e6);
	}
	fputs("</p>\n", html);
}

static void energy_by_phase(const struct recording *rec, const struct column *column,
			    size_t columns, size_t rare, FILE *html)
{
	char name[48], source[64];
	struct energy model;
	bool seen[PHASE_GROUPS];
	bool modelled = energy_modelled(rec, &model, source, sizeof(source));

	/* The timeline says that power was not recorded. */
	if (!columns && !modelled && !rare)
		return;
	fputs("<h3>Energy while phases were open (J)</h3>\n", html);
	columns_write_rare(column + columns, rare, html);
	if (!columns && !modelled)
		return;
	recording_find_groups(rec, seen);
	energy_head("phase", column, columns, html);
	fputs(modelled ? "<th>OPP table<br>modelled</th></tr></thead><tbody>\n" :
			 "</tr></thead><tbody>\n",
	      html);
	for (unsigned int g = 0; g < PHASE_GROUPS; g++) {
		if (g ? !seen[g] : !columns)
			continue;
		fputs("<tr><td>", html);
		plot_phase_write_dot(g, html);
		fprintf(html, "%s</td>", phase_group_name(g, name, sizeof(name)));
		for (size_t c = 0; c < columns; c++)
			energy_cell(&column[c].e.part[g], true, html);
		if (modelled)
			energy_cell(&model.part[g], false, html);
		fputs("</tr>\n", html);
	}
	fputs("<tr><td><b>whole run</b></td>", html);
	for (size_t c = 0; c < columns; c++)
		fprintf(html, "<td><b>%.4f</b></td>", column[c].e.total);
	fputs(modelled ? "<td>phases only</td></tr>\n" : "</tr>\n", html);
	energy_notes(column, columns, modelled ? &model : NULL, source, html);
}

static void energy_by_process(const struct recording *rec, struct column *column, FILE *html)
{
	struct processes p;
	char name[48];
	size_t columns, rare;

	if (!processes_of(rec, &p))
		return;
	columns = p.nr > 1 ? columns_load(rec, p.group, column, &rare) : 0;
	if (columns) {
		fputs("<h3>Energy by process, in its phases (J)</h3>\n", html);
		energy_head("process", column, columns, html);
		fputs("</tr></thead><tbody>\n", html);
		for (unsigned int g = 1; g <= p.nr; g++) {
			fputs("<tr><td>", html);
			escape_html(html, processes_name(&p, g, name, sizeof(name)));
			fputs("</td>", html);
			for (size_t c = 0; c < columns; c++)
				energy_cell(&column[c].e.part[g], true, html);
			fputs("</tr>\n", html);
		}
		fputs("</tbody></table></div>\n", html);
	}
	processes_free(&p);
}

/* Only for boards with one rail per core. */
static void energy_by_core(const struct recording *rec, FILE *html)
{
	struct energy_part in;
	struct energy e;
	bool any = false;

	for (size_t i = 0; i < rec->rails; i++) {
		if (!*rec->rail[i].cpus || !energy_of(rec, i, NULL, &e))
			continue;
		if (!any)
			fputs("<h3>Energy by core (J)</h3>\n<div class=\"scroll\"><table><thead>"
			      "<tr><th>core</th><th>whole run</th><th>mean W</th><th>in phases</th>"
			      "</tr></thead><tbody>\n",
			      html);
		any = true;
		fputs("<tr><td>CPU ", html);
		escape_html(html, rec->rail[i].cpus);
		fprintf(html, "</td><td>%.4f</td><td>%.3f</td>", e.total, e.mean_w);
		in = energy_inside(&e);
		energy_cell(&in, true, html);
		fputs("</tr>\n", html);
	}
	if (any)
		fputs("</tbody></table></div>\n<p class=\"note\">Each core's rail by the phases "
		      "that began on its CPUs; a thread that moved meanwhile still counts "
		      "there.</p>\n",
		      html);
}

/* The columns of the whole run, to be freed. NULL: no memory, which is said. */
static struct column *columns_new(const struct recording *rec, size_t *columns, size_t *rare)
{
	struct column *column = calloc(rec->rails + 1, sizeof(*column));

	if (column)
		*columns = columns_load(rec, NULL, column, rare);
	else
		db_missing(rec->path, "no memory for its energy");
	return column;
}

void report_energy(const struct recording *rec, FILE *html)
{
	size_t columns, rare;
	struct column *column = columns_new(rec, &columns, &rare);

	if (!column)
		return;
	energy_by_phase(rec, column, columns, rare, html);
	attributed_print_html(rec, html);
	energy_by_core(rec, html);
	energy_by_process(rec, column, html);
	free(column);
}

/*
 * Of the rails by which the energy is resolved, or else of all, the first one of the first role;
 * NULL if there are only those of memory, GPUs, devices and batteries.
 */
static const struct column *columns_find_answer(const struct column *column, size_t columns)
{
	const struct column *found = NULL;
	bool resolved = false;

	for (size_t c = 0; c < columns; c++) {
		const struct energy_part in = energy_inside(&column[c].e);
		const bool here = in.ns && energy_resolved(&in);

		if (column[c].rail->role >= RAIL_ROLE_MEMORY || (found && resolved && !here))
			continue;
		if (!found || here > resolved || column[c].rail->role < found->rail->role) {
			found = &column[c];
			resolved = here;
		}
	}
	return found;
}

bool report_energy_is_known(const struct recording *rec)
{
	size_t columns = 0, rare = 0;
	struct column *column = columns_new(rec, &columns, &rare);

	free(column);
	return columns || rare;
}

void report_energy_figure(const struct recording *rec, FILE *html)
{
	size_t columns, rare;
	struct column *column = columns_new(rec, &columns, &rare);
	const struct column *by;

	if (!column) {
		fputs("?<small>no memory", html);
		return;
	}
	by = columns_find_answer(column, columns);
	if (by) {
		const struct energy_part in = energy_inside(&by->e);
		const bool resolved = in.ns && energy_resolved(&in);

		if (resolved)
			fprintf(html, "%s&nbsp;J", amount_digits(in.joules, 3, AMOUNT_BUFFER));
		else
			fputs("?", html);
		fprintf(html, "<small>of %s J by ", amount_digits(by->e.total, 4, AMOUNT_BUFFER));
		escape_html(html, column_name(by));
		if (in.ns && isfinite(in.high))
			fprintf(html, "; bounds %s to %s J",
				amount_digits(in.low, 3, AMOUNT_BUFFER),
				amount_digits(in.high, 3, AMOUNT_BUFFER));
		else if (!in.ns)
			fputs("; no phase is within its readings", html);
		if (in.ns && !resolved)
			fputs("; the phases are short against the time between readings", html);
		if (columns + rare > 1)
			fprintf(html, "; %zu more below", columns + rare - 1);
	} else if (columns) {
		fputs("?<small>no rail is that of CPUs or of the machine; others are below", html);
	} else if (rare) {
		fprintf(html, "?<small>of %s J by ",
			amount_digits(column->e.total, 4, AMOUNT_BUFFER));
		escape_html(html, column_name(column));
		fputs(", which was read too rarely for phases", html);
	} else {
		fputs("?<small>no power rail was recorded", html);
	}
	free(column);
}
