// SPDX-License-Identifier: MIT
/*
 * help.lock protects the list of helpers, the count of idle ones and the work that is handed
 * over. The collecting thread takes it with mutators.lock held; helpers hold no other lock.
 */
#define _GNU_SOURCE
#include "help.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "../heap/futex.h"
#include "../heap/heap.h"
#include "../heap/plan.h"
#include "../listener/phase.h"
#include "threads.h"

#define MOST   4 /* upper bound of workers= if it is not set */
#define BATCH  128 /* objects handed over at once */
#define SPINS  1000 /* polls for work, or for the end of other helpers, before the thread sleeps */
#define YIELDS 16

struct gc_help {
	pthread_mutex_t lock;
	unsigned int most; /* maximum of helpers, the collecting thread included */
	/* also read without the lock, to decide whether to take it */
	uint32_t calls, open, idle, pooled, done;
	uint32_t active; /* futex word */
	uint32_t bell, asleep; /* futex word: work was handed over, or all is done; its waiters */
	void (*loop)(struct gc_helper *k);
	void (*workers_call)(struct gc_workers *workers, unsigned int count);
	unsigned int workers_count;
	void *object[BATCH];
	size_t objects;
	struct gc_mark_part part;
	bool has_part;
	struct gc_helper helper[];
};

static uint32_t word_load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void word_store(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

unsigned int gc_workers_max(const struct gc_options *opt)
{
	cpu_set_t cpus;
	unsigned int n = 1;

	if (opt->workers)
		return (unsigned int)opt->workers;
	if (!sched_getaffinity(0, sizeof(cpus), &cpus))
		n = (unsigned int)CPU_COUNT(&cpus);
	return n > MOST ? MOST : n;
}

int gc_help_init(struct gc_heap *heap)
{
	unsigned int most = gc_workers_max(&heap->opt);
	struct gc_help *h;
	size_t bytes = sizeof(*h) + most * sizeof(h->helper[0]);

	if (most < 2 || (!heap->opt.help && !heap->plan->reserve))
		return 0;
	h = aligned_alloc(64, gc_align(bytes, 64));
	if (!h)
		return -ENOMEM;
	memset(h, 0, bytes);
	heap->help = h;
	pthread_mutex_init(&h->lock, NULL);
	for (; h->most < most; h->most++) {
		struct gc_helper *k = &h->helper[h->most];

		k->mark.heap = heap;
		k->mark.mode = GC_MARK_SHARED;
		k->first = !h->most;
		k->mark.stack = k->first ? &heap->stack : &k->own;
		if (!k->first &&
		    gc_mark_stack_init(&k->own, (size_t)heap->opt.markstack, GC_OVERFLOW_GROW, 0))
			return -ENOMEM;
	}
	return 0;
}

void gc_help_fini(struct gc_heap *heap)
{
	struct gc_help *h = heap->help;

	if (!h)
		return;
	for (unsigned int i = 1; i < h->most; i++)
		gc_mark_stack_fini(&h->helper[i].own);
	pthread_mutex_destroy(&h->lock);
	free(h);
	heap->help = NULL;
}

void gc_help_set_workers(struct gc_heap *heap,
			 void (*call)(struct gc_workers *workers, unsigned int count),
			 unsigned int count)
{
	heap->help->workers_call = call;
	heap->help->workers_count = count;
}

size_t gc_help_stack_bytes(const struct gc_heap *heap)
{
	const struct gc_help *h = heap->help;
	size_t bytes = h ? sizeof(h->object) : 0;

	/* Atomic: a stack may grow concurrently. */
	for (unsigned int i = 1; h && i < h->most; i++)
		bytes += __atomic_load_n(&h->helper[i].own.mapped, __ATOMIC_RELAXED);
	return bytes;
}

void gc_help_lock(struct gc_heap *heap)
{
	pthread_mutex_lock(&heap->help->lock);
}

void gc_help_unlock(struct gc_heap *heap)
{
	pthread_mutex_unlock(&heap->help->lock);
}

bool gc_help_called(const struct gc_heap *heap, uint32_t *seen)
{
	const struct gc_help *h = heap->help;
	uint32_t calls;

	if (!h || !word_load(&h->open))
		return false;
	calls = word_load(&h->calls);
	if (calls == *seen)
		return false;
	*seen = calls;
	return true;
}

/* Wait until all helpers have left, which is soon: they find no more work at the same time. */
static void await_others(struct gc_help *h)
{
	uint32_t active;

	for (unsigned int round = 0; (active = word_load(&h->active)) > 1;)
		if (round++ < SPINS)
			gc_relax();
		else
			gc_futex_wait(&h->active, active);
}

bool gc_help_share(struct gc_heap *heap, void (*loop)(struct gc_helper *k))
{
	struct gc_help *h = heap->help;
	struct gc_helper *first = &h->helper[0];
	unsigned int waiting = heap->opt.help ? gc_threads_wait(heap) : 0, workers = 0;

	if (waiting < h->most - 1) {
		workers = h->most - 1 - waiting;
		if (workers > h->workers_count)
			workers = h->workers_count;
	}
	if (!waiting && !workers)
		return false;
	pthread_mutex_lock(&h->lock);
	for (unsigned int i = 0; i < h->most; i++) {
		struct gc_helper *k = &h->helper[i];

		gc_marker_reset(&k->mark);
		k->reported = 0;
		k->busy = k->mutator = false;
	}
	first->busy = true;
	h->loop = loop;
	word_store(&h->active, 1);
	word_store(&h->idle, 0);
	word_store(&h->done, 0);
	word_store(&h->calls, h->calls + 1);
	word_store(&h->open, 1);
	pthread_mutex_unlock(&h->lock);
	if (waiting)
		gc_threads_call(heap, h->most - 1);
	if (workers)
		h->workers_call(heap->workers, workers);
	gc_stress_sleep(heap);
	loop(first);
	await_others(h);
	return true;
}

struct gc_helper *gc_help_place(struct gc_heap *heap, unsigned int place)
{
	return &heap->help->helper[place];
}

unsigned int gc_help_index(const struct gc_helper *k)
{
	return (unsigned int)(k - k->mark.heap->help->helper);
}

struct gc_helper *gc_help_next(struct gc_heap *heap, struct gc_helper *k)
{
	struct gc_help *h = heap->help;

	for (k = k ? k + 1 : h->helper; k < h->helper + h->most; k++)
		if (k->busy)
			return k;
	return NULL;
}

uint64_t gc_help_reported(const struct gc_heap *heap)
{
	const struct gc_help *h = heap->help;
	uint64_t bytes = 0;

	for (unsigned int i = 1; i < h->most; i++)
		bytes += gc_load(&h->helper[i].reported);
	return bytes;
}

/* Take a free place; NULL: there is none, or no work is left. */
static struct gc_helper *helper_enter(struct gc_help *h, bool mutator)
{
	struct gc_helper *k = NULL;

	pthread_mutex_lock(&h->lock);
	for (unsigned int i = 1; h->open && !k && i < h->most; i++)
		if (!h->helper[i].busy)
			k = &h->helper[i];
	if (k) {
		k->busy = true;
		k->mutator = mutator;
		word_store(&h->active, h->active + 1);
	}
	pthread_mutex_unlock(&h->lock);
	return k;
}

void gc_help_join(struct gc_heap *heap, struct gc_thread *t)
{
	struct gc_help *h = heap->help;
	struct gc_helper *k = helper_enter(h, t != NULL);
	uint64_t cpu, begin;

	if (!k)
		return;
	cpu = gc_cpu_now();
	if (t)
		gc_phase_help(t, true, &begin);
	h->loop(k);
	if (t)
		gc_phase_help(t, false, &begin);
	gc_count(&heap->stats.gc_cpu_ns, gc_cpu_now() - cpu);
	/* The place stays taken, so that its counters are not reused before they are merged. */
	if (__atomic_sub_fetch(&h->active, 1, __ATOMIC_SEQ_CST) == 1)
		gc_futex_wake(&h->active, 1);
}

/* Wake up to @most helpers: work was handed over, or all is done. */
static void bell_ring(struct gc_help *h, int most)
{
	__atomic_fetch_add(&h->bell, 1, __ATOMIC_SEQ_CST);
	if (word_load(&h->asleep))
		gc_futex_wake(&h->bell, most);
}

/* Hand over the older half of the stack, which leads to more work. The caller holds the lock. */
static void pool_put_objects(struct gc_help *h, struct gc_mark_stack *s, size_t n)
{
	if (n > BATCH)
		n = BATCH;
	memcpy(h->object, s->base, n * sizeof(void *));
	h->objects = n;
	memmove(s->base, s->base + n, (size_t)(s->top - s->base - (ptrdiff_t)n) * sizeof(void *));
	s->top -= n;
}

/* Hand over half of the rest of an array. The caller holds the lock. */
static void pool_put_part(struct gc_help *h, struct gc_mark_part *p)
{
	uint32_t half = p->next + (p->end - p->next) / 2;

	h->part = (struct gc_mark_part){ p->array, half, p->end };
	h->has_part = true;
	p->end = half;
}

void gc_help_give(struct gc_helper *k)
{
	struct gc_mark_stack *s = k->mark.stack;
	struct gc_help *h = k->mark.heap->help;
	struct gc_mark_part *p = s->parts ? &s->part[s->parts - 1] : NULL;
	size_t n = (size_t)(s->top - s->base) / 2;

	if (likely(!__atomic_load_n(&h->idle, __ATOMIC_RELAXED)) || word_load(&h->pooled))
		return;
	if (p && p->end - p->next < 2)
		p = NULL;
	if (!n && !p)
		return;
	pthread_mutex_lock(&h->lock);
	if (!h->pooled) {
		if (n)
			pool_put_objects(h, s, n);
		if (p)
			pool_put_part(h, p);
		word_store(&h->pooled, 1);
	}
	pthread_mutex_unlock(&h->lock);
	bell_ring(h, 1);
}

/* Take the work that was handed over, if any. The caller holds the lock. */
static bool pool_take(struct gc_helper *k)
{
	struct gc_help *h = k->mark.heap->help;
	struct gc_mark_stack *s = k->mark.stack;

	if (!h->pooled)
		return false;
	for (size_t i = 0; GC_NEEDED(8) && i < h->objects; i++) {
		if (s->top < s->limit)
			*s->top++ = h->object[i];
		else
			gc_mark_stack_full(k->mark.heap, s, h->object[i]);
	}
	/* There is room for the part: this helper ran out of its own. */
	if (h->has_part)
		s->part[s->parts++] = h->part;
	h->objects = 0;
	h->has_part = false;
	word_store(&h->pooled, 0);
	return true;
}

/* Wait until work is handed over or all is done: spin first, then yield, then sleep. */
static void await_work(struct gc_help *h)
{
	for (unsigned int round = 0; !word_load(&h->pooled) && !word_load(&h->done); round++) {
		uint32_t seen;

		if (round < SPINS) {
			gc_relax();
			continue;
		}
		if (round < SPINS + YIELDS) {
			sched_yield();
			continue;
		}
		/* A ring after this read sees asleep > 0, or changes the bell: none is missed. */
		__atomic_fetch_add(&h->asleep, 1, __ATOMIC_SEQ_CST);
		seen = word_load(&h->bell);
		if (!word_load(&h->pooled) && !word_load(&h->done))
			gc_futex_wait(&h->bell, seen);
		__atomic_fetch_sub(&h->asleep, 1, __ATOMIC_SEQ_CST);
	}
}

bool gc_help_more(struct gc_helper *k)
{
	struct gc_help *h = k->mark.heap->help;
	bool got;

	pthread_mutex_lock(&h->lock);
	got = pool_take(k);
	if (!got) {
		word_store(&h->idle, h->idle + 1);
		while (!got) {
			if (h->idle == word_load(&h->active) && !h->done) {
				/* All helpers are idle, so there will be no more work. */
				word_store(&h->open, 0);
				word_store(&h->done, 1);
				bell_ring(h, INT32_MAX);
			}
			if (h->done)
				break;
			pthread_mutex_unlock(&h->lock);
			await_work(h);
			pthread_mutex_lock(&h->lock);
			got = pool_take(k);
		}
		if (got)
			word_store(&h->idle, h->idle - 1);
	}
	pthread_mutex_unlock(&h->lock);
	return got;
}
