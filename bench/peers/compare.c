// SPDX-License-Identifier: MIT
/*
 * bench-collectors: the bundled collectors against Debian's libgc, OpenJDK 17 and whippet, each
 * group in the same run, interleaved; ratios with their spread. It fails only when one
 * of our contenders fails: timings are for the reader to judge.
 */
#define _GNU_SOURCE
#include "lib/lbo.h"
#include "lib/quiet.h"
#include "lib/summary.h"
#include "lib/table.h"
#include "peers/group.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT_S 300

static struct {
	struct places at;
	size_t rounds;
	enum table_form form;
	unsigned int iterations;
	bool progress;
} config;

static void progress_print(const char *what, size_t round)
{
	if (config.progress)
		fprintf(stderr, "\r\033[Kround %zu of %zu: %s ", round + 1, config.rounds, what);
}

static const char *series_state(const struct peer_series *s)
{
	return s->run[0].code ? s->run[0].error : s->disturbed ? "not quiet" : "quiet";
}

static void print_group(const struct group *g, const struct peer_series *s)
{
	static const char *const heading[] = {
		"contender", "n",	"min ms",   "median ms", "+- 95 %",   "ratio",
		"from",	     "to",	"CPU ms",   "system ms", "faults",    "ns/object",
		"pause ms",  "stop ms", "stops ms", "heap MiB",	 "collected", "machine",
	};
	struct table *t = table_new(heading, sizeof(heading) / sizeof(*heading));
	double base[PEER_ROUNDS_MAX], value[PEER_ROUNDS_MAX];

	if (!t)
		return;
	PEER_FIGURE(&s[0], score_ms, base);
	for (size_t i = 0; i < g->count; i++) {
		struct summary score, ratio, figure;

		PEER_FIGURE(&s[i], score_ms, value);
		score = summary_of(value, s[i].run[0].code ? 0 : s[i].rounds);
		ratio = summary_of_ratios(value, base, s[i].rounds);
		table_row(t);
		table_cell(t, "%s", g->peer[i].name);
		table_cell(t, "%zu", score.n);
		table_number(t, score.min, 1);
		table_number(t, score.median, 1);
		table_number(t, score.half, 1);
		table_number(t, ratio.median, 3);
		table_number(t, ratio.min, 3);
		table_number(t, ratio.max, 3);
		PEER_FIGURE(&s[i], cpu_ms, value);
		figure = summary_of(value, score.n);
		table_number(t, figure.median, 1);
		PEER_FIGURE(&s[i], system_ms, value);
		figure = summary_of(value, score.n);
		table_number(t, figure.median, 1);
		PEER_FIGURE(&s[i], faults, value);
		figure = summary_of(value, score.n);
		table_number(t, figure.median, 0);
		table_number(t, score.median * 1e6 / s[i].run[0].objects, 2);
		PEER_FIGURE(&s[i], pause_max_ms, value);
		figure = summary_of(value, score.n);
		table_number(t, figure.median, 3);
		PEER_FIGURE(&s[i], stop_max_ms, value);
		figure = summary_of(value, score.n);
		table_number(t, figure.median, 3);
		PEER_FIGURE(&s[i], stop_total_ms, value);
		figure = summary_of(value, score.n);
		table_number(t, figure.median, 2);
		table_number(t, s[i].run[0].heap_mib, 1);
		table_number(t, s[i].run[0].collections, 0);
		table_cell(t, "%s", series_state(&s[i]));
	}
	printf("\n%s%s\n", config.form == TABLE_MARKDOWN ? "## " : "", g->title);
	printf("n=%zu rounds, interleaved; ratio: to '%s' of the same round, median, from, to; "
	       "pause: longest\n"
	       "of a mutator, stop: longest of the world, stops: all of these; system: CPU time in "
	       "the\n"
	       "kernel; faults: pages touched for the first time, of the whole process; "
	       "medians.\n\n",
	       s[0].rounds, g->peer[0].name);
	table_print(t, config.form, stdout);
	table_free(t);
}

/* The same program must have done the same work everywhere. */
static int check_work(const struct group *g, const struct peer_series *s)
{
	double objects = NAN;
	int bad = 0;

	for (size_t i = 0; i < g->count; i++) {
		const struct peer_run *run = &s[i].run[0];

		if (run->code) {
			/* A contender that is not installed is skipped; ours must run. */
			if (!strncmp(g->peer[i].name, "gchint", 6) && !g->peer[i].missing) {
				fprintf(stderr, "%s: %s\n", g->peer[i].name, run->error);
				bad = 1;
			}
			continue;
		}
		if (isnan(objects))
			objects = run->objects;
		if (run->objects != objects) {
			fprintf(stderr, "%s: allocated %.0f objects, others %.0f\n",
				g->peer[i].name, run->objects, objects);
			bad = 1;
		}
	}
	return bad;
}

static void print_lbo(const struct group *g, const struct peer_series *s)
{
	static const char *const heading[] = { "collector and heap", "wall ms",
					       "LBO wall %",	     "CPU ms",
					       "LBO CPU %",	     "machine" };
	struct lbo_row row[GROUP_MAX];
	double least[LBO_METRICS], value[PEER_ROUNDS_MAX];
	struct table *t = table_new(heading, 6);

	if (!t)
		return;
	for (size_t i = 0; i < g->count; i++) {
		row[i] = (struct lbo_row){ .collector = g->peer[i].name };
		PEER_FIGURE(&s[i], score_ms, value);
		row[i].total[LBO_WALL] = summary_of(value, s[i].rounds).min;
		PEER_FIGURE(&s[i], cpu_ms, value);
		row[i].total[LBO_CPU] = summary_of(value, s[i].rounds).min;
		PEER_FIGURE(&s[i], stop_total_ms, value);
		row[i].gc[LBO_WALL] = summary_of(value, s[i].rounds).min;
		PEER_FIGURE(&s[i], gc_cpu_ms, value);
		row[i].gc[LBO_CPU] = summary_of(value, s[i].rounds).min;
		for (int m = 0; m < LBO_METRICS; m++)
			if (isnan(row[i].gc[m]))
				row[i].gc[m] = 0;
	}
	lbo_table(row, g->count, least);
	for (size_t i = 0; i < g->count; i++) {
		table_row(t);
		table_cell(t, "%s", row[i].collector);
		for (int m = 0; m < LBO_METRICS; m++) {
			table_number(t, row[i].total[m], 1);
			table_number(t, 100 * row[i].overhead[m], 1);
		}
		table_cell(t, "%s", series_state(&s[i]));
	}
	printf("\n%s%s\n", config.form == TABLE_MARKDOWN ? "## " : "", g->title);
	printf("Distilled minimum: %.1f ms wall, %.1f ms CPU (least total less stops or collector "
	       "CPU).\n\n",
	       least[LBO_WALL], least[LBO_CPU]);
	table_print(t, config.form, stdout);
	table_free(t);
}

/* Return: 1 if one of ours failed or did different work. A missed target is no failure. */
static int run_group(const struct group *g, int which)
{
	bool fenced = config.form == TABLE_MARKDOWN && which != GROUP_LBO;
	struct peer_series *s = calloc(g->count, sizeof(*s));
	int bad, missed;

	if (!s) {
		fputs("out of memory\n", stderr);
		return 1;
	}
	peer_rounds(g->peer, s, g->count, config.rounds, TIMEOUT_S, progress_print);
	if (config.progress)
		fputs("\r\033[K", stderr);
	if (which == GROUP_LBO)
		print_lbo(g, s);
	else
		print_group(g, s);
	/* Two threads round their shares of a total differently from one thread. */
	bad = which == GROUP_SCALING ? 0 : check_work(g, s);
	if (fenced)
		puts("\n```");
	missed = group_judge(g, which, s);
	if (missed)
		printf("  %d target%s missed\n", missed, missed == 1 ? "" : "s");
	if (fenced)
		puts("```");
	fflush(stdout);
	free(s);
	return bad;
}

static int usage(FILE *out)
{
	fputs("usage: gchint-compare [--rounds=N] [--iterations=N] "
	      "[--format=text|csv|json|markdown]\n"
	      "                      [--whippet=DIR] [GROUP...]\n"
	      "Runs the bundled collectors against libgc, OpenJDK 17 and whippet on the same\n"
	      "work. whippet takes part where DIR, or the variable WHIPPET, is its own source,\n"
	      "built (make bin/quads.COLLECTOR bin/mt-gcbench.COLLECTOR).\n"
	      "Groups: gcbench gcw1 gcw2 lbo listener mtgcbench1 mtgcbench2 quads scaling; all\n"
	      "when none is named. Five rounds or more make a result. --iterations is the length\n"
	      "of GCW; the published profile's is 100, the default 40. Exit status: 1 when a\n"
	      "contender of ours failed; missed targets are printed, not punished.\n",
	      out);
	return out == stdout ? 0 : 2;
}

static bool group_is_wanted(int argc, char **argv, const char *name)
{
	bool any = false;

	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '-')
			continue;
		if (!strcmp(argv[i], name))
			return true;
		any = true;
	}
	return !any;
}

static int run_wanted(int argc, char **argv)
{
	static struct group group;
	int bad = 0, ran = 0;

	for (int which = 0; which < GROUPS; which++) {
		group_fill(&group, which, &config.at, config.iterations);
		if (!group_is_wanted(argc, argv, group.name))
			continue;
		bad |= run_group(&group, which);
		ran++;
	}
	return ran ? bad : usage(stderr);
}

int main(int argc, char **argv)
{
	struct places *at = &config.at;
	const char *whippet = getenv("WHIPPET");
	char dir[400];
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);

	if (n < 0)
		return 1;
	dir[n] = 0;
	*strrchr(dir, '/') = 0;
	config.rounds = 5;
	config.iterations = 40;
	config.progress = isatty(STDERR_FILENO);
	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--rounds=", 9))
			config.rounds = strtoul(argv[i] + 9, NULL, 10);
		else if (!strncmp(argv[i], "--whippet=", 10))
			whippet = argv[i] + 10;
		else if (!strncmp(argv[i], "--iterations=", 13))
			config.iterations = (unsigned int)strtoul(argv[i] + 13, NULL, 10);
		else if (!strcmp(argv[i], "--help"))
			return usage(stdout);
		else if (!strncmp(argv[i], "--format=", 9)) {
			if (table_form_of(argv[i] + 9, &config.form))
				return usage(stderr);
		} else if (argv[i][0] == '-')
			return usage(stderr);
	}
	if (!config.rounds || config.rounds > PEER_ROUNDS_MAX || !config.iterations)
		return usage(stderr);
	snprintf(at->ours, sizeof(at->ours), "%s/gchint-bench", dir);
	snprintf(at->libgc, sizeof(at->libgc), "%s/gchint-bench-libgc", dir);
	snprintf(at->epsilon, sizeof(at->epsilon), "%s/gchint-bench-epsilon", dir);
	if (whippet && *whippet)
		snprintf(at->whippet, sizeof(at->whippet), "%s/bin", whippet);
	if (access(at->whippet, R_OK))
		*at->whippet = 0;
	snprintf(at->read_whippet, sizeof(at->read_whippet), "%s/whippet", PEERS_DIR);
	snprintf(at->classes, sizeof(at->classes), "%s/java", dir);
	snprintf(at->profile, sizeof(at->profile), "%s/gcw.profile", PROFILE_DIR);
	snprintf(at->log, sizeof(at->log), "/tmp/gchint-safepoint-%d.log", (int)getpid());
	n = run_wanted(argc, argv);
	unlink(at->log);
	return (int)n;
}
