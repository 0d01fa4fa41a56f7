// SPDX-License-Identifier: GPL-2.0-or-later
#include "collector-cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../analysis/cpu-time.h"
#include "../../common/amount.h"
#include "../../recording/reader/db.h"
#include "../../recording/reader/memory.h"

#define LOW_SHARE  0.05 /* of the upper bound: a lower one below it says nothing */
#define WAIT_SHARE 0.01 /* of the CPU time: less of a wait is not said */
#define WAIT_MAYBE 0.1 /* the same of a wait of which no lower bound is known */
#define PART_LEAST 200000000ull /* ns; accounts are read a few times a second */

/* Bounds further apart than a tenth are a range. */
static void cpu_format(const struct recording *rec, const struct cpu_time_sum *sum,
		       struct collector_cpu *c)
{
	char low[AMOUNT_TEXT], high[AMOUNT_TEXT], run[AMOUNT_TEXT];

	c->known = true;
	c->range = sum->high - sum->low > sum->high / 10;
	c->at_most = c->range && (double)sum->low < LOW_SHARE * (double)sum->high;
	amount_length((double)sum->low, low);
	amount_length((double)sum->high, high);
	/* "39.0 to 63.0 ms" */
	if (!strcmp(strchr(low, ' '), strchr(high, ' ')))
		*strchr(low, ' ') = '\0';
	if (c->at_most)
		snprintf(c->amount, sizeof(c->amount), "%s", high);
	else if (c->range)
		snprintf(c->amount, sizeof(c->amount), "%s to %s", low, high);
	else
		snprintf(c->amount, sizeof(c->amount), "%s", amount_length((double)sum->run, run));
	if (!c->range)
		amount_share((double)sum->run / (double)recording_duration(rec), c->share);
	if ((double)sum->wait_low > WAIT_SHARE * (double)sum->high)
		amount_length((double)sum->wait_low, c->waited);
	else
		c->wait_unknown = (double)sum->wait_counted > WAIT_MAYBE * (double)sum->high;
}

bool collector_cpu_of(const struct recording *rec, struct collector_cpu *c)
{
	struct cpu_time_sum sum;

	memset(c, 0, sizeof(*c));
	if (!rec->phases || !cpu_times_sum_of(rec, &sum))
		return false;
	if (sum.known || sum.workers)
		cpu_format(rec, &sum, c);
	return true;
}

struct curve_adder {
	const struct recording *rec;
	struct collector_curve *curve;
};

static void curve_add(const struct curve_adder *a, uint64_t t0, uint64_t t1, double ns)
{
	const struct recording *rec = a->rec;
	const double rate = t1 > t0 ? ns / (double)(t1 - t0) : 0;

	t0 = t0 > rec->t0 ? t0 : rec->t0;
	t1 = t1 < rec->t1 ? t1 : rec->t1;
	while (t0 < t1) {
		const uint64_t i = (t0 - rec->t0) / a->curve->length;
		const uint64_t end = rec->t0 + (i + 1) * a->curve->length;
		const uint64_t until = t1 < end ? t1 : end;

		a->curve->run[i] += rate * (double)(until - t0);
		t0 = until;
	}
}

static void curve_add_part(void *data, int cpu, uint64_t t0, uint64_t t1,
			   const struct cpu_time *time)
{
	const struct curve_adder *a = data;

	(void)cpu;
	curve_add(a, t0, t1, time->ns);
}

struct worker {
	int32_t tgid, tid;
};

/* Threads with a role do nothing but collect. */
struct workers {
	struct worker *worker;
	size_t nr;
};

static bool workers_load(struct workers *w, const struct recording *rec)
{
	sqlite3_stmt *s = db_query(rec->db, "SELECT DISTINCT tgid, tid FROM leases WHERE role > 0");
	bool good = true;

	while (good && db_next(s)) {
		good = recording_grow(&w->worker, w->nr, sizeof(*w->worker));
		if (good)
			w->worker[w->nr++] = (struct worker){ (int32_t)db_int(s, 0, 0),
							      (int32_t)db_int(s, 1, 0) };
	}
	sqlite3_finalize(s);
	return good;
}

static bool workers_have(const struct workers *w, int32_t tgid, int32_t tid)
{
	for (size_t i = 0; i < w->nr; i++)
		if (w->worker[i].tgid == tgid && w->worker[i].tid == tid)
			return true;
	return false;
}

/* All that they run counts, in phases and outside. */
static void curve_add_workers(const struct curve_adder *a, const struct workers *w)
{
	sqlite3_stmt *s = db_query(a->rec->db, "SELECT tgid, tid, t, run_ns FROM sched "
					       "WHERE run_ns >= 0 ORDER BY tgid, tid, t");
	struct worker last = { 0, 0 };
	int64_t before = 0, ran = 0;
	bool is = false;

	while (db_next(s)) {
		const struct worker now = { (int32_t)db_int(s, 0, 0), (int32_t)db_int(s, 1, 0) };
		const int64_t t = db_int(s, 2, 0), run = db_int(s, 3, 0);

		if (now.tgid != last.tgid || now.tid != last.tid)
			is = workers_have(w, now.tgid, now.tid);
		else if (is && t > before && before >= 0 && run > ran)
			curve_add(a, (uint64_t)before, (uint64_t)t, (double)(run - ran));
		last = now;
		before = t;
		ran = run;
	}
	sqlite3_finalize(s);
}

static void curve_add_phases(const struct curve_adder *a, const struct workers *w,
			     const struct cpu_times *times)
{
	struct worker last = { -1, -1 };
	bool is = false;
	uint64_t end = 0;

	for (size_t i = 0; i < a->rec->phases; i++) {
		const struct recording_phase *p = &a->rec->phase[i];

		if (p->tgid != last.tgid || p->tid != last.tid) {
			is = workers_have(w, p->tgid, p->tid);
			end = 0;
		}
		last = (struct worker){ p->tgid, p->tid };
		/* Phases of a thread may be within each other. */
		if (!is && !p->unsure && p->t1 > end)
			cpu_time_each(times, p, p->t0 > end ? p->t0 : end, p->t1, curve_add_part,
				      (void *)a);
		end = p->t1 > end ? p->t1 : end;
	}
}

void collector_curve_of(const struct recording *rec, struct collector_curve *curve)
{
	const struct curve_adder a = { rec, curve };
	struct workers w = { 0 };
	struct cpu_times *times;
	struct cpu_time_sum sum;

	memset(curve, 0, sizeof(*curve));
	if (!rec->phases || rec->t1 <= rec->t0)
		return;
	times = cpu_times_of(rec);
	if (!times)
		return;
	sum = cpu_times_sum(times);
	/* Of most of the time no account is known: a curve would be a guess. */
	if ((sum.workers || sum.known > sum.unknown) && workers_load(&w, rec)) {
		curve->length = (rec->t1 - rec->t0) / COLLECTOR_CPU_PARTS + 1;
		if (curve->length < PART_LEAST)
			curve->length = PART_LEAST;
		curve->parts = (size_t)((rec->t1 - rec->t0 - 1) / curve->length) + 1;
		curve_add_workers(&a, &w);
		curve_add_phases(&a, &w, times);
	}
	free(w.worker);
	cpu_times_free(times);
}
