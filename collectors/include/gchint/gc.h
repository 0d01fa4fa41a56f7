/* SPDX-License-Identifier: MIT */
/**
 * DOC: The embedder API of the bundled collectors
 *
 * A runtime that embeds the collectors includes this header and links
 * libgchint-collectors.a (pkg-config --libs libgchint-collectors prints the options).
 * All names begin with gc_: the collectors know nothing of hints or power, they
 * fire a listener (<gchint/gc-listener.h>).
 *
 * In five steps:
 *
 *  1. gc_heap_create() with an option string ("plan=cms,heap=8M,max=96M").
 *  2. gc_type_register() once for every type of object.
 *  3. gc_mutator_attach() in each thread that touches the heap.
 *  4. Allocate with GC_NEW() or gc_alloc_array(); keep references that must
 *     survive an allocation in a root frame (GC_PUSH/GC_POP); store references
 *     with gc_write(); call gc_safepoint() in loops that do not allocate.
 *  5. gc_mutator_detach(), gc_heap_destroy().
 *
 * What an embedder promises:
 *
 *  - Every object begins with struct gc_header. A reference is NULL or the
 *    address of a header: no interior pointers. With a type whose words are mixed (struct
 *    gc_type_desc) it may be a tagged word or the address of a static object, which has a header
 *    made of gc_type.word. A static object's own references are roots (gc_roots_add()), and stored
 *    to without gc_write().
 *    With stack=conservative no frame is needed: words on a thread's stack and in its registers that
 *    point to an object or into it keep it, and keep it where it is. A pointer behind an object's
 *    last byte, or one that is stored otherwise than as it is, does not.
 *  - A safepoint is any call of gc_alloc*(), gc_safepoint(), gc_collect(),
 *    gc_park(), gc_weak_new(), gc_ephemeron_new() or gc_external_add(). At a safepoint objects may
 *    move and may be freed: after it, re-read references from the root frame.
 *  - A reference is stored into an object by gc_write(). The one exception: an
 *    object just allocated may be filled by plain stores (or gc_init()) until
 *    the next safepoint or until it is published by gc_write(), whichever is
 *    first.
 *  - New objects are zero but for the header.
 *  - fork() is a safepoint: it waits for a collection to end and stops the other threads for its
 *    duration. In the child the calling thread stays attached, and all others are detached.
 *    Callbacks and listeners must not fork. gc_heap_create() and gc_heap_destroy() of another
 *    heap wait for a fork, so they are safepoints, too.
 *
 * A thread that is canceled (pthread_cancel()) in a function of this header is so only after what
 * it waits for there: it leaves no lock and no collection behind. Callbacks and listeners that run
 * in a collection are not points of cancellation.
 *
 * Errors are negative errno values; nothing here prints, exits or aborts, with two
 * exceptions. A broken heap, which verify= and stress= help to find, aborts with one line. A
 * thread that keeps all others waiting for longer than stall= allows is reported in one line
 * on stderr. Out of memory is a NULL object; gc_refused() returns the reason. Such a call
 * takes little longer than a collection of the whole heap.
 */
#ifndef GCHINT_GC_H
#define GCHINT_GC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define GC_GRANULE_SHIFT 3 /* objects are aligned to 8 bytes */
#define GC_CARD_SHIFT	 7 /* a card is 128 bytes, as in Dalvik */
#define GC_CARD_DIRTY	 0x70
/* Objects with as many elements of their tail have pages, and cards of elements, of their own. */
#define GC_CARDED_LENGTH 8192
#define GC_CARD_ELEMENT	 0x71 /* a reference was stored on this card, behind the first one */
#define GC_SMALL_MAX	 256 /* the inline path serves objects up to here */

struct gc_heap;
struct gc_listener;

/**
 * struct gc_header - first member of every object
 * @word: bits 0-7 belong to the collector, 8-31 to the type, 32-63 are the
 *	  array length (0 for types without a tail). Read-only outside.
 */
struct gc_header {
	uint64_t word;
};

/** gc_length() - number of tail elements of an array object. */
static inline uint32_t gc_length(const void *obj)
{
	uint32_t length;

	/* The half alone, so that compilers compare it in memory. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	__builtin_memcpy(&length, (const char *)obj + sizeof(length), sizeof(length));
#else
	length = (uint32_t)(((const struct gc_header *)obj)->word >> 32);
#endif
	return length;
}

/**
 * typedef gc_visit_fn - what a trace callback calls for each reference slot
 * @slot: address of the reference; the visitor may change it (objects move)
 * @arg: the argument that was passed to the callback
 */
typedef void (*gc_visit_fn)(void **slot, void *arg);

/** enum gc_tail - what follows the fixed part of an object */
enum gc_tail {
	GC_TAIL_NONE, /* nothing: a plain object */
	GC_TAIL_DATA, /* length elements of elem_size bytes, no references */
	GC_TAIL_REFS, /* length references */
};

/**
 * struct gc_type_desc - describes a type of object to gc_type_register()
 * @name: for reports; copied
 * @size: bytes of the fixed part with the header, at least 8
 * @refs: bit i set: the i-th pointer-sized word of the fixed part is a
 *	  reference. Word 0 lies in the header and must be clear; on 32-bit hosts
 *	  word 1 too.
 * @tail: what follows the fixed part
 * @elem_size: bytes of a tail element (ignored for GC_TAIL_REFS)
 * @trace: instead of @refs: visits every reference slot of @obj. Must not
 *	   allocate or store; may run concurrently with mutators under cms, and on
 *	   several threads for different objects while the world is stopped.
 * @weak: the first pointer-sized word after the header is a weak reference;
 *	  made by gc_weak_new() or by allocation and gc_write().
 * @mixed: words that may be references may also be other words: such with one of the three lowest
 *	   bits set, as tagged numbers have, and addresses outside of the heap, as of static objects.
 *	   It holds for the whole heap from the first such type on, also for roots and weak
 *	   references, so that one is registered before a thread attaches (-EBUSY)
 * @ephemeron: the first two pointer-sized words after the header are the key and the
 *	  value of an ephemeron, as gc_ephemeron_new() says; changed by gc_write().
 * @lasting: of an ephemeron: it is not cleared when its key is due for finalization, but when the key
 *	     is dead and will not be returned by gc_finalizer_next(): the finalizer finds the value
 */
struct gc_type_desc {
	const char *name;
	uint32_t size;
	uint64_t refs;
	enum gc_tail tail;
	uint32_t elem_size;
	void (*trace)(void *obj, gc_visit_fn visit, void *arg);
	bool weak;
	bool ephemeron;
	bool lasting;
	bool mixed;
};

/**
 * struct gc_type - a registered type; read-only outside the collectors
 * @word: header of a new object of this type with length 0
 * @size: bytes of the fixed part
 * @elem_size: bytes of a tail element
 */
struct gc_type {
	uint64_t word;
	uint32_t size;
	uint32_t elem_size;
};

/**
 * struct gc_frame - head of a root frame
 *
 * Put it first in a struct whose other members are all object references, on the
 * C stack, and bracket the references' life with GC_PUSH() and GC_POP().
 */
struct gc_frame {
	struct gc_frame *prev;
	size_t count;
};

/** struct gc_run - free memory [cursor, limit) of one thread, already zero */
struct gc_run {
	uintptr_t cursor;
	uintptr_t limit;
};

/**
 * struct gc_mutator - a thread of the program; the part the inline paths need
 * @cards: card table, biased so that cards[address >> GC_CARD_SHIFT] is right
 *	   and the pointer's low byte is GC_CARD_DIRTY (a JIT may store that byte)
 * @frames: innermost root frame
 * @poll: not zero when the thread must call into the collector
 * @run_for: by size in granules, where the next object goes: one bump run for all
 *	     sizes, or a run each
 * @run: what run_for[] points to
 *
 * Written by its own thread, except @poll, which the collector sets. The layout
 * is fixed within one version of the library; JITs may use offsetof().
 */
struct gc_mutator {
	uint8_t *cards;
	struct gc_frame *frames;
	uint32_t poll;
	struct gc_run *run_for[GC_SMALL_MAX / 8 + 1];
	struct gc_run run[GC_SMALL_MAX / 8 + 1];
};

/** struct gc_error - why an option string, type or heap was refused */
struct gc_error {
	int code; /* negative errno */
	char text[200]; /* one line that names the option or type and the fix */
};

/* ---- heap ------------------------------------------------------------- */

/**
 * gc_heap_create() - make a heap
 * @out: the heap
 * @options: "key=value,..." as gc_options_help() lists them; NULL for defaults
 * @listener: fired at every phase edge, NULL for none; must outlive the heap
 * @err: filled on failure when not NULL
 *
 * Return: 0, -EINVAL (option), -EOPNOTSUPP (stack=conservative with a plan that moves every object),
 *	   -ENOMEM (address space), -EAGAIN (no daemon thread).
 */
int gc_heap_create(struct gc_heap **out, const char *options, struct gc_listener *listener,
		   struct gc_error *err);

/** gc_heap_destroy() - free the heap; every mutator must be detached (-EBUSY). */
int gc_heap_destroy(struct gc_heap *heap);

/** gc_heap_options() - the options in force, defaults included, as one string. */
const char *gc_heap_options(const struct gc_heap *heap);

/**
 * gc_options_help() - list the options, one per line
 * @line: called with each line, without newline
 */
void gc_options_help(void (*line)(const char *text, void *arg), void *arg);

/**
 * gc_type_register() - make a type known
 *
 * Thread-safe. Return: the type, valid as long as the heap; NULL with @err set.
 */
const struct gc_type *gc_type_register(struct gc_heap *heap, const struct gc_type_desc *desc,
				       struct gc_error *err);

/** gc_roots_add() - @count references at @slots are roots until removed. */
int gc_roots_add(struct gc_heap *heap, void **slots, size_t count);
int gc_roots_remove(struct gc_heap *heap, void **slots);

/** typedef gc_roots_fn - calls @visit with the address of each root, and @visit_arg */
typedef void (*gc_roots_fn)(gc_visit_fn visit, void *visit_arg, void *arg);

/**
 * gc_roots_callback() - have @fn visit further roots of the program
 *
 * Replaces the callback that was set before; NULL for none. @fn runs while every mutator is
 * stopped, in each pause that marks roots.
 */
void gc_roots_callback(struct gc_heap *heap, gc_roots_fn fn, void *arg);

/**
 * gc_roots_callback_add() - add a callback, for parts of a program that do not know each other
 *
 * All callbacks are called, in an unspecified order. None may add or remove callbacks.
 * Return: 0, -ENOMEM, or -EEXIST when @fn was added with this @arg.
 */
int gc_roots_callback_add(struct gc_heap *heap, gc_roots_fn fn, void *arg);
/**
 * gc_roots_callback_remove() - @fn is no longer called with @arg; 0 or -ENOENT
 *
 * If the calling thread is not attached, or is parked, a collection may still be calling @fn.
 */
int gc_roots_callback_remove(struct gc_heap *heap, gc_roots_fn fn, void *arg);

/** gc_mutator_roots_callback() - the same for one thread's own stack. */
void gc_mutator_roots_callback(struct gc_mutator *m,
			       void (*fn)(gc_visit_fn visit, void *visit_arg, void *arg),
			       void *arg);

/**
 * gc_words_add() - with stack=conservative, words of [@start, @start + @bytes) may be references
 *
 * For stacks that no attached thread runs on or was created with: of coroutines, of contexts with
 * the registers in their ucontext_t, of signal handlers. They are read in each stop until removed.
 * Return: 0, -ENOMEM, or -EOPNOTSUPP where stacks are precise.
 */
int gc_words_add(struct gc_heap *heap, const void *start, size_t bytes);
/** gc_words_remove() - the range that was added last with this @start; 0 or -ENOENT */
int gc_words_remove(struct gc_heap *heap, const void *start);

/* ---- threads ---------------------------------------------------------- */

/**
 * gc_mutator_attach() - the calling thread joins; waits while the world is stopped
 *
 * A thread is attached to a heap once, and to several heaps if it is parked in all others: of its
 * mutators at most one is not parked, or two threads would wait for each other's collections for
 * ever. So it goes to another heap by gc_park() and gc_unpark().
 * Return: 0, -ENOMEM, or -EBUSY when the thread is attached to @heap, or not parked in another one;
 * with stack=conservative what pthread_getattr_np(3) fails with.
 */
int gc_mutator_attach(struct gc_heap *heap, struct gc_mutator **out);
/**
 * gc_mutator_detach() - the calling thread leaves; its frames must be popped.
 *
 * A thread that ends attached (pthread_exit(), pthread_cancel()) is detached as it ends, after the
 * destructors of its thread-specific data, and what it had in frames is dropped.
 */
void gc_mutator_detach(struct gc_mutator *m);
/**
 * gc_park() - the thread is about to block: collections need not wait for it.
 *
 * Until gc_unpark() collections read the frames of the thread, so the functions that have them may
 * not be left: if the thread may be canceled meanwhile, have a cleanup handler of the same function
 * call gc_unpark().
 */
void gc_park(struct gc_mutator *m);
/** gc_unpark() - the thread goes on; waits while the world is stopped. */
void gc_unpark(struct gc_mutator *m);
/**
 * gc_parked_call() - fn(arg) between gc_park() and gc_unpark(); returns what @fn returns
 *
 * With stack=conservative better than these: while the thread is parked, its stack is read as it
 * is, and its registers as they were. A function that itself goes on may move a reference from
 * the one to the other, one that calls this cannot.
 */
void *gc_parked_call(struct gc_mutator *m, void *(*fn)(void *arg), void *arg);
/** gc_collect() - GC-EXPLICIT: what System.gc() would do under this plan and policy. */
void gc_collect(struct gc_mutator *m);
/** gc_collect_full() - a whole-heap collection, done when this returns; for tests. */
void gc_collect_full(struct gc_mutator *m);

/* ---- out-of-line halves of the inline paths --------------------------- */

void gc_safepoint_slow(struct gc_mutator *m);
void gc_write_slow(struct gc_mutator *m, void *array, size_t i);
void *gc_alloc_slow(struct gc_mutator *m, const struct gc_type *type, size_t bytes);
/** gc_alloc_array() - @length tail elements; NULL when out of memory. */
void *gc_alloc_array(struct gc_mutator *m, const struct gc_type *type, uint32_t length);

/** enum gc_refusal - why an allocation returned NULL */
enum gc_refusal {
	GC_REFUSED_NOT,
	GC_REFUSED_SIZE, /* larger than max=, or not the size of the type */
	GC_REFUSED_FULL, /* a collection of the whole heap freed too little */
	GC_REFUSED_OVERHEAD, /* 98 % of the time went into collections that freed hardly anything */
};

/** gc_refused() - why this thread's last gc_alloc*() returned NULL; call it right after that. */
enum gc_refusal gc_refused(const struct gc_mutator *m);

/**
 * gc_oom_callback() - call @fn before an allocation is refused for lack of memory
 * @fn: true: it dropped references, so collect the whole heap and try again; false: refuse
 *
 * @fn runs on the thread that allocates, with no lock held and the others running, maybe on
 * several threads at once. @bytes is the size of the allocation, @why is GC_REFUSED_FULL or
 * GC_REFUSED_OVERHEAD. @fn may change roots and objects, but its own allocations are refused
 * without another call. It is called at most GC_OOM_ATTEMPTS times for one allocation; an
 * object larger than max= is refused at once. NULL for none.
 *
 * @fn may also be left by longjmp() or an exception. That is noticed when the thread, in a function
 * outside the one whose allocation called @fn, or after the frames in between were popped, next
 * allocates off the inline path, collects, stops at a safepoint or parks.
 */
void gc_oom_callback(struct gc_heap *heap,
		     bool (*fn)(struct gc_mutator *m, size_t bytes, enum gc_refusal why, void *arg),
		     void *arg);
#define GC_OOM_ATTEMPTS 8

/**
 * gc_external_add() - objects of the heap keep @bytes more outside of it; less if negative
 *
 * For buffers of malloc(), textures and files that an object owns and frees when it is finalized:
 * the collector does not see them, and the objects themselves are small. They count for starting a
 * collection: as soon as they have doubled since the last one, in addition to what the heap has
 * left, garbage is looked for, in a generational plan in the whole heap where it comes to that. They
 * do not count for max=, and no allocation is refused because of them.
 *
 * With @bytes above 0 it is a safepoint: call it before the object is made, or with the object in a
 * root. What a finalizer frees, it subtracts; that is no safepoint.
 */
void gc_external_add(struct gc_mutator *m, int64_t bytes);

/** GC_PUSH() - make the references in @f (a struct with struct gc_frame head first) roots. */
#define GC_PUSH(m, f)                                                                              \
	do {                                                                                       \
		__builtin_memset(&(f), 0, sizeof(f));                                              \
		(f).head.prev = (m)->frames;                                                       \
		(f).head.count = (sizeof(f) - sizeof(struct gc_frame)) / sizeof(void *);           \
		(m)->frames = &(f).head;                                                           \
	} while (0)

/** GC_POP() - the innermost frame @f ends. */
#define GC_POP(m, f) ((m)->frames = (f).head.prev)

/**
 * gc_alloc_sized() - allocate an object of @bytes bytes without a tail
 * @bytes: the type's size; a compile-time constant folds the size class away. Another size is
 *	   refused off the inline path only (GC_REFUSED_SIZE), so never rely on that
 *
 * Return: the object, or NULL when out of memory. Safepoint.
 */
static inline void *gc_alloc_sized(struct gc_mutator *m, const struct gc_type *type, size_t bytes)
{
	size_t granules = (bytes + 7) >> GC_GRANULE_SHIFT;
	struct gc_run *run;
	uintptr_t obj, end;

	/* 0 wraps, too. */
	if (__builtin_expect(bytes - 1 >= GC_SMALL_MAX, 0))
		return gc_alloc_slow(m, type, bytes);
	run = m->run_for[granules];
	obj = run->cursor;
	end = obj + (granules << GC_GRANULE_SHIFT);
	if (__builtin_expect(end > run->limit, 0))
		return gc_alloc_slow(m, type, bytes);
	run->cursor = end;
	((struct gc_header *)obj)->word = type->word;
	return (void *)obj;
}

/** GC_NEW() - allocate a C struct of registered type @type. */
#define GC_NEW(m, type, ctype) ((ctype *)gc_alloc_sized((m), (type), sizeof(ctype)))

/** gc_alloc() - gc_alloc_sized() with the size of the type. */
static inline void *gc_alloc(struct gc_mutator *m, const struct gc_type *type)
{
	return gc_alloc_sized(m, type, type->size);
}

/** gc_write_barrier() - a reference was stored into @obj. */
static inline void gc_write_barrier(struct gc_mutator *m, void *obj)
{
	__atomic_store_n(&m->cards[(uintptr_t)obj >> GC_CARD_SHIFT], GC_CARD_DIRTY,
			 __ATOMIC_RELAXED);
}

/**
 * gc_write() - store reference @value at @slot inside @obj
 *
 * The release pairs with the marker's acquire of the slot: a marker that finds a new
 * object through it sees the object's header and its initial fields.
 *
 * gc_write_barrier() has the whole object scanned again, and so has a store into its first 128
 * bytes. Behind these, only the element's card of a long array is. Fields at a lower constant
 * offset do not pay for the distinction.
 */
static inline void gc_write(struct gc_mutator *m, void *obj, void *slot, void *value)
{
	__atomic_store_n((void **)slot, value, __ATOMIC_RELEASE);
	/* The length first, as most arrays are short. Compilers drop both for fields. */
	if (__builtin_expect(gc_length(obj) >= GC_CARDED_LENGTH, 0) &&
	    (uintptr_t)slot - (uintptr_t)obj >= 1u << GC_CARD_SHIFT)
		__atomic_store_n(&m->cards[(uintptr_t)slot >> GC_CARD_SHIFT], GC_CARD_ELEMENT,
				 __ATOMIC_RELAXED);
	else
		gc_write_barrier(m, obj);
}

/**
 * gc_write_element() - gc_write() of element @i of an array
 * @elements: the tail of @array, of GC_TAIL_REFS: a member of its struct
 *
 * Two instructions less than gc_write() for arrays of fewer than GC_CARDED_LENGTH elements, some
 * more for longer ones.
 */
static inline void gc_write_element(struct gc_mutator *m, void *array, void **elements, size_t i,
				    void *value)
{
	__atomic_store_n(&elements[i], value, __ATOMIC_RELEASE);
	if (__builtin_expect(gc_length(array) >= GC_CARDED_LENGTH, 0))
		gc_write_slow(m, array, i);
	else
		gc_write_barrier(m, array);
}

/** gc_init() - store into an object allocated since the last safepoint. */
static inline void gc_init(void *slot, void *value)
{
	*(void **)slot = value;
}

/** gc_safepoint() - let a waiting collection stop this thread. */
static inline void gc_safepoint(struct gc_mutator *m)
{
	if (__builtin_expect(__atomic_load_n(&m->poll, __ATOMIC_RELAXED) != 0, 0))
		gc_safepoint_slow(m);
}

/* ---- objects ---------------------------------------------------------- */

/**
 * gc_type_of() - the type that @obj was allocated with
 *
 * A trace callback may ask for the type of its object. It may not ask for those of the objects that
 * this one refers to: a collection may have moved them.
 */
const struct gc_type *gc_type_of(const struct gc_heap *heap, const void *obj);

/**
 * gc_heap_contains() - is @address within the memory that the heap reserved?
 *
 * Tells references of this heap from pointers to anything else, of another heap too. True also where
 * no object is.
 */
bool gc_heap_contains(const struct gc_heap *heap, const void *address);

/**
 * gc_heap_moves() - may collections move objects?
 *
 * False: an address that was kept in a register or by other code stays right as long as the object
 * is reachable from a root. It depends on options alone: plan= and defrag=. Where this is true,
 * objects that are larger than large= never move.
 */
bool gc_heap_moves(const struct gc_heap *heap);

/** gc_heap_pins() - can every object be pinned, and may stack=conservative be given? By plan= alone. */
bool gc_heap_pins(const struct gc_heap *heap);

/**
 * gc_object_pin() - keep @obj alive, at its address, until as many calls of gc_object_unpin()
 *
 * For memory that other code works on: a buffer of read(), an address that is kept in a table.
 * Pinned objects are roots. Thread-safe, not a safepoint.
 *
 * Return: 0, -ENOMEM, -EINVAL if it is no object of the heap, or -EOPNOTSUPP under semispace and gss
 * for objects that move: these pin what is larger than large=, and gss also what it promoted.
 */
int gc_object_pin(struct gc_mutator *m, void *obj);
/** gc_object_unpin() - takes one gc_object_pin() back; 0 or -ENOENT */
int gc_object_unpin(struct gc_mutator *m, void *obj);

/* ---- identity --------------------------------------------------------- */

/**
 * gc_identity_hash() - a number that an object keeps while it lives, wherever it moves
 *
 * No two live objects have the same hash, and any of its 64 bits can index a table. An object
 * keeps its hash when gc_finalizer_next() returns it. With one thread the hashes are the same in
 * each run.
 *
 * Headers and inline paths do not pay for it. Where objects do not move (cms, cmsfly, gencms,
 * marksweep, defrag=never, large objects, objects that gss promoted) the hash is made of the
 * address and takes no memory. Elsewhere the first call for an object takes a lock and 24 to
 * 48 bytes outside the heap, which are freed after the object died; each whole collection visits
 * all of these entries, a minor one those of young objects. Later calls take no lock.
 *
 * Thread-safe, also for the same object. Not a safepoint.
 * Return: the hash; 0 when there is no memory for a new one.
 */
uint64_t gc_identity_hash(struct gc_mutator *m, const void *obj);

/* ---- weak references, ephemerons and finalizers ----------------------- */

/**
 * gc_weak_new() - allocate an object that refers to *@target weakly
 * @target: address of a root slot that holds the referent
 *
 * Return: the weak object (keep it in a frame), or NULL. Safepoint.
 */
void *gc_weak_new(struct gc_mutator *m, void **target);
/** gc_weak_get() - the referent, or NULL once it was collected. */
void *gc_weak_get(struct gc_mutator *m, const void *weak);

/**
 * gc_ephemeron_new() - allocate an object that keeps *@value alive as long as *@key is reachable
 * @key: address of a root slot that holds the key
 * @value: address of a root slot that holds the value, which may be NULL
 *
 * The ephemeron does not keep its key alive, and neither does the value if it refers to the key:
 * weak tables are made of ephemerons. A collection that finds the key dead clears both; a key
 * that is to be finalized is dead, except in types that are lasting. With a NULL key there is no value. A type of the embedder may
 * have a key and a value, and other fields (struct gc_type_desc).
 *
 * The time that a collection takes for ephemerons is proportional to their number, in whatever order
 * their keys are reached.
 *
 * Return: the ephemeron (keep it in a frame), or NULL. Safepoint.
 */
void *gc_ephemeron_new(struct gc_mutator *m, void **key, void **value);
/** gc_ephemeron_key() - the key, or NULL once it was collected. */
void *gc_ephemeron_key(struct gc_mutator *m, const void *ephemeron);
/** gc_ephemeron_value() - the value, or NULL once the key was collected. */
void *gc_ephemeron_value(struct gc_mutator *m, const void *ephemeron);

/**
 * gc_finalizer_add() - have gc_finalizer_next() return @obj when it dies
 *
 * Weak references to it are cleared first. An object may be added again after
 * gc_finalizer_next() returned it. Return: 0, -ENOMEM, or -EINVAL if it is no object of the heap.
 */
int gc_finalizer_add(struct gc_mutator *m, void *obj);
/**
 * gc_finalizer_add_order() - the same, with an order of 0 to GC_FINALIZER_ORDERS - 1
 *
 * What an object of a lower order leads to stays alive until that one was returned and has died
 * again: so a file of order 1 is finalized after the buffers of order 0 that refer to it. Within
 * an order, objects that die together are returned in one collection. gc_finalizer_add() is order 0.
 * Return: as gc_finalizer_add(), and -EINVAL for another order.
 */
int gc_finalizer_add_order(struct gc_mutator *m, void *obj, unsigned int order);
#define GC_FINALIZER_ORDERS 4

/**
 * gc_finalizer_callback() - call @fn when a collection found objects for gc_finalizer_next()
 *
 * After the collection, on the thread that ran it, which may be one of the heap's own, with the
 * other threads running: @fn wakes a thread up, or sets a flag. It may not call functions of this
 * header that take a heap or a mutator. NULL for none.
 */
void gc_finalizer_callback(struct gc_heap *heap, void (*fn)(void *arg), void *arg);

/** gc_finalizer_next() - an object that was added and died, which is alive again, or NULL. */
void *gc_finalizer_next(struct gc_mutator *m);

/* ---- statistics and checks ---------------------------------------------- */

enum gc_cause {
	GC_CAUSE_ALLOC, /* a mutator could not allocate (GC-ALLOC) */
	GC_CAUSE_CONCURRENT, /* allocation passed the concurrent threshold (GC-CONC) */
	GC_CAUSE_EXPLICIT, /* gc_collect() (GC-EXPLICIT) */
	GC_CAUSE_TRIM, /* the idle timer */
	GC_CAUSE_STRESS, /* stress=, safepoints=1, profiler= or a test */
	GC_CAUSE_OOM, /* last attempt before out of memory */
	GC_CAUSE_COUNT
};

/**
 * struct gc_heap_stats - counters since the heap was made; bytes and ns
 *
 * A snapshot: each field is exact at some instant, not all at the same one.
 * lifetime_* need profiler=: of the bytes in lifetime_bytes, those that died before so many
 * further bytes were allocated.
 */
struct gc_heap_stats {
	uint64_t allocated_bytes,
		allocated_objects; /* objects: 0 where a bump run serves all sizes, unless profiler= */
	uint64_t live_bytes, live_objects; /* at the end of the last collection */
	uint64_t peak_live_bytes;
	uint64_t heap_bytes; /* allocated now, garbage included */
	uint64_t footprint_bytes; /* pages the heap holds */
	uint64_t peak_footprint_bytes;
	uint64_t soft_limit, concurrent_start; /* of the sizing rule */
	uint64_t side_bytes; /* mark bits, live bits and cards of the footprint */
	uint64_t mark_stack_bytes, mark_stack_peak;
	uint64_t cycles, minors, majors;
	uint64_t by_cause[GC_CAUSE_COUNT];
	uint64_t foreground_cycles;
	uint64_t trims, trimmed_bytes;
	uint64_t contentions; /* times that the heap lock was taken already */
	uint64_t contention_ns;
	uint64_t gc_cpu_ns; /* thread CPU time of collecting */
	uint64_t stw_ns, longest_stw_ns, time_to_safepoint_ns, longest_ttsp_ns;
	uint64_t marked_objects, marked_bytes, copied_bytes, promoted_bytes, promoted_objects;
	uint64_t premature_bytes; /* promoted and dead by the next whole collection */
	uint64_t cards_dirty, cards_scanned;
	uint64_t overflows, overflow_rounds, rescanned_objects;
	uint64_t remark_timeouts;
	uint64_t weak_cleared, finalized; /* weak_cleared includes ephemerons */
	uint64_t boosts, boosts_refused;
	uint64_t helps, helped_objects; /* times that a mutator helped, objects that it marked */
	uint64_t daemon_switches; /* by policy=adaptive */
	uint64_t grown_instead; /* limit raised instead of collecting */
	uint64_t lifetime_bytes, lifetime_128k, lifetime_256k, lifetime_512k;
	uint64_t threads_total;
	uint64_t verifications;
	uint64_t hashed_objects; /* objects with an identity hash in the table */
	uint64_t stalls; /* reports of a thread that kept the world waiting */
	uint64_t external_bytes; /* counted by gc_external_add() */
};

void gc_heap_stats(const struct gc_heap *heap, struct gc_heap_stats *out);

/**
 * gc_frequency_source() - set the source of the CPU frequency, for policy=adaptive
 * @fn: sets effective and highest kHz of the calling thread's CPU and returns 0, or
 *	a negative errno when that is unknown
 */
void gc_frequency_source(struct gc_heap *heap,
			 int (*fn)(uint32_t *effective_khz, uint32_t *highest_khz, void *arg),
			 void *arg);

/**
 * typedef gc_walk_fn - is called for a reachable object
 * @bytes: of the object with its header and tail
 *
 * It may read objects, but not store, allocate, or call functions of this header but gc_type_of()
 * and gc_length().
 */
typedef void (*gc_walk_fn)(void *obj, const struct gc_type *type, size_t bytes, void *arg);

/**
 * gc_heap_walk() - stop the world, and call @fn once for each object that the roots reach
 *
 * Not for objects that only a weak reference or a pending finalizer has. Safepoint.
 * Return: 0, or -EUCLEAN with @err if the heap is broken or there is no memory for the walk.
 */
int gc_heap_walk(struct gc_mutator *m, gc_walk_fn fn, void *arg, struct gc_error *err);

/**
 * gc_heap_dump() - the same as text, for tools that search a leak
 * @line: called with each line, without newline: "root ADDRESS" first; "object ADDRESS BYTES TYPE",
 *	  and behind it what that one refers to, as "ref ADDRESS ADDRESS", "weak ...", "key ..." and
 *	  "value ..." of an ephemeron
 */
int gc_heap_dump(struct gc_mutator *m, void (*line)(const char *text, void *arg), void *arg,
		 struct gc_error *err);

/** gc_verify() - stop the world, re-trace and check everything; 0 or -EUCLEAN with @err. */
int gc_verify(struct gc_mutator *m, struct gc_error *err);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif /* GCHINT_GC_H */
