// SPDX-License-Identifier: GPL-2.0-or-later
#include "result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../analysis/stats.h"
#include "../calibrate/estimate.h"
#include "../ctl.h"

static bool result_has_baseline(const struct result *r)
{
	return r->command[PLAN_BASELINE];
}

static size_t group_of(const struct result *r, enum plan_side side)
{
	return side == PLAN_COMMAND && result_has_baseline(r) ? 1 : 0;
}

/* A figure that no run has is not printed as such; what is missing is said below the tables. */
static bool figure_shown(const struct compare_figure *f)
{
	return f->main && (f->n[0] || f->n[1]);
}

/*
 * The mean and its 95 % interval; of a single value without one. The interval of figures above 0
 * does not reach below it.
 */
static void figure_mean(const struct compare_figure *f, size_t group, double *mean, double *low,
			double *high)
{
	const double *value = f->value[group];
	bool positive = true;
	struct figure of;

	*mean = f->n[group] ? value[0] : NAN;
	*low = *high = NAN;
	if (f->n[group] < 2)
		return;
	for (size_t i = 0; i < f->n[group]; i++)
		positive = positive && value[i] >= 0;
	of = estimate_mean(value, f->n[group], 0);
	*mean = of.value;
	*low = positive ? fmax(0, of.value - of.error) : of.value - of.error;
	*high = of.value + of.error;
}

/* "1.234 (1.220 to 1.248)": the mean, with its 95 % interval if there are two runs. */
static void figure_format_mean(const struct compare_figure *f, size_t group, char *buf, size_t size)
{
	double mean, low, high;
	int digits;

	figure_mean(f, group, &mean, &low, &high);
	if (isnan(mean)) {
		snprintf(buf, size, "?");
		return;
	}
	if (isnan(high)) {
		snprintf(buf, size, "%.6g", mean);
		return;
	}
	digits = stats_decimals(high > mean ? high - mean : fabs(mean) / 100);
	snprintf(buf, size, "%.*f (%.*f to %.*f)", digits, mean, digits, low, digits, high);
}

static void figures_print_means(const struct result *r)
{
	char mean[80], name[176];

	printf("%-42s", "MEAN (95 % INTERVAL)");
	if (result_has_baseline(r))
		printf(" %-30s", "BASELINE");
	puts(" COMMAND");
	for (size_t i = 0; i < r->comparison->figures; i++) {
		const struct compare_figure *f = &r->comparison->figure[i];

		if (!figure_shown(f))
			continue;
		snprintf(name, sizeof(name), "%s, %s", f->name, f->unit);
		printf("  %-40s", name);
		if (result_has_baseline(r)) {
			figure_format_mean(f, group_of(r, PLAN_BASELINE), mean, sizeof(mean));
			printf(" %-30s", mean);
		}
		figure_format_mean(f, group_of(r, PLAN_COMMAND), mean, sizeof(mean));
		printf(" %s\n", mean);
	}
}

static void verdicts_print(const struct result *r)
{
	const size_t group = group_of(r, PLAN_COMMAND);
	bool resampled = false;
	struct verdict v;
	char words[256];

	for (size_t i = 0; i < r->comparison->figures; i++) {
		compare_verdict(r->comparison, &r->comparison->figure[i], group, &v);
		resampled = resampled || v.resampled;
	}
	printf("\ncommand against baseline (95 %% interval by %s)\n",
	       resampled ? "bootstrap" : "Welch's t");
	for (size_t i = 0; i < r->comparison->figures; i++) {
		const struct compare_figure *f = &r->comparison->figure[i];
		const char *judgement;

		if (!figure_shown(f))
			continue;
		compare_verdict(r->comparison, f, group, &v);
		verdict_conclusion(&v, words, sizeof(words));
		judgement = verdict_judgement(&v, f->better);
		printf("  %-40s %s%s%s\n", f->name, words, *judgement ? ": " : "", judgement);
	}
}

/* Of one command: how many runs of it and of another one would show a difference. */
static void wanted_print(const struct result *r)
{
	const char *separator = " ";

	printf("\nruns of this command and of another that would show a difference of %.0f %%:",
	       VERDICT_DIFFERENCE * 100);
	for (size_t i = 0; i < r->comparison->figures; i++) {
		const struct compare_figure *f = &r->comparison->figure[i];
		struct verdict v;

		if (!figure_shown(f))
			continue;
		verdict_of(f->value[0], f->n[0], f->value[0], f->n[0], &v);
		if (v.wanted)
			printf("%s%s %zu", separator, f->name, v.wanted);
		else
			printf("%s%s not known", separator, f->name);
		separator = ", ";
	}
	putchar('\n');
}

static bool figures_known(const struct comparison *c, enum plan_figure type)
{
	for (size_t i = 0; i < c->figures; i++)
		if (plan_figure_of(c->figure[i].name) == type && figure_shown(&c->figure[i]))
			return true;
	return false;
}

static void missing_print(const struct result *r)
{
	const struct comparison *c = r->comparison;

	if (*r->no_energy)
		printf("energy: unknown: %s\n", r->no_energy);
	for (size_t i = 0; i < c->figures && !*r->no_energy; i++) {
		const struct compare_figure *f = &c->figure[i];

		if (plan_figure_of(f->name) != PLAN_ENERGY)
			continue;
		for (size_t g = 0; g < c->groups; g++)
			if (f->n[g] < c->group[g].nr)
				printf("%s: unknown in %zu of %zu runs of the %s: the rail's "
				       "readings, %u ms apart or more, are too rare for runs so "
				       "short, or some failed; measure a longer run\n",
				       f->name, c->group[g].nr - f->n[g], c->group[g].nr,
				       c->group[g].label, r->period_ms);
	}
	if (!figures_known(c, PLAN_PAUSE))
		puts("pauses: unknown: no run announced its collections; \"gchintctl run -q --\" "
		     "before a command loads the adapter of its runtime");
	if (r->left)
		printf("CPU time: %zu runs left processes behind that still ran: theirs is not "
		       "counted, and they disturbed the runs after them\n",
		       r->left);
	if (r->failed)
		printf("%zu runs exited with an error, which --ignore-failure lets count\n",
		       r->failed);
}

void result_print_text(const struct result *r)
{
	printf("command   %s\n", r->command[PLAN_COMMAND]);
	if (result_has_baseline(r))
		printf("baseline  %s\n", r->command[PLAN_BASELINE]);
	printf("runs      %zu%s, after %zu to warm up", r->runs,
	       result_has_baseline(r) ? " of each, in the order ABBA" : "", r->warmup);
	if (r->idle_s > 0)
		printf("; power of %g idle s subtracted", r->idle_s);
	puts("\n");
	figures_print_means(r);
	if (result_has_baseline(r))
		verdicts_print(r);
	else
		wanted_print(r);
	putchar('\n');
	missing_print(r);
}

static void side_print_json(struct json *j, const struct result *r, const struct compare_figure *f,
			    enum plan_side side)
{
	const size_t group = group_of(r, side);
	double mean, low, high;

	figure_mean(f, group, &mean, &low, &high);
	json_object(j, side == PLAN_COMMAND ? "command" : "baseline");
	json_real(j, "mean", mean, 9);
	json_real(j, "mean_low", low, 9);
	json_real(j, "mean_high", high, 9);
	json_list(j, "values");
	for (size_t i = 0; i < f->n[group]; i++)
		json_real(j, NULL, f->value[group][i], 9);
	json_end(j);
	json_end(j);
}

static void figure_print_json(struct json *j, const struct result *r,
			      const struct compare_figure *f)
{
	struct verdict v;
	char words[256];

	json_line(j);
	json_object(j, NULL);
	if (result_has_baseline(r)) {
		compare_print_json(j, r->comparison, f, group_of(r, PLAN_COMMAND));
		compare_verdict(r->comparison, f, group_of(r, PLAN_COMMAND), &v);
		verdict_conclusion(&v, words, sizeof(words));
		json_text(j, "verdict", words);
		side_print_json(j, r, f, PLAN_BASELINE);
	} else {
		json_text(j, "figure", f->name);
		json_text(j, "unit", f->unit);
		json_int(j, "better", f->better);
	}
	side_print_json(j, r, f, PLAN_COMMAND);
	json_end(j);
}

void result_print_json(const struct result *r)
{
	struct json j = { .f = stdout };

	json_object(&j, NULL);
	json_text(&j, "command", r->command[PLAN_COMMAND]);
	json_text(&j, "baseline", r->command[PLAN_BASELINE]);
	json_uint(&j, "runs", r->runs);
	json_uint(&j, "warmup", r->warmup);
	json_uint(&j, "period_ms", r->period_ms);
	json_real(&j, "idle_s", r->idle_s > 0 ? r->idle_s : NAN, 9);
	json_uint(&j, "failed_runs", r->failed);
	json_uint(&j, "runs_that_left_processes", r->left);
	json_text(&j, "no_energy", *r->no_energy ? r->no_energy : NULL);
	json_list(&j, "figures");
	for (size_t i = 0; i < r->comparison->figures; i++)
		if (r->comparison->figure[i].main)
			figure_print_json(&j, r, &r->comparison->figure[i]);
	json_end(&j);
	json_end(&j);
}

int result_judge(const struct result *r)
{
	const struct comparison *c = r->comparison;
	int code = CTL_OK;

	for (size_t i = 0; i < c->figures && result_has_baseline(r); i++) {
		const struct compare_figure *f = &c->figure[i];
		const enum plan_figure type = plan_figure_of(f->name);
		struct verdict v;
		char words[256];

		if (type == PLAN_FIGURES || isnan(r->limits.percent[type]))
			continue;
		compare_verdict(c, f, group_of(r, PLAN_COMMAND), &v);
		if (!plan_exceeds(&v, r->limits.percent[type]))
			continue;
		verdict_words(&v, words, sizeof(words));
		ctl_error("%s: %s: the limit of --fail-above is %g %% more", f->name, words,
			  r->limits.percent[type]);
		code = CTL_FAILED;
	}
	for (int type = 0; type < PLAN_FIGURES && !code; type++)
		if (r->limits.named[type] && !figures_known(c, (enum plan_figure)type)) {
			ctl_error("--fail-above %s=...: no run has such a figure",
				  plan_figure_name((enum plan_figure)type));
			code = CTL_UNMEASURED;
		}
	return code;
}
