// SPDX-License-Identifier: MIT
/*
 * The crew: threads that help the collecting one to copy. They come when they are called
 * and there is still something to do; nobody waits for one that the system did not run.
 * crew.lock serialises the pool of shared work, who is active and who has nothing to do.
 */
#define _GNU_SOURCE
#include "copy.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "../space/blocks.h"
#include "help.h"
#include "plan.h"

#define BATCH 128 /* objects handed over at once */
#define SPINS 64
#define PIECE GC_CHUNK
#define SMALL (PIECE / 16) /* a piece with less left is given up for a new one */

struct gc_crew {
	struct gc_heap *heap;
	pthread_mutex_t lock;
	pthread_cond_t call, left;
	unsigned int workers; /* the collecting thread included */
	uint64_t calls;
	bool open, quit;
	unsigned int active;
	unsigned int idle, pooled; /* also read without the lock, to see whether to take it */
	uint32_t done;
	void (*loop)(struct gc_copier *c);
	struct gc_vector pool;
	struct gc_hand {
		pthread_t thread;
		struct gc_crew *crew;
		struct gc_copier *copier;
	} hand[];
};

static unsigned int load(const unsigned int *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

bool gc_copy_shared(const struct gc_heap *heap)
{
	return heap->crew->workers > 1;
}

struct gc_copier *gc_copy_first(struct gc_heap *heap)
{
	return heap->crew->hand[0].copier;
}

static void *helper_main(void *arg)
{
	struct gc_hand *self = arg;
	struct gc_crew *crew = self->crew;
	uint64_t seen = 0;

	pthread_mutex_lock(&crew->lock);
	while (!crew->quit) {
		uint64_t cpu;

		if (seen == crew->calls || !crew->open) {
			seen = crew->calls;
			pthread_cond_wait(&crew->call, &crew->lock);
			continue;
		}
		seen = crew->calls;
		crew->active++;
		pthread_mutex_unlock(&crew->lock);
		cpu = gc_cpu_now();
		crew->loop(self->copier);
		gc_count(&crew->heap->stats.gc_cpu_ns, gc_cpu_now() - cpu);
		pthread_mutex_lock(&crew->lock);
		crew->active--;
		pthread_cond_signal(&crew->left);
	}
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

static int start(struct gc_crew *crew, unsigned int i)
{
	struct gc_hand *h = &crew->hand[i];
	struct gc_heap *heap = crew->heap;
	struct gc_copier *c = h->copier = calloc(1, sizeof(*c));

	h->crew = crew;
	if (!c)
		return -ENOMEM;
	c->heap = c->own.heap = heap;
	c->crew = crew;
	c->first = !i;
	c->rng = i ? &c->own_rng : &heap->rng;
	c->own_rng = (uint64_t)heap->opt.seed + i;
	c->stack = i ? &c->own_stack : &heap->stack;
	if (!i)
		return 0;
	if (gc_mark_stack_init(c->stack, (size_t)heap->opt.markstack, GC_OVERFLOW_GROW, 0) ||
	    pthread_create(&h->thread, NULL, helper_main, h)) {
		gc_mark_stack_fini(c->stack);
		free(c);
		h->copier = NULL;
		return -EAGAIN;
	}
	pthread_setname_np(h->thread, "gc-worker");
	return 0;
}

int gc_crew_init(struct gc_heap *heap)
{
	unsigned int workers = gc_workers(&heap->opt);
	struct gc_crew *crew = calloc(1, sizeof(*crew) + workers * sizeof(crew->hand[0]));
	int ret = 0;

	if (!crew)
		return -ENOMEM;
	heap->crew = crew;
	crew->heap = heap;
	pthread_mutex_init(&crew->lock, NULL);
	pthread_cond_init(&crew->call, NULL);
	pthread_cond_init(&crew->left, NULL);
	for (; crew->workers < workers && !ret; crew->workers += !ret)
		ret = start(crew, crew->workers);
	/* Fewer helpers than hoped for are no fault; the first copier is no thread. */
	return crew->workers ? 0 : ret;
}

void gc_crew_fini(struct gc_heap *heap)
{
	struct gc_crew *crew = heap->crew;

	if (!crew)
		return;
	pthread_mutex_lock(&crew->lock);
	crew->quit = true;
	pthread_cond_broadcast(&crew->call);
	pthread_mutex_unlock(&crew->lock);
	for (unsigned int i = 0; i < crew->workers; i++) {
		struct gc_copier *c = crew->hand[i].copier;

		if (i) {
			pthread_join(crew->hand[i].thread, NULL);
			gc_mark_stack_fini(c->stack);
		}
		free(c);
	}
	pthread_mutex_destroy(&crew->lock);
	pthread_cond_destroy(&crew->call);
	pthread_cond_destroy(&crew->left);
	free(crew->pool.items);
	free(crew);
	heap->crew = NULL;
}

size_t gc_crew_stack_bytes(const struct gc_heap *heap)
{
	size_t bytes = 0;

	for (unsigned int i = 1; heap->crew && i < heap->crew->workers; i++)
		bytes += heap->crew->hand[i].copier->stack->mapped;
	return bytes;
}

void gc_copy_begin(struct gc_heap *heap)
{
	struct gc_crew *crew = heap->crew;
	struct gc_bump *b = heap->bump;

	for (unsigned int i = 0; i < crew->workers; i++) {
		struct gc_copier *c = crew->hand[i].copier;

		c->from = b->start[b->now];
		c->into = b->start[!b->now];
		c->span = b->span;
		c->at = c->limit = 0;
		c->young = false;
		c->objects = c->bytes = c->old_bytes = c->promoted_bytes = c->promoted = 0;
	}
}

void gc_copy_share(struct gc_heap *heap, void (*loop)(struct gc_copier *c))
{
	struct gc_crew *crew = heap->crew;

	pthread_mutex_lock(&crew->lock);
	crew->loop = loop;
	crew->open = true;
	crew->active = 1;
	crew->idle = 0;
	__atomic_store_n(&crew->done, 0, __ATOMIC_RELAXED);
	crew->calls++;
	pthread_cond_broadcast(&crew->call);
	pthread_mutex_unlock(&crew->lock);
	loop(gc_copy_first(heap));
	pthread_mutex_lock(&crew->lock);
	while (crew->active > 1)
		pthread_cond_wait(&crew->left, &crew->lock);
	pthread_mutex_unlock(&crew->lock);
}

/* What is left of a piece reads as a hole. */
static void give_up(struct gc_copier *c)
{
	struct gc_bump *b = c->heap->bump;
	uintptr_t limit = c->limit;

	if (!__atomic_compare_exchange_n(&b->to, &limit, c->at, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		memset((void *)c->at, 0, c->limit - c->at);
	c->at = c->limit = 0;
}

struct gc_copier *gc_copy_end(struct gc_heap *heap)
{
	struct gc_copier *first = gc_copy_first(heap);
	struct gc_crew *crew = heap->crew;

	/* The last piece taken goes back whole, if its owner comes first. */
	for (unsigned int i = crew->workers; i-- > 0;) {
		struct gc_copier *c = crew->hand[i].copier;

		if (c->limit)
			give_up(c);
		if (heap->blocks)
			gc_blocks_flush(&c->own);
		if (c == first)
			continue;
		first->objects += c->objects;
		first->bytes += c->bytes;
		first->old_bytes += c->old_bytes;
		first->promoted_bytes += c->promoted_bytes;
		first->promoted += c->promoted;
		gc_mark_stack_rest(c->stack);
	}
	heap->cycle.marked_objects += first->objects;
	heap->cycle.marked_bytes += first->bytes;
	return first;
}

static uintptr_t take(struct gc_copier *c, size_t bytes)
{
	struct gc_bump *b = c->heap->bump;
	uintptr_t at = __atomic_fetch_add(&b->to, bytes, __ATOMIC_RELAXED);

	/* Holes are a sixteenth at most, and the span has that much to spare. */
	if (at + bytes > c->into + c->span)
		gc_die(c->heap, "to-space is full");
	return at;
}

uintptr_t gc_copy_refill(struct gc_copier *c, size_t size)
{
	uintptr_t at;

	if (size > PIECE / 4 || c->limit - c->at >= SMALL)
		return take(c, size);
	at = take(c, PIECE);
	/* Pieces that touch make one. */
	if (at != c->limit) {
		if (c->limit)
			memset((void *)c->at, 0, c->limit - c->at);
		c->at = at;
	}
	c->limit = at + PIECE;
	at = c->at;
	c->at += size;
	return at;
}

/* crew.lock is held */
static bool take_batch(struct gc_copier *c)
{
	struct gc_crew *crew = c->crew;
	size_t n = crew->pool.count < BATCH ? crew->pool.count : BATCH;

	if (!n)
		return false;
	crew->pool.count -= n;
	for (size_t i = 0; i < n; i++)
		gc_grey(c, crew->pool.items[crew->pool.count + i]);
	__atomic_store_n(&crew->pooled, (unsigned int)crew->pool.count, __ATOMIC_RELAXED);
	return true;
}

static void set_idle(struct gc_crew *crew, unsigned int idle)
{
	__atomic_store_n(&crew->idle, idle, __ATOMIC_RELAXED);
}

bool gc_copy_more(struct gc_copier *c)
{
	struct gc_crew *crew = c->crew;
	unsigned int round = 0;
	bool got;

	pthread_mutex_lock(&crew->lock);
	got = take_batch(c);
	if (!got) {
		set_idle(crew, crew->idle + 1);
		while (!got) {
			if (crew->idle == crew->active) {
				/* Nobody has work and nobody can make any. */
				crew->open = false;
				__atomic_store_n(&crew->done, 1, __ATOMIC_RELAXED);
			}
			if (crew->done)
				break;
			pthread_mutex_unlock(&crew->lock);
			while (!load(&crew->pooled) &&
			       !__atomic_load_n(&crew->done, __ATOMIC_RELAXED))
				if (++round > SPINS)
					sched_yield();
			pthread_mutex_lock(&crew->lock);
			got = take_batch(c);
		}
		if (got)
			set_idle(crew, crew->idle - 1);
	}
	pthread_mutex_unlock(&crew->lock);
	return got;
}

void gc_copy_give(struct gc_copier *c)
{
	struct gc_crew *crew = c->crew;
	struct gc_mark_stack *s = c->stack;
	size_t n = (size_t)(s->top - s->base) / 2;

	if (!load(&crew->idle) || load(&crew->pooled) || n < 2)
		return;
	if (n > BATCH)
		n = BATCH;
	/* The oldest: more hangs on them. */
	pthread_mutex_lock(&crew->lock);
	for (size_t i = 0; i < n; i++) {
		if (gc_vector_push(&crew->pool, s->base[i])) {
			n = i;
			break;
		}
	}
	__atomic_store_n(&crew->pooled, (unsigned int)crew->pool.count, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&crew->lock);
	memmove(s->base, s->base + n, (size_t)(s->top - s->base - n) * sizeof(void *));
	s->top -= n;
}

uint64_t gc_copy_await(void *ref)
{
	uint64_t *header = &((struct gc_header *)ref)->word, word;

	for (unsigned int round = 0;; round++) {
		word = __atomic_load_n(header, __ATOMIC_ACQUIRE);
		if (word != GC_BUSY)
			return word;
		if (round > SPINS)
			sched_yield();
	}
}

void gc_copy_note_weak(struct gc_copier *c, void *obj)
{
	pthread_mutex_lock(&c->crew->lock);
	if (gc_vector_push(&c->heap->weaks, obj))
		gc_die(c->heap, "no memory to note a weak reference");
	pthread_mutex_unlock(&c->crew->lock);
}

void gc_copy_progress(struct gc_copier *c)
{
	const struct gc_bump *b = c->heap->bump;

	gc_phase_work(c->heap, __atomic_load_n(&b->to, __ATOMIC_RELAXED) - c->into);
}
