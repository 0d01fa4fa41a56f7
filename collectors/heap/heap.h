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
 *	threads_lock	the list of mutators; held while the world is stopped
 *	space_lock	page table, block lists, large objects
 *	table_lock	types, root arrays, finalizers, identity hashes
 *	help.lock	the helpers and the work that they hand over
 * No lock is held across a safepoint. The one exception to the order: calling helpers takes
 * gc.lock with threads_lock held. A holder of gc.lock takes no further lock, so this cannot
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
#include "../policy/generation.h"
#include "../policy/overhead.h"
#include "../policy/rate.h"
#include "../policy/cycle-control.h"
#include "bits.h"
#include "mark-stack.h"
#include "pace.h"

#define GC_PAGE		 4096u
#define GC_PAGE_SHIFT	 12
#define GC_CARD		 (1u << GC_CARD_SHIFT)
#define GC_CLASS_COUNT	 54
#define GC_CLASS_LARGEST 8192u
#define GC_MAX_TYPES	 (1u << 16)

/*
 * Steps that are essential for correctness. The tests build the library with -DGC_MUTANT=n,
 * which leaves out the n-th, and check that verification detects that.
 */
#ifndef GC_MUTANT
#define GC_MUTANT 0
#endif
#define GC_NEEDED(n) (GC_MUTANT != (n))

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

/* Meaning of the first words after the header that only weak.c follows */
enum gc_weak {
	GC_STRONG, /* ordinary fields */
	GC_WEAK, /* a referent that is not kept */
	GC_EPHEMERON, /* a key that is not kept, and a value that is while the key lives */
};

/* struct gc_info - a type, for the tracer; 64 bytes, so that indexing is a shift */
struct gc_info {
	struct gc_type pub;
	uint64_t refs;
	void (*trace)(void *obj, gc_visit_fn visit, void *arg);
	char *name;
	uint8_t tail;
	uint8_t weak; /* enum gc_weak */
	bool scanned; /* has references, weak ones included */
	char pad[64 - sizeof(struct gc_type) - 8 - 2 * sizeof(void *) - 3];
};
_Static_assert(sizeof(struct gc_info) == 64, "the type table is indexed by a shift");

enum gc_state {
	GC_RUNNING,
	GC_PARKED,
	GC_STOPPED
};

/* The collector's data about a run, in addition to cursor and limit */
struct gc_span {
	uintptr_t start; /* cursor when the run was granted: objects begin here */
	uintptr_t end; /* end of the block the run lies in, 0 none */
};

struct gc_thread {
	struct gc_mutator m; /* first: the public part */
	struct gc_heap *heap;
	struct gc_thread *next;
	struct gc_span span[GC_CLASS_COUNT];
	struct gc_run medium[GC_CLASS_COUNT - GC_SMALL_MAX / 8]; /* above GC_SMALL_MAX */
	uint32_t state; /* enum gc_state; written by its thread, read by collectors */
	uint32_t arrival; /* order of arrival at the safepoint */
	int tid;
	bool scanned; /* by the ragged root scan */
	uint64_t credit; /* bytes taken from the budget and not yet granted to a run */
	uint64_t objects; /* allocated, not yet added to the heap's count */
	enum gc_refusal refused; /* its last allocation off the inline path */
	/* The frame that called the embedder's callback (gc_oom_callback()), while that runs */
	uintptr_t oom_frame;
	struct gc_frame *oom_roots; /* the innermost root frame then */
	bool fills; /* a copier's: it overwrites what it allocates, which need not be zero */
	bool away; /* between gc_park() and gc_unpark() */
	bool paused; /* a foreground or wait pause is open: do not nest another */
	uint32_t clearing; /* first page of a large object that it clears: plan/large-object.c */
	uint8_t ending; /* rounds of destructors since its thread began to end */
	void (*roots)(gc_visit_fn visit, void *visit_arg, void *arg);
	void *roots_arg;
	uint64_t rng;
};

struct gc_root_array {
	void **slots;
	size_t count;
	struct gc_root_array *next;
};

struct gc_root_callback {
	gc_roots_fn fn;
	void *arg;
};

/* struct gc_cycle - one collection under way */
struct gc_cycle {
	uint64_t number;
	enum gc_cause cause;
	enum gc_kind kind;
	bool foreground; /* run by a mutator that waits for it */
	bool daemon; /* run by the daemon */
	bool alone; /* policy=adaptive has the world stopped for it */
	bool full; /* collect the whole heap, regardless of the plan's choice */
	struct gc_thread *self; /* the mutator that runs it, NULL the daemon */
	enum gc_phase phase;
	uint64_t begin_ns, stop_ns, phase_ns, usable_ns, usable_cpu_ns;
	uint64_t done, total, next_progress;
	uint64_t stw_begin_done;
	bool stw;
	uint64_t marked_bytes, marked_objects;
	uint64_t live_bytes; /* what the sizing rule counts as live; set by the plan */
	bool exact; /* a major cycle with the world stopped: marked means reachable */
};

struct gc_pages; /* space/pages.h */
struct gc_blocks; /* space/blocks.h */
struct gc_large; /* space/large.h */
struct gc_lines; /* space/lines.h */
struct gc_bump; /* space/bump.h */
struct gc_plan;
struct gc_profiler;
struct gc_workers;
struct gc_help;
struct gc_mark_range;
struct gc_hashes;

struct gc_vector {
	void **items;
	size_t count, room;
};
int gc_vector_push(struct gc_vector *v, void *item);

struct gc_heap {
	struct gc_heap *next; /* in the list of all heaps: api/fork.c */
	struct gc_options opt;
	char *opt_text;
	const struct gc_plan *plan;
	struct gc_listener *listener;

	/* address space */
	uintptr_t base, end; /* the reservation */
	uintptr_t pages_end; /* pages are [base, pages_end) */
	uint8_t *cards; /* biased, as in struct gc_mutator */
	uint64_t *mark, *live, *survivor; /* biased bitmaps; mark and live swap */
	uint8_t *side; /* the mapping of all tables */
	size_t side_size;
	bool card_gen; /* cards are a remembered set between cycles */
	bool orders; /* cards may be cleaned while mutators run: gc_mark_order_init() */

	/* spaces; NULL where the plan has none */
	struct gc_pages *pages;
	struct gc_blocks *blocks;
	struct gc_large *large;
	struct gc_lines *lines;
	struct gc_bump *bump;
	struct gc_workers *workers; /* GC workers that copy */
	struct gc_mark_range *help_range; /* cards that helpers share */
	struct gc_help *help; /* the helpers; NULL: the collecting thread works alone */
	void *plan_data;
	pthread_mutex_t space_lock;

	/* types and roots */
	pthread_mutex_t table_lock;
	struct gc_info *types;
	uint32_t type_count;
	struct gc_root_array *root_arrays;
	struct gc_root_callback roots; /* by gc_roots_callback() */
	struct gc_root_callback *more_roots; /* added ones; their indices never change */
	size_t more_count;
	bool (*oom)(struct gc_mutator *m, size_t bytes, enum gc_refusal why, void *arg);
	void *oom_arg;
	const struct gc_type *weak_type, *ephemeron_type;
	struct gc_vector weaks, ephemerons; /* weak objects and ephemerons that this cycle found */
	struct gc_vector
		keys; /* awaited ones that were reached and are to be processed: trace/weak.c */
	bool keys_lost; /* some were reached for which there was no memory */
	struct gc_vector finalizable, finalized;
	size_t finalizable_old; /* of these, the first ones that a minor collection leaves as is */
	size_t finalized_next;
	struct gc_hashes *hashes; /* of objects that may move; NULL: no hash was requested yet */
	uint64_t hash_number; /* of the next one */

	/* threads */
	pthread_mutex_t threads_lock;
	struct gc_thread *threads;
	uint32_t thread_count;
	uint32_t arrivals; /* futex word: counts mutators that stopped or parked */
	bool stopping;

	/* sizing; all threads write these two, so they are on a cache line of their own */
	uint64_t in_use __attribute__((aligned(64))); /* bytes allocated, garbage included */
	uint64_t granted; /* total bytes granted to mutators, without returned ones */
	uint64_t soft_limit __attribute__((aligned(64))), concurrent_start;
	uint64_t live_bytes, live_objects;
	/* free bytes in dense blocks, which are not allocated from in a roomy heap */
	uint64_t passed_over;
	uint64_t stress_next, profile_next; /* values of granted */
	struct gc_rate rate;
	struct gc_overhead overhead; /* protected by gc.lock */
	uint64_t full_at; /* value of granted when an allocation failed because the heap was full */
	uint64_t full_cycle; /* number of the last full collection for want of memory */
	struct gc_pace pace;
	/* Expected CPU time of the next cycle until its memory is usable */
	uint64_t cycle_ns;
	uint64_t cycle_ns_of[2]; /* by enum gc_kind */
	uint64_t marked_of[2]; /* bytes that the last cycle of each enum gc_kind marked */
	double mb_alloc_rate, mb_gc_rate; /* MemBalancer's smoothed rates */
	double major_soft, major_room; /* soft limit and room after the last major collection */
	struct gc_generation generation;
	int (*frequency)(uint32_t *effective, uint32_t *highest, void *arg);
	void *frequency_arg;
	struct gc_adapt *adapt;
	uint64_t paused_ns[GC_PAUSE_COUNT]; /* of all mutators */
	struct gc_profiler *profiler;

	/* the right to collect: one thread at a time runs a cycle */
	struct {
		pthread_mutex_t lock;
		pthread_cond_t done; /* a cycle ended */
		pthread_cond_t order; /* the daemon has work */
		struct gc_cycle_control control;
		uint32_t waiting; /* mutators that wait for a cycle; also read without the lock */
		bool quit, next_major;
		bool daemon_up; /* read by gc_daemon_up() */
		bool daemon_lost; /* in a forked child, until its next cycle */
		uint64_t active; /* each change restarts the idle timer */
		bool daemon_on; /* policy=adaptive switches it */
		pthread_t daemon;
	} gc;
	struct gc_cycle cycle;
	struct gc_mark_stack stack;
	struct gc_marker marker; /* the collecting thread's, when it marks alone */
	uintptr_t finger; /* walk by address: objects ahead of it are not pushed */
	uint64_t rng;

	struct gc_heap_stats stats; /* gc_stat_add() with one writer, gc_count() with several */
	struct gc_error verify_error;
	void *verify_holder, *verify_trace;
	bool verify_white;
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
	return &heap->types[gc_type_index(word)];
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
