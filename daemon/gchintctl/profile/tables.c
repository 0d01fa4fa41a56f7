// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../recording/reader/db.h"
#include "../ctl.h"
#include "profile.h"
#include "sample-energy.h"

/* Samples with the same key: up to three numbers, unused ones 0. */
struct row {
	uint32_t key[3];
	size_t n;
	size_t interval; /* the last interval between readings with such a sample, from 1 */
	double joules, low, high;
};

struct table {
	struct row *row;
	size_t rows;
	size_t *slot; /* index of the row of each sample */
};

static int by_key(const void *a, const void *b)
{
	return memcmp(((const struct row *)a)->key, ((const struct row *)b)->key,
		      sizeof(((const struct row *)a)->key));
}

static int by_count(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? 1 : -1) : by_key(a, b);
}

typedef void (*key_fn)(const struct profile_sample *s, uint32_t *key);

static void by_place(const struct profile_sample *s, uint32_t *key)
{
	key[0] = s->image;
	key[1] = s->symbol;
}

static void by_image(const struct profile_sample *s, uint32_t *key)
{
	key[0] = s->image;
}

static void by_method(const struct profile_sample *s, uint32_t *key)
{
	key[0] = s->method;
}

/* The second key is 0 if the phase is not known. */
static void by_all(const struct profile_sample *s, uint32_t *key)
{
	key[0] = s->method;
	key[1] = s->answered ? s->group + 1u : 0;
	key[2] = s->khz;
}

/* Fills the table, sorted by key. Returns false without memory. */
static bool table_count(const struct profile *p, key_fn fn, struct table *t)
{
	*t = (struct table){ calloc(p->samples, sizeof(*t->row)), 0,
			     calloc(p->samples, sizeof(*t->slot)) };
	if (!t->row || !t->slot) {
		db_missing(p->rec->path, "no memory for a table");
		return false;
	}
	for (size_t i = 0; i < p->samples; i++) {
		fn(&p->sample[i], t->row[i].key);
		t->row[i].n = 1;
	}
	qsort(t->row, p->samples, sizeof(*t->row), by_key);
	for (size_t i = 0; i < p->samples; i++)
		if (t->rows && !by_key(&t->row[t->rows - 1], &t->row[i]))
			t->row[t->rows - 1].n++;
		else
			t->row[t->rows++] = t->row[i];
	for (size_t i = 0; i < p->samples; i++) {
		struct row key = { 0 };

		fn(&p->sample[i], key.key);
		t->slot[i] =
			(size_t)((struct row *)bsearch(&key, t->row, t->rows, sizeof(key), by_key) -
				 t->row);
	}
	return true;
}

static void table_free(struct table *t)
{
	free(t->row);
	free(t->slot);
}

static void table_add_energy(const struct profile *p, const struct profile_energy *e,
			     struct table *t)
{
	for (size_t k = 0; k < p->samples; k++) {
		struct row *row = &t->row[t->slot[k]];

		if (!e->interval[k])
			continue;
		row->joules += e->joules[k];
		if (row->interval != e->interval[k])
			row->high += e->most[e->interval[k]];
		row->interval = e->interval[k];
	}
}

/* Says how many samples got their energy by CPU time and its weight, and how many by time. */
static void energy_print_spread(const struct profile_energy *e)
{
	static const char *const weights[] = { "weighed by the power of each frequency",
					       "weighed by frequency", "not weighed" };
	static const char *const lacks[PROFILE_LACKS] = {
		[PROFILE_LACK_FREQUENCY] = "the frequency of a CPU",
		[PROFILE_LACK_IDLE] = "idle states of a CPU",
	};
	size_t by_time = 0;

	for (int i = 0; i < PROFILE_LACKS; i++)
		by_time += e->lack[i];
	if (e->weighed)
		printf("%zu samples: attributed by CPU time, %s; %.3f J idle and shared are left "
		       "out\n",
		       e->weighed, weights[e->weight], e->idle_joules);
	if (!by_time)
		return;
	printf("%zu samples: shares of all of the energy by time alone, because these are not "
	       "known:",
	       by_time);
	for (int i = 0; i < PROFILE_LACKS; i++)
		if (e->lack[i])
			printf(" %s (%zu)", lacks[i], e->lack[i]);
	putchar('\n');
}

static void row_print_energy(const struct row *row, bool have)
{
	/* Samples outside of all readings have an unknown energy, not 0. */
	if (!have || !row->interval || isnan(row->joules))
		printf(" %9s %17s", "?", "");
	else if (isinf(row->high))
		printf(" %9.3f %17s", row->joules, "no bound");
	else
		printf(" %9.3f %8.3f..%-7.3f", row->joules, row->low, row->high);
}

static double percent_of(size_t n, size_t of)
{
	return 100.0 * (double)n / (double)of;
}

/* Less than this of the difference is the resolution of the kernel's account. */
#define UNSAMPLED_S	  0.1
#define UNSAMPLED_PERCENT 5

/* How much of the programs' CPU time has no sample: a profile of the rest may be another one. */
static void summary_print_unsampled(const struct profile *p)
{
	char cpu[24], samples[24];
	double all, sampled;

	if (!db_meta(p->rec->db, "hotspots.cpu_ns", cpu, sizeof(cpu)) ||
	    !db_meta(p->rec->db, "hotspots.samples", samples, sizeof(samples)))
		return;
	all = strtod(cpu, NULL) * 1e-9;
	sampled = strtod(samples, NULL) * p->seconds;
	if (all - sampled < UNSAMPLED_S || (all - sampled) * 100 < UNSAMPLED_PERCENT * all)
		return;
	printf("only %.3f s of the programs' %.3f s of CPU time were sampled (%.0f %%): threads "
	       "that live for less than about 20 ms, or could not be sampled, are missing\n",
	       sampled, all, 100 * sampled / all);
}

static void summary_print(const struct profile *p)
{
	size_t answered = 0, named = 0, kernel = 0;
	int64_t lost = 0;

	for (size_t i = 0; i < p->samples; i++) {
		answered += p->sample[i].answered;
		named += p->sample[i].method >= PROFILE_FIRST;
		kernel += p->sample[i].kernel;
	}
	printf("%zu samples", p->samples);
	if (p->samples != p->all)
		printf(" of %zu", p->all);
	printf(" by %s, %.3f s of CPU time; %.1f %% in a method that was named\n", p->event,
	       (double)p->samples * p->seconds, percent_of(named, p->samples));
	summary_print_unsampled(p);
	if (!answered)
		puts("no thread reported its method or phase: the program has no adapter, or it "
		     "uses SIGURG itself and the kernel reader is not permitted");
	else if (answered == p->taken)
		puts("no thread reported its method: the program is seen by probes, or it uses "
		     "SIGURG itself and the kernel reader is not permitted; phases are those that "
		     "were recorded");
	else if (answered < p->samples)
		printf("%.1f %% without an answer of their thread: method and phase are not "
		       "known\n",
		       percent_of(p->samples - answered, p->samples));
	if (answered > p->derived + p->taken && !named)
		puts("no adapter named a method: gchintctl runtimes lists what each one sees");
	if (p->derived)
		printf("%zu samples of collector threads: their phase is what the collector's "
		       "coordinator announced\n",
		       p->derived);
	if (!strcmp(p->event, "cpu-timer"))
		puts("neither callers nor the kernel's code: perf events were refused "
		     "(root, or kernel.perf_event_paranoid 2, has both)");
	else if (!strcmp(p->in_kernel, "yes"))
		printf("%.1f %% in the kernel\n", percent_of(kernel, p->samples));
	else
		puts("time in the kernel was not sampled: kernel.perf_event_paranoid forbids it");
	db_number(p->rec->db,
		  "SELECT sum(count) FROM drops WHERE source IN ('hotspots', 'library', 'record')",
		  0, &lost);
	if (lost > 0)
		printf("%lld samples, answers or names were lost\n", (long long)lost);
}

static void table_print_rest(const struct table *t, size_t lines)
{
	if (t->rows > lines)
		printf("  ... and %zu more: --lines\n", t->rows - lines);
}

/* Why places have no symbol. */
static void table_print_unnamed(const struct table *t)
{
	size_t files = 0, nowhere = 0;

	for (size_t i = 0; i < t->rows; i++)
		if (t->row[i].key[1] == PROFILE_UNKNOWN) {
			const bool known = t->row[i].key[0] != PROFILE_UNKNOWN;

			*(known ? &files : &nowhere) += t->row[i].n;
		}
	if (files)
		printf("%zu sample%s with an image but no symbol: the file has none there, mostly "
		       "because it is stripped; debug symbols that are installed before recording "
		       "name them\n",
		       files, files == 1 ? "" : "s");
	if (nowhere)
		printf("%zu sample%s without an image: no known mapping had the address, or it was "
		       "not sampled\n",
		       nowhere, nowhere == 1 ? "" : "s");
}

static bool table_print_places(const struct profile *p, size_t lines)
{
	struct table t;
	bool good = table_count(p, by_image, &t);

	if (good) {
		qsort(t.row, t.rows, sizeof(*t.row), by_count);
		puts("\nBy image\n samples      %  image");
		for (size_t i = 0; i < t.rows && i < lines; i++)
			printf("%8zu %6.2f  %s\n", t.row[i].n, percent_of(t.row[i].n, p->samples),
			       p->name[t.row[i].key[0]]);
		table_print_rest(&t, lines);
	}
	table_free(&t);
	good = good && table_count(p, by_place, &t);
	if (good) {
		qsort(t.row, t.rows, sizeof(*t.row), by_count);
		puts("\nBy image and symbol\n samples      %  image                symbol");
		for (size_t i = 0; i < t.rows && i < lines; i++)
			printf("%8zu %6.2f  %-20s %s\n", t.row[i].n,
			       percent_of(t.row[i].n, p->samples), p->name[t.row[i].key[0]],
			       p->name[t.row[i].key[1]]);
		table_print_rest(&t, lines);
		table_print_unnamed(&t);
		table_free(&t);
	}
	return good;
}

static bool table_print_methods(const struct profile *p, size_t lines)
{
	struct table t;
	bool good = table_count(p, by_method, &t);

	if (good) {
		qsort(t.row, t.rows, sizeof(*t.row), by_count);
		puts("\nBy method, with the native code that it called\n samples      %  method");
		for (size_t i = 0; i < t.rows && i < lines; i++)
			printf("%8zu %6.2f  %s\n", t.row[i].n, percent_of(t.row[i].n, p->samples),
			       p->name[t.row[i].key[0]]);
		table_print_rest(&t, lines);
	}
	table_free(&t);
	return good;
}

static bool table_print_energy(const struct profile *p, size_t lines)
{
	struct profile_energy e = { 0 };
	struct table t = { 0 };
	bool good = profile_energy(p, &e) && table_count(p, by_all, &t);
	char name[64];

	if (good) {
		if (e.how)
			table_add_energy(p, &e, &t);
		qsort(t.row, t.rows, sizeof(*t.row), by_count);
		if (e.how)
			printf("\nBy method, phase and frequency; energy %s, %s %s\n", e.how,
			       e.rail ? "rail" : "by", e.what);
		else
			puts("\nBy method, phase and frequency; no rail: energy is not known");
		energy_print_spread(&e);
		puts(" samples      %     MHz         J       at least..most  phase                "
		     " "
		     "method");
		for (size_t i = 0; i < t.rows && i < lines; i++) {
			const struct row *row = &t.row[i];

			printf("%8zu %6.2f ", row->n, percent_of(row->n, p->samples));
			if (row->key[2])
				printf("%7u", row->key[2] / 1000);
			else
				printf("%7s", "?");
			row_print_energy(row, e.how);
			printf("  %-20s  %s\n",
			       row->key[1] ? phase_group_name(row->key[1] - 1, name, sizeof(name)) :
					     "?",
			       p->name[row->key[0]]);
		}
		table_print_rest(&t, lines);
	}
	table_free(&t);
	profile_energy_free(&e);
	return good;
}

int profile_report(const struct profile *p, size_t lines)
{
	summary_print(p);
	return table_print_places(p, lines) && table_print_methods(p, lines) &&
			       table_print_energy(p, lines) ?
		       CTL_OK :
		       CTL_FAILED;
}
