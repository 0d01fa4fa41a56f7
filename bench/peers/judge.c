// SPDX-License-Identifier: MIT
/* Targets of the comparisons: the limit, the measured figure, whether it holds. */
#define _GNU_SOURCE
#include "lib/summary.h"
#include "peers/group.h"
#include "peers/instructions.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct judge {
	const struct group *g;
	const struct peer_series *s;
	int failed;
};

/* Median and range of a figure of contender @a to one of @b, round by round. */
static struct summary judge_ratio(const struct judge *j, int a, int b, size_t figure)
{
	double x[PEER_ROUNDS_MAX], y[PEER_ROUNDS_MAX];

	if (a < 0 || b < 0)
		return summary_of(NULL, 0);
	peer_figures(&j->s[a], figure, x);
	peer_figures(&j->s[b], figure, y);
	return summary_of_ratios(x, y, j->s[a].rounds);
}

static void target_print(struct judge *j, const char *what, const struct summary *r, double limit,
			 bool above, bool noisy, const char *note)
{
	bool holds = above ? r->median >= limit : r->median <= limit;

	if (!r->n) {
		printf("  unknown   %s: nothing to compare\n", what);
		return;
	}
	/* On a busy machine a target neither holds nor fails. */
	j->failed += !holds && !noisy;
	printf("  %-9s %s: %.3f (%.3f to %.3f), want %s %.3g%s%s\n",
	       noisy ? "not quiet" :
	       holds ? "holds" :
		       "FAILS",
	       what, r->median, r->min, r->max, above ? "at least" : "at most", limit,
	       noisy ? holds ? ", holds" : ", fails" : "", note);
}

static bool judge_is_disturbed(const struct judge *j, int a, int b)
{
	return j->s[a].disturbed || j->s[b].disturbed;
}

/* Contender @a against @b in @figure. Adds the CPU time where the timing was disturbed. */
static void judge_compare(struct judge *j, const char *what, int a, int b, size_t figure,
			  double limit, bool above)
{
	struct summary r = judge_ratio(j, a, b, figure), cpu;
	char text[160], note[80] = "";

	if (a < 0 || b < 0)
		return;
	cpu = judge_ratio(j, a, b, offsetof(struct peer_run, cpu_ms));
	if (judge_is_disturbed(j, a, b) && figure == offsetof(struct peer_run, score_ms))
		snprintf(note, sizeof(note), "; CPU time %.3f", cpu.median);
	snprintf(text, sizeof(text), "%s, %s to %s", what, j->g->peer[a].name, j->g->peer[b].name);
	target_print(j, text, &r, limit, above, judge_is_disturbed(j, a, b), note);
}

static bool peer_is_ours(const struct group *g, size_t i)
{
	return !strncmp(g->peer[i].name, "gchint ", 7);
}

static void judge_gcbench(struct judge *j)
{
	static const char *const fast[] = { "gchint semispace", "gchint gencms", "gchint gss",
					    "gchint stickyimmix" };
	double plain[PEER_ROUNDS_MAX], expanded[PEER_ROUNDS_MAX];
	int base = 0;

	/* The baseline is the better of its two settings. */
	PEER_FIGURE(&j->s[0], score_ms, plain);
	PEER_FIGURE(&j->s[1], score_ms, expanded);
	if (summary_of(expanded, j->s[1].rounds).median < summary_of(plain, j->s[0].rounds).median)
		base = 1;
	for (size_t i = 0; i < j->g->count; i++)
		if (peer_is_ours(j->g, i))
			judge_compare(j, "time", (int)i, base, offsetof(struct peer_run, score_ms),
				      1.0, false);
	for (size_t i = 0; i < sizeof(fast) / sizeof(*fast); i++)
		judge_compare(j, "time, generational or semi-space", group_find(j->g, fast[i]),
			      base, offsetof(struct peer_run, score_ms), 0.8, false);
	judge_compare(j, "longest stop of the world", group_find(j->g, "gchint cms"), base,
		      offsetof(struct peer_run, stop_max_ms), 0.25, false);
	judge_compare(j, "longest pause of any class", group_find(j->g, "gchint cms"), base,
		      offsetof(struct peer_run, pause_max_ms), 0.25, false);
}

/* The contender with the least median time whose name begins with @prefix, or -1 */
static int peer_best(const struct judge *j, const char *prefix)
{
	double score[PEER_ROUNDS_MAX], least = 0;
	int best = -1;

	for (size_t i = 0; i < j->g->count; i++) {
		struct summary s;

		if (strncmp(j->g->peer[i].name, prefix, strlen(prefix)) != 0)
			continue;
		PEER_FIGURE(&j->s[i], score_ms, score);
		s = summary_of(score, j->s[i].rounds);
		/* A contender that could not run has no figure. */
		if (isfinite(s.median) && (best < 0 || s.median < least)) {
			best = (int)i;
			least = s.median;
		}
	}
	return best;
}

/* Our collectors against whippet's of the same type, and the best against the best */
static void judge_whippet(struct judge *j)
{
	static const char *const kin[][2] = {
		{ "gchint semispace", "whippet semi" },
		{ "gchint gss", "whippet generational-pcc" },
		{ "gchint immix", "whippet mmc" },
		{ "gchint stickyimmix", "whippet generational-mmc" },
	};

	for (size_t i = 0; i < sizeof(kin) / sizeof(*kin); i++)
		judge_compare(j, "time", group_find(j->g, kin[i][0]), group_find(j->g, kin[i][1]),
			      offsetof(struct peer_run, score_ms), 1.0, false);
	judge_compare(j, "time, the best of each", peer_best(j, "gchint "),
		      peer_best(j, "whippet "), offsetof(struct peer_run, score_ms), 1.0, false);
}

static void judge_gcw(struct judge *j)
{
	int serial = group_find(j->g, "OpenJDK 17 Serial"), g1 = group_find(j->g, "OpenJDK 17 G1");

	for (size_t i = 0; i < j->g->count; i++)
		if (peer_is_ours(j->g, i))
			judge_compare(j, "time", (int)i, serial,
				      offsetof(struct peer_run, score_ms), 1.0, false);
	judge_compare(j, "longest stop of the world", group_find(j->g, "gchint cms"), g1,
		      offsetof(struct peer_run, stop_max_ms), 1.0, false);
	judge_compare(j, "longest pause of any class", group_find(j->g, "gchint cms"), g1,
		      offsetof(struct peer_run, pause_max_ms), 1.0, false);
}

/* A run that repeats exactly: one thread collects and allocates. */
static uint64_t judge_instructions(const struct judge *j, const char *plan, const char *listener)
{
	char arguments[160];

	snprintf(arguments, sizeof(arguments),
		 "gcbench --listener=%s --format=csv "
		 "--gc=plan=%s,policy=fg,workers=1,trim=0,sizing=fixed,heap=32M,max=32M",
		 listener, plan);
	return peer_instructions(j->g->peer[0].argv[0], arguments);
}

/*
 * Four rows a plan: none, null, libgchint, statistics. The noise of the times is ten times
 * what a listener may cost, so instructions decide and times are printed in addition.
 */
static void judge_listener(struct judge *j)
{
	static const char *const plans[] = { "semispace", "cms" };
	static const char *const listeners[] = { "none", "null", "gchint" };

	for (int i = 0; i < 2; i++) {
		uint64_t none = judge_instructions(j, plans[i], listeners[0]);

		for (int k = 1; k < 3; k++) {
			uint64_t with = judge_instructions(j, plans[i], listeners[k]);
			double x = (double)with, y = (double)none;
			struct summary time = judge_ratio(j, 4 * i + k, 4 * i,
							  offsetof(struct peer_run, score_ms));
			struct summary r = summary_of_ratios(&x, &y, with && none);
			char text[160], note[96];

			snprintf(text, sizeof(text), "instructions, %s to %s",
				 j->g->peer[4 * i + k].name, j->g->peer[4 * i].name);
			snprintf(note, sizeof(note), "; time %.3f (%.3f to %.3f)", time.median,
				 time.min, time.max);
			target_print(j, text, &r, 1.01, false, false, note);
		}
	}
	printf("  instructions: of GCBench with one thread that allocates and collects, by "
	       "callgrind\n");
}

/*
 * Prints, in addition to the times: the mutators' own time without stops; the speedup of two
 * mutators if only the measured stops were serial (Amdahl's law); and the most that two cores
 * allow: one mutator's time over half the CPU time that two take, collector included. The last
 * one is the bound where the daemon has a core of its own alongside one mutator.
 */
static void judge_scaling(struct judge *j)
{
	for (int i = 0; i + 1 < (int)j->g->count; i += 2) {
		struct summary own, amdahl, most,
			r = judge_ratio(j, i, i + 1, offsetof(struct peer_run, score_ms));
		double x[PEER_ROUNDS_MAX], y[PEER_ROUNDS_MAX], z[PEER_ROUNDS_MAX];
		const struct peer_series *one = &j->s[i], *two = &j->s[i + 1];
		char text[160], note[128];

		for (size_t k = 0; k < one->rounds; k++) {
			x[k] = one->run[k].score_ms - one->run[k].stop_total_ms;
			y[k] = two->run[k].score_ms - two->run[k].stop_total_ms;
		}
		own = summary_of_ratios(x, y, one->rounds);
		for (size_t k = 0; k < one->rounds; k++) {
			z[k] = x[k] / 2 + two->run[k].stop_total_ms;
			x[k] = one->run[k].score_ms;
		}
		amdahl = summary_of_ratios(x, z, one->rounds);
		for (size_t k = 0; k < one->rounds; k++)
			z[k] = two->run[k].cpu_ms / 2;
		most = summary_of_ratios(x, z, one->rounds);
		snprintf(note, sizeof(note),
			 "; without stops %.3f, stops allow %.3f, two cores %.3f", own.median,
			 amdahl.median, most.median);
		snprintf(text, sizeof(text), "time, %s to %s", j->g->peer[i].name,
			 j->g->peer[i + 1].name);
		target_print(j, text, &r, 1.7, true, judge_is_disturbed(j, i, i + 1), note);
	}
	puts("  without stops: the gain of the mutators alone, at most 2. stops allow: the "
	     "possible "
	     "gain\n"
	     "  with the measured time of stops (Amdahl). two cores: the time of one mutator, "
	     "divided by\n"
	     "  half of the CPU time of two mutators and their collector. Where that is below 1.7, "
	     "one\n"
	     "  mutator had the collector on the other core, and two share both cores with it.");
}

int group_judge(const struct group *g, int which, const struct peer_series *s)
{
	struct judge j = { .g = g, .s = s };

	if (which != GROUP_LBO)
		printf("\nTargets: median of the rounds' ratios (from, to)\n");
	switch (which) {
	case GROUP_GCBENCH:
		judge_gcbench(&j);
		break;
	case GROUP_GCW1:
	case GROUP_GCW2:
		judge_gcw(&j);
		break;
	case GROUP_LISTENER:
		judge_listener(&j);
		break;
	case GROUP_MT1:
	case GROUP_MT2:
	case GROUP_QUADS:
		judge_whippet(&j);
		break;
	case GROUP_SCALING:
		judge_scaling(&j);
		break;
	}
	return j.failed;
}
