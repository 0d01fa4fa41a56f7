// SPDX-License-Identifier: GPL-2.0-or-later
#include "pauses.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/text.h"
#include "db.h"

#define CPUS 1024

bool pauses_name(const struct run *run, int64_t tgid, int64_t tid, uint64_t t, char *buf,
		 size_t size)
{
	sqlite3_stmt *s =
		db_query(run->db, "SELECT comm FROM processes WHERE tgid = ?1 AND tid = ?2 "
				  "ORDER BY CASE WHEN t <= ?3 THEN ?3 - t ELSE t END LIMIT 1");
	bool found;

	if (s) {
		sqlite3_bind_int64(s, 1, tgid);
		sqlite3_bind_int64(s, 2, tid);
		sqlite3_bind_int64(s, 3, (int64_t)t);
	}
	found = db_next(s);
	snprintf(buf, size, "%s", found ? db_text(s, 0, "?") : "");
	sqlite3_finalize(s);
	return found;
}

/* The highest frequency that was recorded of a CPU's policy; 0 not known. */
static uint32_t highest(const struct run *run, int cpu)
{
	sqlite3_stmt *s =
		db_query(run->db, "SELECT replace(cpus, ' ', ','), hw_max_khz FROM policies");
	uint32_t khz = 0;
	uint8_t set[CPUS];

	while (db_next(s))
		if (cpu >= 0 && cpu < CPUS && text_cpulist(db_text(s, 0, ""), set, CPUS) > 0 &&
		    set[cpu])
			khz = db_u32(s, 1, 0);
	sqlite3_finalize(s);
	return khz;
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

static void look_beside(const struct run *run, struct pause *pause)
{
	const struct run_phase *own = pause->phase;
	bool seen[RUN_GROUPS] = { false };

	for (size_t i = 0; i < run->phases && pause->besides < PAUSE_BESIDE; i++) {
		const struct run_phase *p = &run->phase[i];

		if (p->t0 >= own->t1)
			break;
		if (p->t1 <= own->t0 || p->tid == own->tid || seen[p->group])
			continue;
		seen[p->group] = true;
		pause->beside[pause->besides++] = p->group;
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

static const struct run_phase *awaited(const struct run *run, const struct run_phase *own)
{
	const struct run_phase *found = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < run->phases && run->phase[i].t0 < own->t1; i++) {
		const struct run_phase *p = &run->phase[i];
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

static void describe(const struct run *run, struct pause *pause)
{
	const struct run_phase *p = pause->phase;
	struct mean m = { 0 };
	int cpu = p->cpu;

	if (waits(p)) {
		pause->awaited = awaited(run, p);
		cpu = pause->awaited ? pause->awaited->cpu : -1;
	}
	run_stretches(run, cpu, p->t0, p->t1, add_stretch, &m);
	pause->khz = m.ns > 0 ? m.weighted / m.ns : 0;
	pause->top_khz = highest(run, cpu);
	pauses_name(run, p->tgid, p->tid, p->t0, pause->comm, sizeof(pause->comm));
	look_beside(run, pause);
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
	struct pause *pause;
	size_t n = 0;

	for (size_t i = 0; i < run->phases; i++)
		n += pauses(&run->phase[i]);
	pause = calloc(n + 1, sizeof(*pause));
	*nr = 0;
	if (!pause) {
		db_missing(run->path, "no memory for its pauses");
		return NULL;
	}
	n = 0;
	for (size_t i = 0; i < run->phases; i++)
		if (pauses(&run->phase[i]))
			pause[n++].phase = &run->phase[i];
	qsort(pause, n, sizeof(*pause), by_length);
	*nr = n < wanted ? n : wanted;
	for (size_t i = 0; i < *nr; i++)
		describe(run, &pause[i]);
	return pause;
}
