// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: gchintctl measure: the order of runs, limits, words of commands, conclusions. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../daemon/analysis/stats.h"
#include "../../daemon/gchintctl/measure/outliers.h"
#include "../../daemon/gchintctl/measure/plan.h"

static void measure_order(void)
{
	size_t at[3] = { 0 };
	char order[13] = "";

	for (size_t i = 0; i < 8; i++) {
		order[i] = (char)('A' + plan_command_at(i, 2));
		at[plan_command_at(i, 2)] += i;
	}
	CHECK(!strcmp(order, "ABBAABBA") && at[0] == at[1],
	      "runs alternate as ABBA: a steady drift is the same for both commands");
	memset(at, 0, sizeof(at));
	for (size_t i = 0; i < 12; i++) {
		order[i] = (char)('A' + plan_command_at(i, 3));
		at[plan_command_at(i, 3)] += i;
	}
	CHECK(!strcmp(order, "ABCCBAABCCBA") && at[0] == at[1] && at[1] == at[2],
	      "more commands take turns, every second one reversed");
	CHECK(!plan_command_at(5, 1), "one command always runs");
}

static bool scan_is(const char *from, const char *to, const char *step, const char *want)
{
	char *values = NULL;
	const bool is = !plan_scan(from, to, step, &values) && values && !strcmp(values, want);

	free(values);
	return is;
}

static void measure_parameter(void)
{
	char *values = NULL, *text;

	CHECK(scan_is("1", "4", "1", "1,2,3,4") && scan_is("1", "4", "2", "1,3") &&
		      scan_is("5", "5", "1", "5"),
	      "a scan goes up to the last value, and not past it");
	CHECK(scan_is("0.1", "0.5", "0.1", "0.1,0.2,0.3,0.4,0.5"),
	      "decimals are exact, and so is the last value");
	CHECK(scan_is("1", "2", "0.50", "1.00,1.50,2.00") && scan_is("3", "-1", "-2", "3,1,-1"),
	      "decimals are those of the most exact number; a scan may go down");
	CHECK(plan_scan("1", "4", "0", &values) && plan_scan("1", "4", "-1", &values) &&
		      plan_scan("a", "4", "1", &values) && plan_scan("1", "", "1", &values) &&
		      plan_scan("1", "1000000", "1", &values) &&
		      plan_scan("0", "1e3", "1", &values),
	      "other scans are refused");
	text = plan_replace("make -j{n} {m} {n", "n", "8");
	CHECK(text && !strcmp(text, "make -j8 {m} {n"), "a parameter is replaced by its value");
	free(text);
	text = plan_replace("{n}{n}", "n", "{n}");
	CHECK(text && !strcmp(text, "{n}{n}"), "a value is not replaced again");
	free(text);
}

static void measure_outliers(void)
{
	const double one[] = { 10, 10.1, 9.9, 10, 30, 10.2 }, cold[] = { 30, 10, 10.1, 9.9, 10 },
		     same[] = { 10, 10, 10, 10.05, 10 }, wide[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct outliers o = outliers_of(one, 6);

	CHECK(o.nr == 1 && !o.first, "a value far from the others is an outlier");
	o = outliers_of(cold, 5);
	CHECK(o.nr == 1 && o.first, "a first run without warm caches is told apart");
	o = outliers_of(same, 5);
	CHECK(!o.nr, "a difference below a hundredth is none");
	o = outliers_of(wide, 8);
	CHECK(!o.nr, "scattered values have none");
	o = outliers_of(cold, 3);
	CHECK(!o.nr, "three values do not tell");
}

static void measure_limits(void)
{
	const struct verdict more = { .known = true, .change = 0.06, .low = 0.01, .high = 0.11 };
	const struct verdict chance = { .known = true, .change = 0.06, .low = -0.01, .high = 0.2 };
	const struct verdict less = { .known = true, .change = -0.5, .low = -0.6, .high = -0.4 };
	const struct verdict unknown = { .change = 0.5, .low = NAN, .high = NAN };
	struct plan_limits l;

	plan_limits_init(&l);
	CHECK(isnan(l.percent[PLAN_ENERGY]) && isnan(l.percent[PLAN_PAUSE]) &&
		      plan_limits_set(&l, "energy=2.5") && l.percent[PLAN_ENERGY] == 2.5 &&
		      l.named[PLAN_ENERGY] && isnan(l.percent[PLAN_CPU]),
	      "a limit of one figure leaves the others without");
	CHECK(plan_limits_set(&l, "5") && l.percent[PLAN_ENERGY] == 2.5 &&
		      l.percent[PLAN_CPU] == 5 && l.percent[PLAN_PAUSE] == 5 && !l.named[PLAN_CPU],
	      "a limit of all figures keeps that of one");
	CHECK(plan_limits_set(&l, "gc-cpu=7") && l.percent[PLAN_COLLECTOR_CPU] == 7 &&
		      l.percent[PLAN_CPU] == 5,
	      "the CPU time of collectors has a limit of its own");
	CHECK(!plan_limits_set(&l, "") && !plan_limits_set(&l, "x") && !plan_limits_set(&l, "-1") &&
		      !plan_limits_set(&l, "5%") && !plan_limits_set(&l, "nan") &&
		      !plan_limits_set(&l, "energ=5") && !plan_limits_set(&l, "energy2=5") &&
		      !plan_limits_set(&l, "time=") && l.percent[PLAN_TIME] == 5,
	      "other limits are refused and change nothing");
	CHECK(plan_judge(&more, 5) == PLAN_EXCEEDED && plan_judge(&more, 6.5) != PLAN_EXCEEDED &&
		      plan_judge(&chance, 5) != PLAN_EXCEEDED &&
		      plan_judge(&less, 0) == PLAN_WITHIN,
	      "a figure exceeds its limit if it grew by more, and its interval excludes 0");
	CHECK(plan_judge(&more, 6.5) == PLAN_INCONCLUSIVE && plan_judge(&more, 11) == PLAN_WITHIN &&
		      plan_judge(&chance, 19) == PLAN_INCONCLUSIVE &&
		      plan_judge(&chance, 20) == PLAN_WITHIN &&
		      plan_judge(&unknown, 60) == PLAN_INCONCLUSIVE,
	      "it is within its limit if its interval lies below; else the runs do not say");
	CHECK(plan_figure_of("energy of pin, measured") == PLAN_ENERGY &&
		      plan_figure_of("duration") == PLAN_TIME &&
		      plan_figure_of("CPU time") == PLAN_CPU &&
		      plan_figure_of("longest pause") == PLAN_PAUSE &&
		      plan_figure_of("time paused") == PLAN_PAUSE &&
		      plan_figure_of("GC CPU time") == PLAN_COLLECTOR_CPU &&
		      plan_figure_of("frequency changes") == PLAN_FIGURES,
	      "figures have their types");
}

static enum plan_judgement sets_judge(const double *a, size_t na, const double *b, size_t nb,
				      double percent)
{
	struct verdict v;

	verdict_of(a, na, b, nb, &v);
	return plan_judge(&v, percent);
}

static void measure_power(void)
{
	static const double noisy[] = { 8, 12, 10, 9, 11 }, zero[5] = { 0 };
	static const double some[] = { 1, 2, 3, 2, 1 }, few[] = { 0, 0, 0, 2, 1 };
	struct verdict v;

	verdict_of(noisy, 5, noisy, 5, &v);
	/* As in measure_conclusions(), with ln 1.2 for 20 %: 2 x 0.02568 x pi / 2 (2.8)^2 / 0.1823^2. */
	CHECK(verdict_runs(&v, VERDICT_DIFFERENCE) == v.wanted && verdict_runs(&v, 0.2) == 21,
	      "a larger difference takes fewer runs");
	CHECK(sets_judge(noisy, 5, noisy, 5, 20) == PLAN_INCONCLUSIVE &&
		      sets_judge(noisy, 5, noisy, 5, 40) == PLAN_WITHIN &&
		      sets_judge(noisy, 1, noisy, 1, 40) == PLAN_INCONCLUSIVE,
	      "a limit that the runs do not rule out is not said to be kept");
	CHECK(sets_judge(zero, 5, some, 5, 1000) == PLAN_EXCEEDED &&
		      sets_judge(zero, 3, some, 3, 1000) == PLAN_INCONCLUSIVE &&
		      sets_judge(zero, 5, few, 5, 1000) == PLAN_INCONCLUSIVE &&
		      sets_judge(few, 5, some, 5, 1000) == PLAN_INCONCLUSIVE &&
		      sets_judge(zero, 5, zero, 5, 0) == PLAN_WITHIN,
	      "more than 0 in all of several runs exceeds any limit where the base is 0");
}

static bool words_are(const char *text, const char *first, const char *second)
{
	char **argv;
	bool same = !plan_words(text, &argv) && !strcmp(argv[0], first) &&
		    (second ? argv[1] && !strcmp(argv[1], second) && !argv[2] : !argv[1]);

	plan_words_free(argv);
	return same;
}

static bool words_refused(const char *text, const char *why)
{
	char **argv;
	const char *said = plan_words(text, &argv);

	return said && strstr(said, why) && !argv;
}

static void measure_words(void)
{
	setenv("UNIT_MEASURE", "a b", 1);
	CHECK(words_are("  true ", "true", NULL) &&
		      words_are("sh '-c a | b; c > d'", "sh", "-c a | b; c > d") &&
		      words_are("echo \"$UNIT_MEASURE\"", "echo", "a b"),
	      "a command is split into words as a shell does");
	CHECK(words_refused("a | b", "shell") && words_refused("a; b", "shell") &&
		      words_refused("echo $(date)", "shell") &&
		      words_refused("sh -c 'a", "not closed") && words_refused(" ", "no words"),
	      "a command that needs a shell, or has no words, is refused with the reason");
}

static bool conclusion_is(const double *a, size_t na, const double *b, size_t nb, const char *want)
{
	struct verdict v;
	char words[256];

	verdict_of(a, na, b, nb, &v);
	verdict_conclusion(&v, words, sizeof(words));
	if (!strcmp(words, want))
		return true;
	printf("# '%s', not '%s'\n", words, want);
	return false;
}

static void measure_conclusions(void)
{
	static const double ten[] = { 9.8, 10.2, 10.0, 9.9, 10.1 };
	static const double eight[] = { 7.84, 8.16, 8.0, 7.92, 8.08 };
	static const double noisy[] = { 8, 12, 10, 9, 11 }, even[] = { 5, 5, 5 };
	static const double wild[] = { 20, 3, 400 };

	CHECK(conclusion_is(ten, 5, eight, 5, "20 % less (18 to 22 %)") &&
		      conclusion_is(even, 3, even, 3, "the same, within 0.1 %") &&
		      conclusion_is(ten, 1, ten, 5, "2.0 % more (a single run)"),
	      "a difference is reported as by compare");
	/* Logarithms: sd 0.0158, se 0.0100 x sqrt(1.44), t(8) = 2.306: +-2.81 %, rounded up. */
	CHECK(conclusion_is(ten, 5, ten, 5, "no difference above 2.9 %"),
	      "without a difference the one that is ruled out is reported");
	/*
	 * Logarithms: variance 0.02568, se 0.1014, t(8) = 2.306: +26.3 %. Runs for 5 %:
	 * 2 x 0.02568 x pi / 2 (1.96 + 0.84)^2 / 0.0488^2 = 265.9, rounded up, and one more.
	 */
	CHECK(conclusion_is(noisy, 5, noisy, 5,
			    "no difference above 33 %; 267 runs of each would show one of 5 %"),
	      "few runs are reported with the number that would do");
	CHECK(conclusion_is(ten, 5, wild, 3,
			    "no difference shown by 5 and 3 runs; even 1000 runs of each would not "
			    "show one of 5 %"),
	      "wild values rule nothing out");
	CHECK(stats_decimals(0.012) == 3 && stats_decimals(0) == 2 && stats_decimals(1e-12) == 6 &&
		      stats_decimals(5000) == 0,
	      "numbers have the decimals that their error needs");
}

void unit_measure(void)
{
	measure_order();
	measure_parameter();
	measure_outliers();
	measure_limits();
	measure_power();
	measure_words();
	measure_conclusions();
}
