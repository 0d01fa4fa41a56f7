// SPDX-License-Identifier: GPL-2.0-or-later
#include "methods.h"

#include <math.h>
#include <stdlib.h>

#include "../../common/escape.h"
#include "../../recording/reader/db.h"
#include "../profile/profile.h"
#include "../profile/sample-energy.h"

#define LINES 12

/* Samples of one method. */
struct method {
	uint32_t name;
	size_t n, phase, pause; /* all; in a phase of the collector; of these in a pause */
	size_t with_khz, with_joules;
	double khz, joules; /* sums over these */
};

bool methods_are_recorded(const struct recording *rec)
{
	int64_t n = 0;

	return db_number(rec->db, "SELECT count(*) FROM sqlite_master WHERE name = 'hotspots'", 0,
			 &n) &&
	       n && db_number(rec->db, "SELECT count(*) FROM hotspots", 0, &n) && n;
}

static void method_add_sample(struct method *m, const struct profile_sample *s, double joules)
{
	const unsigned int class = s->answered ? s->group % CLASS_NR : 0;
	const bool phase = s->answered && s->group >= CLASS_NR;

	m->n++;
	m->phase += phase;
	m->pause += phase && (class == CLASS_STW || class == CLASS_URGENT);
	m->with_khz += s->khz != 0;
	m->khz += s->khz;
	if (isfinite(joules)) {
		m->with_joules++;
		m->joules += joules;
	}
}

static int by_samples(const void *a, const void *b)
{
	const struct method *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? 1 : -1) : (x->name > y->name) - (x->name < y->name);
}

static void share_write(size_t part, size_t all, FILE *html)
{
	fprintf(html, "<td class=\"more\">%.1f&nbsp;%%</td>", 100.0 * (double)part / (double)all);
}

static void method_write_row(const struct profile *p, const struct method *m, bool mhz, bool joules,
			     FILE *html)
{
	fputs("<tr><td>", html);
	if (m->name == PROFILE_UNKNOWN)
		fputs("not known", html);
	else if (m->name == PROFILE_NO_METHOD)
		fputs("in no method", html);
	else
		escape_html(html, profile_name(p, m->name));
	fprintf(html, "</td><td>%.3f</td><td>%.1f&nbsp;%%</td>", (double)m->n * p->seconds,
		100.0 * (double)m->n / (double)p->samples);
	share_write(m->phase, m->n, html);
	share_write(m->pause, m->n, html);
	if (mhz && m->with_khz)
		fprintf(html, "<td class=\"more\">%.0f</td>", m->khz / (double)m->with_khz / 1000);
	else if (mhz)
		fputs("<td class=\"more\">?</td>", html);
	if (joules && m->with_joules == m->n)
		fprintf(html, "<td>%.4f</td>", m->joules);
	else if (joules)
		fputs("<td>?</td>", html);
	fputs("</tr>\n", html);
}

static void methods_write_table(const struct profile *p, const struct profile_energy *e,
				const struct method *method, size_t methods, FILE *html)
{
	size_t known = 0, rest = 0;

	for (size_t i = 0; i < methods; i++)
		known += method[i].with_khz;
	fprintf(html,
		"<div class=\"scroll narrowed\"><table><thead><tr><th>method</th><th>CPU s</th>"
		"<th>share</th><th class=\"more\">in phases</th><th class=\"more\">in pauses</th>"
		"%s%s</tr></thead><tbody>\n",
		known ? "<th class=\"more\">mean MHz</th>" : "", e->how ? "<th>J</th>" : "");
	for (size_t i = 0; i < methods && i < LINES; i++)
		method_write_row(p, &method[i], known, e->how, html);
	for (size_t i = LINES; i < methods; i++)
		rest += method[i].n;
	fprintf(html,
		"</tbody></table></div>\n<p class=\"note\">%zu samples by %s. In phases, in "
		"pauses: "
		"of the method's own time. ",
		p->samples, p->event);
	if (rest)
		fprintf(html, "%zu more methods have %.1f&nbsp;%%. ", methods - LINES,
			100.0 * (double)rest / (double)p->samples);
	if (e->how) {
		fprintf(html, "Energy: %s %s ", e->how, e->rail ? "on" : "by");
		escape_html(html, e->what);
		fputs(", an estimate (docs/profile.md). ", html);
	}
	fputs("gchintctl profile report has more.</p>\n", html);
}

static void flame_write(const struct profile *p, const struct profile_energy *e, bool by_energy,
			FILE *html)
{
	fprintf(html, "<details><summary>Flame graph by %s</summary><div class=\"scroll flame\">\n",
		by_energy ? "energy" : "CPU time");
	profile_flame(p, e, by_energy, false, html);
	fputs("</div></details>\n", html);
}

static void profile_write(const struct profile *p, FILE *html)
{
	struct method *method = calloc(p->names, sizeof(*method));
	struct profile_energy e = { 0 };
	size_t methods = 0;

	if (!method) {
		db_missing(p->rec->path, "no memory for its methods");
		return;
	}
	if (profile_energy(p, &e)) {
		for (size_t i = 0; i < p->names; i++)
			method[i].name = (uint32_t)i;
		for (size_t i = 0; i < p->samples; i++)
			method_add_sample(&method[p->sample[i].method], &p->sample[i],
					  e.how ? e.joules[i] : NAN);
		qsort(method, p->names, sizeof(*method), by_samples);
		while (methods < p->names && method[methods].n)
			methods++;
		fputs("<h3>Methods</h3>\n", html);
		methods_write_table(p, &e, method, methods, html);
		flame_write(p, &e, false, html);
		if (e.how)
			flame_write(p, &e, true, html);
	}
	profile_energy_free(&e);
	free(method);
}

void methods_write_html(const struct recording *rec, FILE *html)
{
	const struct profile_filter all = { 0 };
	struct profile p = { 0 };

	if (!methods_are_recorded(rec))
		return;
	if (profile_load(&p, rec, &all))
		profile_write(&p, html);
	profile_free(&p);
}
