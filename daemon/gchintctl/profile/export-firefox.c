// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Exports a profile for the Firefox Profiler: each thread with its samples, and its phases as
 * markers. Needs memory for the distinct stacks and a few bytes per sample, in addition to the
 * recording itself.
 */
#include <stdlib.h>

#include "../../recording/reader/db.h"
#include "../ctl.h"
#include "firefox-stacks.h"
#include "profile.h"

/* A sample with its stack in the export; sorted by thread, then by time. */
struct place {
	const struct profile_sample *sample;
	uint32_t stack;
};

struct export
{
	struct firefox x;
	struct firefox_stacks stacks;
	const struct profile *p;
	struct place *place;
};

static int number_compare(int32_t a, int32_t b)
{
	return (a > b) - (a < b);
}

static int by_thread(const void *a, const void *b)
{
	const struct profile_sample *s = ((const struct place *)a)->sample;
	const struct profile_sample *t = ((const struct place *)b)->sample;
	const int tgid = number_compare(s->tgid, t->tgid), tid = number_compare(s->tid, t->tid);

	return tgid ? tgid : tid ? tid : (s > t) - (s < t);
}

static bool export_sort_samples(struct export *e)
{
	const struct profile *p = e->p;

	e->place = malloc(p->samples * sizeof(*e->place));
	if (!e->place)
		return false;
	for (size_t i = 0; i < p->samples; i++) {
		e->place[i].sample = &p->sample[i];
		e->place[i].stack = firefox_stack_of(&e->stacks, &p->sample[i]);
		if (e->place[i].stack == TUPLES_FULL)
			return false;
	}
	qsort(e->place, p->samples, sizeof(*e->place), by_thread);
	return true;
}

/* Each sample has the weight 1; threadCPUDelta is the CPU time that one stands for. */
static void export_write_samples(struct export *e, const struct place *place, size_t nr)
{
	struct json *j = &e->x.j;

	json_object(j, "samples");
	json_list(j, "stack");
	for (size_t i = 0; i < nr; i++)
		json_uint(j, NULL, place[i].stack);
	json_end(j);
	json_list(j, "time");
	for (size_t i = 0; i < nr; i++)
		json_fixed(j, NULL, firefox_ms(e->p->rec, place[i].sample->t), 6);
	json_end(j);
	if (e->p->seconds > 0) {
		json_list(j, "threadCPUDelta");
		for (size_t i = 0; i < nr; i++)
			json_fixed(j, NULL, e->p->seconds * 1e9, 0);
		json_end(j);
	}
	json_null(j, "weight");
	json_text(j, "weightType", "samples");
	json_uint(j, "length", nr);
	json_end(j);
}

static size_t thread_count_samples(const struct export *e, size_t first)
{
	const struct profile_sample *s = e->place[first].sample;
	size_t n;

	for (n = 1; first + n < e->p->samples && e->place[first + n].sample->tgid == s->tgid &&
		    e->place[first + n].sample->tid == s->tid;)
		n++;
	return n;
}

/* Compares threads: below 0 if that of the sample is first, above 0 if that of the phase is. */
static int thread_compare(const struct profile_sample *s, const struct recording_phase *p)
{
	const int tgid = number_compare(s->tgid, p->tgid);

	return tgid ? tgid : number_compare(s->tid, p->tid);
}

/*
 * Whether the process has any sample: samples are sorted by process, so that only those around
 * the place of the thread need to be checked.
 */
static bool process_is_sampled(const struct export *e, size_t next, int32_t tgid)
{
	return (next && e->place[next - 1].sample->tgid == tgid) ||
	       (next < e->p->samples && e->place[next].sample->tgid == tgid);
}

/* Writes the threads with samples, and of the same processes those with phases only. */
static void export_write_threads(struct export *e)
{
	const size_t samples = e->p->samples, phases = e->x.rec->phases;
	struct firefox *x = &e->x;

	json_list(&x->j, "threads");
	firefox_instants(x);
	for (size_t i = 0, k = 0; i < samples || k < phases;) {
		const struct profile_sample *s = i < samples ? e->place[i].sample : NULL;
		const struct recording_phase *p = k < phases ? x->phase[k] : NULL;
		const int first = !s ? 1 : !p ? -1 : thread_compare(s, p);
		const size_t taken = first <= 0 ? thread_count_samples(e, i) : 0;
		const size_t marked = first >= 0 ? firefox_phases_of_thread(x, k) : 0;

		if (taken) {
			firefox_thread(x, s->tgid, s->tid, s->t);
			export_write_samples(e, e->place + i, taken);
			firefox_phases(x, k, marked);
		} else if (process_is_sampled(e, i, p->tgid)) {
			firefox_thread(x, p->tgid, p->tid, p->t0);
			firefox_no_samples(x);
			firefox_phases(x, k, marked);
		}
		i += taken;
		k += marked;
	}
	json_end(&x->j);
}

static bool export_no_memory(const struct export *e)
{
	db_missing(e->p->rec->path, "no memory for its stacks");
	return false;
}

static bool export_write(struct export *e)
{
	bool whole = export_sort_samples(e) || export_no_memory(e);

	if (!whole)
		return false;
	firefox_begin(&e->x, e->p->seconds);
	whole = firefox_shared(&e->x, &e->stacks) || export_no_memory(e);
	if (whole) {
		export_write_threads(e);
		whole = firefox_counters(&e->x);
	}
	firefox_end(&e->x);
	return whole;
}

int profile_firefox(const struct profile *p, FILE *f)
{
	struct export e = { .p = p };
	bool whole;

	firefox_stacks_init(&e.stacks, p);
	whole = firefox_open(&e.x, p->rec, f) && export_write(&e);
	firefox_close(&e.x);
	firefox_stacks_free(&e.stacks);
	free(e.place);
	return whole ? CTL_OK : CTL_FAILED;
}
