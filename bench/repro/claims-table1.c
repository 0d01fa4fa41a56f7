// SPDX-License-Identifier: MIT
/* Claims of the Dalvik seed on the figures of its Table 1 for each application. */
#include "repro/claims-dalvik.h"
#include "repro/claims.h"

#include <math.h>

static void measure_pauses(struct outcome *o)
{
	static const char *const all[] = { "javac", "quadrant", "pandora",
					   "jack",  "lusearch", "xalan" };
	double least = INFINITY, others = 0, other_pause = 0, javac = 0, javac_pause = 0;

	for (int a = 0; a < (effort.small ? 2 : 6); a++) {
		struct run_result r;
		double share;

		if (!probe_least(o, "app", all[a], NO_REST, DALVIK ",plan=cms", &r))
			return;
		share = 100 * r.gc_cpu_ms / r.cpu_ms;
		least = figure_min(least, share);
		ours(o, "%s%s %.1f ms %.1f %%", a ? ", " : "", all[a], longest_pause(&r), share);
		if (!a) {
			javac = share;
			javac_pause = longest_pause(&r);
			continue;
		}
		others = fmax(others, share);
		other_pause = fmax(other_pause, longest_pause(&r));
	}
	found(o, "longest pause, javac of the longest other", javac_pause / other_pause);
	found(o, "collecting, javac of the most other", javac / others);
	found(o, "collecting, least share of CPU", least);
	found(o, "collecting, javac's share of CPU", javac);
}

const struct claim dalvik_pauses = {
	.id = "000-h",
	.text = "only javac has pauses over 50 ms; collecting takes 2.8 to 19.7 % of CPU",
	.paper = "javac 99.0 ms and 19.7 %, both the largest; then 37.2 ms and 8.0 %",
	.falsifier = "another program pauses as long as javac, or collects as much",
	.note = "another processor: ratios count, not milliseconds. The amount of computation of "
		"the applications was fitted to the table's GC shares",
	.needs = { .runs = 3 },
	.without = { "javac", "jack" },
	.term = { { "longest pause, javac of the longest other",
		    "x",
		    BASIS_TIME,
		    2.66,
		    { 1, MORE },
		    { 1.33, 5.3 } },
		  { "collecting, javac of the most other",
		    "x",
		    BASIS_TIME,
		    2.46,
		    { 1, MORE },
		    { 1.23, 5 } },
		  { "collecting, least share of CPU",
		    "%",
		    BASIS_TIME,
		    2.8,
		    { 0, 19.7 },
		    { 1.4, 5.6 } },
		  { "collecting, javac's share of CPU",
		    "%",
		    BASIS_TIME,
		    19.7,
		    { 2.8, 90 },
		    { 10, 40 } } },
	.measure = measure_pauses,
};

static void measure_lifetimes(struct outcome *o)
{
	static const struct {
		const char *app;
		double die[3];
	} table[] = {
		{ "quadrant", { 9.5, 20.5, 40.7 } },  { "pandora", { 13.0, 24.9, 46.0 } },
		{ "javac", { 7.6, 15.8, 32.7 } },     { "jack", { 11.7, 23.8, 48.2 } },
		{ "lusearch", { 10.3, 22.5, 47.2 } }, { "xalan", { 9.46, 19.3, 39.0 } },
	};
	double farthest = 0, slowest = INFINITY, fastest = 0;

	for (int a = 0; a < (effort.small ? 1 : 6); a++) {
		struct run_result r;
		double die[3], all;

		if (!probe(o, "app", table[a].app, NO_REST " active=1",
			   "plan=cms,profiler=64K,trim=0,max=512M", &r))
			return;
		all = (double)r.gc.lifetime_bytes;
		die[0] = 100 * (double)r.gc.lifetime_128k / all;
		die[1] = 100 * (double)r.gc.lifetime_256k / all;
		die[2] = 100 * (double)r.gc.lifetime_512k / all;
		for (int i = 0; i < 3; i++) {
			farthest = fmax(farthest, 100 * fabs(die[i] / table[a].die[i] - 1));
			slowest = figure_min(slowest, i ? die[i] / die[i - 1] : INFINITY);
			fastest = fmax(fastest, i ? die[i] / die[i - 1] : 0);
		}
		ours(o, "%s%s %.1f/%.1f/%.1f", a ? ", " : "", table[a].app, die[0], die[1], die[2]);
	}
	found(o, "farthest from the table", farthest);
	found(o, "least growth with a doubling", slowest);
	found(o, "most growth with a doubling", fastest);
}

const struct claim dalvik_lifetimes = {
	.id = "000-i",
	.text = "few objects die within 128 KiB; the share about doubles with each doubling",
	.paper = "7.6-13 / 15.8-24.9 / 32.7-48.2 % within 128/256/512 KiB; growth 1.85-2.18x",
	.falsifier = "a share differs from the table by half, or does not grow with a doubling",
	.note = "the workloads are made to have these lifetimes and the collector measures them, "
		"which checks both. One thread is busy: with fewer cores than threads, each "
		"allocates alone for milliseconds, which shortens lifetimes",
	.without = { "active=1", "active=1 lifetime=40,41,42" },
	.term = { { "farthest from the table", "%", BASIS_COUNT, 0, { -1, 50 }, { 0, 15 } },
		  { "least growth with a doubling",
		    "x",
		    BASIS_COUNT,
		    1.85,
		    { 1, MORE },
		    { 1.6, 2.6 } },
		  { "most growth with a doubling",
		    "x",
		    BASIS_COUNT,
		    2.18,
		    { 1, MORE },
		    { 1.6, 2.6 } } },
	.measure = measure_lifetimes,
};
