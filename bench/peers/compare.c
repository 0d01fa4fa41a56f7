// SPDX-License-Identifier: MIT
/*
 * bench-collectors: the bundled collectors against Debian's libgc and OpenJDK 17, each
 * group in the same run, interleaved; ratios with their spread. It fails only when a
 * contender of ours fails: timings are judged by people.
 */
#define _GNU_SOURCE
#include "lib/lbo.h"
#include "lib/quiet.h"
#include "lib/summary.h"
#include "lib/table.h"
#include "peers/peer.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_PEERS 24
#define TIMEOUT_S 300

static struct {
	char ours[512], libgc[512], epsilon[512], classes[512], profile[512], log[64];
	size_t rounds;
	enum table_form form;
	bool short_runs, progress;
} config;

/* Strings that live as long as the program. */
static const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const char *text(const char *format, ...)
{
	va_list args;
	char *out;

	va_start(args, format);
	if (vasprintf(&out, format, args) < 0)
		abort();
	va_end(args);
	return out;
}

/** struct group - contenders for one workload; the first is what others compare with */
struct group {
	const char *title;
	struct peer peer[MAX_PEERS];
	size_t count;
};

static struct peer *add(struct group *g, const char *name)
{
	struct peer *p = &g->peer[g->count++];

	if (g->count > MAX_PEERS)
		abort();
	p->name = name;
	return p;
}

static bool have(const char *command)
{
	return !system(text("command -v %s >/dev/null 2>&1", command));
}

static void add_java(struct group *g, const char *collector, const char *class, const char *heap,
		     const char *const *args)
{
	struct peer *p = add(g, text("OpenJDK 17 %s", collector));
	size_t n = 0;

	p->safepoint_log = config.log;
	p->argv[n++] = "java";
	p->argv[n++] = text("-XX:+Use%sGC", collector);
	p->argv[n++] = text("-Xms%s", heap);
	p->argv[n++] = text("-Xmx%s", heap);
	p->argv[n++] = text("-Xlog:safepoint:file=%s", config.log);
	p->argv[n++] = "-cp";
	p->argv[n++] = config.classes;
	p->argv[n++] = class;
	while (*args && n + 1 < PEER_ARGS)
		p->argv[n++] = *args++;
	if (!have("java"))
		p->missing = "no java: packaging/need bench";
	else if (access(config.classes, R_OK))
		p->missing = "no classes: javac was missing when bench was built";
}

static void add_bench(struct group *g, const char *name, const char *program, const char *workload,
		      const char *gc, const char *const *args)
{
	struct peer *p = add(g, name);
	size_t n = 0;

	p->argv[n++] = program;
	p->argv[n++] = workload;
	p->argv[n++] = text("--gc=%s", gc);
	p->argv[n++] = "--format=csv";
	while (*args && n + 1 < PEER_ARGS)
		p->argv[n++] = *args++;
	if (access(program, X_OK))
		p->missing = "not built: packaging/need bench, make -C bench";
}

static const char *const plans[] = {
	"marksweep", "semispace", "cms", "cmsfly", "gencms", "gss", "immix", "stickyimmix",
};

static void add_plans(struct group *g, const char *workload, const char *heap,
		      const char *const *args)
{
	for (size_t i = 0; i < sizeof(plans) / sizeof(*plans); i++)
		add_bench(g, text("gchint %s", plans[i]), config.ours, workload,
			  text("plan=%s,sizing=fixed,heap=%s,max=%s", plans[i], heap, heap), args);
}

static void gcbench_group(struct group *g)
{
	static const char *const none[] = { NULL };
	static const char *const java[] = { "rounds=5", "stretch=18",	"long=16", "min=4",
					    "max=16",	"array=500000", NULL };

	g->title = "GCBench, one mutator, 32 MiB";
	/* Two settings, so that the comparison is with its better one. */
	add_bench(g, "libgc", config.libgc, "gcbench", "heap=32M,expand=0", none);
	add_bench(g, "libgc, expanded", config.libgc, "gcbench", "heap=32M,expand=1,divisor=1",
		  none);
	add_plans(g, "gcbench", "32M", none);
	add_java(g, "Serial", "GcBench", "32m", java);
	add_java(g, "G1", "GcBench", "32m", java);
}

static void gcw_group(struct group *g, int threads)
{
	const char *iterations = config.short_runs ? "iterations=10" : "iterations=100";
	const char *args[] = { text("--threads=%d", threads), text("--%s", iterations), NULL };
	const char *java[] = { text("profile=%s", config.profile), text("threads=%d", threads),
			       iterations, NULL };

	g->title = text("GCW default profile, %d thread%s, 96 MiB, %s", threads,
			threads == 1 ? "" : "s", iterations);
	add_java(g, "Serial", "Gcw", "96m", java);
	add_java(g, "G1", "Gcw", "96m", java);
	add_plans(g, "gcw", "96M", args);
	add_bench(g, "libgc", config.libgc, "gcw", "heap=96M,expand=1,divisor=1", args);
}

/* A row of each plan at two heaps, and allocation alone with pages faulted in. */
static void lbo_group(struct group *g)
{
	static const char *const args[] = { "--threads=1", "--iterations=10", NULL };
	static const char *const heap[] = { "48M", "192M" };

	g->title = "Lower-bound overhead: GCW, one thread, 1 GB";
	for (size_t i = 0; i < sizeof(plans) / sizeof(*plans); i++)
		for (int h = 0; h < 2; h++)
			add_bench(g, text("%s %s", plans[i], heap[h]), config.ours, "gcw",
				  text("plan=%s,sizing=fixed,heap=%s,max=%s", plans[i], heap[h],
				       heap[h]),
				  args);
	add_bench(g, "epsilon", config.epsilon, "gcw", "max=4G", args);
	add_bench(g, "epsilon pretouched", config.epsilon, "gcw", "max=4G,pretouch=1", args);
}

static void say(const char *what, size_t round)
{
	if (config.progress)
		fprintf(stderr, "\r\033[Kround %zu of %zu: %s ", round + 1, config.rounds, what);
}

static const char *state(const struct peer_series *s)
{
	return s->run[0].code ? s->run[0].error : s->disturbed ? "not quiet" : "quiet";
}

static void print_group(const struct group *g, const struct peer_series *s)
{
	static const char *const heading[] = {
		"contender",  "n",	  "min ms",   "median ms", "+- 95 %",
		"ratio",      "from",	  "to",	      "CPU ms",	   "ns/object",
		"longest ms", "stops ms", "heap MiB", "collected", "machine",
	};
	struct table *t = table_new(heading, 15);
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
		table_number(t, score.median * 1e6 / s[i].run[0].objects, 2);
		PEER_FIGURE(&s[i], pause_max_ms, value);
		figure = summary_of(value, score.n);
		table_number(t, figure.median, 3);
		PEER_FIGURE(&s[i], stop_total_ms, value);
		figure = summary_of(value, score.n);
		table_number(t, figure.median, 2);
		table_number(t, s[i].run[0].heap_mib, 1);
		table_number(t, s[i].run[0].collections, 0);
		table_cell(t, "%s", state(&s[i]));
	}
	printf("\n%s%s\n", config.form == TABLE_MARKDOWN ? "## " : "", g->title);
	printf("n=%zu rounds, interleaved; ratio: to '%s' of the same round, median, from, to.\n\n",
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
			/* A contender that is not here is skipped; one of ours must run. */
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
	struct lbo_row row[MAX_PEERS];
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
		table_cell(t, "%s", state(&s[i]));
	}
	printf("\n%s%s\n", config.form == TABLE_MARKDOWN ? "## " : "", g->title);
	printf("Distilled minimum: %.1f ms wall, %.1f ms CPU (least total less stops or collector "
	       "CPU).\n\n",
	       least[LBO_WALL], least[LBO_CPU]);
	table_print(t, config.form, stdout);
	table_free(t);
}

static int run_group(struct group *g, bool lbo)
{
	struct peer_series *s = calloc(g->count, sizeof(*s));
	int bad;

	if (!s) {
		fputs("out of memory\n", stderr);
		return 1;
	}
	peer_rounds(g->peer, s, g->count, config.rounds, TIMEOUT_S, say);
	if (config.progress)
		fputs("\r\033[K", stderr);
	if (lbo)
		print_lbo(g, s);
	else
		print_group(g, s);
	fflush(stdout);
	bad = check_work(g, s);
	free(s);
	return bad;
}

static int usage(void)
{
	fputs("usage: gchint-compare [--rounds=N] [--short] [--format=text|csv|json|markdown] "
	      "[GROUP...]\n"
	      "Runs the bundled collectors against libgc and OpenJDK 17 on the same work.\n"
	      "Groups: gcbench gcw1 gcw2 lbo; all when none is named. Five rounds or more\n"
	      "make a result; --short is for trying it out.\n",
	      stderr);
	return 2;
}

static bool wanted(int argc, char **argv, const char *name)
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
	static struct group group[4];
	int bad = 0;

	gcbench_group(&group[0]);
	gcw_group(&group[1], 1);
	gcw_group(&group[2], 2);
	lbo_group(&group[3]);
	if (wanted(argc, argv, "gcbench"))
		bad |= run_group(&group[0], false);
	if (wanted(argc, argv, "gcw1"))
		bad |= run_group(&group[1], false);
	if (wanted(argc, argv, "gcw2"))
		bad |= run_group(&group[2], false);
	if (wanted(argc, argv, "lbo"))
		bad |= run_group(&group[3], true);
	return bad;
}

int main(int argc, char **argv)
{
	char dir[400];
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir) - 1);

	if (n < 0)
		return 1;
	dir[n] = 0;
	*strrchr(dir, '/') = 0;
	config.rounds = 5;
	config.progress = isatty(STDERR_FILENO);
	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--rounds=", 9))
			config.rounds = strtoul(argv[i] + 9, NULL, 10);
		else if (!strcmp(argv[i], "--short"))
			config.short_runs = true;
		else if (!strncmp(argv[i], "--format=", 9)) {
			if (table_form_of(argv[i] + 9, &config.form))
				return usage();
		} else if (argv[i][0] == '-')
			return usage();
	}
	if (!config.rounds || config.rounds > PEER_ROUNDS_MAX)
		return usage();
	snprintf(config.ours, sizeof(config.ours), "%s/gchint-bench", dir);
	snprintf(config.libgc, sizeof(config.libgc), "%s/gchint-bench-libgc", dir);
	snprintf(config.epsilon, sizeof(config.epsilon), "%s/gchint-bench-epsilon", dir);
	snprintf(config.classes, sizeof(config.classes), "%s/java", dir);
	snprintf(config.profile, sizeof(config.profile), "%s/gcw.profile", PROFILE_DIR);
	snprintf(config.log, sizeof(config.log), "/tmp/gchint-safepoint-%d.log", (int)getpid());
	n = run_wanted(argc, argv);
	unlink(config.log);
	return (int)n;
}
