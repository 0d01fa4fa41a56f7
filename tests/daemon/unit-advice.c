// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: what is predicted of made collections, and what is not advised. */
#include "unit.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../daemon/analysis/advice.h"

#define MS  1000000ull
#define MIB (1ll << 20)

#define MADE_MAX 2000
static struct findings_pause pause_made[MADE_MAX];
static struct findings_collection collection_made[MADE_MAX];
static union findings_value scratch[2 * MADE_MAX];
static struct findings_input in;

static void input_start(const char *name, uint64_t duration)
{
	in = (struct findings_input){
		.name = name,
		.duration = duration,
		.pause = pause_made,
		.collection = collection_made,
		.run = FINDINGS_UNKNOWN,
		.wait_low = FINDINGS_UNKNOWN,
		.wait_high = FINDINGS_UNKNOWN,
		.clock = NAN,
		.scratch = scratch,
	};
}

/* A collection each 200 ms, in a pause of its own. */
static void collection_add(uint32_t generation, int64_t before, int64_t after, int64_t most,
			   uint64_t paused)
{
	const uint64_t t0 = (in.pauses + 1) * 200 * MS;

	pause_made[in.pauses++] = (struct findings_pause){ .t0 = t0, .ns = paused };
	collection_made[in.collections++] = (struct findings_collection){
		.t0 = t0,
		.t1 = t0 + paused,
		.before = before,
		.after = after,
		.most = most,
		.freed = FINDINGS_UNKNOWN,
		.stopped = t0,
		.paused = paused,
		.generation = generation,
	};
}

static bool figure_is(double value, double want)
{
	if (fabs(value - want) <= 0.02 * fabs(want))
		return true;
	printf("# %g, wanted %g\n", value, want);
	return false;
}

/*
 * A heap of 100 MiB of which 55 stay: 27 MiB from one young collection to the next, of which one
 * survives, and a full one after ten of them.
 */
static void hotspot_make(size_t rounds)
{
	input_start("java", 1000 * MS);
	for (size_t r = 0; r < rounds; r++) {
		for (int i = 0; i < 10; i++)
			collection_add(0, (55 + i + 27) * MIB, (55 + i + 1) * MIB, 100 * MIB, MS);
		collection_add(1, (65 + 27) * MIB, 55 * MIB, 100 * MIB, 20 * MS);
	}
}

static void hotspot_check(void)
{
	struct advice a;
	double young;

	hotspot_make(5);
	CHECK(advice_of(&in, &a) && !strcmp(a.setting, "-Xmx176m") && a.limit == 176 * MIB &&
		      a.now == 100 * MIB && a.live == 55 * MIB && a.full == 5 &&
		      a.collections == 55 && a.paused == 150 * MS && a.full_paused == 100 * MS,
	      "a heap of three times what stays is advised");
	/* 1540 MiB are allocated, 47.5 between two young ones; of old there are 59.4 in place of 10. */
	young = 1540.0 / 47.5;
	CHECK(figure_is(a.full_then, 0.92) && figure_is(a.collections_then, young + a.full_then),
	      "collections follow from what is allocated and what survives");
	/* A copied MiB takes 20 / 55 ms, twice; 0.73 of the ms of a young pause are for the one of 27. */
	CHECK(figure_is(a.full_paused_then, a.full_then * 20 * 1.76 * (double)MS) &&
		      figure_is(a.paused_then - a.full_paused_then,
				(young * 0.273 + 0.727 / 27 * 1540) * (double)MS),
	      "the length of a young pause has a fixed part and one for what is copied");
	CHECK(strstr(a.text,
		     "a heap of 176 MiB (-Xmx176m) would have had about 1 full collections in "
		     "place of 5, and ") == a.text,
	      "in words");
	CHECK(advice_predict(&in, "-Xmx132m", &a) && a.full_then > 1.2 && a.full_then < 5 &&
		      !strcmp(a.setting, "-Xmx132m"),
	      "another limit is predicted too");
	CHECK(!advice_predict(&in, "-XX:+UseParallelGC", &a) && isnan(a.paused_then) &&
		      a.paused == 150 * MS && !strcmp(a.setting, "-XX:+UseParallelGC"),
	      "of an unknown setting nothing is predicted");
}

static void refusal_check(void)
{
	struct advice a;

	hotspot_make(5);
	in.duration = 100 * 1000 * MS;
	CHECK(!advice_of(&in, &a), "none if pauses are a small part");
	hotspot_make(3);
	CHECK(!advice_of(&in, &a) && a.full == 3, "none of few full collections");
	hotspot_make(5);
	for (size_t i = 0; i < in.collections; i++)
		collection_made[i].most = 400 * MIB;
	CHECK(!advice_of(&in, &a), "none if the heap has room");
	hotspot_make(5);
	collection_made[50].heap = 1;
	CHECK(!advice_of(&in, &a), "none of several heaps");
	hotspot_make(5);
	for (size_t i = 0; i < in.collections; i++)
		collection_made[i].generation = 0;
	CHECK(!advice_of(&in, &a), "none if what stays is not known");
	hotspot_make(5);
	in.name = "program";
	CHECK(!advice_of(&in, &a), "none of an unknown runtime");
	in.runtime = "jvm";
	CHECK(advice_of(&in, &a), "whose name the caller may know");
	hotspot_make(5);
	for (size_t i = 10; i < in.collections; i += 11)
		collection_made[i].asked = true;
	CHECK(!advice_of(&in, &a) && !a.full, "none of collections that the program asked for");
}

/* A heap in which no young collection finds room says nothing about what survives in another. */
static void hotspot_full_check(void)
{
	struct advice a;

	input_start("java", 1000 * MS);
	for (int i = 0; i < 20; i++)
		collection_add(1, 90 * MIB, 65 * MIB, 100 * MIB, 10 * MS);
	CHECK(advice_predict(&in, "-Xmx200m", &a) &&
		      figure_is(a.full_then, (90 + 19 * 25.0) / (180 - 65)) &&
		      figure_is(a.paused_then, a.full_then * 20 * (double)MS) &&
		      strstr(a.text, "at most about 5 full"),
	      "then all of it is taken to survive, and that is said");
}

static void v8_check(void)
{
	struct advice a;

	input_start("node", 1000 * MS);
	for (int i = 0; i < 20; i++)
		collection_add(1, 85 * MIB, 70 * MIB, 148 * MIB, 10 * MS);
	/* Half of what is left below the limit: 15 MiB; then 16 and three tenths of what stays. */
	CHECK(advice_of(&in, &a) && !strcmp(a.setting, "--max-old-space-size=224") &&
		      figure_is(a.full_then, 20 * 15 / 37.0) &&
		      figure_is(a.paused_then, a.full_then * 10 * (double)MS),
	      "V8 collects well before its limit");
	CHECK(advice_predict(&in, "--max-old-space-size=2048", &a) &&
		      figure_is(a.full_then, 20 * 15 / 226.0),
	      "and lets a large heap grow by more");
}

static void young_check(void)
{
	struct advice a;
	const char *const settings[] = { "node", "--max-semi-space-size=32", NULL };

	/* A semi-space of 16 MiB, of which what survives takes 4. */
	input_start("node", 1000 * MS);
	for (int i = 0; i < 40; i++)
		collection_add(0, 20 * MIB, 8 * MIB, 4000 * MIB, 5 * MS);
	CHECK(advice_of(&in, &a) && !strcmp(a.setting, "--max-semi-space-size=64") &&
		      figure_is(a.collections_then, 40 * 12.0 / 60) &&
		      figure_is(a.paused_then, a.collections_then * 5 * (double)MS),
	      "a larger semi-space has what the survivors leave");
	in.settings = settings;
	for (int i = 0; i < 40; i++)
		collection_made[i].before = 36 * MIB;
	CHECK(advice_of(&in, &a) && !strcmp(a.setting, "--max-semi-space-size=128") &&
		      figure_is(a.collections_then, 40 * 28.0 / 124),
	      "a multiple of the one that the program sets");
	input_start("mono", 1000 * MS);
	for (int i = 0; i < 40; i++)
		pause_made[in.pauses++] =
			(struct findings_pause){ .t0 = (uint64_t)i * 10 * MS, .ns = MS };
	CHECK(advice_of(&in, &a) && !strcmp(a.setting, "MONO_GC_PARAMS=nursery-size=16m") &&
		      figure_is(a.collections_then, 10) &&
		      figure_is(a.paused_then, 10 * (double)MS),
	      "without readings of the heap pauses become as rare as the nursery gets large");
}

static void pace_check(void)
{
	const char *const settings[] = { "GOGC=50", "./server", NULL };
	struct advice a;

	input_start("server", 1000 * MS);
	in.runtime = "go";
	in.run = 200 * (int64_t)MS;
	for (int i = 0; i < 40; i++)
		pause_made[in.pauses++] =
			(struct findings_pause){ .t0 = (uint64_t)i * 10 * MS, .ns = MS / 10 };
	CHECK(advice_of(&in, &a) && !strcmp(a.setting, "GOGC=400") &&
		      figure_is(a.collections_then, 10) && figure_is(a.cpu_then, 50 * (double)MS),
	      "CPU time of concurrent collection is a reason for advice");
	in.settings = settings;
	CHECK(advice_of(&in, &a) && !strcmp(a.setting, "GOGC=200"),
	      "what the environment sets is multiplied");
	in.run = 10 * (int64_t)MS;
	CHECK(!advice_of(&in, &a), "a small part of the time is not");
}

static void bundled_check(void)
{
	const char *const settings[] = { "bench", "--gc=plan=marksweep", NULL };
	struct advice a;

	input_start("bench", 1000 * MS);
	in.runtime = "bundled";
	in.settings = settings;
	for (int i = 0; i < 20; i++)
		collection_add(1, 12 * MIB, 10 * MIB, 256 * MIB, 5 * MS);
	for (int i = 0; i < 20; i++)
		collection_made[i].before = (i ? 12 : 2) * MIB;
	CHECK(advice_of(&in, &a) &&
		      !strcmp(a.setting, "--gc=plan=marksweep,minfree=8M,maxfree=8M") &&
		      figure_is(a.full_then, 5),
	      "more room between two collections of a bundled collector");
}

static void ruby_check(void)
{
	struct advice a;

	input_start("ruby", 1000 * MS);
	for (int i = 0; i < 36; i++)
		collection_add(i % 9 == 8, FINDINGS_UNKNOWN, FINDINGS_UNKNOWN, FINDINGS_UNKNOWN,
			       5 * MS);
	/* Free slots for each one in use: .3 / .7 in the mean, then .55 / .45. */
	CHECK(advice_of(&in, &a) && a.full == 4 &&
		      figure_is(a.collections_then, 4 + 32 * 0.4286 / 1.2222) &&
		      figure_is(a.paused_then, a.collections_then * 5 * (double)MS) &&
		      strstr(a.setting, "MIN_RATIO=0.5 RUBY_GC_HEAP_FREE_SLOTS_GOAL_RATIO=0.6 "),
	      "old objects, not slots, decide when CRuby collects all");
}

static void python_check(void)
{
	struct advice a;

	input_start("python3", 10 * 1000 * MS);
	for (int full = 0; full < 12; full++)
		for (int i = 0; i < 12; i++)
			collection_add(i < 11 ? 1 : 2, FINDINGS_UNKNOWN, FINDINGS_UNKNOWN,
				       FINDINGS_UNKNOWN,
				       i < 11 ? MS : (uint64_t)(full + 1) * 10 * MS);
	/* The tenth remains, and each object is still traversed once while it is young. */
	CHECK(advice_of(&in, &a) && a.full == 12 && figure_is(a.full_then, 1) &&
		      figure_is(a.paused_then, (11 * 12 + 100) * (double)MS) &&
		      figure_is(a.collections_then, 11 * 12 / 10.0 + 1) &&
		      !strcmp(a.setting, "GCHINT_PYTHON_THRESHOLD_FACTOR=10"),
	      "one of ten full collections of CPython remains");
	CHECK(strstr(a.text, "; only gchintctl run applies it, elsewhere let the program call "
			     "gc.set_threshold(10 * gc.get_threshold()[0])"),
	      "a setting that the adapter reads is named with what to call without it");
	collection_made[in.collections - 1].asked = true;
	CHECK(advice_of(&in, &a) && a.full == 11 && figure_is(a.paused_then, 352 * (double)MS),
	      "and the one at its end");
}

/* Two collections in a pause, and a pause of parts of a later collection. */
static void assign_check(void)
{
	struct advice a;

	hotspot_make(5);
	pause_made[9].ns = pause_made[10].t0 + pause_made[10].ns - pause_made[9].t0;
	for (size_t p = 10; p + 1 < in.pauses; p++)
		pause_made[p] = pause_made[p + 1];
	in.pauses--;
	advice_of(&in, &a);
	CHECK(a.full_paused == 4 * 20 * MS + pause_made[9].ns,
	      "a pause with several collections counts for the last");
	hotspot_make(5);
	for (size_t p = in.pauses; p > 10; p--)
		pause_made[p] = pause_made[p - 1];
	pause_made[10] = (struct findings_pause){ .t0 = pause_made[9].t0 + 2 * MS, .ns = 3 * MS };
	in.pauses++;
	advice_of(&in, &a);
	CHECK(a.full_paused == 103 * MS, "a pause without one is a part of the next");
}

static void verdict_check(void)
{
	const struct advice now = { .paused = 300, .cpu = 300, .wait_low = 5, .wait_high = 6 };
	struct advice then = { .paused = 299, .cpu = 300, .wait_low = 5, .wait_high = 6 };

	CHECK(!strncmp(advice_verdict(&now, &then), "it was paused for less", 22),
	      "less time in pauses is a gain");
	then.paused = 360;
	CHECK(!strncmp(advice_verdict(&now, &then), "no gain", 7), "more time is none");
	then.cpu = 160;
	CHECK(!strncmp(advice_verdict(&now, &then), "no gain", 7),
	      "nor with less CPU time, where nothing waited");
	then.wait_low = then.wait_high = 200;
	CHECK(strstr(advice_verdict(&now, &then), "but waited longer"),
	      "but not known where pauses waited for a CPU");
	then.wait_low = 0;
	CHECK(strstr(advice_verdict(&now, &then), "but may have waited longer"),
	      "nor where they may have waited");
	then.wait_high = 40;
	CHECK(!strncmp(advice_verdict(&now, &then), "no gain", 7),
	      "a wait that cannot make up for the difference is none");
	then.wait_low = then.wait_high = FINDINGS_UNKNOWN;
	CHECK(!strncmp(advice_verdict(&now, &then), "no gain", 7), "and an unknown wait is none");
}

void unit_advice(void)
{
	hotspot_check();
	refusal_check();
	hotspot_full_check();
	v8_check();
	young_check();
	pace_check();
	bundled_check();
	ruby_check();
	python_check();
	assign_check();
	verdict_check();
}
