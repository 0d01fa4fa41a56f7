// SPDX-License-Identifier: GPL-2.0-or-later
#include "reasons.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../recording/reader/db.h"
#include "../recording/reader/memory.h"
#include "../recording/reader/processes.h"
#include "cpu-time.h"
#include "overlap.h"
#include "pauses.h"

/* The pause of the process that has this instant; NULL: none. */
static const struct recording_pause *pause_at(const struct recording *rec, int32_t tgid, uint64_t t)
{
	size_t low = 0, high = rec->pauses;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (rec->pause[mid].t0 <= t)
			low = mid + 1;
		else
			high = mid;
	}
	/* Those of other processes may be in between; each process has one at a time. */
	for (size_t n = 0; low-- && n < 4096; n++)
		if (rec->pause[low].tgid == tgid)
			return rec->pause[low].t1 + PAUSES_READING_NS >= t ? &rec->pause[low] :
									     NULL;
	return NULL;
}

static uint32_t cause_at(const struct overlap *o, int32_t tgid, uint64_t t0, uint64_t t1)
{
	const struct recording_phase *p;

	overlap_each(p, o, t0 ? t0 - 1 : 0, t1 + 1)
	{
		if (p->tgid == tgid && p->cause != GCHINT_CAUSE_UNKNOWN &&
		    p->cause < GCHINT_CAUSE_NR)
			return p->cause;
	}
	return GCHINT_CAUSE_UNKNOWN;
}

static void collection_add(struct collections *c, const struct recording *rec,
			   const struct overlap *o, const struct recording_heap *before,
			   const struct recording_heap *after)
{
	const struct recording_pause *pause = pause_at(rec, after->tgid, after->t);

	c->collection[c->nr] = (struct findings_collection){
		.t0 = before ? before->t : after->t,
		.t1 = after->t,
		.before = before ? before->used : FINDINGS_UNKNOWN,
		.after = after->used,
		.most = after->most,
		.freed = after->freed,
		.stopped = pause ? pause->t0 : 0,
		.paused = pause ? pause->t1 - pause->t0 : 0,
		.heap = after->tid,
		.generation = after->generation,
	};
	c->tgid[c->nr] = after->tgid;
	c->cause[c->nr] = cause_at(o, after->tgid, after->t, after->t);
	c->collection[c->nr].asked = c->cause[c->nr] == GCHINT_CAUSE_EXPLICIT;
	c->nr++;
}

bool collections_of(const struct recording *rec, struct collections *c)
{
	const struct recording_heap *before = NULL;
	struct overlap o;

	*c = (struct collections){
		.collection = malloc((rec->heaps + 1) * sizeof(*c->collection)),
		.tgid = malloc((rec->heaps + 1) * sizeof(*c->tgid)),
		.cause = malloc((rec->heaps + 1) * sizeof(*c->cause)),
	};
	if (!c->collection || !c->tgid || !c->cause || !overlap_of(rec, &o)) {
		collections_free(c);
		return recording_no_memory(rec);
	}
	for (size_t i = 0; i < rec->heaps; i++) {
		const struct recording_heap *h = &rec->heap[i];

		if (before && (before->tgid != h->tgid || before->tid != h->tid))
			before = NULL;
		if (h->after)
			collection_add(c, rec, &o, before, h);
		before = h->after ? NULL : h;
	}
	overlap_free(&o);
	return true;
}

void collections_free(struct collections *c)
{
	free(c->collection);
	free(c->tgid);
	free(c->cause);
	*c = (struct collections){ 0 };
}

/* Mean frequency in pauses as a share of the highest; NAN if unknown, or of heterogeneous cores. */
static double clock_of(const struct recording *rec)
{
	sqlite3_stmt *s = db_query(rec->db, "SELECT min(hw_max_khz), max(hw_max_khz), "
					    "count(*) - count(hw_max_khz) FROM policies");
	double weighted = 0, ns = 0, top = 0;

	if (db_next(s) && db_u32(s, 0, 0) == db_u32(s, 1, 1) && !db_int(s, 2, 1))
		top = db_u32(s, 0, 0);
	sqlite3_finalize(s);
	for (size_t k = 0; k < rec->khzs; k++)
		for (unsigned int phase = 0; phase < GCHINT_PHASE_NR; phase++) {
			const double of = (double)rec->residency[k][phase * CLASS_NR + CLASS_STW];

			weighted += of * rec->khz[k];
			ns += of;
		}
	return ns > 0 && top > 0 ? weighted / ns / top : NAN;
}

static int32_t process_most_paused(const struct recording *rec, const struct processes *p,
				   const char **name, size_t *paused)
{
	uint64_t most = 0;
	int32_t tgid = 0;

	*name = NULL;
	*paused = 0;
	for (unsigned int g = 1; g <= p->nr; g++) {
		const struct pauses_sum sum = pauses_sum(rec, p->tgid[g]);

		*paused += sum.count > 0;
		if (!*name || sum.paused > most) {
			most = sum.paused;
			tgid = p->tgid[g];
			*name = p->name[g];
		}
	}
	return tgid;
}

static uint64_t safepoint_of(const struct recording *rec, int32_t tgid)
{
	const uint16_t group = GCHINT_PHASE_SAFEPOINT * CLASS_NR + CLASS_STW;
	uint64_t ns = 0;

	for (size_t i = 0; i < rec->phases; i++)
		if (rec->phase[i].group == group && rec->phase[i].tgid == tgid &&
		    !rec->phase[i].unsure)
			ns += rec->phase[i].t1 - rec->phase[i].t0;
	return ns;
}

static bool pause_has(const struct overlap *o, const struct recording_pause *pause, uint16_t phase)
{
	const struct recording_phase *p;

	overlap_each(p, o, pause->t0, pause->t1)
	{
		if (p->tgid == pause->tgid && p->group == phase * CLASS_NR + CLASS_STW)
			return true;
	}
	return false;
}

/* The highest use of its control group, and how often that reached a limit meanwhile. */
static void process_load_group(const struct recording *rec, int32_t tgid, struct findings_input *in)
{
	sqlite3_stmt *s = db_select(rec->db, memory_groups, "ORDER BY t",
				    COLUMN(memory_groups, tgid), COLUMN(memory_groups, used),
				    COLUMN(memory_groups, most), COLUMN(memory_groups, pressed));
	int64_t first = FINDINGS_UNKNOWN;

	in->group_used = in->group_most = in->group_pressed = FINDINGS_UNKNOWN;
	while (db_next(s)) {
		const int64_t used = db_int(s, COLUMN(memory_groups, used), FINDINGS_UNKNOWN);
		const int64_t pressed = db_int(s, COLUMN(memory_groups, pressed), FINDINGS_UNKNOWN);

		if (db_int(s, COLUMN(memory_groups, tgid), 0) != tgid)
			continue;
		if (used > in->group_used) {
			in->group_used = used;
			in->group_most = db_int(s, COLUMN(memory_groups, most), FINDINGS_UNKNOWN);
		}
		if (pressed == FINDINGS_UNKNOWN)
			continue;
		first = first == FINDINGS_UNKNOWN ? pressed : first;
		in->group_pressed = pressed - first;
	}
	sqlite3_finalize(s);
}

static struct findings_pause *pauses_load(const struct recording *rec, const struct overlap *o,
					  int32_t tgid, size_t *nr)
{
	struct findings_pause *pause = malloc((rec->pauses + 1) * sizeof(*pause));

	*nr = 0;
	for (size_t i = 0; pause && i < rec->pauses; i++) {
		const struct recording_pause *p = &rec->pause[i];

		if (p->tgid == tgid)
			pause[(*nr)++] = (struct findings_pause){
				.t0 = p->t0,
				.ns = p->t1 - p->t0,
				.asked = cause_at(o, tgid, p->t0, p->t1) == GCHINT_CAUSE_EXPLICIT,
				.copies = pause_has(o, p, GCHINT_PHASE_COPY),
				.remarks = pause_has(o, p, GCHINT_PHASE_REMARK),
			};
	}
	return pause;
}

/* How much of [@t0, @t1) is in pauses, which are sorted and do not overlap. */
static uint64_t paused_between(const struct findings_input *in, uint64_t t0, uint64_t t1)
{
	size_t low = 0, high = in->pauses;
	uint64_t ns = 0;

	while (low < high) {
		const size_t mid = (low + high) / 2;

		if (in->pause[mid].t0 + in->pause[mid].ns <= t0)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < in->pauses && in->pause[low].t0 < t1; low++) {
		const uint64_t begin = in->pause[low].t0, end = begin + in->pause[low].ns;

		ns += (end < t1 ? end : t1) - (begin > t0 ? begin : t0);
	}
	return ns;
}

static int by_thread_and_begin(const void *a, const void *b)
{
	const struct recording_phase *x = *(const struct recording_phase *const *)a;
	const struct recording_phase *y = *(const struct recording_phase *const *)b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->t0 > y->t0) - (x->t0 < y->t0);
}

/* Threads that waited for a collection by others while the program was not stopped. */
static bool process_load_waits(const struct recording *rec, int32_t tgid, struct findings_input *in)
{
	const struct recording_phase **wait = malloc((rec->phases + 1) * sizeof(*wait));
	uint64_t end = 0;
	size_t nr = 0;

	if (!wait)
		return false;
	for (size_t i = 0; i < rec->phases; i++) {
		const struct recording_phase *p = &rec->phase[i];

		if (p->tgid == tgid && p->group / CLASS_NR == GCHINT_PHASE_WAIT && !p->stw &&
		    !p->unsure)
			wait[nr++] = p;
	}
	qsort(wait, nr, sizeof(*wait), by_thread_and_begin);
	for (size_t i = 0; i < nr; i++) {
		const bool new = !i || wait[i]->tid != wait[i - 1]->tid;
		const uint64_t t0 = new || wait[i]->t0 > end ? wait[i]->t0 : end;

		in->waits += new;
		if (wait[i]->t1 > t0)
			in->waited += wait[i]->t1 - t0 - paused_between(in, t0, wait[i]->t1);
		end = new || wait[i]->t1 > end ? wait[i]->t1 : end;
	}
	free(wait);
	return true;
}

static bool reasons_find(const struct recording *rec, const struct collections *c,
			 const struct findings_input *known, const char *change,
			 struct reasons *reasons)
{
	struct findings_input in = *known;
	struct findings_pause *pause;
	struct overlap o;
	size_t first = 0;

	if (!overlap_of(rec, &o))
		return false;
	pause = pauses_load(rec, &o, reasons->tgid, &in.pauses);
	overlap_free(&o);
	if (!pause)
		return recording_no_memory(rec);
	in.pause = pause;
	in.scratch = malloc((in.pauses + c->nr + 1) * sizeof(*in.scratch));
	if (!in.scratch || !process_load_waits(rec, reasons->tgid, &in)) {
		free(in.scratch);
		free(pause);
		return recording_no_memory(rec);
	}
	while (first < c->nr && c->tgid[first] != reasons->tgid)
		first++;
	in.collection = c->collection + first;
	while (first + in.collections < c->nr && c->tgid[first + in.collections] == reasons->tgid)
		in.collections++;
	reasons->nr = findings_of(&in, reasons->found);
	reasons->advised = change ? advice_predict(&in, change, &reasons->advice) :
				    advice_of(&in, &reasons->advice);
	findings_sentence(reasons->found, reasons->nr, reasons->sentence);
	free(in.scratch);
	free(pause);
	return true;
}

/* As the process named it last; "" if it did not. */
static void process_load_runtime(const struct recording *rec, int32_t tgid, char *name, size_t size)
{
	sqlite3_stmt *s = db_select(rec->db, runtimes, "ORDER BY t", COLUMN(runtimes, tgid),
				    COLUMN(runtimes, runtime));

	*name = '\0';
	while (db_next(s))
		if (db_int(s, COLUMN(runtimes, tgid), 0) == tgid)
			snprintf(name, size, "%s", db_text(s, COLUMN(runtimes, runtime), ""));
	sqlite3_finalize(s);
}

bool reasons_of(const struct recording *rec, struct reasons *reasons)
{
	return reasons_of_program(rec, &(struct reasons_program){ NULL }, reasons);
}

bool reasons_of_program(const struct recording *rec, const struct reasons_program *program,
			struct reasons *reasons)
{
	struct findings_input in = {
		.runtime = program->runtime,
		.settings = program->settings,
		.duration = recording_duration(rec),
		.run = FINDINGS_UNKNOWN,
		.wait_low = FINDINGS_UNKNOWN,
		.wait_high = FINDINGS_UNKNOWN,
		.clock = clock_of(rec),
	};
	struct cpu_time_sum cpu;
	struct collections c;
	struct processes p;
	char runtime[32];
	size_t paused;
	bool good;

	*reasons = (struct reasons){ 0 };
	if (!processes_of(rec, &p))
		return false;
	reasons->tgid = process_most_paused(rec, &p, &in.name, &paused);
	process_load_runtime(rec, reasons->tgid, runtime, sizeof(runtime));
	if (!in.runtime && *runtime)
		in.runtime = runtime;
	in.safepoint = safepoint_of(rec, reasons->tgid);
	process_load_group(rec, reasons->tgid, &in);
	/* The sum is that of all processes. */
	if (p.nr == 1 && cpu_times_sum_of(rec, &cpu) && (cpu.known || cpu.workers)) {
		in.run = (int64_t)cpu.run;
		in.wait_low = (int64_t)cpu.wait_low;
		in.wait_high = (int64_t)cpu.wait_counted;
	}
	good = collections_of(rec, &c);
	if (good) {
		good = reasons_find(rec, &c, &in, program->change, reasons);
		collections_free(&c);
	}
	processes_free(&p);
	return good;
}
