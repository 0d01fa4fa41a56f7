// SPDX-License-Identifier: GPL-2.0-or-later
#include "pauses.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/text.h"
#include "../recording/reader/db.h"
#include "../recording/reader/frequency.h"
#include "../recording/reader/threads.h"
#include "cpu-time.h"
#include "findings.h"
#include "last-method.h"
#include "overlap.h"

/* Indexes over a recording that describing each of its pauses needs. */
struct pause_query {
	const struct recording *rec;
	struct overlap overlap;
	struct threads *threads;
	struct cpu_times *times;
	bool sampled;
	const struct recording_heap **heap; /* by process and time */
	uint32_t top_khz
		[CPUS_MAX]; /* highest recorded frequency of each CPU's policy; 0 not known */
};

static void query_load_top_khz(struct pause_query *query)
{
	sqlite3_stmt *s = db_query(query->rec->db,
				   "SELECT replace(cpus, ' ', ','), hw_max_khz FROM policies");
	uint8_t set[CPUS_MAX];

	while (db_next(s))
		if (text_cpulist(db_text(s, 0, ""), set, CPUS_MAX) > 0)
			for (size_t i = 0; i < CPUS_MAX; i++)
				if (set[i])
					query->top_khz[i] = db_u32(s, 1, 0);
	sqlite3_finalize(s);
}

static void query_free(struct pause_query *query)
{
	overlap_free(&query->overlap);
	threads_free(query->threads);
	cpu_times_free(query->times);
	free(query->heap);
	free(query);
}

static int by_process_and_time(const void *a, const void *b)
{
	const struct recording_heap *x = *(const struct recording_heap *const *)a;
	const struct recording_heap *y = *(const struct recording_heap *const *)b;

	if (x->tgid != y->tgid)
		return x->tgid < y->tgid ? -1 : 1;
	return (x->t > y->t) - (x->t < y->t);
}

static bool query_sort_heaps(struct pause_query *query)
{
	const struct recording *rec = query->rec;

	query->heap = malloc((rec->heaps + 1) * sizeof(*query->heap));
	if (!query->heap) {
		db_missing(rec->path, "no memory for its pauses");
		return false;
	}
	for (size_t i = 0; i < rec->heaps; i++)
		query->heap[i] = &rec->heap[i];
	qsort(query->heap, rec->heaps, sizeof(*query->heap), by_process_and_time);
	return true;
}

/* Returns NULL without memory, after reporting it. */
static struct pause_query *query_new(const struct recording *rec)
{
	struct pause_query *query = calloc(1, sizeof(*query));
	int64_t samples;

	if (!query) {
		db_missing(rec->path, "no memory for its pauses");
		return NULL;
	}
	query->rec = rec;
	query->threads = threads_of(rec);
	query->times = cpu_times_of(rec);
	if (!query->threads || !query->times || !query_sort_heaps(query) ||
	    !overlap_of(rec, &query->overlap)) {
		query_free(query);
		return NULL;
	}
	query_load_top_khz(query);
	query->sampled = db_number(rec->db, "SELECT 1 FROM hotspots LIMIT 1", 0, &samples);
	return query;
}

struct mean {
	double weighted, ns;
};

static void mean_add(void *data, uint32_t khz, uint64_t ns)
{
	struct mean *m = data;

	m->weighted += (double)khz * (double)ns;
	m->ns += (double)ns;
}

static void query_find_concurrent(const struct pause_query *query, struct pause *pause)
{
	const struct recording_phase *own = pause->phase, *p;
	bool seen[PHASE_GROUPS] = { false };

	overlap_each(p, &query->overlap, pause->t0, pause->t1)
	{
		if (p->tid == own->tid || seen[p->group])
			continue;
		/* Another thread's part of the same pause. */
		if (pause->source && p->stw && p->tgid == own->tgid)
			continue;
		seen[p->group] = true;
		pause->concurrent[pause->nr_concurrent++] = p->group;
		if (pause->nr_concurrent == PAUSE_CONCURRENT)
			break;
	}
}

static bool phase_is_wait(const struct recording_phase *p)
{
	return p->group / CLASS_NR == GCHINT_PHASE_WAIT;
}

/* The longest phase that a pause consists of, the first of equals. */
static const struct recording_phase *query_find_longest(const struct pause_query *query,
							const struct recording_pause *pause)
{
	static const struct recording_phase unknown = { .cpu = -1 };
	const struct recording_phase *found = NULL, *p;

	/* One ns more on both sides finds phases of no length as well. */
	overlap_each(p, &query->overlap, pause->t0 ? pause->t0 - 1 : 0, pause->t1 + 1)
	{
		if (!p->stw || p->unsure || p->tgid != pause->tgid || p->t0 < pause->t0 ||
		    p->t1 > pause->t1)
			continue;
		if (!found || p->t1 - p->t0 > found->t1 - found->t0)
			found = p;
	}
	return found ? found : &unknown;
}

static const struct recording_phase *query_find_awaited(const struct pause_query *query,
							const struct recording_phase *own)
{
	const struct recording_phase *found = NULL, *p;
	uint64_t most = 0;

	overlap_each(p, &query->overlap, own->t0, own->t1)
	{
		uint64_t t0 = p->t0 > own->t0 ? p->t0 : own->t0;
		uint64_t t1 = p->t1 < own->t1 ? p->t1 : own->t1;

		if (p->tgid != own->tgid || p->tid == own->tid || phase_is_wait(p))
			continue;
		if (t1 > t0 && t1 - t0 > most) {
			most = t1 - t0;
			found = p;
		}
	}
	return found;
}

/*
 * What the readings within a pause say of its collections. Bundled collectors take theirs just
 * before they stop the program, and just after they have started it.
 */
static void query_find_heap(const struct pause_query *query, struct pause *pause, int32_t tgid)
{
	const size_t nr = query->rec->heaps;
	size_t low = 0, high = nr;
	bool is_early = false;

	pause->before = pause->after = pause->most = pause->freed = RECORDING_UNKNOWN;
	pause->generation = UINT32_MAX;
	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		const struct recording_heap *h = query->heap[mid];

		if (h->tgid < tgid || (h->tgid == tgid && h->t < pause->t0))
			low = mid + 1;
		else
			high = mid;
	}
	if (low && query->heap[low - 1]->tgid == tgid && !query->heap[low - 1]->after &&
	    query->heap[low - 1]->t + PAUSES_READING_NS >= pause->t0) {
		low--;
		is_early = true;
	}
	for (; low < nr; low++) {
		const struct recording_heap *h = query->heap[low];

		if (h->tgid != tgid || (h->t > pause->t1 && !is_early) ||
		    h->t > pause->t1 + PAUSES_READING_NS)
			break;
		/* The reading after the pause is that of the one before it. */
		is_early = is_early && !h->after;
		if (h->generation != UINT32_MAX &&
		    (pause->generation == UINT32_MAX || h->generation > pause->generation))
			pause->generation = h->generation;
		if (!h->after && pause->before == RECORDING_UNKNOWN)
			pause->before = h->used;
		if (!h->after)
			continue;
		pause->after = h->used;
		pause->most = h->most;
		if (h->freed != RECORDING_UNKNOWN)
			pause->freed =
				h->freed + (pause->freed == RECORDING_UNKNOWN ? 0 : pause->freed);
	}
}

static void pause_describe(const struct pause_query *query, struct pause *pause)
{
	const struct recording_phase *p = pause->phase;
	struct mean m = { 0 };
	const char *name = threads_name(query->threads, p->tgid, p->tid, p->t0);
	int cpu = p->cpu;

	if (!pause->source) {
		pause->awaited = query_find_awaited(query, p);
		cpu = pause->awaited ? pause->awaited->cpu : -1;
	}
	recording_stretches(query->rec, cpu, pause->t0, pause->t1, mean_add, &m);
	pause->khz = m.ns > 0 ? m.weighted / m.ns : 0;
	if (pause->source) {
		struct cpu_time wait;

		pause->waited = cpu_times_wait(query->times, p->tgid, pause->t0, pause->t1, &wait);
		pause->wait_least = wait.least;
		pause->wait_most = wait.most;
		if (query->sampled)
			last_method_find(query->rec, p->tgid, pause->t0, pause->method,
					 sizeof(pause->method));
	}
	query_find_heap(query, pause, pause->source ? pause->source->tgid : -1);
	pause->top_khz = cpu >= 0 && cpu < CPUS_MAX ? query->top_khz[cpu] : 0;
	snprintf(pause->comm, sizeof(pause->comm), "%s", name ? name : "");
	query_find_concurrent(query, pause);
}

double pause_at_top(const struct pause *p)
{
	return p->khz > 0 && p->top_khz ? (double)(p->t1 - p->t0) / 1e6 * p->khz / p->top_khz : NAN;
}

double pause_earlier(const struct pause *p)
{
	return p->awaited ? (double)(p->t1 - p->t0) / 1e6 : NAN;
}

static int by_length(const void *a, const void *b)
{
	const struct pause *x = a, *y = b;
	uint64_t p = x->t1 - x->t0, q = y->t1 - y->t0;

	return p != q ? (p < q ? 1 : -1) : (x->t0 > y->t0) - (x->t0 < y->t0);
}

static int by_ns(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int by_process(const void *a, const void *b)
{
	const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

	return (x > y) - (x < y);
}

static size_t recording_count_paused(const struct recording *rec)
{
	int32_t *tgid = malloc((rec->pauses + 1) * sizeof(*tgid));
	size_t n = 0;

	if (!tgid) {
		db_missing(rec->path, "no memory for its pauses");
		return 0;
	}
	for (size_t i = 0; i < rec->pauses; i++)
		tgid[i] = rec->pause[i].tgid;
	qsort(tgid, rec->pauses, sizeof(*tgid), by_process);
	for (size_t i = 0; i < rec->pauses; i++)
		n += !i || tgid[i] != tgid[i - 1];
	free(tgid);
	return n;
}

struct pauses_sum pauses_sum(const struct recording *rec, int32_t tgid)
{
	uint64_t *ns = malloc((rec->pauses + 1) * sizeof(*ns));
	struct pauses_sum sum = { 0 };

	if (!ns) {
		db_missing(rec->path, "no memory for its pauses");
		return sum;
	}
	for (size_t i = 0; i < rec->pauses; i++) {
		if (tgid != PAUSES_ALL && rec->pause[i].tgid != tgid)
			continue;
		ns[sum.count] = rec->pause[i].t1 - rec->pause[i].t0;
		sum.paused += ns[sum.count++];
	}
	if (sum.count) {
		qsort(ns, sum.count, sizeof(*ns), by_ns);
		sum.longest = ns[sum.count - 1];
		sum.p50 = ns[(sum.count * 50 + 99) / 100 - 1];
		sum.p95 = ns[(sum.count * 95 + 99) / 100 - 1];
		sum.p99 = ns[(sum.count * 99 + 99) / 100 - 1];
		sum.half = findings_half(ns, sum.count, &sum.halves);
		sum.processes = tgid == PAUSES_ALL ? recording_count_paused(rec) : 1;
	}
	free(ns);
	return sum;
}

/* Keeps the longest @wanted of @nr stops, and describes them. */
static size_t stops_select(const struct pause_query *query, struct pause *stop, size_t nr,
			   size_t wanted)
{
	qsort(stop, nr, sizeof(*stop), by_length);
	nr = nr < wanted ? nr : wanted;
	for (size_t i = 0; i < nr; i++) {
		if (stop[i].source)
			stop[i].phase = query_find_longest(query, stop[i].source);
		pause_describe(query, &stop[i]);
	}
	return nr;
}

bool pauses_longest(const struct recording *rec, size_t wanted, struct pauses_list *list)
{
	struct pause_query *query;
	size_t waits = 0;

	*list = (struct pauses_list){ 0 };
	for (size_t i = 0; i < rec->phases; i++)
		waits += phase_is_wait(&rec->phase[i]) && !rec->phase[i].stw;
	list->pause = calloc(rec->pauses + 1, sizeof(*list->pause));
	list->wait = calloc(waits + 1, sizeof(*list->wait));
	query = list->pause && list->wait ? query_new(rec) : NULL;
	if (!query) {
		if (!list->pause || !list->wait)
			db_missing(rec->path, "no memory for its pauses");
		pauses_list_free(list);
		return false;
	}
	for (size_t i = 0; i < rec->pauses; i++)
		list->pause[list->pauses++] = (struct pause){ .t0 = rec->pause[i].t0,
							      .t1 = rec->pause[i].t1,
							      .source = &rec->pause[i] };
	for (size_t i = 0; i < rec->phases; i++)
		if (phase_is_wait(&rec->phase[i]) && !rec->phase[i].stw && !rec->phase[i].unsure)
			list->wait[list->waits++] = (struct pause){ .t0 = rec->phase[i].t0,
								    .t1 = rec->phase[i].t1,
								    .phase = &rec->phase[i] };
	list->pauses = stops_select(query, list->pause, list->pauses, wanted);
	list->waits = stops_select(query, list->wait, list->waits, wanted);
	query_free(query);
	return true;
}

void pauses_list_free(struct pauses_list *list)
{
	free(list->pause);
	free(list->wait);
	*list = (struct pauses_list){ 0 };
}
