// SPDX-License-Identifier: MIT
/* repro: checks every claim of the seeds, prints the table, writes it as Markdown. */
#define _GNU_SOURCE
#include "lib/table.h"
#include "repro/claims.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct claim claims[] = {
#define CLAIM(check, id, text, paper) { id, text, paper, check },
#include "repro/claims.list"
#undef CLAIM
};

#define CLAIMS (sizeof(claims) / sizeof(*claims))

static const char *const verdict_name[] = {
	[VERDICT_REPRODUCES] = "reproduces", [VERDICT_SHAPE] = "shape only",
	[VERDICT_DOES_NOT] = "does not",     [VERDICT_LAB] = "needs the lab",
	[VERDICT_FAILED] = "failed to run",
};

/* Did a busy machine have a say in it? Then nothing is settled. */
static bool unsettled(const struct outcome *o)
{
	return o->timed && o->disturbed && o->verdict <= VERDICT_DOES_NOT;
}

static void verdict_text(const struct outcome *o, char *text, size_t size)
{
	if (unsettled(o))
		snprintf(text, size, "unsettled: machine not quiet (this run: %s)",
			 verdict_name[o->verdict]);
	else
		snprintf(text, size, "%s", verdict_name[o->verdict]);
}

static void print(const struct claim *c, const struct outcome *o)
{
	char verdict[96];

	verdict_text(o, verdict, sizeof(verdict));
	printf("%s  %s\n       paper    %s\n       ours     %s\n       verdict  %s: %s\n\n", c->id,
	       c->text, c->paper, *o->ours ? o->ours : "-", verdict, o->why);
	fflush(stdout);
}

static int write_markdown(const char *path, const struct outcome *o)
{
	static const char *const heading[] = { "id", "claim", "paper", "ours", "verdict", "why" };
	struct table *t = table_new(heading, 6);
	char verdict[96], *slash;
	char dir[512];
	FILE *f;
	int code;

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < CLAIMS; i++) {
		verdict_text(&o[i], verdict, sizeof(verdict));
		table_row(t);
		table_cell(t, "%s", claims[i].id);
		table_cell(t, "%s", claims[i].text);
		table_cell(t, "%s", claims[i].paper);
		table_cell(t, "%s", o[i].ours);
		table_cell(t, "%s", verdict);
		table_cell(t, "%s", o[i].why);
	}
	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (slash) {
		*slash = 0;
		mkdir(dir, 0777);
	}
	f = fopen(path, "we");
	if (!f) {
		code = -errno;
		table_free(t);
		return code;
	}
	fprintf(f,
		"# The seeds' claims, tried\n\n"
		"Written by `make repro`. Claims 000 are of the Dalvik seed (Hussein et al., "
		"2015), 001 of GCW\n"
		"(Intel, 2016), 003 of size-aware promotion in ART, 004 of mark stack overflow "
		"(Ugawa et al., 2012).\n\n"
		"*Reproduces*: the assertion holds. *Shape only*: the direction holds, not the "
		"size. *Does not*: it\n"
		"fails here, for the reason given. *Needs the lab*: frequency scaling, power rails "
		"or cores that a\n"
		"machine without them cannot stand in for. Counts decide where there are counts; "
		"what rests on time\n"
		"says so when the machine was not quiet. %u runs of whatever is timed.\n\n",
		repro_runs);
	table_print(t, TABLE_MARKDOWN, f);
	table_free(t);
	fputs("\n## Table 1 of the Dalvik seed, and ours\n\n"
	      "Programs made after its figures, on `plan=cms` with the seed's heap sizing. "
	      "Allocated, live,\n"
	      "objects and threads are given to them; lifetimes are measured by collecting at "
	      "every 64 KiB;\n"
	      "events, contention, pauses and CPU share are what came out on this machine.\n\n",
	      f);
	code = repro_table1(f) ? -ECHILD : 0;
	return fclose(f) ? -errno : code;
}

static int usage(FILE *out)
{
	fputs("usage: gchint-repro [--runs=N] [--output=FILE.md] [ID...]\n"
	      "Tries the claims of the seeds and says which reproduce. IDs (000-a) or their\n"
	      "beginnings (004) choose; only a full run writes the file.\n"
	      "Exit status: 0 whatever the verdicts, 1 when a run failed, 2 for a wrong call.\n",
	      out);
	return out == stdout ? 0 : 2;
}

static bool wanted(int argc, char **argv, const char *id)
{
	bool any = false;

	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '-')
			continue;
		any = true;
		if (!strncmp(id, argv[i], strlen(argv[i])))
			return true;
	}
	return !any;
}

int main(int argc, char **argv)
{
	static struct outcome outcome[CLAIMS];
	unsigned int count[VERDICT_FAILED + 1] = { 0 };
	const char *output = NULL;
	size_t tried = 0, open = 0;
	int code;

	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--runs=", 7))
			repro_runs = (unsigned int)strtoul(argv[i] + 7, NULL, 10);
		else if (!strncmp(argv[i], "--output=", 9))
			output = argv[i] + 9;
		else if (argv[i][0] == '-')
			return usage(strcmp(argv[i], "--help") ? stderr : stdout);
	}
	if (!repro_runs || repro_runs > 20)
		return usage(stderr);
	for (size_t i = 0; i < CLAIMS; i++) {
		if (!wanted(argc, argv, claims[i].id))
			continue;
		if (isatty(STDERR_FILENO))
			fprintf(stderr, "\r\033[K%s: %s", claims[i].id, claims[i].text);
		claims[i].check(&outcome[i]);
		if (isatty(STDERR_FILENO))
			fputs("\r\033[K", stderr);
		print(&claims[i], &outcome[i]);
		if (unsettled(&outcome[i]))
			open++;
		else
			count[outcome[i].verdict]++;
		tried++;
	}
	if (!tried)
		return usage(stderr);
	printf("%zu claims:", tried);
	for (int v = 0; v <= VERDICT_FAILED; v++)
		printf(" %u %s,", count[v], verdict_name[v]);
	printf(" %zu unsettled\n", open);
	if (output && tried == CLAIMS) {
		code = write_markdown(output, outcome);
		if (code) {
			fprintf(stderr, "gchint-repro: %s: %s\n", output, strerror(-code));
			return 1;
		}
		printf("written to %s\n", output);
	}
	return count[VERDICT_FAILED] ? 1 : 0;
}
