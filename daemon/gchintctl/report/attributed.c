// SPDX-License-Identifier: GPL-2.0-or-later
#include "attributed.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../analysis/attribution.h"
#include "../../common/escape.h"
#include "../../recording/reader/db.h"

static void attributed_of(const struct recording *rec, size_t rail, const uint16_t *group,
			  struct attribution *a)
{
	if (rail == ATTRIBUTED_CORES)
		attribution_of_cores(rec, group, a);
	else
		attribution_of(rec, rail, group, a);
}

static const char *group_name(unsigned int g, const struct processes *p, char *buf, size_t size)
{
	if (!g)
		snprintf(buf, size, "other threads");
	else if (p)
		processes_name(p, g, buf, size);
	else
		phase_group_name(g, buf, size);
	return buf;
}

static bool part_present(const struct energy_part *p)
{
	return p->high > 0 || p->unknown_ns;
}

/* A part whose bounds are this many times lower or higher than itself is not known. */
#define RESOLVED 20

/* Of a power meter no bound is known: its estimate is printed as one. */
static bool part_resolved(const struct energy_part *p)
{
	return !isfinite(p->high) ||
	       (p->low * RESOLVED >= p->joules && p->high <= p->joules * RESOLVED);
}

static void part_print(const struct energy_part *p, const char *name)
{
	if (part_resolved(p))
		printf("  %-22s %12.6f J  (%.6f to ", name, p->joules, p->low);
	else
		printf("  %-22s %12s J  (%.6f to ", name, "?", p->low);
	if (isfinite(p->high))
		printf("%.6f)", p->high);
	else
		fputs("?)", stdout);
	if (p->unknown_ns)
		printf("  (%.3f ms not known)", (double)p->unknown_ns / 1e6);
	putchar('\n');
}

static void parts_print(const struct attribution *a, const struct processes *p)
{
	char name[48];

	for (unsigned int g = 1; g < PHASE_GROUPS; g++)
		if (part_present(&a->part[g]))
			part_print(&a->part[g], group_name(g, p, name, sizeof(name)));
}

void attributed_print(const struct recording *rec, size_t rail, const struct processes *p)
{
	struct attribution a;
	char text[256];

	attributed_of(rec, rail, NULL, &a);
	if (a.lack == ATTRIBUTION_NO_MEMORY)
		return;
	if (a.lack) {
		printf("  attributed to threads: ?  (%s)\n", attribution_lack_text(a.lack));
		return;
	}
	printf("  attributed to threads in phases, %s:\n", attribution_how(&a, text, sizeof(text)));
	parts_print(&a, NULL);
	part_print(&a.part[0], "other threads");
	part_print(&a.idle, "idle and shared");
	if (a.unknown)
		printf("  %zu of %zu intervals are not attributed: their energy or idle time is "
		       "not "
		       "known\n",
		       a.unknown, a.unknown + a.intervals);
	if (p->nr < 2)
		return;
	attributed_of(rec, rail, p->group, &a);
	puts("  attributed to threads in phases, by process:");
	parts_print(&a, p);
}

static void part_print_json(struct json *j, const struct energy_part *p)
{
	if (part_resolved(p))
		json_real(j, "joules", p->joules, 9);
	else
		json_null(j, "joules");
	json_real(j, "low_joules", p->low, 9);
	json_real(j, "high_joules", p->high, 9);
}

static void parts_print_json(struct json *j, const char *list, const struct attribution *a,
			     const struct processes *p)
{
	char name[48];

	json_list(j, list);
	for (unsigned int g = 1; g < PHASE_GROUPS; g++) {
		if (!part_present(&a->part[g]))
			continue;
		json_object(j, NULL);
		if (p && p->tgid[g] > 0)
			json_uint(j, "pid", (uint64_t)p->tgid[g]);
		json_text(j, p ? "name" : "phase",
			  p ? p->name[g] : phase_group_name(g, name, sizeof(name)));
		json_uint(j, "cpu_ns", a->part[g].ns);
		json_uint(j, "unknown_ns", a->part[g].unknown_ns);
		part_print_json(j, &a->part[g]);
		json_end(j);
	}
	json_end(j);
}

void attributed_print_json(struct json *j, const struct recording *rec, size_t rail,
			   const struct processes *p)
{
	struct attribution a;
	char text[256];

	attributed_of(rec, rail, NULL, &a);
	if (a.lack == ATTRIBUTION_NO_MEMORY)
		return;
	json_object(j, "attributed");
	if (a.lack) {
		json_text(j, "unknown", attribution_lack_text(a.lack));
		json_end(j);
		return;
	}
	json_text(j, "how", attribution_how(&a, text, sizeof(text)));
	json_real(j, "joules", a.total, 9);
	json_uint(j, "intervals", a.intervals);
	json_uint(j, "unknown_intervals", a.unknown);
	parts_print_json(j, "by_phase", &a, NULL);
	json_object(j, "other_threads");
	part_print_json(j, &a.part[0]);
	json_end(j);
	json_object(j, "idle_and_shared");
	part_print_json(j, &a.idle);
	json_real(j, "watts", a.idle_w, 9);
	json_end(j);
	attributed_of(rec, rail, p->group, &a);
	parts_print_json(j, "by_process", &a, p);
	json_end(j);
}

static void row_print_html(const struct energy_part *p, const char *name, FILE *html)
{
	fputs("<tr><td>", html);
	escape_html(html, name);
	if (part_resolved(p))
		fprintf(html, "</td><td>%.4f", p->joules);
	else
		fputs("</td><td>?", html);
	fprintf(html, " <span class=\"pm\">(%.4f&nbsp;to&nbsp;", p->low);
	if (isfinite(p->high))
		fprintf(html, "%.4f)</span></td></tr>\n", p->high);
	else
		fputs("?)</span></td></tr>\n", html);
}

static bool rail_is_still(const struct recording *rec, size_t rail)
{
	const struct recording_series *s = recording_samples(rec, rail);

	return rec->rail[rail].kind == RAIL_ENERGY && s && energy_is_still(s->sample, s->nr);
}

/* Returns why nothing was attributed, or ATTRIBUTION_KNOWN if something was printed. */
static enum attribution_lack rail_print_html(const struct recording *rec, size_t rail,
					     const char *title, FILE *html)
{
	struct attribution a;
	char name[48], text[256];

	attributed_of(rec, rail, NULL, &a);
	if (a.lack)
		return a.lack;
	fputs("<div class=\"scroll\"><table><thead><tr><th>attributed to</th><th>", html);
	escape_html(html, title);
	fputs("</th></tr></thead><tbody>\n", html);
	for (unsigned int g = 1; g < PHASE_GROUPS; g++)
		if (part_present(&a.part[g]))
			row_print_html(&a.part[g], phase_group_name(g, name, sizeof(name)), html);
	row_print_html(&a.part[0], "other threads", html);
	row_print_html(&a.idle, "idle and shared", html);
	fputs("</tbody></table></div>\n<p class=\"note\">", html);
	escape_html(html, attribution_how(&a, text, sizeof(text)));
	fputs(".</p>\n", html);
	return ATTRIBUTION_KNOWN;
}

static const char *rail_title(const struct recording_rail *r)
{
	return *r->label ? r->label : r->name;
}

/* One line for all rails that lack the same. @lack[rec->rails] is that of all cores. */
static void lacks_print_html(const struct recording *rec, const enum attribution_lack *lack,
			     FILE *html)
{
	for (size_t i = 0; i <= rec->rails; i++) {
		const enum attribution_lack same = lack[i];
		bool first = true;

		for (size_t k = 0; k < i && first; k++)
			first = lack[k] != same;
		if (!first || same == ATTRIBUTION_KNOWN || same == ATTRIBUTION_NO_MEMORY ||
		    same == ATTRIBUTION_NO_ENERGY)
			continue;
		fputs("<p class=\"note\">", html);
		for (size_t k = i; k <= rec->rails; k++) {
			if (lack[k] != same)
				continue;
			if (k > i)
				fputs(", ", html);
			escape_html(html, k < rec->rails ? rail_title(&rec->rail[k]) : "all cores");
		}
		fprintf(html, ": not known: %s.</p>\n", attribution_lack_text(same));
	}
}

void attributed_print_html(const struct recording *rec, FILE *html)
{
	enum attribution_lack *lack = calloc(rec->rails + 1, sizeof(*lack));
	bool core = false, any = false;

	if (!lack) {
		db_missing(rec->path, "no memory for its attributed energy");
		return;
	}

	for (size_t i = 0; i < rec->rails; i++) {
		const struct recording_rail *r = &rec->rail[i];

		/* A counter that never moved does not count here. */
		if ((r->kind != RAIL_ENERGY && r->kind != RAIL_POWER) || rail_is_still(rec, i))
			continue;
		if (!any)
			fputs("<h3>Energy attributed to threads (J)</h3>\n", html);
		any = true;
		core = core || *r->cpus;
		if (!*r->cpus)
			lack[i] = rail_print_html(rec, i, rail_title(r), html);
	}
	if (core)
		lack[rec->rails] = rail_print_html(rec, ATTRIBUTED_CORES, "all cores", html);
	lacks_print_html(rec, lack, html);
	free(lack);
}
