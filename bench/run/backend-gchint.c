// SPDX-License-Identifier: MIT
#include "run/run.h"

#include "lib/utilisation.h"
#include "run/watch.h"

#include <errno.h>
#include <gchint/gc-listener-gchint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS ((size_t)1 << 20)

_Static_assert((int)GC_PAUSE_COUNT == RUN_PAUSES, "names of pause classes");
_Static_assert((int)GC_CAUSE_COUNT == RUN_CAUSES, "names of causes");

/* Figures that the statistics listener lacks: the heap after each collection, remarks. */
struct ends {
	struct gc_listener base;
	double heap_sum, remark_ms, remark_max_ms;
	uint64_t cycles, remarks;
};

struct backend {
	struct gc_heap *heap;
	struct gc_listener_stats stats;
	struct ends ends;
	struct gc_listener_gchint gchint;
	struct gc_listener_chain chain, hinted;
	bool listening, hinting;
};

static void on_cycle_end(struct gc_listener *self, const struct gc_event *event)
{
	struct ends *ends = (struct ends *)self;

	ends->heap_sum += (double)event->heap_bytes;
	ends->cycles++;
}

static void on_remark_end(struct gc_listener *self, const struct gc_event *event)
{
	struct ends *ends = (struct ends *)self;
	double ms = (double)event->duration_ns / 1e6;

	ends->remark_ms += ms;
	ends->remark_max_ms = fmax(ends->remark_max_ms, ms);
	ends->remarks++;
}

/* Cycles end one at a time: no lock. */
static const struct gc_listener_ops ends_ops = {
	.cycle_end = on_cycle_end,
	.remark_end = on_remark_end,
};

static void close_listeners(struct backend *b)
{
	if (b->hinting)
		gc_listener_gchint_close(&b->gchint);
	if (b->listening)
		gc_listener_stats_fini(&b->stats);
}

static int backend_refuse(struct backend *b, struct run_result *r, int code, const char *text)
{
	snprintf(r->error, sizeof(r->error), "%s", text);
	r->code = code;
	if (b)
		close_listeners(b);
	free(b);
	return code;
}

/* The listener that @kind names, NULL for none. 0 or negative errno with @text. */
static int open_listener(struct backend *b, const char *kind, struct gc_listener **out,
			 const char **text)
{
	bool stats = !strcmp(kind, "stats") || !strcmp(kind, "all");
	bool hints = !strcmp(kind, "gchint") || !strcmp(kind, "all");
	int code;

	*text = "out of memory";
	*out = NULL;
	if (!stats && !hints && strcmp(kind, "null") && strcmp(kind, "none")) {
		*text = "listener: want all, gchint, none, null or stats";
		return -EINVAL;
	}
	if (!strcmp(kind, "null"))
		*out = &gc_listener_null;
	if (stats) {
		if (gc_listener_stats_init(&b->stats, RECORDS))
			return -ENOMEM;
		b->listening = true;
		b->ends.base.ops = &ends_ops;
		gc_listener_chain_init(&b->chain, &b->stats.base, &b->ends.base);
		*out = &b->chain.base;
	}
	if (!hints)
		return 0;
	*text = "libgchint refuses to open a session";
	code = gc_listener_gchint_open(&b->gchint, 0);
	if (code)
		return code;
	b->hinting = true;
	if (*out)
		gc_listener_chain_init(&b->hinted, &b->gchint.base, *out);
	*out = *out ? &b->hinted.base : &b->gchint.base;
	return 0;
}

int backend_open(struct backend **out, const struct run_request *q, struct run_result *r)
{
	struct backend *b = calloc(1, sizeof(*b));
	struct gc_listener *listener = NULL;
	struct gc_error err = { 0, "" };
	const char *text;
	int code;

	if (!b)
		return backend_refuse(b, r, -ENOMEM, "out of memory");
	code = open_listener(b, q->listener ? q->listener : "stats", &listener, &text);
	if (code)
		return backend_refuse(b, r, code, text);
	code = gc_heap_create(&b->heap, q->options, listener, &err);
	if (code)
		return backend_refuse(b, r, code, err.text);
	if (b->hinting)
		gc_frequency_source(b->heap, gc_listener_gchint_frequency, &b->gchint);
	snprintf(r->options, sizeof(r->options), "%s", gc_heap_options(b->heap));
	*out = b;
	return 0;
}

struct bench_heap *backend_heap(struct backend *b)
{
	return b->heap;
}

static void spread_fill(struct run_spread *out, const struct gc_histogram *h)
{
	out->count = h->count;
	out->total = (double)h->sum_ns / 1e6;
	if (!h->count)
		return;
	out->p50 = (double)gc_histogram_quantile(h, 0.5) / 1e6;
	out->p99 = (double)gc_histogram_quantile(h, 0.99) / 1e6;
	out->p999 = (double)gc_histogram_quantile(h, 0.999) / 1e6;
	out->max = (double)h->max_ns / 1e6;
}

/* Pauses of all classes together. */
static void spread_fill_all(struct run_spread *out, const struct gc_histogram *kind, int kinds)
{
	struct gc_histogram all = kind[0];

	for (int i = 1; i < kinds; i++) {
		all.count += kind[i].count;
		all.sum_ns += kind[i].sum_ns;
		all.max_ns = all.max_ns > kind[i].max_ns ? all.max_ns : kind[i].max_ns;
		for (int k = 0; k < GC_HIST_BUCKETS; k++)
			all.bucket[k] += kind[i].bucket[k];
	}
	spread_fill(out, &all);
}

/* Sort the pauses by thread. Threads that follow each other may reuse an address. */
static void utilisation_fill(struct backend *b, const struct backend_life *life, size_t lives,
			     struct run_result *r)
{
	struct span **pause = calloc(lives, sizeof(*pause));
	size_t *pauses = calloc(lives, sizeof(*pauses));

	if (!pause || !pauses)
		goto free_arrays;
	for (size_t i = 0; i < lives; i++) {
		size_t room = 0;

		for (size_t k = 0; k < b->stats.record_count; k++)
			room += b->stats.records[k].mutator == life[i].thread;
		pause[i] = malloc((room + 1) * sizeof(**pause));
		if (!pause[i])
			goto free_arrays;
		for (size_t k = 0; k < b->stats.record_count; k++) {
			const struct gc_pause_record *p = &b->stats.records[k];

			if (p->mutator == life[i].thread && (int64_t)p->end_ns >= life[i].begin &&
			    (int64_t)p->begin_ns <= life[i].end)
				pause[i][pauses[i]++] =
					(struct span){ (int64_t)p->begin_ns, (int64_t)p->end_ns };
		}
	}
	run_utilisation(r, life, lives, pause, pauses);
free_arrays:
	for (size_t i = 0; pause && i < lives; i++)
		free(pause[i]);
	free(pause);
	free(pauses);
}

void backend_results(struct backend *b, const struct backend_life *life, size_t lives,
		     struct run_result *r)
{
	gc_heap_stats(b->heap, &r->gc);
	r->collector = true;
	r->has_collections = true;
	r->collections = r->gc.cycles;
	for (int i = 0; i < RUN_CAUSES; i++)
		r->cause[i] = r->gc.by_cause[i];
	r->heap_bytes = r->gc.peak_footprint_bytes;
	r->gc_cpu_ms = (double)r->gc.gc_cpu_ns / 1e6;
	if (!b->listening)
		return;
	spread_fill(&r->stop, &b->stats.stw);
	spread_fill(&r->safepoint, &b->stats.ttsp);
	for (int i = 0; i < RUN_PAUSES; i++)
		spread_fill(&r->pause[i], &b->stats.pause[i]);
	spread_fill_all(&r->all_pauses, b->stats.pause, RUN_PAUSES);
	r->pauses_lost = b->stats.record_lost;
	r->mark_ms = (double)b->stats.phase_ns[GC_PHASE_MARK] / 1e6;
	r->remark_ms = b->ends.remark_ms;
	r->remark_max_ms = b->ends.remark_max_ms;
	r->remarks = b->ends.remarks;
	if (b->ends.cycles)
		r->heap_after = b->ends.heap_sum / (double)b->ends.cycles;
	utilisation_fill(b, life, lives, r);
}

void backend_close(struct backend *b)
{
	gc_heap_destroy(b->heap);
	close_listeners(b);
	free(b);
}

static void print_line(const char *text, void *arg)
{
	(void)arg;
	printf("  %s\n", text);
}

void backend_help(void)
{
	gc_options_help(print_line, NULL);
}
