// SPDX-License-Identifier: GPL-2.0-or-later
#include "try.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../analysis/pauses.h"
#include "../../analysis/reasons.h"
#include "../../common/amount.h"
#include "../../recording/reader/recording.h"
#include "../ctl.h"

#define COMMAND_MAX 1024
#define PATH	    300

/* What a run is compared by. */
struct trial {
	struct reasons reasons;
	struct pauses_sum pauses;
	uint64_t duration;
};

/* The options of programs that limit the heap, and how their number is written. */
static const struct {
	const char *program, *prefix, *suffix;
} options[] = {
	{ "java", "-Xmx", "m" },
	{ "node", "--max-old-space-size=", "" },
};

/* Runs gchintctl run on the command; its output goes to stderr. Returns the exit status. */
static int command_record(const char *file, char **command)
{
	const char *argv[COMMAND_MAX + 8] = { "gchintctl", "run", "-q", "--record", file, "--" };
	size_t nr = 6;
	int status;
	pid_t child;

	for (size_t i = 0; command[i]; i++)
		argv[nr++] = command[i];
	fflush(stdout);
	child = fork();
	if (!child) {
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

static bool trial_load(const char *file, struct trial *trial)
{
	struct recording *rec = recording_open(file);
	bool good;

	if (!rec)
		return false;
	good = reasons_of(rec, &trial->reasons);
	trial->pauses = pauses_sum(rec, trial->reasons.tgid);
	trial->duration = recording_duration(rec);
	recording_close(rec);
	return good;
}

/* The index in options of the program, or -1. */
static int option_find(const char *program)
{
	const char *name = strrchr(program, '/');

	name = name ? name + 1 : program;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (!strcmp(name, options[i].program))
			return (int)i;
	return -1;
}

/* In place of those that the command has, or behind its name. Of the same option the last counts. */
static void command_change(char **command, int option, char *value, char **changed)
{
	size_t nr = 0;

	changed[nr++] = command[0];
	changed[nr++] = value;
	for (size_t i = 1; command[i]; i++)
		if (strncmp(command[i], options[option].prefix, strlen(options[option].prefix)) !=
		    0)
			changed[nr++] = command[i];
	changed[nr] = NULL;
}

static void line_print(const char *what, double full, double full_ns, const struct trial *trial)
{
	char in_full[AMOUNT_TEXT], paused[AMOUNT_TEXT] = "?", all[AMOUNT_TEXT] = "?";

	if (trial) {
		amount_length((double)trial->pauses.paused, paused);
		amount_length((double)trial->duration, all);
	}
	printf("%-10s %17.0f %13s %10s %10s\n", what, full, amount_length(full_ns, in_full), paused,
	       all);
}

static int trials_compare(const struct trial *now, const char *file, const char *value)
{
	const struct advice *a = &now->reasons.advice, *seen;
	struct trial then;

	if (!trial_load(file, &then))
		return CTL_FILE;
	seen = &then.reasons.advice;
	printf("%-10s %17s %13s %10s %10s\n", "", "FULL COLLECTIONS", "THEIR PAUSES", "PAUSED",
	       "RUN");
	line_print("now", (double)a->full, (double)a->paused, now);
	line_print("predicted", a->full_then, a->paused_then, NULL);
	line_print("seen", (double)seen->full, (double)seen->paused, &then);
	printf("%s: %s\n", value,
	       then.pauses.paused < now->pauses.paused ? "it was paused for less time" :
							 "no gain: it was paused for as long");
	return CTL_OK;
}

int try_advice(const char *name, char **command)
{
	const int option = option_find(command[0]);
	char *changed[COMMAND_MAX + 2], value[64], file[2][PATH];
	struct trial now;
	size_t nr = 0;
	int ret;

	while (command[nr])
		nr++;
	snprintf(file[0], sizeof(file[0]), "%s-now.db", name);
	snprintf(file[1], sizeof(file[1]), "%s-then.db", name);
	if (option < 0 || nr > COMMAND_MAX) {
		ctl_error("why: --try changes options of java and node, and this is %s",
			  command[0]);
		return CTL_USAGE;
	}
	for (int i = 0; i < 2; i++)
		if (!access(file[i], F_OK)) {
			ctl_error("why: %s exists; choose another --output", file[i]);
			return CTL_USAGE;
		}
	ret = command_record(file[0], command);
	if (ret)
		return ret;
	if (!trial_load(file[0], &now))
		return CTL_FILE;
	puts(*now.reasons.sentence ? now.reasons.sentence : "no pause was recorded");
	if (!now.reasons.advised) {
		puts("no advice: its heap is not full after full collections, or that is not "
		     "known");
		return CTL_OK;
	}
	printf("advice: %s.\n", now.reasons.advice.text);
	snprintf(value, sizeof(value), "%s%lld%s", options[option].prefix,
		 (long long)(now.reasons.advice.limit >> 20), options[option].suffix);
	command_change(command, option, value, changed);
	ret = command_record(file[1], changed);
	return ret ? ret : trials_compare(&now, file[1], value);
}
