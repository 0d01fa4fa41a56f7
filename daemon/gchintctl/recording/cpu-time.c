// SPDX-License-Identifier: GPL-2.0-or-later
#include "cpu-time.h"

#include <stdlib.h>
#include <string.h>

#include "db.h"

/* The time between two readings of a thread's account, or from the last one on (@t1 0). */
struct account {
	int32_t tgid, tid;
	uint64_t t0, t1;
	double run_ns; /* in between; below 0 not known */
	int cpu; /* that it ran on last at @t0; -1 not known */
	uint64_t in_phases_ns;
};

struct cpu_times {
	struct account *account; /* by thread, then by time */
	size_t nr;
};

static int by_thread(int32_t tgid, int32_t tid, const struct account *a)
{
	return tgid != a->tgid ? (tgid > a->tgid) - (tgid < a->tgid) :
				 (tid > a->tid) - (tid < a->tid);
}

/*
 * Index of the account of a thread that @t is in, or of its first one if that begins later; nr if
 * the thread has none.
 */
static size_t account_at(const struct cpu_times *times, int32_t tgid, int32_t tid, uint64_t t)
{
	size_t lo = 0, hi = times->nr;

	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;
		const struct account *a = &times->account[mid];
		const int order = by_thread(tgid, tid, a);

		if (order > 0 || (!order && a->t0 <= t))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && !by_thread(tgid, tid, &times->account[lo - 1]))
		return lo - 1;
	return lo < times->nr && !by_thread(tgid, tid, &times->account[lo]) ? lo : times->nr;
}

static uint64_t account_overlap(const struct account *a, uint64_t t0, uint64_t t1)
{
	const uint64_t from = t0 > a->t0 ? t0 : a->t0, to = t1 < a->t1 ? t1 : a->t1;

	return to > from ? to - from : 0;
}

/* Whether account[@i] is of that thread and begins before @t. */
static bool account_is(const struct cpu_times *times, size_t i, int32_t tgid, int32_t tid,
		       uint64_t t)
{
	return i < times->nr && !by_thread(tgid, tid, &times->account[i]) &&
	       times->account[i].t0 < t;
}

static bool accounts_load(struct cpu_times *times, const struct run *run)
{
	sqlite3_stmt *s = db_query(run->db, "SELECT tgid, tid, t, run_ns, * FROM sched "
					    "WHERE run_ns IS NOT NULL ORDER BY tgid, tid, t");
	const int cpu = s ? db_column(s, "cpu") : -1;
	int64_t last_run = 0;
	bool good = true;

	while (good && db_next(s)) {
		const struct account now = { .tgid = (int32_t)db_int(s, 0, 0),
					     .tid = (int32_t)db_int(s, 1, 0),
					     .t0 = (uint64_t)db_int(s, 2, 0),
					     .cpu = cpu < 0 ? -1 : (int)db_int(s, cpu, -1) };
		struct account *last = times->nr ? &times->account[times->nr - 1] : NULL;
		const int64_t ran = db_int(s, 3, 0);

		if (last && !by_thread(now.tgid, now.tid, last) && now.t0 > last->t0) {
			last->t1 = now.t0;
			/* A thread number that came again begins from 0. */
			last->run_ns = ran >= last_run ? (double)(ran - last_run) : -1;
		}
		last_run = ran;
		good = run_grow(&times->account, times->nr, sizeof(now));
		if (good)
			times->account[times->nr++] = now;
	}
	sqlite3_finalize(s);
	return good;
}

static void accounts_add_phase(struct cpu_times *times, const struct run_phase *p)
{
	for (size_t i = account_at(times, p->tgid, p->tid, p->t0);
	     account_is(times, i, p->tgid, p->tid, p->t1); i++)
		times->account[i].in_phases_ns += account_overlap(&times->account[i], p->t0, p->t1);
}

struct cpu_times *cpu_times_of(const struct run *run)
{
	struct cpu_times *times = calloc(1, sizeof(*times));

	if (!times || !accounts_load(times, run)) {
		cpu_times_free(times);
		run_no_memory(run);
		return NULL;
	}
	for (size_t i = 0; i < run->phases; i++)
		accounts_add_phase(times, &run->phase[i]);
	return times;
}

void cpu_times_free(struct cpu_times *times)
{
	if (times)
		free(times->account);
	free(times);
}

static double limit(double value, double low, double high)
{
	return value < low ? low : value < high ? value : high;
}

static struct cpu_time account_part(const struct account *a, uint64_t part_ns)
{
	const double part = (double)part_ns, in = (double)a->in_phases_ns;
	const double window = (double)(a->t1 - a->t0), ran = limit(a->run_ns, 0, window);

	return (struct cpu_time){ in > ran ? part * ran / in : part,
				  limit(ran - (window - part), 0, part), limit(ran, 0, part) };
}

static void part_call(int from, int to, uint64_t t0, uint64_t t1, struct cpu_time time,
		      cpu_time_fn fn, void *data)
{
	if (to < 0 || from == to) {
		fn(data, from, t0, t1, &time);
		return;
	}
	time.ns /= 2;
	time.least = 0;
	fn(data, from, t0, t1, &time);
	fn(data, to, t0, t1, &time);
}

void cpu_time_each(const struct cpu_times *times, const struct run_phase *p, uint64_t t0,
		   uint64_t t1, cpu_time_fn fn, void *data)
{
	struct cpu_time whole = { .ns = 0 };
	int cpu = p->cpu;

	for (size_t i = account_at(times, p->tgid, p->tid, t0);
	     account_is(times, i, p->tgid, p->tid, t1); i++) {
		const struct account *a = &times->account[i];
		const uint64_t from = a->t0 > t0 ? a->t0 : t0;
		const bool ends = i + 1 < times->nr && a->t1;
		const uint64_t to = ends && a->t1 < t1 ? a->t1 : t1;
		const bool inside = ends && a->t1 < p->t1;

		/* In front of the first account of the thread. */
		if (a->t0 > t0) {
			whole = (struct cpu_time){ (double)(a->t0 - t0), 0, (double)(a->t0 - t0) };
			part_call(cpu, -1, t0, a->t0, whole, fn, data);
		}
		if (a->t0 > p->t0 && a->cpu >= 0)
			cpu = a->cpu;
		if (to <= from)
			continue;
		whole = ends && a->run_ns >= 0 ?
				account_part(a, to - from) :
				(struct cpu_time){ (double)(to - from), 0, (double)(to - from) };
		part_call(cpu, inside ? times->account[i + 1].cpu : -1, from, to, whole, fn, data);
		t0 = to;
	}
	/* Without an account it is taken to run, and may not have run at all. */
	if (t1 > t0) {
		whole = (struct cpu_time){ (double)(t1 - t0), 0, (double)(t1 - t0) };
		part_call(cpu, -1, t0, t1, whole, fn, data);
	}
}

const char *cpu_times_source(const struct cpu_times *times)
{
	return times->nr ? "the kernel's account of each thread (schedstat)" : "";
}
