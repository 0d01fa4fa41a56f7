// SPDX-License-Identifier: GPL-2.0-or-later
/* The result of gchintctl measure as JSON, CSV and Markdown. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../analysis/stats.h"
#include "../../common/json.h"
#include "../ctl.h"
#include "result.h"

static void command_write_json(struct json *j, const struct result *r,
			       const struct compare_figure *f, size_t group)
{
	const struct measure_command *command = &r->measure->command[group];
	const struct result_spread s = result_spread(f, group);

	json_line(j);
	json_object(j, NULL);
	json_text(j, "label", command->label);
	json_text(j, "command", command->text);
	if (r->measure->parameter)
		json_text(j, r->measure->parameter, command->value);
	json_real(j, "mean", s.mean, 9);
	json_real(j, "mean_low", s.low, 9);
	json_real(j, "mean_high", s.high, 9);
	json_real(j, "sigma", s.sigma, 9);
	json_real(j, "min", s.min, 9);
	json_real(j, "max", s.max, 9);
	json_list(j, "values");
	for (size_t i = 0; i < f->n[group]; i++)
		json_real(j, NULL, f->value[group][i], 9);
	json_end(j);
	if (group) {
		struct verdict v;
		char words[256];

		json_object(j, "difference");
		compare_print_json(j, r->comparison, f, group);
		compare_verdict(r->comparison, f, group, &v);
		verdict_conclusion(&v, words, sizeof(words));
		json_text(j, "verdict", words);
		json_end(j);
	}
	json_end(j);
}

void result_write_json(const struct result *r, FILE *f)
{
	const struct measure *m = r->measure;
	struct json j = { .f = f };

	json_object(&j, NULL);
	json_list(&j, "commands");
	for (size_t i = 0; i < m->commands; i++)
		json_text(&j, NULL, m->command[i].text);
	json_end(&j);
	json_text(&j, "parameter", m->parameter);
	json_uint(&j, "runs", m->runs);
	json_uint(&j, "warmup", m->warmup);
	json_uint(&j, "period_ms", m->period_ms);
	json_real(&j, "idle_s", m->idle_s > 0 ? m->idle_s : NAN, 9);
	json_uint(&j, "failed_runs", m->failed);
	json_uint(&j, "runs_that_left_processes", m->left);
	json_text(&j, "no_energy", *r->no_energy ? r->no_energy : NULL);
	json_list(&j, "figures");
	for (size_t i = 0; i < r->comparison->figures; i++) {
		const struct compare_figure *figure = &r->comparison->figure[i];

		if (!figure->main)
			continue;
		json_line(&j);
		json_object(&j, NULL);
		json_text(&j, "figure", figure->name);
		json_text(&j, "unit", figure->unit);
		json_int(&j, "better", figure->better);
		json_list(&j, "commands");
		for (size_t g = 0; g < m->commands; g++)
			command_write_json(&j, r, figure, g);
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

static void csv_write_text(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', f);
		fputc(*text, f);
	}
	fputc('"', f);
}

/* A line for each value: tables of other programs group and filter them. */
static void csv_write(const struct result *r, FILE *f)
{
	const struct measure *m = r->measure;

	fprintf(f, "label,command,%s%sfigure,unit,run,value\n", m->parameter ? m->parameter : "",
		m->parameter ? "," : "");
	for (size_t i = 0; i < r->comparison->figures; i++) {
		const struct compare_figure *figure = &r->comparison->figure[i];

		for (size_t g = 0; figure->main && g < m->commands; g++)
			for (size_t run = 0; run < figure->n[g]; run++) {
				fprintf(f, "%s,", m->command[g].label);
				csv_write_text(f, m->command[g].text);
				fputc(',', f);
				if (m->parameter) {
					csv_write_text(
						f, m->command[g].value ? m->command[g].value : "");
					fputc(',', f);
				}
				csv_write_text(f, figure->name);
				fprintf(f, ",%s,%zu,%.9g\n", figure->unit, run + 1,
					figure->value[g][run]);
			}
	}
}

static void markdown_write_code(FILE *f, const char *text)
{
	fputc('`', f);
	for (; *text; text++)
		fputs(*text == '|' ? "\\|" : (char[]){ *text, '\0' }, f);
	fputc('`', f);
}

static void markdown_write(const struct result *r, FILE *f)
{
	const struct comparison *c = r->comparison;

	for (size_t i = 0; i < c->figures; i++) {
		const struct compare_figure *figure = &c->figure[i];

		if (!result_shows(r, figure))
			continue;
		fprintf(f, "%s| command | %s%s%s, mean | 95 %% interval | sigma | min | max |%s\n",
			i ? "\n" : "", figure->name, *figure->unit ? ", " : "", figure->unit,
			c->groups > 1 ? " against the first |" : "");
		fprintf(f, "|---|--:|--:|--:|--:|--:|%s\n", c->groups > 1 ? "---|" : "");
		for (size_t g = 0; g < c->groups; g++) {
			const struct result_spread s = result_spread(figure, g);
			const int digits = stats_decimals(s.high > s.mean ? s.high - s.mean :
									    fabs(s.mean) / 100);
			struct verdict v;
			char words[256] = "";

			fputs("| ", f);
			markdown_write_code(f, r->measure->command[g].text);
			if (s.n > 1)
				fprintf(f, " | %.*f | %.*f to %.*f | %.*f | %.*f | %.*f |", digits,
					s.mean, digits, s.low, digits, s.high, digits, s.sigma,
					digits, s.min, digits, s.max);
			else if (s.n)
				fprintf(f, " | %.6g | ? | ? | %.6g | %.6g |", s.mean, s.min, s.max);
			else
				fputs(" | ? | ? | ? | ? | ? |", f);
			if (g) {
				compare_verdict(c, figure, g, &v);
				verdict_words(&v, words, sizeof(words));
			}
			fprintf(f, c->groups > 1 ? " %s |\n" : "\n", words);
		}
	}
}

static int file_write(const struct result *r, const char *path,
		      void (*write)(const struct result *r, FILE *f))
{
	FILE *f = path ? fopen(path, "we") : NULL;
	bool good;

	if (!path)
		return CTL_OK;
	if (f) {
		write(r, f);
		good = !ferror(f);
		good = !fclose(f) && good;
		if (good)
			return CTL_OK;
	}
	ctl_error("measure: %s: %s", path, strerror(errno));
	return CTL_FILE;
}

int result_export(const struct result *r)
{
	const struct measure *m = r->measure;
	int json = file_write(r, m->export_json, result_write_json);
	int csv = file_write(r, m->export_csv, csv_write);
	int markdown = file_write(r, m->export_markdown, markdown_write);

	return json ? json : csv ? csv : markdown;
}
