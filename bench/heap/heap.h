/* SPDX-License-Identifier: MIT */
/**
 * DOC: The heap a workload sees
 *
 * A workload is one source compiled against several heaps, so that a comparison shows
 * the heap and nothing else. The calls are those of <gchint/gc.h>; a heap that does
 * not need one defines it as empty. The rules are those of the bundled collectors, the
 * strictest of all: objects move at every allocation, references live in frames.
 *
 *   HEAP_GCHINT   the bundled collectors (the default)
 *   HEAP_LIBGC    Boehm's collector as the distribution ships it
 *   HEAP_EPSILON  no collector: memory is never freed
 *
 * Each header defines
 *   struct bench_heap, struct heap_thread (a mutator), struct heap_type, struct heap_frame
 *   HEAP_HEADER            first member of every object; may be empty
 *   HEAP_LENGTH            first members of an array object; never empty
 *   heap_alloc(t, type, bytes), heap_array(t, type, length)   NULL: out of memory
 *   heap_store(t, obj, slot, value), heap_init(slot, value)
 *   heap_poll(t), heap_park(t), heap_unpark(t), heap_collect(t)
 *   HEAP_PUSH(t, frame), HEAP_POP(t, frame)
 * and its .c file the functions declared at the end of this file.
 */
#ifndef BENCH_HEAP_H
#define BENCH_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** enum heap_tail - what follows the fixed part of an object */
enum heap_tail {
	HEAP_TAIL_NONE,
	HEAP_TAIL_DATA,
	HEAP_TAIL_REFS
};

/**
 * struct heap_kind - describes a type
 * @size: sizeof() of the C struct, without the tail
 * @refs: references of the fixed part, HEAP_REF() for each
 * @elem_size: bytes of a HEAP_TAIL_DATA element
 */
struct heap_kind {
	const char *name;
	uint32_t size;
	uint64_t refs;
	enum heap_tail tail;
	uint32_t elem_size;
};

#define HEAP_REF(ctype, member) (UINT64_C(1) << (offsetof(ctype, member) / sizeof(void *)))

#if defined(HEAP_LIBGC)
#include "heap/heap-libgc.h"
#elif defined(HEAP_EPSILON)
#include "heap/heap-epsilon.h"
#else
#include "heap/heap-gchint.h"
#endif

/** HEAP_NEW() - an object of C type @ctype. */
#define HEAP_NEW(t, type, ctype) ((ctype *)heap_alloc((t), (type), sizeof(ctype)))

/** struct heap_refs - an array of references */
struct heap_refs {
	HEAP_LENGTH
	void *ref[];
};

/** struct heap_data - an array of plain bytes */
struct heap_data {
	HEAP_LENGTH
	unsigned char byte[];
};

#define HEAP_KIND_REFS(label)                                                                      \
	{                                                                                          \
		.name = (label), .size = offsetof(struct heap_refs, ref), .tail = HEAP_TAIL_REFS   \
	}
#define HEAP_KIND_DATA(label, bytes)                                                               \
	{                                                                                          \
		.name = (label), .size = offsetof(struct heap_data, byte), .tail = HEAP_TAIL_DATA, \
		.elem_size = (bytes)                                                               \
	}

/** heap_name() - "gchint", "libgc" or "epsilon". */
const char *heap_name(void);
/** heap_register() - make a type; NULL when out of memory or refused. */
const struct heap_type *heap_register(struct bench_heap *heap, const struct heap_kind *kind);
/** heap_attach() - the calling thread joins; NULL on failure. */
struct heap_thread *heap_attach(struct bench_heap *heap);
void heap_detach(struct heap_thread *t);

#endif
