/* SPDX-License-Identifier: MIT */
/* What tracing knows of types, roots and weak references, and how it checks itself */
#ifndef GC_HEAP_TRACING_H
#define GC_HEAP_TRACING_H

#include <gchint/gc.h>
#include <pthread.h>

#include "mark-stack.h"

#define GC_MAX_TYPES (1u << 16)

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
	bool lasting; /* an ephemeron that lasts until its key was finalized */
	bool scanned; /* has references, weak ones included */
	char pad[64 - sizeof(struct gc_type) - 8 - 2 * sizeof(void *) - 4];
};
_Static_assert(sizeof(struct gc_info) == 64, "the type table is indexed by a shift");

struct gc_vector {
	void **items;
	size_t count, room;
};
int gc_vector_push(struct gc_vector *v, void *item);

struct gc_root_array {
	void **slots;
	size_t count;
	struct gc_root_array *next;
};

/* Memory whose words may be references */
struct gc_word_range {
	const void *start; /* as it was added */
	const uintptr_t *words;
	size_t count;
	struct gc_word_range *next;
};

struct gc_pinned {
	void *obj;
	size_t count;
};

struct gc_root_callback {
	gc_roots_fn fn;
	void *arg;
};

struct gc_roots {
	pthread_mutex_t lock; /* also of struct gc_weak_state */
	struct gc_info *types;
	uint32_t type_count;
	bool mixed; /* words may be no references: struct gc_type_desc.mixed */
	struct gc_root_array *arrays;
	struct gc_word_range *ranges;
	struct gc_pinned *pinned; /* trace/ambiguous.c */
	size_t pinned_room, pinned_used; /* entries, and those that are or were in use */
	size_t pinned_objects;
	struct gc_root_callback callback; /* by gc_roots_callback() */
	struct gc_root_callback *added; /* further ones; their indices never change */
	size_t added_count;
	struct gc_vector noted; /* objects that stacks refer to, to verify them */
	bool noted_lost; /* there was no memory for some */
};

struct gc_hashes; /* trace/hash.c */

/* Objects to be finalized, of one order */
struct gc_finalizable {
	struct gc_vector objects;
	size_t old; /* of these, the first ones that a minor collection leaves as is */
};

struct gc_weak_state {
	const struct gc_type *weak_type, *ephemeron_type;
	struct gc_vector weaks, ephemerons; /* those that this cycle found */
	/* Awaited keys that were reached, and are to be processed: trace/weak.c */
	struct gc_vector keys;
	bool keys_lost; /* some were reached for which there was no memory */
	struct gc_finalizable finalizable[GC_FINALIZER_ORDERS];
	struct gc_vector finalized;
	size_t finalized_next;
	bool finalized_more; /* since the callback was called */
	void (*finalizer)(void *arg); /* by gc_finalizer_callback() */
	void *finalizer_arg;
	struct gc_hashes *hashes; /* of objects that may move; NULL: no hash was requested yet */
	uint64_t hash_number; /* of the next one */
};

struct gc_verification {
	struct gc_error error;
	void *holder, *trace;
	bool white;
};

#endif
