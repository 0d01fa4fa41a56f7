// SPDX-License-Identifier: MIT
/*
 * A server under open-loop load: requests arrive independently of those before. Arrivals
 * are a Poisson process drawn once; threads take requests in their order, and a request
 * waits while no thread is free. A request reads some entries of a store that
 * stays live, replaces some, and computes. Its latency counts from its arrival.
 */
#include "lib/random.h"
#include "workloads/workload.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#define POLL_NS 200000

struct value {
	HEAP_HEADER
	struct value *next; /* the rest of a value of several parts */
	uint64_t key, word[6];
};

struct serve {
	const struct heap_type *value, *refs;
	uint64_t requests, entries, reads, writes, parts, work, seed;
	uintptr_t build, read, compute, write; /* methods */
	double rate; /* per second; 0: each begins when an earlier one ends */
	atomic_uint_least64_t next; /* the request to take */
	atomic_int building; /* threads that are still building their part of the store */
	atomic_int_least64_t start;
	int64_t arrival[]; /* ns since the start */
};

struct worker {
	struct serve *s;
	struct bench *b;
	struct heap_thread *t;
	struct {
		struct heap_frame head;
		struct heap_refs *store; /* this thread's part of it */
		struct value *first;
	} f;
	uint64_t entries;
	struct totals totals;
};

static const struct setting settings[] = {
	{ "entries", "40000", "values in the store, all threads together" },
	{ "parts", "2", "objects of a value" },
	{ "rate", "0",
	  "requests per second; 0: each begins when an earlier one ends, which measures capacity" },
	{ "reads", "16", "entries that a request reads" },
	{ "requests", "2000", "requests in all" },
	{ "seed", "1", "seed of arrivals and keys" },
	{ "threads", "2", "threads that serve; 0: as many as CPUs" },
	{ "work", "4000", "steps of computation per request" },
	{ "writes", "8", "entries that a request replaces" },
	{ NULL, NULL, NULL },
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t gap_ns(struct random *draw, double rate)
{
	/* random_unit() is below 1, so that the logarithm is of more than 0. */
	return rate > 0 ? (int64_t)(-log(1 - random_unit(draw)) / rate * 1e9) : 0;
}

static int read_settings(struct serve *s, const struct settings *from, struct settings_error *err)
{
	int code;

	if ((code = settings_size(from, "entries", 1, 1 << 24, &s->entries, err)) ||
	    (code = settings_size(from, "parts", 1, 1 << 10, &s->parts, err)) ||
	    (code = settings_real(from, "rate", 0, 1e6, &s->rate, err)) ||
	    (code = settings_size(from, "reads", 0, 1 << 20, &s->reads, err)) ||
	    (code = settings_size(from, "seed", 0, UINT32_MAX, &s->seed, err)) ||
	    (code = settings_size(from, "work", 0, UINT32_MAX, &s->work, err)))
		return code;
	return settings_size(from, "writes", 0, 1 << 20, &s->writes, err);
}

static int serve_prepare(struct bench *b, struct settings_error *err)
{
	const struct heap_kind value = {
		.name = "Value",
		.size = sizeof(struct value),
		.refs = HEAP_REF(struct value, next),
	};
	const struct heap_kind refs = HEAP_KIND_REFS("Object[]");
	struct random draw;
	struct serve *s;
	uint64_t requests;
	int64_t at = 0;
	int code;

	if ((code = workload_threads(b, err)) ||
	    (code = settings_size(&b->settings, "requests", 1, 1 << 24, &requests, err)))
		return code;

	s = calloc(1, sizeof(*s) + requests * sizeof(s->arrival[0]));
	b->state = s;
	if (!s)
		return -ENOMEM;
	s->requests = requests;
	code = read_settings(s, &b->settings, err);
	if (code)
		return code;
	if (s->entries < (uint64_t)b->threads)
		s->entries = (uint64_t)b->threads;
	random_seed(&draw, (int64_t)s->seed);
	for (uint64_t i = 0; i < requests; i++) {
		s->arrival[i] = at;
		at += gap_ns(&draw, s->rate);
	}
	s->build = workload_method("store (serve.c)");
	s->read = workload_method("read_entry (serve.c)");
	s->compute = workload_method("request_serve (serve.c)");
	s->write = workload_method("entry_replace (serve.c)");
	s->value = workload_type(b, &value, err);
	s->refs = workload_type(b, &refs, err);
	b->requests = calloc(requests, sizeof(*b->requests));
	b->request_count = requests;
	b->steps_total = requests;
	atomic_init(&s->building, b->threads);
	return s->value && s->refs && b->requests ? 0 : -ENOMEM;
}

/* Put a new value into @slot, in place of the old one. */
static int entry_replace(struct worker *w, uint64_t slot, uint64_t key)
{
	w->f.first = NULL;
	for (uint64_t part = 0; part < w->s->parts; part++) {
		struct value *v = HEAP_NEW(w->t, w->s->value, struct value);

		if (!v)
			return -ENOMEM;
		v->key = key;
		v->word[part % 6] = slot;
		heap_init(&v->next, w->f.first);
		w->f.first = v;
		totals_add(&w->totals, sizeof(*v));
	}
	heap_store(w->t, w->f.store, &w->f.store->ref[slot], w->f.first);
	return 0;
}

static int read_entry(struct worker *w, uint64_t slot, uint64_t *sum)
{
	uint64_t parts = 0;

	for (const struct value *v = w->f.store->ref[slot]; v; v = v->next, parts++) {
		if (v->word[(w->s->parts - 1 - parts) % 6] != slot)
			return -EILSEQ;
		*sum += v->key;
	}
	return parts == w->s->parts ? 0 : -EILSEQ;
}

/*
 * The random numbers of a request depend on the request alone, not on the thread or the time.
 * The part of the store that it reads depends on the thread, so values read from it are not
 * part of the checksum.
 */
static int request_serve(struct worker *w, uint64_t request)
{
	const struct serve *s = w->s;
	uintptr_t outer = gchint_method_enter(s->read);
	uint64_t seen = 0, sum = request;
	struct random draw;
	int code = 0;

	random_seed(&draw, (int64_t)(s->seed + request * 7919 + 1));
	for (uint64_t i = 0; !code && i < s->reads; i++)
		code = read_entry(w, (uint64_t)random_below(&draw, (int32_t)w->entries), &seen);
	gchint_method_enter(s->compute);
	for (uint64_t i = 0; i < s->work; i++)
		sum = sum * 6364136223846793005u + 1442695040888963407u;
	gchint_method_enter(s->write);
	for (uint64_t i = 0; !code && i < s->writes; i++)
		code = entry_replace(w, (uint64_t)random_below(&draw, (int32_t)w->entries),
				     request);
	gchint_method_leave(outer);
	w->totals.checksum += sum;
	return code;
}

static void wait_until(struct worker *w, int64_t ns)
{
	const struct timespec at = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	if (now_ns() >= ns)
		return;
	heap_park(w->t);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
	heap_unpark(w->t);
}

/* Requests begin when the whole store is built. */
static int64_t start_of(struct worker *w)
{
	struct serve *s = w->s;

	if (atomic_fetch_sub(&s->building, 1) == 1)
		atomic_store(&s->start, now_ns());
	while (!atomic_load(&s->start)) {
		wait_until(w, now_ns() + POLL_NS);
		heap_poll(w->t);
	}
	return atomic_load(&s->start);
}

static int run_requests(struct worker *w)
{
	struct serve *s = w->s;
	int64_t start = start_of(w);
	int code = 0;

	while (!code) {
		uint64_t i = atomic_fetch_add(&s->next, 1);
		struct request *r;

		if (i >= s->requests)
			return 0;
		r = &w->b->requests[i];
		if (s->rate > 0)
			wait_until(w, start + s->arrival[i]);
		r->start = s->rate > 0 ? start + s->arrival[i] : now_ns();
		code = request_serve(w, i);
		r->end = now_ns();
		heap_poll(w->t);
		bench_step(w->b);
	}
	return code;
}

static int serve_run(struct bench *b, struct heap_thread *t, int index)
{
	struct serve *s = b->state;
	struct worker w = { .s = s, .b = b, .t = t };
	uintptr_t outer;
	int code = 0;

	w.entries = s->entries / (uint64_t)b->threads;
	(void)index;
	HEAP_PUSH(t, w.f);
	w.f.store = heap_array(t, s->refs, (uint32_t)w.entries);
	if (!w.f.store)
		code = -ENOMEM;
	outer = gchint_method_enter(s->build);
	for (uint64_t i = 0; !code && i < w.entries; i++)
		code = entry_replace(&w, i, i);
	gchint_method_leave(outer);
	if (!code)
		code = run_requests(&w);
	for (uint64_t i = 0, sum = 0; !code && i < w.entries; i++)
		code = read_entry(&w, i, &sum);
	HEAP_POP(t, w.f);
	totals_merge(&w.totals, b);
	return code;
}

const struct workload workload_serve = {
	.name = "serve",
	.summary = "requests at a fixed rate on a store that stays live",
	.stresses = "request latency with a collector under open-loop load",
	.settings = settings,
	.prepare = serve_prepare,
	.run = serve_run,
};
