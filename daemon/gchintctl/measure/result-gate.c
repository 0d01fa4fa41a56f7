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

/* Returns CTL_FAILED after a message if the figure of a command exceeds its limit. */
static int limit_judge(const struct result *r, const struct compare_figure *f, size_t group,
		       double percent)
{
	struct verdict v;
	char words[256], name[COMMAND_SIZE];

	compare_verdict(r->comparison, f, group, &v);
	if (!plan_exceeds(&v, percent))
		return CTL_OK;
	verdict_words(&v, words, sizeof(words));
	if (r->comparison->groups > 2)
		ctl_error("%s: %s: %s: the limit of --fail-above is %g %% more",
			  command_name(r, group, name), f->name, words, percent);
	else
		ctl_error("%s: %s: the limit of --fail-above is %g %% more", f->name, words,
			  percent);
	return CTL_FAILED;
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
static const char *figure_explain(const struct result *r, enum plan_figure type)
{
	if (type == PLAN_ENERGY)
		return *r->no_energy ? r->no_energy :
				       "its runs are too short for the rail's readings, or the "
				       "counter does not count; let it run for longer";
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
			  plan_figure_name(type), limits->percent[type], figure_explain(r, type));
	for (size_t g = 0; g < groups && known; g++)
		if (!figure_known(r, type, g))
			ctl_error("--fail-above %s=%g: no run of %s has such a figure: %s",
				  plan_figure_name(type), limits->percent[type],
				  command_name(r, g, name), figure_explain(r, type));
	return CTL_UNMEASURED;
}

int result_judge(const struct result *r)
{
	const struct comparison *c = r->comparison;
	const struct plan_limits *limits = &r->measure->limits;
	int code = CTL_OK;

	for (size_t i = 0; i < c->figures; i++) {
		const enum plan_figure type = plan_figure_of(c->figure[i].name);

		if (type == PLAN_FIGURES || isnan(limits->percent[type]))
			continue;
		for (size_t g = 1; g < c->groups; g++)
			if (limit_judge(r, &c->figure[i], g, limits->percent[type]))
				code = CTL_FAILED;
	}
	for (int type = 0; type < PLAN_FIGURES && code != CTL_FAILED; type++)
		if (limits->named[type] && limit_check(r, (enum plan_figure)type))
			code = CTL_UNMEASURED;
	return code;
}
