// SPDX-License-Identifier: GPL-2.0-or-later
#include "cpu-time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <uapi/linux/gchint.h>
#include <uapi/linux/gchint_netlink.h>

#include "../recording/reader/db.h"
#include "../recording/reader/memory.h"

#define READING_NS 100000 /* a reading was made within so much of its instant */

/* The time between two readings of a thread's account, or from the last one on (@t1 0). */
struct account {
	int32_t tgid, tid;
	uint64_t t0, t1;
	double run_ns; /* in between; below 0 not known */
	double wait_ns; /* counted in between, runnable without a CPU; 0 also where it is not known */
	int cpu; /* that it ran on last at @t0; -1 not known */
	/* In phases, each instant once: in all of them, and in those whose end is known. */
	uint64_t in_phases_ns, in_sure_ns;
	double reach_ns; /* for how long at most it can have waited without a break until @t0 */
	size_t moves; /* the thread's first account from this one on that counts anything; or NONE */
};

#define NONE SIZE_MAX

/* A time that a thread spent collecting; those of one thread do not overlap. */
struct span {
	int32_t tgid, tid;
	uint64_t t0, t1;
	uint64_t before; /* length of those of the thread before it */
};

/* Those of one thread, by time. */
struct spans {
	const struct span *span;
	size_t nr;
};

/* A thread with a role: it runs for the collector, in phases of its own or of other threads. */
struct worker {
	int32_t tgid, tid;
	bool follows; /* another thread's phases: what it runs outside of those is its own */
	uint64_t end; /* of its last lease; 0 not known */
};

struct cpu_times {
	struct account *account; /* by thread, then by time */
	size_t nr;
	struct worker *worker; /* by thread */
	size_t workers;
	struct span *span; /* of all threads but workers; by thread, then by time */
	size_t spans;
	double tick_ns; /* a reading lacks up to this much of the CPU time of a thread that runs */
	uint64_t sure_ns; /* of all threads but workers, in phases whose end is known */
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

/* Index of the first account of a process, or of the one that would follow it. */
static size_t process_at(const struct cpu_times *times, int32_t tgid)
{
	size_t lo = 0, hi = times->nr;

	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;

		if (times->account[mid].tgid < tgid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
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

/* A row of the table: running totals of a thread. */
struct reading {
	struct account account; /* that begins with it */
	int64_t ran, waited;
};

/* @last: the reading before, of any thread; updated. */
static bool accounts_add_reading(struct cpu_times *times, const struct reading *now,
				 struct reading *last)
{
	struct account *a = times->nr ? &times->account[times->nr - 1] : NULL;
	const int64_t ran = now->ran - last->ran, waited = now->waited - last->waited;

	if (a && !by_thread(now->account.tgid, now->account.tid, a) && now->account.t0 > a->t0) {
		a->t1 = now->account.t0;
		/* The account of a reused thread ID begins from 0. */
		a->run_ns = ran >= 0 ? (double)ran : -1;
		a->wait_ns = waited > 0 ? (double)waited : 0;
	}
	*last = *now;
	if (!recording_grow(&times->account, times->nr, sizeof(*a)))
		return false;
	times->account[times->nr++] = now->account;
	return true;
}

/* The totals of a thread that the recorded command began are 0 at the command's begin. */
static bool reading_is_of_command(const struct recording *rec, const struct reading *r)
{
	return rec->c1 && r->account.t0 > rec->c0 &&
	       (uint64_t)(r->ran + r->waited) <= r->account.t0 - rec->c0;
}

static bool accounts_load(struct cpu_times *times, const struct recording *rec)
{
	sqlite3_stmt *s =
		db_select(rec->db, sched, "WHERE run_ns >= 0 AND t >= 0 ORDER BY tgid, tid, t",
			  COLUMN(sched, tgid), COLUMN(sched, tid), COLUMN(sched, t),
			  COLUMN(sched, run_ns), COLUMN(sched, wait_ns), COLUMN(sched, cpu));
	struct reading last = { 0 };
	bool good = true;

	while (good && db_next(s)) {
		const struct reading now = {
			.account = { .tgid = (int32_t)db_int(s, COLUMN(sched, tgid), 0),
				     .tid = (int32_t)db_int(s, COLUMN(sched, tid), 0),
				     .t0 = (uint64_t)db_int(s, COLUMN(sched, t), 0),
				     .cpu = (int)db_int(s, COLUMN(sched, cpu), -1) },
			.ran = db_int(s, COLUMN(sched, run_ns), 0),
			.waited = db_int(s, COLUMN(sched, wait_ns), 0),
		};
		struct reading begin = { .account = now.account };

		begin.account.t0 = rec->c0;
		if (by_thread(now.account.tgid, now.account.tid, &last.account) &&
		    reading_is_of_command(rec, &now))
			good = accounts_add_reading(times, &begin, &last);
		good = good && accounts_add_reading(times, &now, &last);
	}
	sqlite3_finalize(s);
	return good;
}

static bool lease_is_end(int64_t lease)
{
	return lease == GCHINT_LEASE_DETACH || lease == GCHINT_LEASE_EXIT ||
	       lease == GCHINT_LEASE_EXEC || lease == GCHINT_LEASE_CLOSE;
}

static bool workers_load(struct cpu_times *times, const struct recording *rec)
{
	sqlite3_stmt *s = db_select(rec->db, leases, "ORDER BY tgid, tid, t", COLUMN(leases, tgid),
				    COLUMN(leases, tid), COLUMN(leases, t), COLUMN(leases, role),
				    COLUMN(leases, lease));
	bool good = true;

	while (good && db_next(s)) {
		struct worker *last = times->workers ? &times->worker[times->workers - 1] : NULL;
		const struct worker now = { .tgid = (int32_t)db_int(s, COLUMN(leases, tgid), 0),
					    .tid = (int32_t)db_int(s, COLUMN(leases, tid), 0),
					    .follows = db_int(s, COLUMN(leases, role), 0) ==
						       GCHINT_ROLE_FOLLOW };

		if (last && (last->tgid != now.tgid || last->tid != now.tid))
			last = NULL;
		if (last) {
			last->follows = last->follows || now.follows;
			last->end = lease_is_end(db_int(s, COLUMN(leases, lease), -1)) ?
					    (uint64_t)db_int(s, COLUMN(leases, t), 0) :
					    0;
		} else if (db_int(s, COLUMN(leases, role), 0) > GCHINT_ROLE_NONE) {
			good = recording_grow(&times->worker, times->workers, sizeof(now));
			if (good)
				times->worker[times->workers++] = now;
		}
	}
	sqlite3_finalize(s);
	return good;
}

/* NULL if the thread has no role. */
static const struct worker *worker_find(const struct cpu_times *times, int32_t tgid, int32_t tid)
{
	size_t lo = 0, hi = times->workers;

	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;
		const struct worker *w = &times->worker[mid];

		if (w->tgid == tgid && w->tid == tid)
			return w;
		if (w->tgid != tgid ? w->tgid < tgid : w->tid < tid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static bool span_add(struct cpu_times *times, int32_t tgid, int32_t tid, uint64_t t0, uint64_t t1)
{
	const struct span *last = times->spans ? &times->span[times->spans - 1] : NULL;
	struct span span = { .tgid = tgid, .tid = tid, .t0 = t0, .t1 = t1 };

	if (last && last->tgid == tgid && last->tid == tid)
		span.before = last->before + (last->t1 - last->t0);
	if (!recording_grow(&times->span, times->spans, sizeof(span)))
		return false;
	times->span[times->spans++] = span;
	return true;
}

/* Time of a thread in [@t0, @t1), which no other call for it overlaps. */
static void accounts_add_span(struct cpu_times *times, int32_t tgid, int32_t tid, uint64_t t0,
			      uint64_t t1, bool sure)
{
	if (sure)
		times->sure_ns += t1 - t0;
	for (size_t i = account_at(times, tgid, tid, t0); account_is(times, i, tgid, tid, t1);
	     i++) {
		const uint64_t ns = account_overlap(&times->account[i], t0, t1);

		if (sure)
			times->account[i].in_sure_ns += ns;
		else
			times->account[i].in_phases_ns += ns;
	}
}

static int by_thread_and_begin(const void *a, const void *b)
{
	const struct recording_phase *x = *(const struct recording_phase *const *)a;
	const struct recording_phase *y = *(const struct recording_phase *const *)b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->t0 > y->t0) - (x->t0 < y->t0);
}

/* @sure: only phases whose end is known. */
static void accounts_add_phases(struct cpu_times *times, const struct recording_phase *const *phase,
				size_t nr, bool sure)
{
	const struct recording_phase *last = NULL;
	uint64_t end = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct recording_phase *p = phase[i];

		if (sure && (p->unsure || worker_find(times, p->tgid, p->tid)))
			continue;
		if (!last || p->tgid != last->tgid || p->tid != last->tid)
			end = 0;
		last = p;
		if (p->t1 > end)
			accounts_add_span(times, p->tgid, p->tid, p->t0 > end ? p->t0 : end, p->t1,
					  sure);
		end = p->t1 > end ? p->t1 : end;
	}
}

/* Of phases whose end is known. A thread that waits for a collection by others does not collect. */
static bool spans_load(struct cpu_times *times, const struct recording_phase *const *phase,
		       size_t nr)
{
	const struct recording_phase *last = NULL;
	uint64_t end = 0;
	bool good = true;

	for (size_t i = 0; good && i < nr; i++) {
		const struct recording_phase *p = phase[i];

		if (p->unsure || p->group / CLASS_NR == GCHINT_PHASE_WAIT ||
		    worker_find(times, p->tgid, p->tid))
			continue;
		if (!last || p->tgid != last->tgid || p->tid != last->tid)
			end = 0;
		last = p;
		if (p->t1 > end)
			good = span_add(times, p->tgid, p->tid, p->t0 > end ? p->t0 : end, p->t1);
		end = p->t1 > end ? p->t1 : end;
	}
	return good;
}

/* A reading lacks up to a tick of what a thread ran. */
static double account_ran_least(const struct cpu_times *times, const struct account *a)
{
	return fmax(0, a->run_ns - times->tick_ns);
}

/* Whether the thread was on a CPU, or its wait was counted: until then at least, no wait is open. */
static bool account_moves(const struct account *a)
{
	return a->t1 && (a->run_ns != 0 || a->wait_ns > 0);
}

/*
 * The kernel counts a wait when the thread gets its CPU, or moves to the queue of another one. So
 * what it counted between two readings can have begun before the first of them, but not before the
 * last time that it counted anything of the thread.
 */
static void accounts_link(struct cpu_times *times)
{
	for (size_t i = 0; i < times->nr; i++) {
		struct account *a = &times->account[i], *last = a - 1;

		if (!i || by_thread(a->tgid, a->tid, last)) {
			a->reach_ns = INFINITY;
			continue;
		}
		a->reach_ns = account_moves(last) ? 0 : last->reach_ns;
		/* The time that it neither ran nor waited, of what was counted, for sure. */
		if (last->t1)
			a->reach_ns += fmax(0, (double)(last->t1 - last->t0) + 2 * READING_NS -
						       account_ran_least(times, last) -
						       fmax(0, last->wait_ns - last->reach_ns));
	}
	for (size_t i = times->nr; i--;) {
		struct account *a = &times->account[i];

		if (account_moves(a))
			a->moves = i;
		else if (i + 1 < times->nr && !by_thread(a->tgid, a->tid, a + 1))
			a->moves = a[1].moves;
		else
			a->moves = NONE;
	}
}

struct cpu_times *cpu_times_of(const struct recording *rec)
{
	const struct recording_phase **phase = malloc((rec->phases + 1) * sizeof(*phase));
	struct cpu_times *times = calloc(1, sizeof(*times));
	char tick[32];
	bool good = times && phase && accounts_load(times, rec) && workers_load(times, rec);

	if (good) {
		if (db_meta(rec->db, "sched.tick_ns", tick, sizeof(tick)))
			times->tick_ns = fmax(0, strtod(tick, NULL));
		accounts_link(times);
		for (size_t i = 0; i < rec->phases; i++)
			phase[i] = &rec->phase[i];
		qsort(phase, rec->phases, sizeof(*phase), by_thread_and_begin);
		accounts_add_phases(times, phase, rec->phases, false);
		accounts_add_phases(times, phase, rec->phases, true);
		good = spans_load(times, phase, rec->phases);
	}
	free(phase);
	if (!good) {
		cpu_times_free(times);
		recording_no_memory(rec);
		return NULL;
	}
	return times;
}

void cpu_times_free(struct cpu_times *times)
{
	if (times) {
		free(times->account);
		free(times->worker);
		free(times->span);
	}
	free(times);
}

static double limit(double value, double low, double high)
{
	return value < low ? low : value < high ? value : high;
}

/* Of @part of the account's time, which has @in_ns of it in phases. */
static struct cpu_time account_part(const struct cpu_times *times, const struct account *a,
				    uint64_t part_ns, uint64_t in_ns)
{
	const double part = (double)part_ns, in = (double)in_ns, window = (double)(a->t1 - a->t0);
	const double ran = limit(a->run_ns, 0, window), awake = ran + a->wait_ns;
	const struct cpu_time time = {
		.least = limit(ran - times->tick_ns - (window - part), 0, part),
		.most = limit(ran + times->tick_ns, 0, part),
	};

	return (struct cpu_time){ limit(awake > 0 ? part * ran / fmax(in, awake) : 0, time.least,
					time.most),
				  time.least, time.most };
}

/* The spans of a thread. */
static struct spans spans_of(const struct cpu_times *times, int32_t tgid, int32_t tid)
{
	struct spans spans = { NULL, 0 };
	size_t lo = 0, hi = times->spans;

	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;
		const struct span *s = &times->span[mid];

		if (s->tgid != tgid ? s->tgid < tgid : s->tid < tid)
			lo = mid + 1;
		else
			hi = mid;
	}
	spans.span = times->span ? &times->span[lo] : NULL;
	while (lo + spans.nr < times->spans && spans.span[spans.nr].tgid == tgid &&
	       spans.span[spans.nr].tid == tid)
		spans.nr++;
	return spans;
}

/* Their length until @t. */
static uint64_t spans_until(const struct spans *spans, uint64_t t)
{
	const struct span *s;
	size_t lo = 0, hi = spans->nr;

	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;

		if (spans->span[mid].t0 <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return 0;
	s = &spans->span[lo - 1];
	return s->before + (t < s->t1 ? t : s->t1) - s->t0;
}

static double spans_within(const struct spans *spans, uint64_t t0, uint64_t t1)
{
	return t1 > t0 ? (double)(spans_until(spans, t1) - spans_until(spans, t0)) : 0;
}

/* The same with READING_NS more on both sides. */
static double spans_around(const struct spans *spans, uint64_t t0, uint64_t t1)
{
	return spans_within(spans, t0 > READING_NS ? t0 - READING_NS : 0, t1 + READING_NS);
}

/* At least so much of [@t0, @t1), which may be READING_NS earlier or later. */
static double spans_least(const struct spans *spans, uint64_t t0, uint64_t t1)
{
	const double length = (double)(t1 - t0);

	if (spans_around(spans, t0, t1) >= length + 2 * READING_NS)
		return length;
	return t1 > READING_NS ? spans_within(spans, t0 + READING_NS, t1 - READING_NS) : 0;
}

static double spans_most(const struct spans *spans, uint64_t t0, uint64_t t1)
{
	return fmin(spans_around(spans, t0, t1), (double)(t1 - t0));
}

/* The instant @ns before @t. */
static uint64_t instant_before(uint64_t t, double ns)
{
	return ns < (double)t ? t - (uint64_t)ns : 0;
}

/*
 * Adds bounds of how much of the wait that was counted in an account was within @spans. The part of
 * it from before the account, if any, ends where the account begins, without a gap; the rest can be
 * anywhere in it. Of the least, that part is so long that the rest just fits outside of the spans:
 * a longer one lies in them by no less, a shorter one leaves more of the rest to them. Of the most,
 * it is so long that the rest just fits in.
 */
static void wait_add_account(const struct cpu_times *times, const struct account *a,
			     const struct spans *spans, struct cpu_time *wait)
{
	const double length = (double)(a->t1 - a->t0) + 2 * READING_NS;
	const double out = length - spans_around(spans, a->t0, a->t1);
	const double in = spans_around(spans, a->t0, a->t1);
	const double early_least =
		limit(a->wait_ns - (length - account_ran_least(times, a)), 0, a->wait_ns);
	const double early_most = limit(a->reach_ns, early_least, a->wait_ns);
	double early = limit(a->wait_ns - out, early_least, early_most);

	wait->least += spans_least(spans, instant_before(a->t0, early), a->t0) +
		       fmax(0, a->wait_ns - early - out);
	early = limit(a->wait_ns - in, early_least, early_most);
	wait->most += spans_most(spans, instant_before(a->t0, early), a->t0) +
		      fmin(a->wait_ns - early, in);
}

/* At most so much of a wait that was not yet counted at a thread's last reading. */
static double wait_open(const struct account *last, const struct spans *spans)
{
	return spans_most(spans, instant_before(last->t0, last->reach_ns), last->t0);
}

/* Adds what a thread did between its readings @first and @end. */
static void sum_add_thread(struct cpu_time_sum *sum, const struct cpu_times *times,
			   const struct account *first, const struct account *end)
{
	const struct spans spans = spans_of(times, first->tgid, first->tid);
	double known = 0, run = 0, low = 0, high = 0; /* in phases */
	double ran = 0, outside = 0;
	struct cpu_time wait = { 0 };

	for (const struct account *a = first; a < end; a++) {
		const double in = (double)a->in_sure_ns;
		struct cpu_time time;

		if (a->t1 && a->run_ns >= 0 && a->wait_ns > 0)
			wait_add_account(times, a, &spans, &wait);
		if (!a->t1 || a->run_ns < 0 || in <= 0)
			continue;
		time = account_part(times, a, a->in_sure_ns, a->in_sure_ns);
		known += in;
		run += time.ns;
		low += time.least;
		high += time.most;
		ran += a->run_ns;
		outside += (double)(a->t1 - a->t0) - in;
	}
	/* Of all of it the readings between lack nothing. */
	low = fmax(low, ran - times->tick_ns - outside);
	high = fmin(high, ran + times->tick_ns);
	sum->known += (uint64_t)known;
	sum->run += (uint64_t)limit(run, low, high);
	sum->low += (uint64_t)low;
	sum->high += (uint64_t)high;
	sum->wait_low += (uint64_t)wait.least;
	sum->wait_counted += (uint64_t)wait.most;
	sum->wait_high += (uint64_t)fmin(wait.most + wait_open(end - 1, &spans),
					 spans_within(&spans, 0, UINT64_MAX));
}

/* All that a thread with a role runs is collection, also after its last reading. */
static void sum_add_worker(struct cpu_time_sum *sum, const struct cpu_times *times,
			   const struct worker *w, const struct account *first,
			   const struct account *end)
{
	const double length = (double)(end[-1].t0 - first->t0);
	double ran = 0, waited = 0;

	for (const struct account *a = first; a < end; a++) {
		ran += a->t1 ? fmax(0, a->run_ns) : 0;
		waited += a->t1 ? a->wait_ns : 0;
	}
	sum->workers++;
	sum->run += (uint64_t)ran;
	sum->wait_low += (uint64_t)(w->follows ? 0 : waited);
	sum->wait_counted += (uint64_t)waited;
	sum->wait_high += (uint64_t)(waited + fmin(end[-1].reach_ns, length));
	sum->low += (uint64_t)(w->follows ? 0 : fmax(0, ran - times->tick_ns));
	sum->high += (uint64_t)(ran + times->tick_ns);
	if (w->end > end[-1].t0) {
		sum->high += w->end - end[-1].t0;
		sum->wait_high += w->end - end[-1].t0;
	}
}

struct cpu_time_sum cpu_times_sum(const struct cpu_times *times)
{
	struct cpu_time_sum sum = { 0 };

	for (size_t i = 0, next; i < times->nr; i = next) {
		const struct account *a = &times->account[i];
		const struct worker *w = worker_find(times, a->tgid, a->tid);

		for (next = i + 1; next < times->nr; next++)
			if (by_thread(a->tgid, a->tid, &times->account[next]))
				break;
		if (w && next > i + 1)
			sum_add_worker(&sum, times, w, a, &times->account[next]);
		else if (!w)
			sum_add_thread(&sum, times, a, &times->account[next]);
	}
	sum.unknown = times->sure_ns > sum.known ? times->sure_ns - sum.known : 0;
	sum.high += sum.unknown;
	sum.wait_high += sum.unknown;
	return sum;
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

void cpu_time_each(const struct cpu_times *times, const struct recording_phase *p, uint64_t t0,
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
				account_part(times, a, to - from, a->in_phases_ns) :
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

/* Of one thread. Returns false if its account does not enclose the pause. */
static bool thread_add_wait(const struct cpu_times *times, int32_t tgid, int32_t tid, uint64_t t0,
			    uint64_t t1, struct cpu_time *wait)
{
	const struct span pause = { .t0 = t0, .t1 = t1 };
	const struct spans spans = { &pause, 1 };
	const double length = (double)(t1 - t0);
	const struct account *a;
	struct cpu_time sum = { 0 };
	uint64_t enclosed = 0;
	size_t i;

	for (i = account_at(times, tgid, tid, t0); account_is(times, i, tgid, tid, t1); i++) {
		a = &times->account[i];
		if (!a->t1 || a->run_ns < 0)
			return false;
		enclosed += account_overlap(a, t0, t1);
		if (a->wait_ns > 0)
			wait_add_account(times, a, &spans, &sum);
	}
	if (enclosed != t1 - t0)
		return false;
	/* A wait in it may have been counted after it, or never. */
	a = &times->account[i];
	if (a->moves == NONE)
		sum.most += wait_open(&times->account[account_at(times, tgid, tid, UINT64_MAX)],
				      &spans);
	else if (times->account[a->moves].wait_ns > 0)
		wait_add_account(times, &times->account[a->moves], &spans, &sum);
	wait->least += fmin(sum.least, length);
	wait->most += fmin(sum.most, length);
	return true;
}

bool cpu_times_wait(const struct cpu_times *times, int32_t tgid, uint64_t t0, uint64_t t1,
		    struct cpu_time *wait)
{
	bool known = false;

	*wait = (struct cpu_time){ 0 };
	for (size_t i = process_at(times, tgid), next; i < times->nr; i = next) {
		const int32_t tid = times->account[i].tid;

		if (times->account[i].tgid != tgid)
			break;
		known = thread_add_wait(times, tgid, tid, t0, t1, wait) || known;
		next = account_at(times, tgid, tid, UINT64_MAX) + 1;
	}
	return known;
}

bool cpu_times_sum_of(const struct recording *rec, struct cpu_time_sum *sum)
{
	struct cpu_times *times = cpu_times_of(rec);

	if (!times)
		return false;
	*sum = cpu_times_sum(times);
	cpu_times_free(times);
	return true;
}
