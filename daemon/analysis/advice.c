// SPDX-License-Identifier: GPL-2.0-or-later
#include "advice.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/amount.h"

#define MIB (1024.0 * 1024)

/* Those of a runtime in the order in which they are tried; of equal ones the first is advised. */
const struct advice_knob advice_knobs[ADVICE_KNOBS] = {
	{ "jvm", "-Xmx", "m", ADVICE_HEAP, MIB, 0, 0, { NULL } },
	{ "node", "--max-old-space-size=", "", ADVICE_HEAP_V8, MIB, 0, 0, { NULL } },
	{ "node", "--max-semi-space-size=", "", ADVICE_YOUNG, MIB, 16, 4, { NULL } },
	{ "bundled", "--gc=", "M", ADVICE_ROOM, MIB, 0, 4, { NULL } },
	{ "python",
	  "GCHINT_PYTHON_THRESHOLD_FACTOR=",
	  "",
	  ADVICE_COUNT,
	  1,
	  1,
	  10,
	  { "gc.set_threshold(", " * gc.get_threshold()[0])" } },
	{ "ruby",
	  "RUBY_GC_HEAP_FREE_SLOTS_MIN_RATIO=",
	  " RUBY_GC_HEAP_FREE_SLOTS_GOAL_RATIO=0.6 RUBY_GC_HEAP_FREE_SLOTS_MAX_RATIO=0.8",
	  ADVICE_SLOTS,
	  1,
	  0.2,
	  2.5,
	  { NULL } },
	{ "go", "GOGC=", "", ADVICE_PACE, 1, 100, 4, { NULL } },
	{ "mono", "MONO_GC_PARAMS=nursery-size=", "m", ADVICE_YOUNG, MIB, 4, 4, { NULL } },
	{ "dotnet", "DOTNET_GCgen0size=0x", "", ADVICE_YOUNG, 1, 0, 0, { NULL } },
	{ "ocaml", "OCAMLRUNPARAM=s=", "k", ADVICE_YOUNG, 1024, 256, 8, { NULL } },
};

#define ADVICE_FULL    4 /* full collections, before their number means anything */
#define ADVICE_PAUSES  8 /* pauses, before a change of their number means anything */
#define ADVICE_STOPPED 0.02 /* of the time in pauses, or collecting */
#define ADVICE_LIVE    3 /* times what stays: a third of the heap is in use then */
#define ADVICE_ROUND   (16 * MIB)
#define ADVICE_GAIN    0.9 /* of the paused time that is left, at most */

#define WORKING_FREED  0.05 /* of what was allocated: a young collection that freed less failed */
#define WORKING_COUNT  4 /* that did not fail, before they say how much survives */
#define YOUNG_SHARE    0.27 /* of HotSpot's limit, allocated between two young collections */
#define YOUNG_SQUEEZED 0.2 /* of the limit: below this it is not a fixed share of it */
#define G1_USABLE      0.9 /* of the limit: the rest is its reserve */
#define G1_YOUNG       0.4 /* of what the old generation leaves of that */
#define COPIES	       2 /* of an object that survives: within the young generation, and out of it */
#define V8_YOUNG       (48 * MIB) /* that V8's limit has for three semi-spaces of 16 MiB */
#define V8_SEMI	       (16 * MIB)
#define BUNDLED_ROOM   "minfree="
#define CPYTHON_PARENT 11 /* collections of a generation for one of the next */
#define YOUNG_FULL     0.5 /* of the largest: collections before the young generation has grown */

/**
 * struct advice_sums - a recording's collections, added up
 * @young: collections of the youngest generation
 * @full: full collections that the program did not ask for
 * @young_ns: pauses of the former
 * @full_ns: pauses of the latter
 * @other_ns: of other collections: those asked for, and those of unknown generation
 * @allocated: bytes from collection to collection
 * @working: young collections that freed something
 * @working_allocated: bytes before these
 * @working_kept: of these bytes, still in use after them
 * @working_ns: their pauses
 * @full_before: mean bytes in use before a full collection
 * @live: median bytes after one
 * @limit: highest limit
 */
struct advice_sums {
	size_t young, full, all;
	double young_ns, full_ns, other_ns;
	double allocated;
	size_t working;
	double working_allocated, working_kept, working_ns;
	double full_before, live, limit;
};

static int by_bytes(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/*
 * The length of the pauses of each collection, into in->scratch[]: those that it lies in, of a pause
 * with several the last one alone; a pause without one is a part of the next.
 */
static void collections_assign_pauses(const struct findings_input *in)
{
	size_t c = 0;

	for (size_t i = 0; i < in->collections; i++)
		in->scratch[i].share = 0;
	for (size_t p = 0; p < in->pauses; p++) {
		const uint64_t t0 = in->pause[p].t0, t1 = t0 + in->pause[p].ns;
		size_t of;

		while (c < in->collections && in->collection[c].t1 < t0)
			c++;
		for (of = c; of + 1 < in->collections && in->collection[of + 1].t1 <= t1; of++)
			;
		if (of < in->collections)
			in->scratch[of].share += (double)in->pause[p].ns;
	}
}

static void sums_add_young(struct advice_sums *s, double allocated, double kept, double ns)
{
	s->young++;
	s->young_ns += ns;
	if (isnan(allocated) || allocated - kept < WORKING_FREED * allocated || ns <= 0)
		return;
	s->working++;
	s->working_allocated += allocated;
	s->working_kept += kept > 0 ? kept : 0;
	s->working_ns += ns;
}

static void sums_find_live(const struct findings_input *in, struct advice_sums *s)
{
	int64_t *live = &in->scratch->bytes;
	size_t nr = 0;

	for (size_t i = 0; i < in->collections; i++) {
		const struct findings_collection *c = &in->collection[i];

		if (!findings_is_full(in, c) || c->asked || c->after == FINDINGS_UNKNOWN)
			continue;
		live[nr++] = c->after;
	}
	if (nr) {
		qsort(live, nr, sizeof(*live), by_bytes);
		s->live = (double)live[(nr - 1) / 2];
	}
}

/* Returns false for several heaps, whose limit is that of each. */
static bool sums_of(const struct findings_input *in, struct advice_sums *s)
{
	double last = 0;
	size_t before = 0;

	*s = (struct advice_sums){ 0 };
	collections_assign_pauses(in);
	for (size_t i = 0; i < in->collections; i++) {
		const struct findings_collection *c = &in->collection[i];
		const bool known = c->before != FINDINGS_UNKNOWN && c->after != FINDINGS_UNKNOWN;
		const double allocated = known ? (double)c->before - last : NAN;
		const double ns = in->scratch[i].share;

		if (c->heap != in->collection[0].heap)
			return false;
		s->all++;
		if (known && allocated > 0)
			s->allocated += allocated;
		if (c->most != FINDINGS_UNKNOWN && (double)c->most > s->limit)
			s->limit = (double)c->most;
		if (c->generation == FINDINGS_NO_GENERATION ||
		    (findings_is_full(in, c) && c->asked)) {
			s->other_ns += ns;
		} else if (findings_is_full(in, c)) {
			s->full++;
			s->full_ns += ns;
			s->full_before += known ? (double)c->before : 0;
			before += known;
		} else {
			/* The first one finds what is older than the recording. */
			sums_add_young(s, i ? allocated : NAN,
				       known ? (double)c->after - last : NAN, ns);
		}
		if (c->after != FINDINGS_UNKNOWN)
			last = (double)c->after;
	}
	s->full_before = before ? s->full_before / (double)before : 0;
	sums_find_live(in, s);
	return true;
}

/* A value such as 192m, 0x4000000 or 0.5, in bytes if the knob is one of bytes; NAN: there is none. */
static double value_parse(const struct advice_knob *knob, const char *text)
{
	const size_t length = strlen(knob->prefix);
	const bool hex = length > 2 && !strcmp(knob->prefix + length - 2, "0x");
	char *end;
	double v;

	if (knob->model == ADVICE_ROOM) {
		text = strstr(text, BUNDLED_ROOM);
		if (!text)
			return NAN;
		text += strlen(BUNDLED_ROOM);
	}
	v = hex ? (double)strtoull(text, &end, 16) : strtod(text, &end);
	if (end == text || v <= 0 || !isfinite(v))
		return NAN;
	switch (tolower((unsigned char)*end)) {
	case 'k':
		return v * 1024;
	case 'm':
		return v * MIB;
	case 'g':
		return v * MIB * 1024;
	default:
		return *knob->suffix && *knob->suffix != ' ' ? v : v * knob->unit;
	}
}

/* What the program sets, as its last argument or variable of that name; NULL: it does not. */
static const char *knob_text_now(const struct findings_input *in, const struct advice_knob *knob)
{
	const char *text = NULL;

	for (size_t i = 0; in->settings && in->settings[i]; i++)
		if (!strncmp(in->settings[i], knob->prefix, strlen(knob->prefix)))
			text = in->settings[i] + strlen(knob->prefix);
	return text;
}

static double knob_value_now(const struct findings_input *in, const struct advice_knob *knob,
			     const struct advice_sums *s)
{
	const char *text = knob_text_now(in, knob);

	if (knob->model == ADVICE_ROOM)
		return s->all && s->allocated > 0 ? s->allocated / (double)s->all : NAN;
	if (text)
		return value_parse(knob, text);
	return knob->standard > 0 ? knob->standard * knob->unit : NAN;
}

static void setting_format(const struct findings_input *in, struct advice *a,
			   const struct advice_knob *knob, double value)
{
	const double v = value / knob->unit;
	const char *text = knob_text_now(in, knob);

	if (knob->model == ADVICE_ROOM)
		snprintf(a->setting, sizeof(a->setting),
			 "%s%s%s" BUNDLED_ROOM "%.0f%s,maxfree=%.0f%s", knob->prefix,
			 text ? text : "", text ? "," : "", v, knob->suffix, v, knob->suffix);
	else
		snprintf(a->setting, sizeof(a->setting), "%s%.*f%s", knob->prefix, v < 1 ? 1 : 0, v,
			 knob->suffix);
}

/*
 * The fixed part of a young collection's pause and the part of each allocated byte, of which a share
 * @survives and is copied. A full collection says what a byte takes that stays.
 */
static void young_cost(const struct advice_sums *s, double survives, double *fixed, double *byte)
{
	const double mean = s->working ? s->working_ns / (double)s->working : 0;
	const double allocated = s->working ? s->working_allocated / (double)s->working : 0;

	*byte = s->full && s->live > 0 ?
			COPIES * survives * s->full_ns / (double)s->full / s->live :
			0;
	if (s->working && *byte * allocated > mean)
		*byte = mean / allocated;
	*fixed = mean - *byte * allocated;
	if (!s->working)
		*fixed = 0;
}

/*
 * What is allocated between two young collections, with another limit. It is a share of the limit,
 * but G1 gives its young generation what the old one leaves.
 */
static double heap_young(const struct advice_sums *s, double limit)
{
	const double young =
		s->working ? s->working_allocated / (double)s->working : YOUNG_SHARE * s->limit;

	if (young >= YOUNG_SQUEEZED * s->limit || s->live >= s->limit)
		return young * limit / s->limit;
	return fmax(young, G1_YOUNG * (G1_USABLE * limit - s->live));
}

/* Generations that grow with the limit: HotSpot's. */
static bool predict_heap(const struct advice_sums *s, double limit, struct advice *a)
{
	const double grows = limit / s->limit;
	const bool known = s->working >= WORKING_COUNT;
	const double survives = !known ? 1 : fmax(s->working_kept / s->working_allocated, 0.005);
	const double young = heap_young(s, limit);
	const double before = grows * s->full_before, old = before - young - s->live;
	double fixed, byte, young_ns;

	if (!s->full || s->live <= 0 || s->limit <= 0 || before <= s->live)
		return false;
	a->full_then = s->allocated / ((old > 0 ? old : 0) / survives + young);
	a->bound = !known;
	if (!known || old <= 0)
		a->full_then = fmin(s->allocated / (before - s->live), (double)s->full);
	young_cost(s, survives, &fixed, &byte);
	a->collections_then = a->full_then + s->allocated / young;
	young_ns = fixed * s->allocated / young + byte * s->allocated;
	if (!known)
		young_ns = s->young_ns;
	/* To find and move what is dead takes time too. */
	a->full_paused_then = a->full_then * s->full_ns / (double)s->full * grows;
	a->paused_then = young_ns + a->full_paused_then +
			 s->other_ns * fmin(1, a->full_then / (double)s->full);
	return true;
}

/* How much V8's old generation grows before it collects: more in a large heap. */
static double v8_room(double limit, double live)
{
	const double old = limit - V8_YOUNG, share = (old / MIB - 256) / (2048 - 256);
	const double factor = old >= 2048 * MIB ? 4 : 1.3 + 0.7 * fmax(share, 0);

	return fmin((factor - 1) * live + V8_SEMI, (old - live) / 2);
}

static bool predict_heap_v8(const struct advice_sums *s, double limit, struct advice *a)
{
	/* The limit that it reports includes the young generation; the option's does not. */
	const double now =
		s->full_before > s->live ? s->full_before - s->live : v8_room(s->limit, s->live);
	const double then = v8_room(limit + V8_YOUNG, s->live);
	double less;

	if (!s->full || s->live <= 0 || now <= 0 || then <= 0)
		return false;
	less = now / then;
	a->full_then = less * (double)s->full;
	a->full_paused_then = less * s->full_ns;
	a->collections_then = (double)(s->all - s->full) + a->full_then;
	a->paused_then = s->young_ns + s->other_ns + a->full_paused_then;
	return true;
}

/* Each collection is as long, and comes when the room is used up. */
static void predict_pace(double now, double then, struct advice *a)
{
	const double less = now / then;

	a->collections_then = less * (double)a->collections;
	a->full_then = less * (double)a->full;
	a->full_paused_then = less * (double)a->full_paused;
	a->paused_then = less * (double)a->paused;
}

/* Without bytes: as many fewer collections as the young generation is larger, each as long. */
static bool predict_young_blind(const struct advice_sums *s, double less, struct advice *a)
{
	if (s->young) {
		a->collections_then = (double)s->all - (1 - less) * (double)s->young;
		a->paused_then = (double)a->paused - (1 - less) * s->young_ns;
	} else if (!s->all) {
		a->collections_then = less * (double)a->collections;
		a->paused_then = less * (double)a->paused;
	} else {
		return false;
	}
	a->full_then = (double)a->full;
	a->full_paused_then = (double)a->full_paused;
	return true;
}

/*
 * A young generation of @size holds what survives and the room for new objects. What survives does
 * not grow with it; one that is too small for it moves nearly all to the old generation, where full
 * collections find it dead.
 */
static bool predict_young(const struct findings_input *in, const struct advice_sums *s, double now,
			  double size, struct advice *a)
{
	double last = 0, largest = 0, allocated = 0, kept = 0, ns = 0, survives, less;
	size_t grown = 0;

	if (isnan(now) || size <= 0)
		return false;
	if (s->working < WORKING_COUNT)
		return predict_young_blind(s, now / size, a);
	for (int pass = 0; pass < 2; pass++, last = 0)
		for (size_t i = 0; i < in->collections; i++) {
			const struct findings_collection *c = &in->collection[i];
			const double new = (double)(c->before - (int64_t)last);

			if (c->before == FINDINGS_UNKNOWN || c->after == FINDINGS_UNKNOWN)
				continue;
			if (!findings_is_full(in, c) && !pass) {
				largest = fmax(largest, new);
			} else if (!findings_is_full(in, c) && new >= YOUNG_FULL * largest) {
				grown++;
				allocated += new;
				kept += fmax((double)c->after - last, 0);
			}
			last = (double)c->after;
		}
	if (!grown)
		return false;
	ns = s->working_ns / (double)s->working;
	kept /= (double)grown;
	survives = now > allocated / (double)grown ? now - allocated / (double)grown : kept;
	if (kept > survives)
		survives = kept;
	/* Not more than what is alive at all. */
	if (s->full >= ADVICE_FULL && survives > s->live) {
		ns *= s->live / survives;
		survives = s->live;
	}
	if (size <= 1.5 * survives)
		return false;
	less = allocated / (size - survives) / (double)grown;
	a->collections_then = (double)(s->young - grown) + less * (double)grown;
	a->paused_then = ns * a->collections_then + s->other_ns;
	a->full_then = (double)s->full * (kept > survives ? survives / kept * less : 1);
	a->full_paused_then = s->full ? a->full_then * s->full_ns / (double)s->full : 0;
	a->paused_then += a->full_paused_then;
	a->collections_then += a->full_then + (double)(s->all - s->young - s->full);
	return true;
}

/* Bytes of free slots for each byte of those in use, in the mean: between the least and the goal. */
static double slots_room(double least, double goal)
{
	const double mean = (least + goal) / 2;

	return mean / (1 - mean);
}

/* Old objects decide when a full collection comes. */
static bool predict_slots(const struct advice_sums *s, double now, double then, struct advice *a)
{
	const double less = slots_room(now, now + 0.2) / slots_room(then, then + 0.1);

	if (!s->young || then >= 0.9)
		return false;
	a->full_then = (double)s->full;
	a->full_paused_then = s->full_ns;
	a->collections_then = (double)s->all - (1 - less) * (double)s->young;
	a->paused_then = (double)a->paused - (1 - less) * s->young_ns;
	return true;
}

/*
 * Each object is traversed once in each young generation, however many are collected at once. A full
 * collection comes in place of one of the middle generation, after so many of these and when a
 * quarter is new: it is as long as the one that the recording has from then on.
 */
static bool predict_count(const struct findings_input *in, double now, double then,
			  struct advice *a)
{
	const double more = then / now;
	double middle = 0, ns = 0, nr = 0, gone = 0, gap;
	size_t full = 0, last = 0;

	collections_assign_pauses(in);
	for (size_t i = 0; i < in->collections; i++) {
		const struct findings_collection *c = &in->collection[i];
		const bool is_full = findings_is_full(in, c) && !c->asked;

		middle += c->generation == 1 || is_full;
		full += is_full;
		last = is_full ? i : last;
	}
	if (!full || !(more > 0))
		return false;
	gap = fmax(middle / (double)full, CPYTHON_PARENT * more);
	middle = 0;
	for (size_t i = 0; i < in->collections; i++) {
		const struct findings_collection *c = &in->collection[i];
		const bool is_full = findings_is_full(in, c) && !c->asked;

		middle += c->generation == 1 || is_full;
		gone += is_full ? in->scratch[i].share : 0;
		if (middle < (nr + 1) * gap || (!is_full && i < last))
			continue;
		ns += in->scratch[is_full ? i : last].share;
		nr++;
	}
	a->full_then = nr;
	a->full_paused_then = ns;
	a->paused_then = (double)a->paused - gone + ns;
	a->collections_then = ((double)a->collections - (double)full) / more + nr;
	return true;
}

static bool knob_predict(const struct findings_input *in, const struct advice_knob *knob,
			 double value, struct advice *a)
{
	struct advice_sums s;
	bool good = false;
	double now;

	if (!sums_of(in, &s) || !(value > 0))
		return false;
	now = knob_value_now(in, knob, &s);
	a->knob = knob;
	a->assumed = !in->settings && knob->standard > 0;
	switch (knob->model) {
	case ADVICE_HEAP:
		good = predict_heap(&s, value, a);
		break;
	case ADVICE_HEAP_V8:
		good = predict_heap_v8(&s, value, a);
		break;
	case ADVICE_YOUNG:
		good = predict_young(in, &s, now, value, a);
		break;
	case ADVICE_PACE:
	case ADVICE_ROOM:
		good = now > 0;
		if (good)
			predict_pace(now, value, a);
		break;
	case ADVICE_SLOTS:
		good = now > 0 && predict_slots(&s, now, value, a);
		break;
	case ADVICE_COUNT:
		good = now > 0 && predict_count(in, now, value, a);
		break;
	}
	if (good && knob->model <= ADVICE_HEAP_V8)
		a->limit = (int64_t)value;
	if (good && a->cpu != FINDINGS_UNKNOWN && a->paused)
		a->cpu_then = (double)a->cpu * a->paused_then / (double)a->paused;
	return good;
}

/* What the recording says, before any change. */
static void advice_measure(const struct findings_input *in, struct advice *a)
{
	struct advice_sums s;

	*a = (struct advice){
		.cpu = in->run,
		.wait_low = in->wait_low,
		.wait_high = in->wait_high,
		.collections = in->pauses,
		.collections_then = NAN,
		.full_then = NAN,
		.full_paused_then = NAN,
		.paused_then = NAN,
		.cpu_then = NAN,
	};
	for (size_t i = 0; i < in->pauses; i++)
		a->paused += in->pause[i].ns;
	if (!in->collections || !sums_of(in, &s))
		return;
	a->collections = s.all;
	a->full = s.full;
	a->full_paused = (uint64_t)s.full_ns;
	a->live = (int64_t)s.live;
	a->now = (int64_t)s.limit;
}

static void advice_describe(struct advice *a)
{
	char limit[AMOUNT_TEXT], live[AMOUNT_TEXT], paused[AMOUNT_TEXT], then[AMOUNT_TEXT];
	size_t used;

	amount_length((double)a->paused, paused);
	amount_length(a->paused_then, then);
	if (a->limit && a->now)
		snprintf(a->text, sizeof(a->text),
			 "a heap of %s (%s) would have had %sabout %.0f full collections in place "
			 "of "
			 "%zu, and %s in pauses in place of %s: %s of %s stay after each",
			 amount_bytes((double)a->limit, limit), a->setting,
			 a->bound ? "at most " : "", a->full_then, a->full, then, paused,
			 amount_bytes((double)a->live, live),
			 amount_bytes((double)a->now, (char[AMOUNT_TEXT]){ 0 }));
	else
		snprintf(a->text, sizeof(a->text),
			 "%s%s would have had about %.0f collections in place of %zu, and %s in "
			 "pauses in place of %s",
			 a->setting, a->assumed ? ", unless it is set already," : "",
			 a->collections_then, a->collections, then, paused);
	used = strlen(a->text);
	if (*a->knob->call)
		snprintf(a->text + used, sizeof(a->text) - used,
			 "; only gchintctl run applies it, elsewhere let the program call %s%s%s",
			 a->knob->call[0], a->setting + strlen(a->knob->prefix), a->knob->call[1]);
}

/* The value to advise; 0: none. */
static double knob_advised(const struct findings_input *in, const struct advice_knob *knob,
			   const struct advice *measured)
{
	const double live = (double)measured->live;
	struct advice_sums s;
	double now, limit;

	if (!sums_of(in, &s))
		return 0;
	now = knob_value_now(in, knob, &s);
	if (knob->factor > 0)
		return measured->collections < ADVICE_PAUSES || isnan(now) ? 0 : knob->factor * now;
	if (knob->model > ADVICE_HEAP_V8 || measured->full < ADVICE_FULL ||
	    measured->live >= measured->now)
		return 0;
	limit = ceil(ADVICE_LIVE * live / ADVICE_ROUND) * ADVICE_ROUND;
	/* Its control group would end the program. */
	if (in->group_most > 0 && limit >= (double)in->group_most)
		return 0;
	return limit > (double)measured->now ? limit : 0;
}

bool advice_of(const struct findings_input *in, struct advice *advice)
{
	const char *runtime = findings_runtime(in);
	struct advice measured, a;
	bool advised = false;

	advice_measure(in, &measured);
	*advice = measured;
	if (!runtime || !measured.paused ||
	    fmax((double)measured.paused, in->run == FINDINGS_UNKNOWN ? 0 : (double)in->run) <
		    ADVICE_STOPPED * (double)in->duration)
		return false;
	for (size_t k = 0; k < ADVICE_KNOBS; k++) {
		const struct advice_knob *knob = &advice_knobs[k];
		double value;

		if (strcmp(knob->runtime, runtime) != 0)
			continue;
		value = knob_advised(in, knob, &measured);
		a = measured;
		if (value <= 0 || !knob_predict(in, knob, value, &a) ||
		    a.paused_then > ADVICE_GAIN * (double)a.paused ||
		    (advised && a.paused_then >= advice->paused_then))
			continue;
		setting_format(in, &a, knob, value);
		advice_describe(&a);
		*advice = a;
		advised = true;
	}
	return advised;
}

bool advice_predict(const struct findings_input *in, const char *setting, struct advice *advice)
{
	const char *runtime = findings_runtime(in);
	struct advice a;

	advice_measure(in, advice);
	snprintf(advice->setting, sizeof(advice->setting), "%s", setting);
	for (size_t k = 0; runtime && k < ADVICE_KNOBS; k++) {
		const struct advice_knob *knob = &advice_knobs[k];

		if (strcmp(knob->runtime, runtime) != 0 ||
		    strncmp(setting, knob->prefix, strlen(knob->prefix)) != 0)
			continue;
		a = *advice;
		if (!knob_predict(in, knob, value_parse(knob, setting + strlen(knob->prefix)), &a))
			return false;
		advice_describe(&a);
		*advice = a;
		return true;
	}
	return false;
}

const char *advice_verdict(const struct advice *now, const struct advice *then)
{
	if (then->paused < now->paused)
		return "it was paused for less time";
	if (now->cpu == FINDINGS_UNKNOWN || then->cpu == FINDINGS_UNKNOWN ||
	    now->wait_high == FINDINGS_UNKNOWN || then->wait_high == FINDINGS_UNKNOWN ||
	    (double)then->cpu > ADVICE_GAIN * (double)now->cpu)
		return "no gain: it was paused for as long";
	if (then->wait_low > now->wait_high)
		return "not known: it needed less CPU time, but waited longer for a CPU; repeat it "
		       "with CPUs idle";
	if ((double)(then->wait_high - now->wait_low) > (1 - ADVICE_GAIN) * (double)then->paused)
		return "not known: it needed less CPU time, but may have waited longer for a CPU; "
		       "repeat it with CPUs idle";
	return "no gain: it was paused for as long";
}
