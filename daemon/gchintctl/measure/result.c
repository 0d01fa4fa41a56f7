// SPDX-License-Identifier: GPL-2.0-or-later
#include "result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../analysis/stats.h"
#include "../calibrate/estimate.h"
#include "../ctl.h"
#include "outliers.h"

#define NAME_WIDTH 30 /* of the first column */

bool result_shows(const struct result *r, const struct compare_figure *f)
{
	bool any = false;

	for (size_t g = 0; g < r->comparison->groups; g++)
		any = any || f->n[g];
	return f->main && any;
}

struct result_spread result_spread(const struct compare_figure *f, size_t group)
{
	const double *value = f->value[group];
	const size_t n = f->n[group];
	struct result_spread s = { n, NAN, NAN, NAN, NAN, NAN, NAN };
	double squares = 0;
	struct figure of;

	for (size_t i = 0; i < n; i++) {
		s.min = fmin(s.min, value[i]);
		s.max = fmax(s.max, value[i]);
	}
	s.mean = n ? value[0] : NAN;
	if (n < 2)
		return s;
	of = estimate_mean(value, n, 0);
	s.mean = of.value;
	s.low = s.min >= 0 ? fmax(0, of.value - of.error) : of.value - of.error;
	s.high = of.value + of.error;
	for (size_t i = 0; i < n; i++)
		squares += (value[i] - s.mean) * (value[i] - s.mean);
	s.sigma = sqrt(squares / (double)(n - 1));
	return s;
}

/* "1.234 (1.220 to 1.248)  0.020  1.210  1.260": as many digits as the interval has. */
static void spread_print(const struct result_spread *s)
{
	char mean[80];
	int digits;

	if (!s->n) {
		puts(" ?");
		return;
	}
	if (s->n == 1) {
		printf(" %.6g\n", s->mean);
		return;
	}
	digits = stats_decimals(s->high > s->mean ? s->high - s->mean : fabs(s->mean) / 100);
	snprintf(mean, sizeof(mean), "%.*f (%.*f to %.*f)", digits, s->mean, digits, s->low, digits,
		 s->high);
	printf(" %-27s %9.*f %9.*f %9.*f\n", mean, digits, s->sigma, digits, s->min, digits,
	       s->max);
}

void result_format_command(const struct result *r, size_t group, char *buf, size_t size)
{
	const struct measure_command *c = &r->measure->command[group];

	if (c->value)
		snprintf(buf, size, "%s=%s", r->measure->parameter, c->value);
	else if (*c->label >= '0' && *c->label <= '9')
		snprintf(buf, size, "%s: %s", c->label, c->text);
	else
		snprintf(buf, size, "%s", c->label);
}

static void figures_print(const struct result *r)
{
	const struct comparison *c = r->comparison;
	char name[176], command[29];

	printf("%-*s %-27s %9s %9s %9s\n", NAME_WIDTH, "", "MEAN (95 % INTERVAL)", "SIGMA", "MIN",
	       "MAX");
	for (size_t i = 0; i < c->figures; i++) {
		const struct compare_figure *f = &c->figure[i];

		if (!result_shows(r, f))
			continue;
		snprintf(name, sizeof(name), "%s%s%s", f->name, *f->unit ? ", " : "", f->unit);
		if (c->groups > 1 || strlen(name) > NAME_WIDTH)
			puts(name);
		for (size_t g = 0; g < c->groups; g++) {
			const struct result_spread s = result_spread(f, g);

			result_format_command(r, g, command, sizeof(command));
			if (c->groups > 1)
				printf("  %-*s", NAME_WIDTH - 2, command);
			else
				printf("%-*s", NAME_WIDTH, strlen(name) > NAME_WIDTH ? "" : name);
			spread_print(&s);
		}
	}
}

static const struct compare_figure *figure_find(const struct comparison *c, const char *name)
{
	for (size_t i = 0; i < c->figures; i++)
		if (!strcmp(c->figure[i].name, name))
			return &c->figure[i];
	return NULL;
}

static size_t group_fastest(const struct comparison *c, const struct compare_figure *f)
{
	size_t fastest = 0;

	for (size_t g = 1; g < c->groups; g++) {
		struct verdict v;

		verdict_of(f->value[fastest], f->n[fastest], f->value[g], f->n[g], &v);
		if (v.median[1] < v.median[0])
			fastest = g;
	}
	return fastest;
}

/* How many times as fast the fastest command is as each other one. */
static void speed_print(const struct result *r)
{
	const struct comparison *c = r->comparison;
	const struct compare_figure *f = figure_find(c, "duration");
	const size_t fastest = f ? group_fastest(c, f) : 0;
	char fast[64], slow[64];
	bool begun = false;

	for (size_t g = 0; f && g < c->groups; g++) {
		struct verdict v;

		if (g == fastest)
			continue;
		verdict_of(f->value[fastest], f->n[fastest], f->value[g], f->n[g], &v);
		if (!v.known || !v.significant)
			continue;
		result_format_command(r, fastest, fast, sizeof(fast));
		result_format_command(r, g, slow, sizeof(slow));
		printf("%s%s ran %.2f times as fast as %s (%.2f to %.2f)\n", begun ? "" : "\n",
		       fast, 1 + v.change, slow, 1 + v.low, 1 + v.high);
		begun = true;
	}
}

static void verdicts_print(const struct result *r, size_t group)
{
	const struct comparison *c = r->comparison;
	bool resampled = false;
	struct verdict v;
	char words[256], base[256];

	for (size_t i = 0; i < c->figures; i++) {
		compare_verdict(c, &c->figure[i], group, &v);
		resampled = resampled || v.resampled;
	}
	result_format_command(r, group, words, sizeof(words));
	result_format_command(r, 0, base, sizeof(base));
	printf("\n%s against %s (95 %% interval by %s)\n", words, base,
	       resampled ? "bootstrap" : "Welch's t");
	for (size_t i = 0; i < c->figures; i++) {
		const struct compare_figure *f = &c->figure[i];
		const char *judgement;

		if (!result_shows(r, f))
			continue;
		compare_verdict(c, f, group, &v);
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

		if (!result_shows(r, f))
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

static void outliers_print(const struct result *r)
{
	const struct comparison *c = r->comparison;
	const struct compare_figure *f = figure_find(c, "duration");

	for (size_t g = 0; f && g < c->groups; g++) {
		const struct outliers o = outliers_of(f->value[g], f->n[g]);

		if (o.first)
			printf("%s: its first measured run was far slower than the others: caches "
			       "were not warm; add --warmup, or empty them by --prepare\n",
			       c->group[g].label);
		if (o.nr > o.first)
			printf("%s: %zu of %zu durations are far from the others: something "
			       "disturbed these runs; repeat it on an idle machine\n",
			       c->group[g].label, o.nr, f->n[g]);
	}
}

static bool figures_known(const struct result *r, enum plan_figure type)
{
	const struct comparison *c = r->comparison;

	for (size_t i = 0; i < c->figures; i++)
		if (plan_figure_of(c->figure[i].name) == type && result_shows(r, &c->figure[i]))
			return true;
	return false;
}

static void missing_print(const struct result *r)
{
	const struct measure *m = r->measure;
	const struct comparison *c = r->comparison;
	char command[64];

	if (*r->no_energy)
		printf("energy: unknown: %s\n", r->no_energy);
	for (size_t i = 0; i < c->figures && !*r->no_energy; i++) {
		const struct compare_figure *f = &c->figure[i];

		if (plan_figure_of(f->name) != PLAN_ENERGY)
			continue;
		for (size_t g = 0; g < c->groups; g++) {
			result_format_command(r, g, command, sizeof(command));
			if (f->n[g] < c->group[g].nr)
				printf("%s: unknown in %zu of %zu runs of '%s': the rail's "
				       "readings, %u ms apart or more, are too rare for runs so "
				       "short, some failed, or its counter does not count\n",
				       f->name, c->group[g].nr - f->n[g], c->group[g].nr, command,
				       m->period_ms);
		}
	}
	if (!figure_find(c, "peak memory") || !result_shows(r, figure_find(c, "peak memory")))
		puts("peak memory: unknown: below that of gchintctl, which starts the command");
	if (!figure_find(c, "cycles") || !result_shows(r, figure_find(c, "cycles")))
		puts("cycles, instructions: unknown: this machine has no such counters, or does "
		     "not allow them (kernel.perf_event_paranoid)");
	if (!figures_known(r, PLAN_PAUSE))
		puts("pauses: unknown: no run announced its collections; \"gchintctl run -q --\" "
		     "before a command loads the adapter of its runtime");
	if (m->left)
		printf("CPU time: %zu runs left processes behind that still ran: theirs is not "
		       "counted, and they disturbed the runs after them\n",
		       m->left);
	if (m->failed)
		printf("%zu runs exited with an error, which --ignore-failure lets count\n",
		       m->failed);
}

void result_print_text(const struct result *r)
{
	const struct measure *m = r->measure;
	const bool several = m->commands > 1;

	for (size_t i = 0; i < m->commands; i++)
		printf("%-9s %s\n", m->command[i].label, m->command[i].text);
	printf("runs      %u%s, after %u to warm up", m->runs,
	       several ? m->commands == 2 ? " of each, in the order ABBA" :
					    " of each, in turns, every second one reversed" :
			 "",
	       m->warmup);
	if (m->idle_s > 0)
		printf("; power of %g idle s subtracted", m->idle_s);
	putchar('\n');
	if (several)
		speed_print(r);
	putchar('\n');
	figures_print(r);
	for (size_t g = 1; g < r->comparison->groups; g++)
		verdicts_print(r, g);
	if (!several)
		wanted_print(r);
	putchar('\n');
	outliers_print(r);
	missing_print(r);
}
