// SPDX-License-Identifier: GPL-2.0-or-later
#include "run-wait.h"

#include <stdlib.h>

#include "db.h"

/* The running totals of a thread at an instant. */
struct reading {
	int32_t tgid, tid;
	uint64_t t, run, wait;
};

static int by_thread(const void *a, const void *b)
{
	const struct run_phase *x = *(const struct run_phase *const *)a;
	const struct run_phase *y = *(const struct run_phase *const *)b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->t0 > y->t0) - (x->t0 < y->t0);
}

/* Time of phases between two instants; those of one thread that overlap count once. */
static uint64_t phases_between(const struct run_phase *const *phase, size_t nr, uint64_t from,
			       uint64_t to)
{
	uint64_t ns = 0, at = from;

	for (size_t i = 0; i < nr && phase[i]->t0 < to; i++) {
		uint64_t t0 = phase[i]->t0 > at ? phase[i]->t0 : at;
		uint64_t t1 = phase[i]->t1 < to ? phase[i]->t1 : to;

		if (phase[i]->unsure || t1 <= t0)
			continue;
		ns += t1 - t0;
		at = t1;
	}
	return ns;
}

/*
 * A thread in a phase runs or waits for a CPU. It sleeps there only where the interval has not
 * enough of both.
 */
static void run_wait_add(struct run_wait *c, const struct reading *a, const struct reading *b,
			 uint64_t ns)
{
	const uint64_t length = b->t - a->t, run = b->run - a->run, wait = b->wait - a->wait;
	const uint64_t off = length > run ? length - run : 0;
	const double busy = (double)run + (double)wait;
	const double part = busy > (double)ns ? (double)ns / busy : 1;

	c->known += ns;
	c->run += (uint64_t)((double)run * part);
	c->wait += (uint64_t)((double)wait * part);
	c->low += ns > off ? ns - off : 0;
	c->high += ns < run ? ns : run;
}

/* Adds the phases of one thread. Returns the number of readings that are the thread's. */
static size_t run_wait_add_thread(const struct run *run, struct run_wait *c,
				  const struct run_phase *const *phase, size_t nr,
				  const struct reading *r, size_t readings)
{
	const uint64_t all = phases_between(phase, nr, 0, UINT64_MAX), before = c->known;
	struct reading last = { 0 };
	size_t n = 0, at = 0;

	/* The totals of a thread that the recorded command began are 0 at the command's begin. */
	if (readings && run->c1 && r->t > run->c0 && r->run + r->wait <= r->t - run->c0)
		last.t = run->c0;
	for (; n < readings && r[n].tgid == phase[0]->tgid && r[n].tid == phase[0]->tid; n++) {
		if (last.t && r[n].t > last.t && r[n].run >= last.run && r[n].wait >= last.wait) {
			/* A phase that ended before this interval is in no later one. */
			while (at < nr && phase[at]->t1 <= last.t)
				at++;
			run_wait_add(c, &last, &r[n],
				     phases_between(phase + at, nr - at, last.t, r[n].t));
		}
		last = r[n];
	}
	c->unknown += all - (c->known - before);
	return n;
}

static struct reading *readings_load(const struct run *run, size_t *nr)
{
	sqlite3_stmt *s = db_query(run->db, "SELECT tgid, tid, t, run_ns, wait_ns FROM sched "
					    "ORDER BY tgid, tid, t");
	struct reading *r = NULL;
	bool good = run_grow(&r, 0, sizeof(*r));

	*nr = 0;
	while (good && db_next(s)) {
		const int64_t t = db_int(s, 2, -1), ran = db_int(s, 3, -1), wait = db_int(s, 4, -1);

		if (t < 0 || ran < 0 || wait < 0)
			continue;
		good = run_grow(&r, *nr, sizeof(*r));
		if (good)
			r[(*nr)++] = (struct reading){ (int32_t)db_int(s, 0, 0),
						       (int32_t)db_int(s, 1, 0), (uint64_t)t,
						       (uint64_t)ran, (uint64_t)wait };
	}
	sqlite3_finalize(s);
	if (good)
		return r;
	free(r);
	return NULL;
}

static int reading_compare(const struct reading *r, const struct run_phase *p)
{
	if (r->tgid != p->tgid)
		return r->tgid < p->tgid ? -1 : 1;
	return (r->tid > p->tid) - (r->tid < p->tid);
}

bool run_wait_of(const struct run *run, struct run_wait *c)
{
	const struct run_phase **phase = malloc((run->phases + 1) * sizeof(*phase));
	size_t readings = 0, at = 0;
	struct reading *r = readings_load(run, &readings);

	*c = (struct run_wait){ 0 };
	if (!phase || !r) {
		run_no_memory(run);
		free(phase);
		free(r);
		return false;
	}
	for (size_t i = 0; i < run->phases; i++)
		phase[i] = &run->phase[i];
	qsort(phase, run->phases, sizeof(*phase), by_thread);
	for (size_t i = 0, n; i < run->phases; i += n) {
		for (n = 1; i + n < run->phases; n++)
			if (phase[i + n]->tgid != phase[i]->tgid ||
			    phase[i + n]->tid != phase[i]->tid)
				break;
		while (at < readings && reading_compare(&r[at], phase[i]) < 0)
			at++;
		at += run_wait_add_thread(
			run, c, phase + i, n, r + at,
			at < readings && !reading_compare(&r[at], phase[i]) ? readings - at : 0);
	}
	free(phase);
	free(r);
	return true;
}
