// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ctl.h"
#include "../launch/record.h"
#include "../launch/runtime.h"
#include "measure.h"

static const char usage[] =
	"usage: gchintctl [--json] measure [OPTION]... -- COMMAND [ARGUMENT]...\n"
	"       gchintctl [--json] measure [OPTION]... 'COMMAND ARGUMENT...'...\n"
	"Runs commands repeatedly and prints energy, time, CPU time, memory and pauses: mean,\n"
	"95 % interval, standard deviation, range, and each difference in words. A command is\n"
	"the words after --, or each argument is one, split at blanks; no shell runs. Commands\n"
	"run in turns, in the order ABBA. Each run is recorded by a gchintd of its own. Output\n"
	"of the commands is dropped.\n"
	"\n"
	"  -b, --baseline COMMAND    compare with this command; without it, with the first one\n"
	"  -n, --runs N              measured runs of each, 1 to 200 (default: 10)\n"
	"  -w, --warmup N            runs of each that are not measured (default: 1)\n"
	"  -P, --parameter-scan NAME FROM TO\n"
	"                            a command for each number, put in place of {NAME}\n"
	"  -D, --parameter-step-size STEP\n"
	"                            of --parameter-scan (default: 1)\n"
	"  -L, --parameter-list NAME A,B...\n"
	"                            a command for each of these values\n"
	"      --setup COMMAND       run once for each command, before all runs\n"
	"      --prepare COMMAND     run before each run, not measured\n"
	"      --conclude COMMAND    run after each run, not measured\n"
	"      --cleanup COMMAND     run once for each command, after all runs\n"
	"  -I, --idle SECONDS        measure the idle machine first, and subtract its power\n"
	"  -f, --fail-above [F=]PCT  exit with 1 if a figure is larger than the baseline's by\n"
	"                            more than PCT percent and not by chance; F: energy, time,\n"
	"                            cpu, gc-cpu (CPU time of collectors) or pause (the longest\n"
	"                            one and the time paused, each) (default: all)\n"
	"      --conclusive          exit with 6 if the runs do not rule out that a figure is\n"
	"                            above its limit (default: say so)\n"
	"  -i, --ignore-failure      measure commands that exit with an error, too\n"
	"      --export-json FILE    all values, as --json prints them\n"
	"      --export-csv FILE     a line for each run\n"
	"      --export-markdown FILE\n"
	"                            a table of each figure\n"
	"  -o, --output DIR          keep the recordings in this new directory, for gchintctl\n"
	"                            report DIR/*.db (default: keep none)\n"
	"  -p, --period MS           rail sampling interval (default: 10)\n"
	"      --show-output         let the commands print, on standard error\n"
	"      --gchintd PROGRAM     the daemon to start (default: the one installed with\n"
	"                            gchintctl)\n"
	"\n"
	"Examples:\n"
	"  gchintctl measure -- sort -u words.txt\n"
	"  gchintctl measure 'sort words.txt' 'sort -u words.txt' 'uniq words.txt'\n"
	"  gchintctl measure -P jobs 1 8 --prepare 'make clean' 'make -j{jobs}'\n"
	"  gchintctl measure -n 20 -b 'sh -c \"sort a | uniq\"' -- sort -u a\n"
	"  gchintctl measure 'gchintctl run -q -- java -XX:+UseG1GC App' \\\n"
	"      'gchintctl run -q -- java -XX:+UseZGC App'       with pauses\n"
	"  gchintctl measure -f 5 -b ./app-main -- ./app-branch   for CI\n"
	"\n"
	"Exit status: 0 measured, and no figure shown to be above a limit; 1 a figure above its\n"
	"limit; 2 usage; 3 a file cannot be written or read; 4 gchintd could not be started; 5\n"
	"a command failed, or has no run with a figure that --fail-above names; 6 inconclusive.\n";

#define WARMUP_MAX 1000
#define IDLE_MAX   3600
#define PERIOD_MAX 10000

/* What the options name, before commands are made of it. */
struct choice {
	const char *baseline, *hook[HOOK_NR];
	const char *name, *from, *to, *step, *values; /* of the parameter */
	bool limited;
};

const char *measure_hook_name(enum measure_hook hook)
{
	static const char *const name[] = { "setup", "prepare", "conclude", "cleanup" };

	return name[hook];
}

static bool option_take_number(const char *option, const char *text, unsigned int low,
			       unsigned int high, unsigned int *value)
{
	unsigned long v;
	char *end;

	errno = 0;
	v = strtoul(text, &end, 10);
	if (end == text || *end || *text == '-' || errno || v < low || v > high) {
		ctl_error("measure: --%s takes a number from %u to %u, not %s", option, low, high,
			  text);
		return false;
	}
	*value = (unsigned int)v;
	return true;
}

static bool option_take_idle(const char *text, double *seconds)
{
	char *end;

	*seconds = strtod(text, &end);
	if (end != text && !*end && *seconds >= 1 && *seconds <= IDLE_MAX)
		return true;
	ctl_error("measure: --idle takes seconds, from 1 to %d, not %s", IDLE_MAX, text);
	return false;
}

static bool option_take_limit(struct measure *m, struct choice *c, const char *text)
{
	c->limited = true;
	if (plan_limits_set(&m->limits, text))
		return true;
	ctl_error("measure: --fail-above takes a percentage, or one of energy, time, cpu, gc-cpu "
		  "and pause with it, such as 5 or energy=5, not %s",
		  text);
	return false;
}

/* Takes the arguments of an option that has several, of which getopt took the first. */
static bool option_take_parameter(struct choice *c, const char *option, int argc, char **argv,
				  const char **first, const char **second)
{
	const int more = second ? 2 : 1;

	if (c->name) {
		ctl_error("measure: --%s: there can be one parameter, and %s is one already",
			  option, c->name);
		return false;
	}
	c->name = optarg;
	if (argc - optind < more) {
		ctl_error("measure: --%s takes a name and %s", option,
			  second ? "two numbers, such as: -P jobs 1 8" :
				   "values, such as: -L size 10,100");
		return false;
	}
	*first = argv[optind++];
	if (second)
		*second = argv[optind++];
	return true;
}

/* Splits a command into words, with the parameter's value in place of its name. */
static bool words_take(const struct measure *m, const char *option, const char *text,
		       const char *value, char ***argv)
{
	char *replaced = value ? plan_replace(text, m->parameter, value) : strdup(text);
	const char *why = replaced ? plan_words(replaced, argv) : "no memory";

	if (why)
		ctl_error("measure: %s'%s': %s", option, replaced ? replaced : text, why);
	free(replaced);
	return !why;
}

static char **words_copy(const struct measure *m, char *const *argv, const char *value)
{
	char **copy;
	size_t nr = 0;

	while (argv[nr])
		nr++;
	copy = calloc(nr + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < nr; i++) {
		copy[i] = value ? plan_replace(argv[i], m->parameter, value) : strdup(argv[i]);
		if (!copy[i]) {
			plan_words_free(copy);
			return NULL;
		}
	}
	return copy;
}

/* A mistyped program is reported before the first run. */
static bool program_check(char *const *argv, bool quoted)
{
	char path[PATH_MAX];

	if (!argv || runtime_file(argv[0], path, sizeof(path)))
		return true;
	ctl_error("measure: %s: no such program%s", argv[0],
		  quoted ? "; each argument is a command: quote it with its arguments, or put one "
			   "command after --" :
			   "");
	return false;
}

/* Adds a command; @argv belongs to it. Returns -1, or an exit code. */
static int command_add(struct measure *m, const struct choice *c, char **argv, const char *value,
		       bool quoted)
{
	struct measure_command *to;
	char option[24];

	if (!argv || m->commands == MEASURE_COMMANDS) {
		plan_words_free(argv);
		ctl_error(argv ? "measure: there are more than %d commands" : "measure: no memory",
			  MEASURE_COMMANDS);
		return argv ? CTL_USAGE : CTL_FILE;
	}
	to = &m->command[m->commands++];
	to->argv = argv;
	to->text = command_text(argv);
	to->value = value ? strdup(value) : NULL;
	for (enum measure_hook h = 0; h < HOOK_NR; h++) {
		snprintf(option, sizeof(option), "--%s ", measure_hook_name(h));
		if (c->hook[h] && !words_take(m, option, c->hook[h], value, &to->hook[h]))
			return CTL_USAGE;
		if (!program_check(to->hook[h], false))
			return CTL_UNMEASURED;
	}
	return program_check(argv, quoted) ? -1 : CTL_UNMEASURED;
}

/* Adds the commands for one value of the parameter, or those without one. */
static int commands_add(struct measure *m, const struct choice *c, char **words, bool dashes,
			const char *value)
{
	int ret = -1;

	if (dashes)
		return command_add(m, c, words_copy(m, words, value), value, false);
	for (; *words && ret < 0; words++) {
		char **argv;

		ret = words_take(m, "", *words, value, &argv) ?
			      command_add(m, c, argv, value, true) :
			      CTL_USAGE;
	}
	return ret;
}

static bool parameter_is_used(const char *name, char *const *words)
{
	char *replaced;
	bool used = false;

	for (; *words && !used; words++) {
		replaced = plan_replace(*words, name, "");
		used = replaced && strcmp(replaced, *words) != 0;
		free(replaced);
	}
	return used;
}

/* Returns -1, or an exit code. */
static int commands_add_values(struct measure *m, const struct choice *c, char **words, bool dashes)
{
	char *values = NULL, *rest, *value;
	const char *why = NULL;
	int ret = -1;

	m->parameter = c->name;
	if (!parameter_is_used(c->name, words)) {
		ctl_error("measure: no command has the parameter {%s}", c->name);
		return CTL_USAGE;
	}
	if (c->from)
		why = plan_scan(c->from, c->to, c->step ? c->step : "1", &values);
	else
		values = strdup(c->values);
	if (why || !values) {
		ctl_error("measure: --parameter-%s %s: %s", c->from ? "scan" : "list", c->name,
			  why ? why : "no memory");
		free(values);
		return CTL_USAGE;
	}
	rest = values;
	while (ret < 0 && (value = strsep(&rest, ",")))
		ret = commands_add(m, c, words, dashes, value);
	free(values);
	return ret;
}

static void commands_label(struct measure *m, bool baseline)
{
	for (size_t i = 0; i < m->commands; i++)
		if (baseline && !i)
			strcpy(m->command[i].label, "baseline");
		else if (m->commands - baseline == 1)
			strcpy(m->command[i].label, "command");
		else
			snprintf(m->command[i].label, sizeof(m->command[i].label), "%zu",
				 i + !baseline);
}

/* Makes the commands of what the options name. Returns -1, or an exit code. */
static int commands_make(struct measure *m, const struct choice *c, char **words, bool dashes)
{
	int ret = -1;

	if (c->baseline) {
		char **argv;

		if (!words_take(m, "--baseline ", c->baseline, NULL, &argv))
			return CTL_USAGE;
		ret = command_add(m, c, argv, NULL, false);
	}
	if (ret < 0)
		ret = c->name ? commands_add_values(m, c, words, dashes) :
				commands_add(m, c, words, dashes, NULL);
	if (ret >= 0)
		return ret;
	commands_label(m, c->baseline);
	for (size_t i = 0; i < m->commands; i++)
		if (!m->command[i].text) {
			ctl_error("measure: no memory");
			return CTL_FILE;
		}
	if (m->conclusive && !c->limited) {
		ctl_error("measure: --conclusive is about limits: add --fail-above PCT");
		return CTL_USAGE;
	}
	if (c->limited && m->commands == 1) {
		ctl_error("measure: --fail-above compares with a baseline: add --baseline COMMAND");
		return CTL_USAGE;
	}
	if (m->commands * m->runs > MEASURE_FILES) {
		ctl_error("measure: %zu commands of %u runs are more than %d runs", m->commands,
			  m->runs, MEASURE_FILES);
		return CTL_USAGE;
	}
	return -1;
}

enum {
	OPTION_SETUP = 256, /* and the other hooks */
	OPTION_GCHINTD = OPTION_SETUP + HOOK_NR,
	OPTION_CONCLUSIVE,
	OPTION_SHOW,
	OPTION_JSON,
	OPTION_CSV,
	OPTION_MARKDOWN
};

/* Returns -1 to go on, or an exit code. */
static int option_take(struct measure *m, struct choice *c, int opt, int argc, char **argv)
{
	bool good = true;

	switch (opt) {
	case 'b':
		c->baseline = optarg;
		break;
	case 'D':
		c->step = optarg;
		break;
	case 'f':
		good = option_take_limit(m, c, optarg);
		break;
	case 'h':
		fputs(usage, stdout);
		return CTL_OK;
	case 'I':
		good = option_take_idle(optarg, &m->idle_s);
		break;
	case 'i':
		m->ignore_failure = true;
		break;
	case 'L':
		good = option_take_parameter(c, "parameter-list", argc, argv, &c->values, NULL);
		break;
	case 'n':
		good = option_take_number("runs", optarg, 1, MEASURE_RUNS, &m->runs);
		break;
	case 'o':
		m->keep = optarg;
		break;
	case 'P':
		good = option_take_parameter(c, "parameter-scan", argc, argv, &c->from, &c->to);
		break;
	case 'p':
		good = option_take_number("period", optarg, 1, PERIOD_MAX, &m->period_ms);
		break;
	case 'w':
		good = option_take_number("warmup", optarg, 0, WARMUP_MAX, &m->warmup);
		break;
	case OPTION_CONCLUSIVE:
		m->conclusive = true;
		break;
	case OPTION_GCHINTD:
		m->program = optarg;
		break;
	case OPTION_SHOW:
		m->show = true;
		break;
	case OPTION_JSON:
		m->export_json = optarg;
		break;
	case OPTION_CSV:
		m->export_csv = optarg;
		break;
	case OPTION_MARKDOWN:
		m->export_markdown = optarg;
		break;
	default:
		if (opt < OPTION_SETUP || opt >= OPTION_SETUP + HOOK_NR)
			return ctl_usage("measure");
		c->hook[opt - OPTION_SETUP] = optarg;
	}
	return good ? -1 : CTL_USAGE;
}

int measure_options(struct measure *m, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "baseline", required_argument, NULL, 'b' },
		{ "cleanup", required_argument, NULL, OPTION_SETUP + HOOK_CLEANUP },
		{ "conclude", required_argument, NULL, OPTION_SETUP + HOOK_CONCLUDE },
		{ "conclusive", no_argument, NULL, OPTION_CONCLUSIVE },
		{ "export-csv", required_argument, NULL, OPTION_CSV },
		{ "export-json", required_argument, NULL, OPTION_JSON },
		{ "export-markdown", required_argument, NULL, OPTION_MARKDOWN },
		{ "fail-above", required_argument, NULL, 'f' },
		{ "gchintd", required_argument, NULL, OPTION_GCHINTD },
		{ "help", no_argument, NULL, 'h' },
		{ "idle", required_argument, NULL, 'I' },
		{ "ignore-failure", no_argument, NULL, 'i' },
		{ "output", required_argument, NULL, 'o' },
		{ "parameter-list", required_argument, NULL, 'L' },
		{ "parameter-scan", required_argument, NULL, 'P' },
		{ "parameter-step-size", required_argument, NULL, 'D' },
		{ "period", required_argument, NULL, 'p' },
		{ "prepare", required_argument, NULL, OPTION_SETUP + HOOK_PREPARE },
		{ "runs", required_argument, NULL, 'n' },
		{ "setup", required_argument, NULL, OPTION_SETUP + HOOK_SETUP },
		{ "show-output", no_argument, NULL, OPTION_SHOW },
		{ "warmup", required_argument, NULL, 'w' },
		{ 0 },
	};
	struct choice c = { NULL };
	int opt, ret = -1;

	while (ret < 0 &&
	       (opt = getopt_long(argc, argv, "+b:D:f:hI:iL:n:o:P:p:w:", longs, NULL)) >= 0)
		ret = option_take(m, &c, opt, argc, argv);
	if (ret >= 0)
		return ret;
	if (optind == argc) {
		ctl_error("measure: no command given; see gchintctl measure --help");
		return CTL_USAGE;
	}
	if (c.step && !c.from) {
		ctl_error("measure: --parameter-step-size is the step of --parameter-scan");
		return CTL_USAGE;
	}
	return commands_make(m, &c, argv + optind, !strcmp(argv[optind - 1], "--"));
}

void measure_options_free(struct measure *m)
{
	for (size_t i = 0; i < m->commands; i++) {
		struct measure_command *c = &m->command[i];

		plan_words_free(c->argv);
		for (enum measure_hook h = 0; h < HOOK_NR; h++)
			plan_words_free(c->hook[h]);
		free(c->text);
		free(c->value);
	}
}
