// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/error.h"
#include "../common/fold.h"
#include "../common/printable.h"
#include "../recording/reader/db.h"
#include "../version.h"
#include "ctl.h"
#include "pager.h"

/*
 * In the order of --help: a row with @help alone is a question, and the commands behind it answer
 * it.
 */
static const struct {
	const char *name, *args, *help;
	bool text; /* its output is always made printable, that of others only on a terminal */
	bool json; /* it has JSON output */
	bool paged; /* it may be longer than a screen */
	int (*run)(const struct ctl *ctl, int argc, char **argv);
} commands[] = {
	{ .name = "", .help = "What did collection cost, and why?" },
	{ "run", "[-o FILE] [--report] -- PROGRAM",
	  "run a program with the adapter of its runtime; record it, and answer", false, false,
	  false, cmd_run },
	{ "record", "[-o FILE] -- COMMAND",
	  "record while a command runs as it is, such as one that uses libgchint", true, false,
	  false, cmd_record },
	{ "summary", "FILE", "tables of one recording", true, true, true, cmd_summary },
	{ "why", "[FILE [--at SECONDS]]",
	  "why each policy has its frequency; the longest pauses of a recording", true, true, true,
	  cmd_why },
	{ "report", "FILE... -o report.html",
	  "one page with plots and tables; compares several runs", true, false, false, cmd_report },
	{ "compare", "FILE...", "differences between groups of runs, in words", true, true, true,
	  cmd_compare },
	{ .name = "", .help = "How much faster, and where is the time?" },
	{ "measure", "-- COMMAND | 'COMMAND'...",
	  "measure one or several commands by repeated runs", true, true, false, cmd_measure },
	{ "profile", "record -- PROGRAM | report FILE | flame FILE",
	  "CPU time by method, phase, frequency and energy", true, false, true, cmd_profile },
	{ .name = "", .help = "What happens now?" },
	{ "status", "", "board, governor, policies, sessions, rails, what is missing", true, true,
	  true, cmd_status },
	{ "top", "[FILE]", "live view of a recording", false, true, false, cmd_top },
	{ "watch", "[POLICY]", "frequency policies now, one line a second", true, true, false,
	  cmd_watch },
	{ "attach", "[PID]", "load the adapter into a running JVM or .NET program, or list these",
	  true, false, false, cmd_attach },
	{ .name = "", .help = "Recordings to and from other tools" },
	{ "export", "FILE --format FORMAT",
	  "convert a recording: csv, jsonl, perfetto, firefox, openmetrics, ...", false, false,
	  false, cmd_export },
	{ "import", "FILE... [-o FILE]", "make a recording from GCHINT_TRACE files", true, false,
	  false, cmd_import },
	{ "annotations", "FILE | --add TEXT", "list annotations, or add one to a running recording",
	  true, true, true, cmd_annotations },
	{ .name = "", .help = "This machine" },
	{ "runtimes", "", "list known runtimes: by adapter or by probes, and what is reported",
	  true, true, true, cmd_runtimes },
	{ "actuator", "[auto|governor|limits|off]", "how hints act on this machine", true, false,
	  false, cmd_actuator },
	{ "calibrate", "[-o FILE] | --load FILE",
	  "measure the power of each frequency of each core type, for the module", true, false,
	  false, cmd_calibrate },
	{ "doctor", "[-o ARCHIVE]", "collect what a report of this machine needs in one archive",
	  false, false, false, cmd_doctor },
};

#define NR (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *f)
{
	fputs("usage: gchintctl [--json] [--no-pager] COMMAND [ARGUMENT]...\n"
	      "Shows garbage-collection phases, frequency and power: now, or as gchintd\n"
	      "recorded them.\n\n",
	      f);
	for (size_t i = 0; i < NR; i++) {
		if (!commands[i].run)
			fprintf(f, "%s%s\n", i ? "\n" : "", commands[i].help);
		else
			fprintf(f, "  %-11s %s\n              %s\n", commands[i].name,
				commands[i].args, commands[i].help);
	}
	fprintf(f, "  %-11s %s\n              %s\n", "help", "[COMMAND]",
		"this text; of a command its manual, or its options");
	fputs("\n  --json      for programs: annotations, compare, measure, runtimes, status,\n"
	      "              summary, top, watch, why FILE\n"
	      "  --no-pager  print long text without a pager, as with GCHINT_PAGER=cat\n"
	      "\n"
	      "Examples:\n"
	      "  gchintctl run -o app.db -- java -jar app.jar      (or python3, node, ruby, go "
	      "...)\n"
	      "  gchintctl why app.db\n"
	      "  gchintctl measure -- 'java -Xmx1g App' 'java -Xmx2g App'\n"
	      "\n"
	      "See gchintctl COMMAND --help for options. Exit status: 0 success, 1 failure,\n"
	      "2 usage, 3 a file cannot be read or written, 4 gchintd could not be started or\n"
	      "reached, 5 a measured command failed, 6 a measurement is inconclusive; record\n"
	      "exits with the command's own status.\n",
	      f);
}

static size_t command_find(const char *name)
{
	size_t n = 0;

	while (n < NR && (!commands[n].run || strcmp(name, commands[n].name)))
		n++;
	return n;
}

#define LETTERS 32

static size_t min_of_three(size_t a, size_t b, size_t c)
{
	a = a < b ? a : b;
	return a < c ? a : c;
}

/*
 * Number of letters to insert, delete, change or swap with the next one: the optimal string
 * alignment distance; SIZE_MAX for words over 31 letters.
 */
static size_t guess_distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b), d[LETTERS][LETTERS];

	if (na >= LETTERS || nb >= LETTERS)
		return SIZE_MAX;
	for (size_t i = 0; i <= na; i++)
		d[i][0] = i;
	for (size_t j = 0; j <= nb; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= na; i++)
		for (size_t j = 1; j <= nb; j++) {
			d[i][j] = min_of_three(d[i - 1][j] + 1, d[i][j - 1] + 1,
					       d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = min_of_three(d[i][j], d[i - 2][j - 2] + 1, SIZE_MAX);
		}
	return d[na][nb];
}

/* True if @typed begins @name, or differs from it in at most a third of its letters. */
static int guess_likely(const char *typed, const char *name)
{
	size_t n = strlen(typed);

	if (n > 1 && !strncmp(typed, name, n))
		return 1;
	return guess_distance(typed, name) <= (strlen(name) + 2) / 3;
}

static int command_report_unknown(const char *name)
{
	size_t nearest = NR;

	for (size_t n = 0; n < NR; n++)
		if (commands[n].run && guess_likely(name, commands[n].name) &&
		    (nearest == NR || guess_distance(name, commands[n].name) <
					      guess_distance(name, commands[nearest].name)))
			nearest = n;
	if (nearest < NR)
		ctl_error("unknown command '%s': did you mean '%s'? See gchintctl --help", name,
			  commands[nearest].name);
	else
		ctl_error("unknown command '%s'; see gchintctl --help", name);
	return CTL_USAGE;
}

/* A command that otherwise succeeded fails if standard output or a database had an error. */
static int output_finish(int code)
{
	if (fflush(stdout) || ferror(stdout) || !fold_finish()) {
		ctl_error("standard output: %s", strerror(errno));
		return code ? code : CTL_FILE;
	}
	pager_end();
	return !code && db_broken() ? CTL_FILE : code;
}

/* Accepts --json after the command, too, before @until. Returns the number of arguments left. */
static int args_take_json(struct ctl *ctl, int from, int until, int argc, char **argv)
{
	int left = from;

	for (int i = from; i < argc; i++) {
		if (i >= until || strcmp(argv[i], "--json"))
			argv[left++] = argv[i];
		else
			ctl->json = true;
	}
	argv[left] = NULL;
	return left;
}

static bool manual_usable(void)
{
	return isatty(STDOUT_FILENO) && !system("man -w gchintctl >/dev/null 2>&1");
}

/*
 * Opens the manual at the command if it is installed and stdout is a terminal, else prints
 * --help.
 */
static int command_help(const struct ctl *ctl, const char *name)
{
	char place[64], *argv[] = { NULL, (char[]){ "--help" }, NULL };
	size_t n;

	if (!name) {
		usage(stdout);
		return CTL_OK;
	}
	n = command_find(name);
	if (n == NR)
		return command_report_unknown(name);
	if (manual_usable()) {
		snprintf(place, sizeof(place), "+/^ +%s", commands[n].name);
		setenv("LESS", place, 1);
		execlp("man", "man", "1", "gchintctl", (char *)NULL);
	}
	snprintf(place, sizeof(place), "gchintctl: %s", commands[n].name);
	argv[0] = place;
	return commands[n].run(ctl, 2, argv);
}

/* Index of the first "--", behind which the arguments are another program's; @argc without. */
static int args_find_dashes(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return i;
	return argc;
}

/* Not what other programs read: pages, and formats of profiles. */
static bool command_is_table(size_t n, int argc, char **argv)
{
	if (commands[n].run == cmd_profile)
		return argc > 1 && (!strcmp(argv[1], "report") || !strcmp(argv[1], "diff") ||
				    !strcmp(argv[1], "annotate"));
	return commands[n].text && commands[n].run != cmd_report && commands[n].run != cmd_import;
}

/* @argv begins with the command's name. */
static int command_run(struct ctl *ctl, size_t n, bool pager, int argc, char **argv)
{
	const bool others = commands[n].run == cmd_profile || commands[n].run == cmd_record ||
			    commands[n].run == cmd_run;
	const int dashes = args_find_dashes(argc, argv);
	int until = commands[n].run == cmd_measure || (commands[n].run == cmd_why && dashes) ?
			    dashes :
			    argc;
	char self[32];

	/* The remaining arguments of these commands belong to the command that they run. */
	if (!others)
		argc = args_take_json(ctl, 1, until, argc, argv);
	if (ctl->json && !commands[n].json) {
		ctl_error("%s has no JSON output; gchintctl --help lists the commands that have it",
			  argv[0]);
		return CTL_USAGE;
	}
	/* getopt puts this name before its error messages. */
	snprintf(self, sizeof(self), "gchintctl: %s", commands[n].name);
	argv[0] = self;
	/* The live view has its own paging and makes its output printable itself. */
	if (commands[n].run != cmd_top &&
	    ((commands[n].text && !ctl->json) || isatty(STDOUT_FILENO))) {
		const size_t width =
			command_is_table(n, argc, argv) && !ctl->json ? fold_width() : 0;

		if (pager && commands[n].paged && !ctl->json)
			pager_start();
		if (width)
			fold_output(width);
		printable_output();
	}
	return commands[n].run(ctl, argc, argv);
}

int main(int argc, char **argv)
{
	struct ctl ctl = { 0 };
	bool pager = true;
	size_t n;
	int i;

	error_set_program("gchintctl");
	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--json")) {
			ctl.json = true;
		} else if (!strcmp(argv[i], "--no-pager")) {
			pager = false;
		} else if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			usage(stdout);
			return output_finish(CTL_OK);
		} else if (!strcmp(argv[i], "--version") || !strcmp(argv[i], "-V")) {
			puts("gchintctl " GCHINTD_VERSION);
			return output_finish(CTL_OK);
		} else {
			ctl_error("unknown option %s; see gchintctl --help", argv[i]);
			return CTL_USAGE;
		}
	}
	if (i == argc) {
		usage(stderr);
		return CTL_USAGE;
	}
	if (!strcmp(argv[i], "help"))
		return output_finish(command_help(&ctl, argv[i + 1]));
	n = command_find(argv[i]);
	return n < NR ? output_finish(command_run(&ctl, n, pager, argc - i, argv + i)) :
			command_report_unknown(argv[i]);
}
