// SPDX-License-Identifier: GPL-2.0-or-later
#include "try.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../analysis/cpu-time.h"
#include "../../analysis/reasons.h"
#include "../../common/amount.h"
#include "../../common/json.h"
#include "../../recording/reader/recording.h"
#include "../ctl.h"
#include "../launch/runtime.h"

#define COMMAND_MAX  1024
#define SETTINGS_MAX 8
#define PATH	     300
#define MEMORY_SHARE 0.8 /* of the machine's, that a heap may take */

/* The arguments of a command and its settings, which are separated by blanks. */
struct changed {
	char *command[COMMAND_MAX + SETTINGS_MAX + 1];
	char *variable[SETTINGS_MAX];
	size_t variables;
	char text[ADVICE_SETTING];
};

/* What a run is compared by. */
struct trial {
	struct reasons reasons;
	uint64_t duration;
};

/* Variables of which a runtime reads several settings, and what separates these. */
static const struct {
	const char *name, *separator;
} variables_joined[] = {
	{ "MONO_GC_PARAMS", "," },
	{ "OCAMLRUNPARAM", "," },
};

static void variable_set(const char *setting)
{
	const char *value = strchr(setting, '='), *before;
	char name[64], both[PATH];

	if (!value || (size_t)(value - setting) >= sizeof(name))
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(value++ - setting), setting);
	before = getenv(name);
	for (size_t i = 0; before && i < sizeof(variables_joined) / sizeof(variables_joined[0]);
	     i++)
		if (!strcmp(variables_joined[i].name, name)) {
			snprintf(both, sizeof(both), "%s%s%s", before,
				 variables_joined[i].separator, value);
			value = both;
		}
	setenv(name, value, 1);
}

/* Runs gchintctl run on the command; its output goes to stderr. Returns the exit status. */
static int command_record(const char *file, char *const *command, const struct changed *c)
{
	const char *argv[COMMAND_MAX + SETTINGS_MAX + 8] = { "gchintctl", "run", "-q",
							     "--record",  file,	 "--" };
	size_t nr = 6;
	int status;
	pid_t child;

	for (size_t i = 0; command[i]; i++)
		argv[nr++] = command[i];
	fflush(stdout);
	child = fork();
	if (!child) {
		for (size_t i = 0; c && i < c->variables; i++)
			variable_set(c->variable[i]);
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execv("/proc/self/exe", (char **)(uintptr_t)argv);
		_exit(127);
	}
	if (child < 0) {
		ctl_error("why: cannot start the program: %s", strerror(errno));
		return CTL_FAILED;
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool trial_load(const char *file, const struct reasons_program *program, struct trial *trial)
{
	struct recording *rec = recording_open(file);
	bool good;

	if (!rec)
		return false;
	good = reasons_of_program(rec, program, &trial->reasons);
	trial->duration = recording_duration(rec);
	recording_close(rec);
	return good;
}

/* "-Xmx" of "-Xmx192m" and "--gc=" of "--gc=plan=cms"; what replaces it begins so as well. */
static size_t argument_prefix(const char *argument)
{
	const char *equal = strchr(argument, '=');
	const size_t digits = strcspn(argument, "0123456789");

	return equal && (size_t)(equal - argument) < digits ? (size_t)(equal - argument) + 1 :
							      digits;
}

/* Options are put behind the program's name, in place of those that it has of the same name. */
static void command_change(char *const *command, const char *settings, struct changed *c)
{
	char *rest = c->text, *word, *argument[SETTINGS_MAX];
	size_t nr = 0, arguments = 0;
	bool replaced;

	snprintf(c->text, sizeof(c->text), "%s", settings);
	c->variables = 0;
	while ((word = strsep(&rest, " ")) && arguments + c->variables < SETTINGS_MAX) {
		if (*word == '-')
			argument[arguments++] = word;
		else if (*word)
			c->variable[c->variables++] = word;
	}
	c->command[nr++] = command[0];
	for (size_t a = 0; a < arguments; a++) {
		replaced = false;
		for (size_t i = 1; command[i]; i++)
			replaced = replaced ||
				   !strncmp(command[i], argument[a], argument_prefix(argument[a]));
		if (!replaced)
			c->command[nr++] = argument[a];
	}
	for (size_t i = 1; command[i]; i++) {
		c->command[nr] = command[i];
		for (size_t a = 0; a < arguments; a++)
			if (!strncmp(command[i], argument[a], argument_prefix(argument[a])))
				c->command[nr] = argument[a];
		nr++;
	}
	c->command[nr] = NULL;
}

static const char *length_format(double ns, char *buf)
{
	return isfinite(ns) ? amount_length(ns, buf) : strcpy(buf, "?");
}

static void line_print(const char *what, double collections, double full, double paused, double cpu,
		       double run)
{
	char length[3][AMOUNT_TEXT], count[2][32] = { "?", "?" };

	if (isfinite(collections))
		snprintf(count[0], sizeof(count[0]), "%.0f", collections);
	if (isfinite(full))
		snprintf(count[1], sizeof(count[1]), "%.0f", full);
	printf("%-10s %11s %8s %10s %10s %10s\n", what, count[0], count[1],
	       length_format(paused, length[0]), length_format(cpu, length[1]),
	       length_format(run, length[2]));
}

static double advice_cpu(const struct advice *a)
{
	return a->cpu == FINDINGS_UNKNOWN ? NAN : (double)a->cpu;
}

static double advice_wait(const struct advice *a)
{
	return a->wait_low == FINDINGS_UNKNOWN ? NAN : (double)a->wait_low;
}

static void trials_print(const struct trial *now, const struct trial *then)
{
	const struct advice *a = &now->reasons.advice, *seen = &then->reasons.advice;

	printf("%-10s %11s %8s %10s %10s %10s\n", "", "COLLECTIONS", "FULL", "PAUSED", "THEIR CPU",
	       "RUN");
	line_print("now", (double)a->collections, (double)a->full, (double)a->paused, advice_cpu(a),
		   (double)now->duration);
	line_print(a->bound ? "at most" : "predicted", a->collections_then, a->full_then,
		   a->paused_then, a->cpu_then, NAN);
	line_print("seen", (double)seen->collections, (double)seen->full, (double)seen->paused,
		   advice_cpu(seen), (double)then->duration);
	printf("%s: %s\n", a->setting, advice_verdict(a, seen));
}

static void json_figure(struct json *j, const char *key, double value)
{
	if (isfinite(value))
		json_real(j, key, value, 9);
	else
		json_null(j, key);
}

static void json_figures(struct json *j, const char *key, double collections, double full,
			 double paused, double cpu, double wait, double run)
{
	json_object(j, key);
	json_figure(j, "collections", collections);
	json_figure(j, "full_collections", full);
	json_figure(j, "paused_ns", paused);
	json_figure(j, "cpu_ns", cpu);
	json_figure(j, "wait_ns", wait);
	json_figure(j, "run_ns", run);
	json_end(j);
}

/* @then: NULL without a change to try */
static void trials_print_json(const struct trial *now, const struct trial *then)
{
	const struct advice *a = &now->reasons.advice;
	struct json j = { .f = stdout };

	json_object(&j, NULL);
	json_text(&j, "sentence", now->reasons.sentence);
	json_text(&j, "setting", then ? a->setting : NULL);
	json_bool(&j, "bound", a->bound);
	json_figures(&j, "now", (double)a->collections, (double)a->full, (double)a->paused,
		     advice_cpu(a), advice_wait(a), (double)now->duration);
	if (then) {
		const struct advice *seen = &then->reasons.advice;

		json_figures(&j, "predicted", a->collections_then, a->full_then, a->paused_then,
			     a->cpu_then, NAN, NAN);
		json_figures(&j, "seen", (double)seen->collections, (double)seen->full,
			     (double)seen->paused, advice_cpu(seen), advice_wait(seen),
			     (double)then->duration);
	} else {
		json_null(&j, "predicted");
		json_null(&j, "seen");
	}
	json_end(&j);
}

/* A program of the bundled collectors has their options in one argument. */
static const char *command_runtime(char *const *command)
{
	struct runtime_none none = { .runs = false };
	const struct runtime *runtime = runtime_of(command[0], &none);

	if (runtime)
		return runtime->name;
	for (size_t i = 1; none.libgchint && command[i]; i++)
		if (!strncmp(command[i], "--gc=", 5))
			return "bundled";
	return NULL;
}

/* The command's words and the environment, where a runtime finds its settings. */
static const char *const *settings_collect(char *const *command)
{
	size_t words = 0, variables = 0;
	const char **all;

	while (command[words])
		words++;
	while (environ[variables])
		variables++;
	all = calloc(words + variables + 1, sizeof(*all));
	for (size_t i = 0; all && i < variables; i++)
		all[i] = environ[i];
	for (size_t i = 0; all && i < words; i++)
		all[variables + i] = command[i];
	return all;
}

/* An advice that does not fit would make the machine swap. */
static bool advice_fits(const struct advice *a)
{
	const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);

	return (double)a->limit < MEMORY_SHARE * memory;
}

/* Returns an exit code; sets *@ended if there is no second run. */
static int trial_first(const struct try *try, char **command, const char *file,
		       const struct reasons_program *program, struct trial *now, bool *ended)
{
	int ret = command_record(file, command, NULL);
	bool fits;

	*ended = true;
	if (ret)
		return ret;
	if (!trial_load(file, program, now))
		return CTL_FILE;
	fits = try->change || advice_fits(&now->reasons.advice);
	*ended = !try->change && !(now->reasons.advised && fits);
	if (try->json) {
		if (*ended)
			trials_print_json(now, NULL);
		return CTL_OK;
	}
	puts(*now->reasons.sentence ? now->reasons.sentence : "no pause was recorded");
	if (*ended && !fits)
		printf("no advice: %s is more than this machine has memory for\n",
		       now->reasons.advice.setting);
	else if (*ended)
		puts("no advice: nothing that can be predicted would reduce its paused time by a "
		     "tenth");
	else if (now->reasons.advised)
		printf("%s: %s.\n", try->change ? "prediction" : "advice",
		       now->reasons.advice.text);
	else
		printf("nothing is predicted of %s\n", try->change);
	return CTL_OK;
}

static int trials_run(const struct try *try, char **command, char file[2][PATH],
		      const char *const *settings)
{
	const struct reasons_program program = {
		.runtime = command_runtime(command),
		.settings = settings,
		.change = try->change,
	};
	struct changed *changed;
	struct trial now, then;
	bool ended;
	int ret = trial_first(try, command, file[0], &program, &now, &ended);

	if (ret || ended)
		return ret;
	changed = calloc(1, sizeof(*changed));
	if (!changed)
		return CTL_FAILED;
	command_change(command, now.reasons.advice.setting, changed);
	ret = command_record(file[1], changed->command, changed);
	free(changed);
	if (ret)
		return ret;
	if (!trial_load(file[1], &program, &then))
		return CTL_FILE;
	(try->json ? trials_print_json : trials_print)(&now, &then);
	return CTL_OK;
}

int try_change(const struct try *try, char **command)
{
	const char *const *settings;
	char file[2][PATH];
	size_t nr = 0;
	int ret;

	while (command[nr])
		nr++;
	if (nr > COMMAND_MAX) {
		ctl_error("why: --try takes a command of %d words at most", COMMAND_MAX);
		return CTL_USAGE;
	}
	snprintf(file[0], sizeof(file[0]), "%s-now.db", try->name);
	snprintf(file[1], sizeof(file[1]), "%s-then.db", try->name);
	for (int i = 0; i < 2; i++)
		if (!access(file[i], F_OK)) {
			ctl_error("why: %s exists; choose another --output", file[i]);
			return CTL_USAGE;
		}
	settings = settings_collect(command);
	if (!settings)
		return CTL_FAILED;
	ret = trials_run(try, command, file, settings);
	free((void *)(uintptr_t)settings);
	return ret;
}
