// SPDX-License-Identifier: GPL-2.0-or-later
/* Description: what is said of made collections, and what is not. */
#include "unit.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "../../daemon/analysis/findings.h"
#include "../../daemon/common/amount.h"

#define MS  1000000ull
#define MIB (1ll << 20)

static struct findings_pause pause_made[200];
static struct findings_collection collection_made[40];
static union findings_value scratch[200];

/* @pauses of a millisecond in ten seconds, and nothing else known. */
static struct findings_input input_make(size_t pauses)
{
	const struct findings_input in = {
		.name = "java",
		.duration = 10000 * MS,
		.pause = pause_made,
		.pauses = pauses,
		.collection = collection_made,
		.run = FINDINGS_UNKNOWN,
		.wait_low = FINDINGS_UNKNOWN,
		.wait_high = FINDINGS_UNKNOWN,
		.clock = NAN,
		.scratch = scratch,
	};

	for (size_t i = 0; i < pauses; i++)
		pause_made[i] = (struct findings_pause){ .ns = MS };
	return in;
}

/* Full collections, of a second's distance, that find @before and leave @after plus @step each time. */
static void collections_make(struct findings_input *in, size_t nr, int64_t before, int64_t after,
			     int64_t step)
{
	in->collections = nr;
	for (size_t i = 0; i < nr; i++)
		collection_made[i] = (struct findings_collection){
			.t0 = i * 1000 * MS,
			.t1 = i * 1000 * MS + MS,
			.before = before,
			.after = after + (int64_t)i * step,
			.most = 100 * MIB,
			.freed = FINDINGS_UNKNOWN,
			.stopped = (i + 1) * 1000 * MS,
			.paused = MS,
			.generation = 1,
		};
}

static void sentence_is(const struct findings_input *in, const char *want, const char *name)
{
	char sentence[FINDINGS_SENTENCE];
	struct finding found[FINDING_NR];

	findings_sentence(found, findings_of(in, found), sentence);
	if (strcmp(sentence, want))
		printf("# %s\n", sentence);
	CHECK(!strcmp(sentence, want), name);
}

static void pauses_check(void)
{
	struct findings_input in = input_make(0);

	sentence_is(&in, "", "without a pause nothing is said");
	in = input_make(1);
	sentence_is(&in, "java was stopped 0.01 % of 10.0 s.", "a pause has its share of the time");
	in.name = NULL;
	sentence_is(&in, "the program was stopped 0.01 % of 10.0 s.", "a process without a name");
	in = input_make(100);
	sentence_is(&in, "java was stopped 1.0 % of 10.0 s.", "equal pauses are no pattern");
	for (int i = 0; i < 6; i++)
		pause_made[10 * i].ns = 60 * MS + (uint64_t)i;
	sentence_is(
		&in,
		"java was stopped 4.5 % of 10.0 s; half of that in 4 pauses of 60.0 ms or more.",
		"few long pauses are half of the time");
}

static void half_check(void)
{
	const uint64_t ns[] = { 1, 1, 1, 1, 4 }, even[] = { 2, 2 }, one[] = { 7 };
	size_t count = 9;

	CHECK(findings_half(ns, 5, &count) == 4 && count == 1, "the longest alone is half");
	CHECK(findings_half(even, 2, &count) == 2 && count == 1, "one of two equal ones is half");
	CHECK(findings_half(one, 1, NULL) == 7, "the only one is all");
	CHECK(findings_half(NULL, 0, &count) == 0 && !count, "none is no half");
}

static void heap_check(void)
{
	struct findings_input in = input_make(10);

	collections_make(&in, 3, 99 * MIB, 94 * MIB, 0);
	in.collection = collection_made;
	for (int i = 0; i < 3; i++)
		collection_made[i].generation = 0;
	sentence_is(
		&in,
		"java was stopped 0.10 % of 10.0 s; the heap was 94 % full after each collection.",
		"a full heap");
	collection_made[1].generation = 1;
	collection_made[1].after = 20 * MIB;
	sentence_is(&in, "java was stopped 0.10 % of 10.0 s.",
		    "what a young collection leaves may be dead");
	collections_make(&in, 3, 99 * MIB, 59 * MIB, 0);
	sentence_is(&in, "java was stopped 0.10 % of 10.0 s.", "a heap with room");
	collections_make(&in, 3, 200 * MIB, 94 * MIB, 0);
	for (int i = 0; i < 3; i++)
		collection_made[i].most = FINDINGS_UNKNOWN;
	sentence_is(&in, "java was stopped 0.10 % of 10.0 s.", "a heap of unknown limit");
	collections_make(&in, 1, 200 * MIB, 94 * MIB, 0);
	sentence_is(&in,
		    "java was stopped 0.10 % of 10.0 s; the heap was 94 % full after its only full "
		    "collection.",
		    "one full collection");
}

static void growth_check(void)
{
	struct findings_input in = input_make(10);

	collections_make(&in, 9, 99 * MIB, 10 * MIB, 2 * MIB);
	sentence_is(&in,
		    "java was stopped 0.10 % of 10.0 s; what 5 full collections left grew from "
		    "18.0 MiB to 26.0 MiB in 4.00 s.",
		    "what is left grows");
	for (int i = 4; i < 9; i++)
		collection_made[i].after = 18 * MIB;
	sentence_is(&in, "java was stopped 0.10 % of 10.0 s.",
		    "a program that has started grows no more");
	collections_make(&in, 9, 99 * MIB, 10 * MIB, 2 * MIB);
	for (int i = 0; i < 9; i++)
		collection_made[i].heap = i;
	sentence_is(&in, "java was stopped 0.10 % of 10.0 s.", "other heaps are no growth");
}

static void futile_check(void)
{
	struct findings_input in = input_make(10);

	collections_make(&in, 4, 50 * MIB, 49 * MIB, 0);
	sentence_is(&in,
		    "java was stopped 0.10 % of 10.0 s; 4 of 4 full collections freed almost "
		    "nothing, in 40 % of the paused time.",
		    "full collections that free nothing");
	collection_made[0].after = collection_made[1].after = collection_made[2].after = 10 * MIB;
	sentence_is(&in, "java was stopped 0.10 % of 10.0 s.", "most free something");
	/* As CPython reports it: objects, and no bytes. */
	collections_make(&in, 3, FINDINGS_UNKNOWN, FINDINGS_UNKNOWN, 0);
	for (int i = 0; i < 3; i++) {
		collection_made[i].after = FINDINGS_UNKNOWN;
		collection_made[i].generation = 2;
		collection_made[i].freed = i;
	}
	sentence_is(&in,
		    "java was stopped 0.10 % of 10.0 s; 3 of 3 full collections freed 3 objects in "
		    "all, in 30 % of the paused time.",
		    "full collections of objects");
	collection_made[0].generation = collection_made[1].generation = 1;
	sentence_is(&in, "java was stopped 0.10 % of 10.0 s.", "younger generations are not full");
}

/* Collections of which each allocated 10 MiB, in 100 ms; from the tenth on in 1 ms. */
static void bursts_check(void)
{
	struct findings_input in = input_make(10);

	collections_make(&in, 20, 20 * MIB, 10 * MIB, 0);
	for (int i = 0; i < 20; i++) {
		collection_made[i].generation = 0;
		collection_made[i].most = FINDINGS_UNKNOWN;
		collection_made[i].t0 = (uint64_t)i * 100 * MS;
		if (i >= 10)
			collection_made[i].t0 = 900 * MS + (uint64_t)(i - 9) * 2 * MS;
		collection_made[i].t1 = collection_made[i].t0 + MS;
	}
	sentence_is(&in,
		    "java was stopped 0.10 % of 10.0 s; half of what it allocated came in 1.1 % of "
		    "the time, at 9.77 GiB a second.",
		    "bursts of allocation");
	collection_made[5].heap = 1;
	sentence_is(&in,
		    "java was stopped 0.10 % of 10.0 s; half of what it allocated came in 1.4 % of "
		    "the time, at 9.77 GiB a second.",
		    "of each heap");
	for (int i = 0; i < 20; i++) {
		collection_made[i].heap = 0;
		collection_made[i].t0 = (uint64_t)i * 100 * MS;
		collection_made[i].t1 = collection_made[i].t0 + MS;
	}
	sentence_is(&in, "java was stopped 0.10 % of 10.0 s.", "a steady rate is none");
}

static void remark_check(void)
{
	struct findings_input in = input_make(10);

	for (int i = 0; i < 10; i++)
		pause_made[i].copies = i > 1;
	pause_made[0].remarks = pause_made[1].remarks = true;
	sentence_is(&in, "java was stopped 0.10 % of 10.0 s.", "a remark as long as the others");
	pause_made[0].ns = 3 * MS;
	sentence_is(&in,
		    "java was stopped 0.12 % of 10.0 s; 2 remarks took 2.00 ms each, young "
		    "collections 1.00 ms (33 % of the paused time).",
		    "long remarks");
	pause_made[1].remarks = false;
	sentence_is(&in, "java was stopped 0.12 % of 10.0 s.", "a single one");
}

static void group_check(void)
{
	struct findings_input in = input_make(10);

	in.group_used = 80 * MIB;
	in.group_most = 100 * MIB;
	in.group_pressed = FINDINGS_UNKNOWN;
	sentence_is(&in, "java was stopped 0.10 % of 10.0 s.", "a group with room");
	in.group_used = 97 * MIB;
	sentence_is(
		&in,
		"java was stopped 0.10 % of 10.0 s; its control group used 97.0 MiB of 100 MiB of "
		"memory.",
		"a group near its limit");
	in.group_used = 50 * MIB;
	in.group_pressed = 3;
	sentence_is(
		&in,
		"java was stopped 0.10 % of 10.0 s; its control group used 50.0 MiB of 100 MiB of "
		"memory and reached a limit 3 times.",
		"a group that reached its limit");
}

static void others_check(void)
{
	struct findings_input in = input_make(10);
	struct finding found[FINDING_NR];

	pause_made[3].asked = pause_made[4].asked = true;
	sentence_is(&in,
		    "java was stopped 0.10 % of 10.0 s; the program asked for 2 collections itself "
		    "(20 % of the paused time).",
		    "collections that were asked for");
	pause_made[4].asked = false;
	sentence_is(&in, "java was stopped 0.10 % of 10.0 s.", "a single one is the runtime's own");
	in = input_make(10);
	in.run = 1000 * (int64_t)MS;
	in.wait_low = 1900 * (int64_t)MS;
	sentence_is(
		&in,
		"java was stopped 0.10 % of 10.0 s; collectors waited at least 1.90 s for a CPU.",
		"a wait for a CPU");
	findings_of(&in, found);
	CHECK(found[1].remedy && strstr(found[1].remedy, "(-XX:ParallelGCThreads)") &&
		      !found[0].remedy,
	      "a wait for a CPU has a remedy");
	in.waits = 2;
	in.waited = 3000 * MS;
	sentence_is(
		&in,
		"java was stopped 0.10 % of 10.0 s; 2 of its threads waited for collections, in "
		"the mean 15 % of the time; collectors waited at least 1.90 s for a CPU.",
		"threads that wait while the program is not stopped");
	in.pauses = 0;
	sentence_is(&in,
		    "2 threads of java waited for collections, in the mean 15 % of the time; "
		    "collectors waited at least 1.90 s for a CPU.",
		    "without a pause as well");
	in.pauses = 10;
	in.waited = 300 * MS;
	sentence_is(&in,
		    "java was stopped 0.10 % of 10.0 s; collectors waited at least 1.90 s for a "
		    "CPU.",
		    "a short wait for a collection is not said");
	in.waits = 0;
	in.wait_low = 90 * (int64_t)MS;
	sentence_is(&in, "java was stopped 0.10 % of 10.0 s.", "a short wait is not said");
	in = input_make(10);
	in.safepoint = 3 * MS;
	in.clock = 0.61;
	sentence_is(&in,
		    "java was stopped 0.10 % of 10.0 s; 30 % of the paused time was waiting for "
		    "threads to stop; pauses ran at 61 % of the highest frequency.",
		    "time to safepoint, and a slow clock");
}

static void amounts_check(void)
{
	char buf[AMOUNT_TEXT];

	CHECK(!strcmp(amount_digits(.04124, 3, buf), "0.0412") &&
		      !strcmp(amount_digits(999.4, 3, buf), "999") &&
		      !strcmp(amount_digits(999.6, 3, buf), "1000") &&
		      !strcmp(amount_digits(18432.1, 3, buf), "18432") &&
		      !strcmp(amount_digits(-12345.6, 4, buf), "-12346") &&
		      !strcmp(amount_digits(NAN, 3, buf), "nan"),
	      "a large number of few digits has no exponent");
	CHECK(!strcmp(amount_bytes(0, buf), "0 bytes") &&
		      !strcmp(amount_bytes(1536, buf), "1.50 KiB") &&
		      !strcmp(amount_bytes(3.0 * (1ull << 40), buf), "3.00 TiB"),
	      "sizes have three digits");
}

void unit_findings(void)
{
	pauses_check();
	half_check();
	heap_check();
	growth_check();
	futile_check();
	bursts_check();
	remark_check();
	group_check();
	others_check();
	amounts_check();
}
