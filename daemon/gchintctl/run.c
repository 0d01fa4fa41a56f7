// SPDX-License-Identifier: GPL-2.0-or-later
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/names.h"
#include "ctl.h"
#include "db.h"

uint16_t run_group(uint32_t phase, uint32_t flags)
{
	enum run_class c = flags & GCHINT_F_URGENT     ? CLASS_URGENT :
			   flags & GCHINT_F_STW	       ? CLASS_STW :
			   flags & GCHINT_F_FOREGROUND ? CLASS_FOREGROUND :
			   flags & GCHINT_F_CONCURRENT ? CLASS_CONCURRENT :
							 CLASS_NONE;

	if (phase >= GCHINT_PHASE_NR)
		phase = GCHINT_PHASE_COLLECT;
	return (uint16_t)(phase * CLASS_NR + c);
}

const char *run_group_name(unsigned int group, char *buf, size_t size)
{
	static const char *const classes[CLASS_NR] = { "", ", concurrent", ", foreground", ", stw",
						       ", urgent" };

	if (group < CLASS_NR)
		return "outside of phases";
	snprintf(buf, size, "%s%s", name_phase(group / CLASS_NR), classes[group % CLASS_NR]);
	return buf;
}

/* Room for one more; doubles. */
static void *grow(void *array, size_t nr, size_t size)
{
	if (nr && (nr & (nr - 1) || nr < 16))
		return array;
	return realloc(array, (nr ? nr * 2 : 16) * size);
}

static bool load_phases(struct run *run)
{
	sqlite3_stmt *s =
		db_query(run->db, "SELECT t0, t1, tgid, tid, phase, flags, cpu, uncertain "
				  "FROM phases ORDER BY t0");

	if (!s)
		return false;
	while (db_next(s)) {
		struct run_phase *more = grow(run->phase, run->phases, sizeof(*more)), *p;

		if (!more)
			break;
		run->phase = more;
		p = &run->phase[run->phases++];
		p->t0 = (uint64_t)db_int(s, 0, 0);
		p->t1 = (uint64_t)db_int(s, 1, 0);
		/* Still running when the recording ended. */
		if (!p->t1) {
			run->open++;
			p->t1 = run->t1 > p->t0 ? run->t1 : p->t0;
		}
		p->tgid = (int32_t)db_int(s, 2, 0);
		p->tid = (int32_t)db_int(s, 3, 0);
		p->group = run_group((uint32_t)db_int(s, 4, 0), (uint32_t)db_int(s, 5, 0));
		p->stw = db_int(s, 5, 0) & GCHINT_F_STW;
		p->cpu = (int16_t)db_int(s, 6, -1);
		run->uncertain += db_int(s, 7, 0) != 0;
	}
	sqlite3_finalize(s);
	return true;
}

static bool load_steps(struct run *run)
{
	sqlite3_stmt *s = db_query(run->db, "SELECT cpu, t, khz FROM transitions WHERE khz > 0 "
					    "ORDER BY cpu, t");
	struct run_cpu *c = NULL;

	if (!s)
		return false;
	while (db_next(s)) {
		uint32_t cpu = (uint32_t)db_int(s, 0, 0);
		struct run_step *more;

		if (!c || c->cpu != cpu) {
			struct run_cpu *all = realloc(run->cpu, (run->cpus + 1) * sizeof(*all));

			if (!all)
				break;
			run->cpu = all;
			c = &run->cpu[run->cpus++];
			*c = (struct run_cpu){ .cpu = cpu };
		}
		more = grow(c->step, c->nr, sizeof(*more));
		if (!more)
			break;
		c->step = more;
		c->step[c->nr++] =
			(struct run_step){ (uint64_t)db_int(s, 1, 0), (uint32_t)db_int(s, 2, 0) };
	}
	sqlite3_finalize(s);
	return true;
}

static bool load_rails(struct run *run)
{
	sqlite3_stmt *s = db_query(run->db, "SELECT id, name, label, kind, source, derived, "
					    "period_ns FROM rails ORDER BY id");

	if (!s)
		return false;
	while (db_next(s)) {
		struct run_rail *more = realloc(run->rail, (run->rails + 1) * sizeof(*more)), *r;

		if (!more)
			break;
		run->rail = more;
		r = &run->rail[run->rails++];
		memset(r, 0, sizeof(*r));
		r->id = db_int(s, 0, 0);
		snprintf(r->name, sizeof(r->name), "%s", db_text(s, 1, "?"));
		snprintf(r->label, sizeof(r->label), "%s", db_text(s, 2, ""));
		snprintf(r->kind, sizeof(r->kind), "%s", db_text(s, 3, ""));
		snprintf(r->source, sizeof(r->source), "%s", db_text(s, 4, ""));
		snprintf(r->derived, sizeof(r->derived), "%s", db_text(s, 5, ""));
		r->period_ns = (uint64_t)db_int(s, 6, 0);
	}
	sqlite3_finalize(s);
	return true;
}

static int by_khz(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static size_t khz_index(const struct run *run, uint32_t khz)
{
	const uint32_t *at = bsearch(&khz, run->khz, run->khzs, sizeof(khz), by_khz);

	return (size_t)(at - run->khz);
}

static void collect_khz(struct run *run)
{
	sqlite3_stmt *s = db_query(run->db, "SELECT DISTINCT khz FROM transitions WHERE khz > 0 "
					    "ORDER BY khz");

	while (db_next(s)) {
		uint32_t *more = realloc(run->khz, (run->khzs + 1) * sizeof(*more));

		if (!more)
			break;
		run->khz = more;
		run->khz[run->khzs++] = (uint32_t)db_int(s, 0, 0);
	}
	sqlite3_finalize(s);
}

static const struct run_cpu *cpu_of(const struct run *run, int cpu)
{
	for (size_t i = 0; i < run->cpus; i++)
		if ((int)run->cpu[i].cpu == cpu)
			return &run->cpu[i];
	return NULL;
}

/* Index of the last step at or before @t; -1 if it is before the first. */
static ssize_t step_at(const struct run_cpu *c, uint64_t t)
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

uint32_t run_khz(const struct run *run, int cpu, uint64_t t)
{
	const struct run_cpu *c = cpu_of(run, cpu);
	ssize_t i = c ? step_at(c, t) : -1;

	return i < 0 ? 0 : c->step[i].khz;
}

void run_stretches(const struct run *run, int cpu, uint64_t t0, uint64_t t1,
		   void (*fn)(void *data, uint32_t khz, uint64_t ns), void *data)
{
	const struct run_cpu *c = cpu_of(run, cpu);
	ssize_t i = c ? step_at(c, t0) : 0;

	for (i = i < 0 ? 0 : i; c && i < (ssize_t)c->nr && c->step[i].t < t1; i++) {
		uint64_t from = c->step[i].t > t0 ? c->step[i].t : t0;
		uint64_t to =
			i + 1 < (ssize_t)c->nr && c->step[i + 1].t < t1 ? c->step[i + 1].t : t1;

		if (to > from)
			fn(data, c->step[i].khz, to - from);
	}
}

struct adding {
	struct run *run;
	unsigned int group;
};

static void add_residency(void *data, uint32_t khz, uint64_t ns)
{
	const struct adding *a = data;

	a->run->residency[khz_index(a->run, khz)][a->group] += ns;
}

static void compute_residency(struct run *run)
{
	struct adding a = { run, 0 };

	collect_khz(run);
	run->residency = calloc(run->khzs ? run->khzs : 1, sizeof(*run->residency));
	if (!run->residency)
		return;
	for (size_t i = 0; i < run->cpus; i++)
		run_stretches(run, (int)run->cpu[i].cpu, run->t0, run->t1, add_residency, &a);
	for (size_t i = 0; i < run->phases; i++) {
		const struct run_phase *p = &run->phase[i];

		a.group = p->group;
		run_stretches(run, p->cpu, p->t0, p->t1, add_residency, &a);
	}
	/* What was in a phase was not outside; two threads may share a CPU. */
	for (size_t k = 0; k < run->khzs; k++)
		for (unsigned int g = 1; g < RUN_GROUPS; g++)
			run->residency[k][0] -= run->residency[k][g] < run->residency[k][0] ?
							run->residency[k][g] :
							run->residency[k][0];
}

static void name_run(struct run *run)
{
	sqlite3_stmt *s;

	if (db_meta(run->db, "label", run->label, sizeof(run->label)))
		return;
	s = db_query(run->db, "SELECT group_concat(governor, ', ') FROM (SELECT DISTINCT governor "
			      "FROM policy_states WHERE governor IS NOT NULL)");
	if (db_next(s))
		snprintf(run->label, sizeof(run->label), "%s", db_text(s, 0, run->path));
	sqlite3_finalize(s);
}

const char *run_rail_how(const struct run_rail *rail)
{
	return strncmp(rail->derived, "modelled", 8) ? "measured" : "modelled";
}

struct run *run_open(const char *path)
{
	struct run *run = calloc(1, sizeof(*run));

	if (!run)
		return NULL;
	run->path = path;
	run->db = db_open(path);
	if (!run->db)
		goto free_run;
	if (!db_span(run->db, &run->t0, &run->t1)) {
		ctl_error("%s: nothing is recorded in it yet", path);
		goto free_run;
	}
	if (!load_phases(run) || !load_steps(run) || !load_rails(run))
		goto free_run;
	compute_residency(run);
	name_run(run);
	return run;

free_run:
	run_close(run);
	return NULL;
}

void run_close(struct run *run)
{
	if (!run)
		return;
	for (size_t i = 0; i < run->cpus; i++)
		free(run->cpu[i].step);
	free(run->cpu);
	free(run->phase);
	free(run->rail);
	free(run->khz);
	free(run->residency);
	sqlite3_close(run->db);
	free(run);
}

static int by_length(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void run_lengths(const struct run *run, unsigned int group, struct run_lengths *l)
{
	uint64_t *length = malloc((run->phases ? run->phases : 1) * sizeof(*length));
	uint64_t known = 0;
	double weighted = 0;

	*l = (struct run_lengths){ 0 };
	if (!length)
		return;
	for (size_t i = 0; i < run->phases; i++)
		if (run->phase[i].group == group) {
			length[l->count] = run->phase[i].t1 - run->phase[i].t0;
			l->total += length[l->count++];
		}
	if (l->count) {
		qsort(length, l->count, sizeof(*length), by_length);
		l->mean = l->total / l->count;
		l->p50 = length[(l->count * 50 + 99) / 100 - 1];
		l->p95 = length[(l->count * 95 + 99) / 100 - 1];
		l->max = length[l->count - 1];
	}
	free(length);
	for (size_t k = 0; k < run->khzs; k++) {
		known += run->residency[k][group];
		weighted += (double)run->residency[k][group] * run->khz[k];
	}
	l->khz = known ? weighted / (double)known : 0;
}
