// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../version.h"
#include "ctl.h"
#include "db.h"

/* Sorted. */
static const struct {
	const char *name, *args, *help;
	int (*run)(const struct ctl *ctl, int argc, char **argv);
} commands[] = {
	{ "export", "FILE --format csv|jsonl|chrome-trace|openmetrics",
	  "a recording in another format", cmd_export },
	{ "marks", "FILE | --add TEXT", "list marks, or put one into a running recording",
	  cmd_marks },
	{ "record", "[-o FILE] -- COMMAND", "record while a command runs", cmd_record },
	{ "report", "FILE... -o report.html",
	  "one page with plots and tables; several runs compared", cmd_report },
	{ "status", "", "board, governor, policies, sessions, rails, what is missing", cmd_status },
	{ "summary", "FILE", "tables of one recording", cmd_summary },
	{ "top", "[FILE]", "live view of a recording", cmd_top },
};

#define NR (sizeof(commands) / sizeof(commands[0]))

void ctl_error(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("gchintctl: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

int ctl_usage(const char *command)
{
	ctl_error("%s: --help lists the options", command);
	return CTL_USAGE;
}

static void usage(FILE *f)
{
	fputs("usage: gchintctl [--json] COMMAND [ARGUMENT]...\n"
	      "Looks at garbage-collection phases, frequency and power: now, or as gchintd\n"
	      "recorded them.\n\n",
	      f);
	for (size_t i = 0; i < NR; i++)
		fprintf(f, "  %-8s %s\n           %s\n", commands[i].name, commands[i].args,
			commands[i].help);
	fputs("\n  --json    for programs: status, summary, marks, top\n"
	      "\n"
	      "A first look:\n"
	      "  gchintctl status\n"
	      "  gchintctl record -o run.db -- ./my-program\n"
	      "  gchintctl report run.db -o report.html\n"
	      "\n"
	      "gchintctl COMMAND --help tells more. Exit: 0 done, 1 failed, 2 usage, 3 a file\n"
	      "cannot be read or written, 4 gchintd could not be started or reached; record\n"
	      "passes the command's own status through.\n",
	      f);
}

/* A command that did its part has failed all the same where something is missing. */
static int end(int code)
{
	if (fflush(stdout) || ferror(stdout)) {
		ctl_error("standard output: %s", strerror(errno));
		return code ? code : CTL_FILE;
	}
	return !code && db_broken() ? CTL_FILE : code;
}

/* --json is taken behind the command, too. Returns the number of arguments left. */
static int take_json(struct ctl *ctl, int from, int argc, char **argv)
{
	int left = from;

	for (int i = from; i < argc; i++) {
		if (strcmp(argv[i], "--json"))
			argv[left++] = argv[i];
		else
			ctl->json = true;
	}
	argv[left] = NULL;
	return left;
}

int main(int argc, char **argv)
{
	struct ctl ctl = { 0 };
	char self[32];
	int i;

	for (i = 1; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--json")) {
			ctl.json = true;
		} else if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			usage(stdout);
			return end(CTL_OK);
		} else if (!strcmp(argv[i], "--version") || !strcmp(argv[i], "-V")) {
			puts("gchintctl " GCHINTD_VERSION);
			return end(CTL_OK);
		} else {
			ctl_error("unknown option %s; --help lists them", argv[i]);
			return CTL_USAGE;
		}
	}
	if (i == argc) {
		usage(stderr);
		return CTL_USAGE;
	}
	for (size_t n = 0; n < NR; n++)
		if (!strcmp(argv[i], commands[n].name)) {
			/* The rest of record's line is another command's. */
			if (commands[n].run != cmd_record)
				argc = take_json(&ctl, i + 1, argc, argv);
			/* getopt names its errors after it. */
			snprintf(self, sizeof(self), "gchintctl: %s", commands[n].name);
			argv[i] = self;
			return end(commands[n].run(&ctl, argc - i, argv + i));
		}
	ctl_error("unknown command '%s'; --help lists them", argv[i]);
	return CTL_USAGE;
}
