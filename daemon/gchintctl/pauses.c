// SPDX-License-Identifier: GPL-2.0-or-later
#include "pauses.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/text.h"
#include "db.h"
#include "overlap.h"
#include "threads.h"

#define CPUS 1024

/* What is asked of a run for each of its pauses. */
struct look {
	const struct run *run;
	struct overlap overlap;
	struct threads *threads;
	uint32_t top_khz[CPUS]; /* the highest that was recorded of a CPU's policy; 0 not known */
};

static void take_tops(struct look *look)
{
	sqlite3_stmt *s =
		db_query(look->run->db, "SELECT replace(cpus, ' ', ','), hw_max_khz FROM policies");
	uint8_t set[CPUS];

	while (db_next(s))
		if (text_cpulist(db_text(s, 0, ""), set, CPUS) > 0)
			for (size_t i = 0; i < CPUS; i++)
				if (set[i])
					look->top_khz[i] = db_u32(s, 1, 0);
	sqlite3_finalize(s);
}

static void look_end(struct look *look)
{
	overlap_free(&look->overlap);
	threads_free(look->threads);
	free(look);
}

/* NULL without memory, which is told. */
static struct look *look_at(const struct run *run)
{
	struct look *look = calloc(1, sizeof(*look));

	if (!look) {
		db_missing(run->path, "no memory for its pauses");
		return NULL;
	}
	look->run = run;
	look->threads = threads_of(run);
	if (!look->threads || !overlap_of(run, &look->overlap)) {
		look_end(look);
		return NULL;
	}
	take_tops(look);
	return look;
}

struct mean {
	double weighted, ns;
};

static void add_stretch(void *data, uint32_t khz, uint64_t ns)
{
	struct mean *m = data;

	m->weighted += (double)khz * (double)ns;
	m->ns += (double)ns;
}

static void look_beside(const struct look *look, struct pause *pause)
{
	const struct run_phase *own = pause->phase, *p;
	bool seen[RUN_GROUPS] = { false };

	overlap_each(p, &look->overlap, own->t0, own->t1)
	{
		if (p->tid == own->tid || seen[p->group])
			continue;
		seen[p->group] = true;
		pause->beside[pause->besides++] = p->group;
		if (pause->besides == PAUSE_BESIDE)
			break;
	}
}

static bool waits(const struct run_phase *p)
{
	return p->group / CLASS_NR == GCHINT_PHASE_WAIT;
}

static bool pauses(const struct run_phase *p)
{
	return p->stw || waits(p);
}

static const struct run_phase *awaited(const struct look *look, const struct run_phase *own)
{
	const struct run_phase *found = NULL, *p;
	uint64_t most = 0;

	overlap_each(p, &look->overlap, own->t0, own->t1)
	{
		uint64_t t0 = p->t0 > own->t0 ? p->t0 : own->t0;
		uint64_t t1 = p->t1 < own->t1 ? p->t1 : own->t1;

		if (p->tgid != own->tgid || p->tid == own->tid || waits(p))
			continue;
		if (t1 > t0 && t1 - t0 > most) {
			most = t1 - t0;
			found = p;
		}
	}
	return found;
}

static void describe(const struct look *look, struct pause *pause)
{
	const struct run_phase *p = pause->phase;
	struct mean m = { 0 };
	const char *name = threads_name(look->threads, p->tgid, p->tid, p->t0);
	int cpu = p->cpu;

	if (waits(p)) {
		pause->awaited = awaited(look, p);
		cpu = pause->awaited ? pause->awaited->cpu : -1;
	}
	run_stretches(look->run, cpu, p->t0, p->t1, add_stretch, &m);
	pause->khz = m.ns > 0 ? m.weighted / m.ns : 0;
	pause->top_khz = cpu >= 0 && cpu < CPUS ? look->top_khz[cpu] : 0;
	snprintf(pause->comm, sizeof(pause->comm), "%s", name ? name : "");
	look_beside(look, pause);
}

double pause_at_top(const struct pause *p)
{
	return p->khz > 0 && p->top_khz ?
		       (double)(p->phase->t1 - p->phase->t0) / 1e6 * p->khz / p->top_khz :
		       NAN;
}

double pause_earlier(const struct pause *p)
{
	return p->awaited ? (double)(p->phase->t1 - p->phase->t0) / 1e6 : NAN;
}

static int by_length(const void *a, const void *b)
{
	const struct run_phase *x = ((const struct pause *)a)->phase;
	const struct run_phase *y = ((const struct pause *)b)->phase;
	uint64_t p = x->t1 - x->t0, q = y->t1 - y->t0;

	return p != q ? (p < q ? 1 : -1) : (x->t0 > y->t0) - (x->t0 < y->t0);
}

struct pauses_sum pauses_sum(const struct run *run)
{
	struct pauses_sum sum = { 0 };

	for (size_t i = 0; i < run->phases; i++) {
		uint64_t ns = run->phase[i].t1 - run->phase[i].t0;

		if (!run->phase[i].stw)
			continue;
		sum.count++;
		sum.paused += ns;
		sum.longest = ns > sum.longest ? ns : sum.longest;
	}
	return sum;
}

struct pause *pauses_longest(const struct run *run, size_t wanted, size_t *nr)
{
	struct look *look;
	struct pause *pause;
	size_t n = 0;

	*nr = 0;
	for (size_t i = 0; i < run->phases; i++)
		n += pauses(&run->phase[i]);
	pause = calloc(n + 1, sizeof(*pause));
	if (!pause) {
		db_missing(run->path, "no memory for its pauses");
		return NULL;
	}
	look = look_at(run);
	if (!look) {
		free(pause);
		return NULL;
	}
	n = 0;
	for (size_t i = 0; i < run->phases; i++)
		if (pauses(&run->phase[i]))
			pause[n++].phase = &run->phase[i];
	qsort(pause, n, sizeof(*pause), by_length);
	*nr = n < wanted ? n : wanted;
	for (size_t i = 0; i < *nr; i++)
		describe(look, &pause[i]);
	look_end(look);
	return pause;
}
