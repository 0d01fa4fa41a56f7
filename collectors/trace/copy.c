// SPDX-License-Identifier: MIT
/*
 * GC worker threads, which copy with the collecting thread where too few mutators wait and could
 * help (thread/help.h). workers.lock protects the number of wanted ones.
 */
#define _GNU_SOURCE
#include "copy.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "../heap/plan.h"
#include "../listener/phase.h"
#include "../space/blocks.h"
#include "../thread/help.h"
#include "../thread/threads.h"
#include "weak.h"

#define SPINS 64
#define PIECE GC_CHUNK
#define SMALL (PIECE / 16) /* a piece with fewer bytes left is replaced by a new one */

struct gc_workers {
	struct gc_heap *heap;
	pthread_mutex_t lock;
	pthread_cond_t call;
	unsigned int copiers; /* the collecting thread included */
	unsigned int threads, wanted;
	bool quit, lost; /* lost: in a forked child */
	void (*loop)(struct gc_copier *c);
	pthread_t *thread;
	struct gc_copier *copier[];
};

struct gc_copier *gc_copy_first(struct gc_heap *heap)
{
	return heap->workers->copier[0];
}

static void *worker_main(void *arg)
{
	struct gc_workers *workers = arg;

	pthread_mutex_lock(&workers->lock);
	while (!workers->quit) {
		if (!workers->wanted) {
			pthread_cond_wait(&workers->call, &workers->lock);
			continue;
		}
		workers->wanted--;
		pthread_mutex_unlock(&workers->lock);
		gc_help_join(workers->heap, NULL);
		pthread_mutex_lock(&workers->lock);
	}
	pthread_mutex_unlock(&workers->lock);
	return NULL;
}

static void workers_call(struct gc_workers *workers, unsigned int count)
{
	pthread_mutex_lock(&workers->lock);
	workers->wanted = count;
	while (count--)
		pthread_cond_signal(&workers->call);
	pthread_mutex_unlock(&workers->lock);
}

/* The copier of helper @i; number 0 is the collecting thread. */
static struct gc_copier *copier_create(struct gc_workers *workers, unsigned int i)
{
	struct gc_copier *c = calloc(1, sizeof(*c));
	struct gc_heap *heap = workers->heap;

	if (!c)
		return NULL;
	c->heap = c->own.heap = heap;
	c->own.fills = true;
	c->helper = heap->help ? gc_help_place(heap, i) : NULL;
	c->first = !i;
	c->rng = i ? &c->own_rng : &heap->rng;
	c->own_rng = (uint64_t)heap->opt.seed + i;
	c->stack = i ? c->helper->mark.stack : &heap->stack;
	return c;
}

static void workers_start(struct gc_workers *workers)
{
	/* The collector works with fewer threads, too: no error. */
	for (; workers->thread && workers->threads < workers->copiers - 1; workers->threads++) {
		pthread_t *t = &workers->thread[workers->threads];

		if (gc_thread_create(t, NULL, "gc-worker", worker_main, workers))
			break;
	}
	if (workers->heap->help)
		gc_help_set_workers(workers->heap, workers_call, workers->threads);
}

int gc_workers_init(struct gc_heap *heap)
{
	unsigned int count = heap->help ? gc_workers_max(&heap->opt) : 1;
	struct gc_workers *workers =
		calloc(1, sizeof(*workers) + count * sizeof(workers->copier[0]));

	if (!workers)
		return -ENOMEM;
	heap->workers = workers;
	workers->heap = heap;
	pthread_mutex_init(&workers->lock, NULL);
	pthread_cond_init(&workers->call, NULL);
	for (; workers->copiers < count; workers->copiers++) {
		workers->copier[workers->copiers] = copier_create(workers, workers->copiers);
		if (!workers->copier[workers->copiers])
			return -ENOMEM;
	}
	workers->thread = calloc(count, sizeof(*workers->thread));
	workers_start(workers);
	return 0;
}

void gc_workers_lock(struct gc_heap *heap)
{
	pthread_mutex_lock(&heap->workers->lock);
}

void gc_workers_unlock(struct gc_heap *heap)
{
	pthread_mutex_unlock(&heap->workers->lock);
}

void gc_workers_forked(struct gc_heap *heap)
{
	struct gc_workers *workers = heap->workers;

	if (!workers)
		return;
	/* The threads that waited are still counted in the condition. */
	pthread_cond_init(&workers->call, NULL);
	workers->threads = workers->wanted = 0;
	workers->lost = true;
	if (heap->help)
		gc_help_set_workers(heap, workers_call, 0);
}

void gc_workers_fini(struct gc_heap *heap)
{
	struct gc_workers *workers = heap->workers;

	if (!workers)
		return;
	pthread_mutex_lock(&workers->lock);
	workers->quit = true;
	pthread_cond_broadcast(&workers->call);
	pthread_mutex_unlock(&workers->lock);
	for (unsigned int i = 0; i < workers->threads; i++)
		pthread_join(workers->thread[i], NULL);
	for (unsigned int i = 0; i < workers->copiers; i++)
		free(workers->copier[i]);
	pthread_mutex_destroy(&workers->lock);
	pthread_cond_destroy(&workers->call);
	free(workers->thread);
	free(workers);
	heap->workers = NULL;
}

void gc_copy_begin(struct gc_heap *heap)
{
	struct gc_workers *workers = heap->workers;
	struct gc_bump *b = heap->bump;

	if (unlikely(workers->lost)) {
		workers->lost = false;
		workers_start(workers);
	}
	for (unsigned int i = 0; i < workers->copiers; i++) {
		struct gc_copier *c = workers->copier[i];

		c->from = b->start[b->now];
		c->into = b->start[!b->now];
		c->span = b->span;
		c->aged = b->aged;
		c->at = c->limit = 0;
		c->young = false;
		c->objects = c->bytes = c->old_bytes = c->promoted_bytes = c->promoted = 0;
	}
}

static void helper_run(struct gc_helper *k)
{
	struct gc_workers *workers = k->mark.heap->workers;

	workers->loop(workers->copier[gc_help_index(k)]);
}

bool gc_copy_share(struct gc_heap *heap, void (*drain)(struct gc_copier *c))
{
	struct gc_heap_stats *s = &heap->stats;

	if (!heap->help)
		return false;
	heap->workers->loop = drain;
	if (!gc_help_share(heap, helper_run))
		return false;
	for (struct gc_helper *k = gc_help_next(heap, NULL); k; k = gc_help_next(heap, k)) {
		heap->stack.dropped |= k->mark.stack->dropped;
		if (!k->first)
			k->mark.stack->dropped = false;
		if (!k->mutator)
			continue;
		gc_stat_add(&s->helps, 1);
		gc_stat_add(&s->helped_objects, heap->workers->copier[gc_help_index(k)]->objects);
	}
	return true;
}

/* Return the rest of a piece to the space, or clear it so that it reads as a hole. */
static void piece_return(struct gc_copier *c)
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
	struct gc_workers *workers = heap->workers;

	/* From the last one: only the piece taken last can be returned to the space. */
	for (unsigned int i = workers->copiers; i-- > 0;) {
		struct gc_copier *c = workers->copier[i];

		if (c->limit)
			piece_return(c);
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

static uintptr_t space_take(struct gc_copier *c, size_t bytes)
{
	struct gc_bump *b = c->heap->bump;
	uintptr_t at = __atomic_fetch_add(&b->to, bytes, __ATOMIC_RELAXED);

	/*
	 * Holes are at most a sixteenth, and the span has that much to spare. So this happens only
	 * if an object's length was overwritten.
	 */
	if (at + bytes > c->into + c->span)
		gc_die(c->heap,
		       "more bytes were copied than the space has: a header was overwritten");
	return at;
}

uintptr_t gc_copy_refill(struct gc_copier *c, size_t size)
{
	uintptr_t at;

	if (size > PIECE / 4 || c->limit - c->at >= SMALL)
		return space_take(c, size);
	at = space_take(c, PIECE);
	/* Adjacent pieces are joined. */
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

size_t gc_copy_unshaped(struct gc_heap *heap, void *ref, uint64_t word)
{
	const struct gc_info *info = gc_info(heap, word);

	if (unlikely(word & GC_AWAITED))
		gc_weak_reach(heap, ref, word, false);
	return gc_size(info, word) + gc_has_refs(info);
}

bool gc_copy_note_weak(struct gc_copier *c, void *obj)
{
	struct gc_heap *heap = c->heap;
	int ret;

	if (heap->help)
		gc_help_lock(heap);
	ret = gc_weak_note(heap, obj);
	if (heap->help)
		gc_help_unlock(heap);
	return !ret;
}

bool gc_copy_recover(struct gc_heap *heap, const uint64_t *old,
		     void (*scan)(struct gc_copier *c, void *obj),
		     void (*drain)(struct gc_heap *heap))
{
	struct gc_copier *first = gc_copy_first(heap);
	struct gc_workers *workers = heap->workers;
	uintptr_t at = first->into, end = heap->bump->to;

	if (!heap->stack.dropped)
		return false;
	heap->stack.dropped = false;
	/* The rest of a piece holds stale data: clear it, so that it reads as a hole. */
	for (unsigned int i = 0; i < workers->copiers; i++) {
		struct gc_copier *c = workers->copier[i];

		if (c->limit)
			memset((void *)c->at, 0, c->limit - c->at);
	}
	while (at < end) {
		if (!gc_word((void *)at)) {
			at += 8;
			continue;
		}
		gc_stat_add(&heap->stats.rescanned_objects, 1);
		scan(first, (void *)at);
		drain(heap);
		at += gc_object_size(heap, (void *)at);
	}
	end = gc_high(heap);
	for (at = heap->base; (at = gc_bit_next(old, at, end)) < end; at += 8) {
		gc_stat_add(&heap->stats.rescanned_objects, 1);
		scan(first, (void *)at);
		drain(heap);
	}
	return true;
}

void gc_copy_progress(struct gc_copier *c)
{
	const struct gc_bump *b = c->heap->bump;

	gc_phase_work(c->heap, __atomic_load_n(&b->to, __ATOMIC_RELAXED) - c->into);
}
