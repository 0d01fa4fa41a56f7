/* SPDX-License-Identifier: MIT */
/*
 * Internal: the heap, as its mechanisms, spaces and plans use it.
 *
 * Address space: one reservation, from low to high
 *
 *	[ pages: size-class blocks, line blocks, large objects | bump | bump ]
 *
 * with side tables over all of it: cards (1 byte / 128), mark and live bits
 * (1 bit / 8 bytes each), 3.9 % together; the tables become resident only for parts
 * of the heap that are in use.
 *
 * Locks, outermost first:
 *	gc_heaps_lock	the list of heaps, for fork()
 *	gc.lock		the right to collect, the daemon's orders
 *	mutators.lock	the list of mutators; held while the world is stopped
 *	space_lock	page table, block lists, large objects
 *	roots.lock	types, root arrays, finalizers, identity hashes
 *	help.lock	the helpers and the work that they hand over
 * No lock is held across a safepoint. The one exception to the order: calling helpers takes
 * gc.lock with mutators.lock held. A holder of gc.lock takes no further lock, so this cannot
 * deadlock.
 */
#ifndef GC_HEAP_H
#define GC_HEAP_H

#include <gchint/gc-listener.h>
#include <gchint/gc.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "../options/options.h"
#include "bits.h"
#include "cycle.h"
#include "tracing.h"
#include "thread.h"

#define GC_PAGE	      4096u
#define GC_PAGE_SHIFT 12
#define GC_CARD	      (1u << GC_CARD_SHIFT)

/*
 * Steps that are essential for correctness. A library of the tests (-DGC_MUTANTS) leaves out the
 * one that they choose, and they check that verification detects that.
 */
#ifdef GC_MUTANTS
extern int gc_mutant; /* of the test program */
#define GC_NEEDED(n) (gc_mutant != (n))
#else
#define GC_NEEDED(n) true
#endif

/* Do other CPUs see a thread's stores in program order? A test builds with 0 on such CPUs, too. */
#ifndef GC_STORES_ORDERED
#if defined(__x86_64__) || defined(__i386__)
#define GC_STORES_ORDERED 1
#else
#define GC_STORES_ORDERED 0
#endif
#endif

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define gc_inline   static inline __attribute__((always_inline))

struct gc_pages; /* space/pages.h */
struct gc_blocks; /* space/blocks.h */
struct gc_large; /* space/large.h */
struct gc_lines; /* space/lines.h */
struct gc_bump; /* space/bump.h */
struct gc_plan;
struct gc_profiler; /* trace/profiler.c */
struct gc_workers; /* trace/workers.c */
struct gc_help; /* thread/help.c */
struct gc_mark_range; /* trace/mark-share.c */

/*
 * Members are of the layer that is named; state of a single file is behind a pointer to a struct of
 * that file.
 */
struct gc_heap {
	struct gc_heap *next; /* in the list of all heaps: api/fork.c */
	struct gc_options opt;
	char *opt_text;
	const struct gc_plan *plan;
	void *plan_data;
	uint64_t rng;
	struct gc_heap_stats stats; /* gc_stat_add() with one writer, gc_count() with several */
	bool (*oom)(struct gc_mutator *m, size_t bytes, enum gc_refusal why, void *arg);
	void *oom_arg;

	/* address space */
	uintptr_t base, end; /* the reservation */
	uintptr_t pages_end; /* pages are [base, pages_end) */
	uint8_t *cards; /* biased, as in struct gc_mutator */
	uint64_t *mark, *live, *survivor; /* biased bitmaps; mark and live swap */
	uint8_t *side; /* the mapping of all tables */
	size_t side_size;

	/* space: NULL where the plan has none */
	struct gc_pages *pages;
	struct gc_blocks *blocks;
	struct gc_large *large;
	struct gc_lines *lines;
	struct gc_bump *bump;
	pthread_mutex_t space_lock;

	/* thread */
	struct gc_mutators mutators;
	struct gc_help *help; /* the helpers; NULL: the collecting thread works alone */

	/* listener */
	struct gc_listener *listener;
	uint64_t paused_ns[GC_PAUSE_COUNT]; /* of all mutators */

	/* trace */
	struct gc_roots roots;
	struct gc_weak_state weak;
	struct gc_mark_stack stack;
	struct gc_marker marker; /* the collecting thread's, when it marks alone */
	uintptr_t finger; /* walk by address: objects ahead of it are not pushed */
	bool orders; /* cards may be cleaned while mutators run: gc_mark_order_init() */
	struct gc_mark_range *help_range; /* cards that helpers share */
	struct gc_workers *workers; /* GC workers that copy */
	struct gc_verification verification;
	struct gc_profiler *profiler;

	/* cycle */
	struct gc_cycle cycle;
	struct gc_control gc;
	struct gc_budget budget;
	struct gc_sizing sizing;
};

/* Is there a daemon? In a forked child it starts again when other threads may run already. */
static inline bool gc_daemon_up(const struct gc_heap *heap)
{
	return __atomic_load_n(&heap->gc.daemon_up, __ATOMIC_RELAXED);
}

static inline uint64_t gc_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline uint64_t gc_cpu_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline void gc_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
	__asm__ __volatile__("yield" ::: "memory");
#endif
}

/* splitmix64; every random choice of the collectors comes from here */
static inline uint64_t gc_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static inline size_t gc_align(size_t n, size_t to)
{
	return (n + to - 1) & ~(to - 1);
}

/* Relaxed: the load of the reference orders it (gc_slot_load()), paired with gc_write(). */
static inline uint64_t gc_word(const void *obj)
{
	return __atomic_load_n(&((const struct gc_header *)obj)->word, __ATOMIC_RELAXED);
}

/*
 * A header's low half. Bit 0: the rest is the object's new address (heap/forward.h). Bits 1-2:
 * its age (trace/evacuate.h). Bits 3-6: its shape, 1 for no references, n + 1 for n of them right
 * behind the header and no other references; 0: see the type. Bit 7: GC_AWAITED. Bits 8-23:
 * the type's index. Bits 24-31: with a shape the size in granules.
 */
#define GC_SHAPE_SHIFT 3
#define GC_SHAPE_MASK  (15u << GC_SHAPE_SHIFT)
#define GC_SHAPE_MOST  14 /* references */
/* The key of an ephemeron, to be noted when it is reached; only in a stop, see trace/weak.c */
#define GC_AWAITED (1u << 7)

/* Bytes of the header and the references of an object with a shape; 0: it has no shape. */
static inline size_t gc_shape_refs(uint64_t word)
{
	size_t n = word & GC_SHAPE_MASK;

	/* One word for each reference, and one for the header */
	if (sizeof(void *) == 1 << GC_SHAPE_SHIFT)
		return n;
	return n ? n / 2 + 4 : 0;
}

/* Granules of an object with a shape; the upper half, its length, is 0. */
static inline size_t gc_shape_granules(uint64_t word)
{
	return word >> 24;
}

static inline unsigned int gc_type_index(uint64_t word)
{
	return word >> 8 & (GC_MAX_TYPES - 1);
}

static inline const struct gc_info *gc_info(const struct gc_heap *heap, uint64_t word)
{
	return &heap->roots.types[gc_type_index(word)];
}

/* Bytes of an object, rounded to granules */
static inline size_t gc_size(const struct gc_info *info, uint64_t word)
{
	return gc_align(info->pub.size + (size_t)info->pub.elem_size * (word >> 32), 8);
}

static inline size_t gc_object_size(const struct gc_heap *heap, const void *obj)
{
	uint64_t word = gc_word(obj);

	return gc_size(gc_info(heap, word), word);
}

/*
 * Is a word a reference to an object of the heap, for tracing? Others, which heaps with mixed words
 * have, are NULL, have one of the three lowest bits set, or are the address of something else. The
 * rotation makes one comparison of both.
 */
gc_inline bool gc_is_ref(const struct gc_heap *heap, const void *word)
{
	uintptr_t at = (uintptr_t)word - heap->base;

	return (at >> GC_GRANULE_SHIFT | at << (8 * sizeof(at) - GC_GRANULE_SHIFT)) <
	       (heap->end - heap->base) >> GC_GRANULE_SHIFT;
}

static inline uint8_t *gc_card(const struct gc_heap *heap, uintptr_t addr)
{
	return &heap->cards[addr >> GC_CARD_SHIFT];
}

static inline void gc_card_dirty(struct gc_heap *heap, uintptr_t addr)
{
	__atomic_store_n(gc_card(heap, addr), GC_CARD_DIRTY, __ATOMIC_RELAXED);
}

static inline struct gc_thread *gc_thread(struct gc_mutator *m)
{
	return (struct gc_thread *)m;
}

static inline void gc_count(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static inline uint64_t gc_load(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Add to a counter that has one writer at a time and concurrent readers */
static inline void gc_stat_add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

static inline void gc_stat_max(uint64_t *counter, uint64_t n)
{
	if (n > *counter)
		__atomic_store_n(counter, n, __ATOMIC_RELAXED);
}

/* As pthread_mutex_lock(), counting contention on the space lock */
void gc_space_lock(struct gc_heap *heap);
static inline void gc_space_unlock(struct gc_heap *heap)
{
	pthread_mutex_unlock(&heap->space_lock);
}

/* gc_die() - the heap is broken: report it on stderr and abort */
void gc_die(struct gc_heap *heap, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));

#endif
