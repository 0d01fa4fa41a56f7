// SPDX-License-Identifier: GPL-2.0-or-later
/* The exit status of gchintctl measure --fail-above. */
#include <math.h>
#include <stdio.h>

#include "../ctl.h"
#include "result.h"

#define COMMAND_SIZE 64 /* of a command's name in a message */

/* How a user would name the command with the figures of a group. */
static const char *command_name(const struct result *r, size_t group, char *buf)
{
	const struct measure_command *c = &r->measure->command[group];

	if (c->value)
		result_format_command(r, group, buf, COMMAND_SIZE);
	else
		snprintf(buf, COMMAND_SIZE, "%s", r->comparison->group[group].label);
	return buf;
}

/* Whether a run of the group has such a figure. */
static bool figure_known(const struct result *r, enum plan_figure type, size_t group)
{
	const struct comparison *c = r->comparison;

	for (size_t i = 0; i < c->figures; i++)
		if (plan_figure_of(c->figure[i].name) == type && c->figure[i].n[group])
			return true;
	return false;
}

/* Why no run has a figure of the type, and what helps; of CPU time and duration none lacks it. */
static const char *figure_explain(const struct result *r, enum plan_figure type, size_t group)
{
	if (type == PLAN_ENERGY)
		return *r->no_energy ? r->no_energy :
				       "its runs are too short for the rail's readings, or the "
				       "counter does not count; let it run for longer";
	if (type == PLAN_COLLECTOR_CPU && figure_known(r, PLAN_PAUSE, group))
		return "its collections are shorter than the time between two readings of its "
		       "threads' CPU time";
	return "none announced a collection; put \"gchintctl run -q --\" before the command, which "
	       "loads the adapter of its runtime, or let it run until it collects";
}

/* Returns CTL_UNMEASURED after a message if a command lacks a figure that has a limit. */
static int limit_check(const struct result *r, enum plan_figure type)
{
	const struct plan_limits *limits = &r->measure->limits;
	const size_t groups = r->comparison->groups;
	size_t known = 0;
	char name[COMMAND_SIZE];

	for (size_t g = 0; g < groups; g++)
		known += figure_known(r, type, g);
	if (known == groups)
		return CTL_OK;
	if (!known)
		ctl_error("--fail-above %s=%g: no run has such a figure: %s",
			  plan_figure_name(type), limits->percent[type],
			  figure_explain(r, type, 0));
	for (size_t g = 0; g < groups && known; g++)
		if (!figure_known(r, type, g))
			ctl_error("--fail-above %s=%g: no run of %s has such a figure: %s",
				  plan_figure_name(type), limits->percent[type],
				  command_name(r, g, name), figure_explain(r, type, g));
	return CTL_UNMEASURED;
}

/* The figure, after the command's name where several are compared. */
static void figure_name(const struct result *r, const struct compare_figure *f, size_t group,
			char *buf, size_t size)
{
	char name[COMMAND_SIZE];

	if (r->comparison->groups > 2)
		snprintf(buf, size, "%s: %s", command_name(r, group, name), f->name);
	else
		snprintf(buf, size, "%s", f->name);
}

static void exceeded_print(const char *name, const struct verdict *v, double percent)
{
	char words[256];

	verdict_words(v, words, sizeof(words));
	ctl_error("%s: %s: the limit of --fail-above is %g %% more", name, words, percent);
}

/* What the runs rule out, and how many would do. */
static void inconclusive_print(const char *name, const struct verdict *v, double percent)
{
	const size_t runs = v->n[0] < v->n[1] ? v->n[0] : v->n[1];
	const size_t wanted = percent > 0 ? verdict_runs(v, percent / 100) : 0;
	const double most = v->high * 100;
	char could[96], would[96] = "";

	if (!runs)
		snprintf(could, sizeof(could), "no run of %s has it",
			 v->n[0] ? "the command" : "the baseline");
	else if (runs < 2)
		snprintf(could, sizeof(could), "a single run shows no difference");
	else if (!v->known)
		snprintf(could, sizeof(could), "it is 0 in most runs of the baseline");
	else if (most >= 900)
		snprintf(could, sizeof(could),
			 "%zu runs of each do not even rule out ten times as much", runs);
	else
		snprintf(could, sizeof(could), "%zu runs of each only rule out more than %.*f %%",
			 runs, most < 10 ? 1 : 0, most);
	if (!v->known || percent <= 0)
		;
	else if (!wanted || wanted > MEASURE_RUNS)
		snprintf(would, sizeof(would),
			 "; %d runs of each would not show %g %%: let each do more work",
			 MEASURE_RUNS, percent);
	else if (wanted > runs)
		snprintf(would, sizeof(would), "; %zu runs of each would show %g %%", wanted,
			 percent);
	else
		snprintf(would, sizeof(would), "; more runs would decide");
	ctl_error("%s: inconclusive: the limit of --fail-above is %g %% more, and %s%s", name,
		  percent, could, would);
}

/* Without a pause there is no longest one, but the time paused is known. */
static bool figure_is_left_out(const struct result *r, enum plan_figure type, size_t group,
			       const struct verdict *v)
{
	if (!v->n[0] && !v->n[1])
		return true;
	return (!v->n[0] || !v->n[1]) && type == PLAN_PAUSE && figure_known(r, type, 0) &&
	       figure_known(r, type, group);
}

/* Reports those figures with a limit that are judged like that. Returns whether there is one. */
static bool figures_report(const struct result *r, enum plan_judgement judgement)
{
	const struct comparison *c = r->comparison;
	struct verdict v;
	bool any = false;
	char name[256];

	for (size_t i = 0; i < c->figures; i++) {
		const enum plan_figure type = plan_figure_of(c->figure[i].name);
		const double percent =
			type == PLAN_FIGURES ? NAN : r->measure->limits.percent[type];

		for (size_t g = 1; g < c->groups && !isnan(percent); g++) {
			compare_verdict(c, &c->figure[i], g, &v);
			if (figure_is_left_out(r, type, g, &v) ||
			    plan_judge(&v, percent) != judgement)
				continue;
			any = true;
			figure_name(r, &c->figure[i], g, name, sizeof(name));
			if (judgement == PLAN_EXCEEDED)
				exceeded_print(name, &v, percent);
			else
				inconclusive_print(name, &v, percent);
		}
	}
	return any;
}

int result_judge(const struct result *r)
{
	int code = CTL_OK;

	if (figures_report(r, PLAN_EXCEEDED))
		return CTL_FAILED;
	for (int type = 0; type < PLAN_FIGURES; type++)
		if (r->measure->limits.named[type] && limit_check(r, (enum plan_figure)type))
			code = CTL_UNMEASURED;
	if (code || !figures_report(r, PLAN_INCONCLUSIVE))
		return code;
	return r->measure->conclusive ? CTL_INCONCLUSIVE : CTL_OK;
}
