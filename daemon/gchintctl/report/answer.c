// SPDX-License-Identifier: GPL-2.0-or-later
/* gchintctl run: launch/ runs and records the program; the answer and the page are a report's. */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../ctl.h"
#include "../launch/record.h"
#include "../launch/run.h"
#include "summary.h"

#define ANSWER_BYTES (64 << 20) /* of a recording that is read for an answer at once */

/* What stopped the program, and what shows more. The program's output is not ours: to stderr. */
static void answer_print(const char *file)
{
	struct recording *rec;
	struct stat st;

	/* A larger one takes seconds to read: the user has not asked for them. */
	if (stat(file, &st) || st.st_size > ANSWER_BYTES)
		return;
	rec = recording_open(file);
	if (!rec)
		return;
	fflush(stdout);
	if (dup2(STDERR_FILENO, STDOUT_FILENO) == STDOUT_FILENO) {
		summary_print_answer(rec);
		fflush(stdout);
	}
	recording_close(rec);
}

static void page_write(const char *file, const char *given)
{
	const struct ctl ctl = { 0 };
	char name[PATH_MAX];
	const char *page = given ? given : name;
	char *argv[] = { "gchintctl: report", "-o", (char *)page, "--", (char *)file, NULL };

	if (!given && !recorder_page_name(file, name, sizeof(name))) {
		ctl_error("no name is free for the page of %s; write it by gchintctl report %s "
			  "-o PAGE",
			  file, file);
		return;
	}
	optind = 0;
	cmd_report(&ctl, sizeof(argv) / sizeof(argv[0]) - 1, argv);
}

int cmd_run(const struct ctl *ctl, int argc, char **argv)
{
	static const struct launch_after after = { answer_print, page_write };

	(void)ctl;
	return launch_main(argc, argv, &after);
}
