// SPDX-License-Identifier: GPL-2.0-or-later
#include "frequency.h"

#include <stdlib.h>

#include "db.h"
#include "memory.h"

/* No hardware has as many frequencies: a file with more was not written by gchintd. */
#define KHZS_MAX 65536

#define STEP(column) COLUMN(transitions, column)

static bool step_load(struct recording *rec, sqlite3_stmt *s)
{
	struct recording_cpu *c = rec->cpus ? &rec->cpu[rec->cpus - 1] : NULL;
	uint32_t cpu = db_u32(s, STEP(cpu), UINT32_MAX), khz = db_u32(s, STEP(khz), 0);
	int64_t t = db_int(s, STEP(t), -1);

	if (cpu == UINT32_MAX || t < 0) {
		rec->absurd++;
		return true;
	}
	/* A value of another type is left out; a row without one ends what was known. */
	if (!khz && sqlite3_column_type(s, STEP(khz)) != SQLITE_NULL &&
	    sqlite3_column_type(s, STEP(khz)) != SQLITE_INTEGER) {
		rec->absurd++;
		return true;
	}
	if (!khz && (!c || c->cpu != cpu || !c->step[c->nr - 1].khz))
		return true;
	if (!c || c->cpu != cpu) {
		if (!recording_grow(&rec->cpu, rec->cpus, sizeof(*c)))
			return recording_no_memory(rec);
		c = &rec->cpu[rec->cpus++];
		*c = (struct recording_cpu){ .cpu = cpu };
	}
	if (!recording_grow(&c->step, c->nr, sizeof(*c->step)))
		return recording_no_memory(rec);
	c->step[c->nr++] = (struct recording_step){ (uint64_t)t, khz };
	return true;
}

static bool steps_load(struct recording *rec)
{
	sqlite3_stmt *s =
		db_select(rec->db, transitions, "ORDER BY cpu, t", STEP(cpu), STEP(t), STEP(khz));
	bool good = s;

	while (good && db_next(s))
		good = step_load(rec, s);
	sqlite3_finalize(s);
	return good;
}

static int by_khz(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static size_t khz_index(const struct recording *rec, uint32_t khz)
{
	const uint32_t *at = bsearch(&khz, rec->khz, rec->khzs, sizeof(khz), by_khz);

	return (size_t)(at - rec->khz);
}

/* Collects the distinct frequencies of the steps that were loaded. */
static bool recording_collect_khz(struct recording *rec)
{
	size_t steps = 0;

	for (size_t i = 0; i < rec->cpus; i++)
		steps += rec->cpu[i].nr;
	rec->khz = malloc((steps ? steps : 1) * sizeof(*rec->khz));
	if (!rec->khz)
		return recording_no_memory(rec);
	for (size_t i = 0; i < rec->cpus; i++)
		for (size_t k = 0; k < rec->cpu[i].nr; k++)
			if (rec->cpu[i].step[k].khz)
				rec->khz[rec->khzs++] = rec->cpu[i].step[k].khz;
	qsort(rec->khz, rec->khzs, sizeof(*rec->khz), by_khz);
	steps = rec->khzs;
	rec->khzs = 0;
	for (size_t i = 0; i < steps; i++)
		if (!rec->khzs || rec->khz[rec->khzs - 1] != rec->khz[i])
			rec->khz[rec->khzs++] = rec->khz[i];
	if (rec->khzs <= KHZS_MAX)
		return true;
	db_missing(rec->path, "more frequencies than any machine has");
	return false;
}

static const struct recording_cpu *recording_find_cpu(const struct recording *rec, int cpu)
{
	size_t lo = 0, hi = rec->cpus;

	while (cpu >= 0 && lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (rec->cpu[mid].cpu == (uint32_t)cpu)
			return &rec->cpu[mid];
		if (rec->cpu[mid].cpu < (uint32_t)cpu)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* Index of the last step at or before @t; -1 if it is before the first. */
static ssize_t step_at(const struct recording_cpu *c, uint64_t t)
{
	size_t lo = 0, hi = c->nr;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (c->step[mid].t <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (ssize_t)lo - 1;
}

uint32_t recording_khz(const struct recording *rec, int cpu, uint64_t t)
{
	const struct recording_cpu *c = recording_find_cpu(rec, cpu);
	ssize_t i = c ? step_at(c, t) : -1;

	return i < 0 ? 0 : c->step[i].khz;
}

void recording_stretches(const struct recording *rec, int cpu, uint64_t t0, uint64_t t1,
			 void (*fn)(void *data, uint32_t khz, uint64_t ns), void *data)
{
	const struct recording_cpu *c = recording_find_cpu(rec, cpu);
	ssize_t i = c ? step_at(c, t0) : 0;

	for (i = i < 0 ? 0 : i; c && i < (ssize_t)c->nr && c->step[i].t < t1; i++) {
		uint64_t from = c->step[i].t > t0 ? c->step[i].t : t0;
		uint64_t to =
			i + 1 < (ssize_t)c->nr && c->step[i + 1].t < t1 ? c->step[i + 1].t : t1;

		if (to > from && c->step[i].khz)
			fn(data, c->step[i].khz, to - from);
	}
}

struct residency_group {
	struct recording *rec;
	unsigned int group;
};

static void residency_add(void *data, uint32_t khz, uint64_t ns)
{
	const struct residency_group *a = data;

	a->rec->residency[khz_index(a->rec, khz)][a->group] += ns;
}

static bool residency_compute(struct recording *rec)
{
	struct residency_group a = { rec, 0 };

	if (!recording_collect_khz(rec))
		return false;
	rec->residency = calloc(rec->khzs ? rec->khzs : 1, sizeof(*rec->residency));
	if (!rec->residency)
		return recording_no_memory(rec);
	for (size_t i = 0; i < rec->cpus; i++)
		recording_stretches(rec, (int)rec->cpu[i].cpu, rec->t0, rec->t1, residency_add, &a);
	for (size_t i = 0; i < rec->phases; i++) {
		const struct recording_phase *p = &rec->phase[i];

		a.group = p->group;
		recording_stretches(rec, p->cpu, p->t0, p->t1, residency_add, &a);
	}
	/*
	 * Time in phases is not outside of them. Phases of two threads may overlap on a CPU, so
	 * that the difference is limited to 0.
	 */
	for (size_t k = 0; k < rec->khzs; k++)
		for (unsigned int g = 1; g < PHASE_GROUPS; g++)
			rec->residency[k][0] -= rec->residency[k][g] < rec->residency[k][0] ?
							rec->residency[k][g] :
							rec->residency[k][0];
	return true;
}

bool frequencies_load(struct recording *rec)
{
	return steps_load(rec) && residency_compute(rec);
}
