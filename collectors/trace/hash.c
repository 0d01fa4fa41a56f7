// SPDX-License-Identifier: MIT
/*
 * Identity hashes. The hash of an object that never moves is its mixed address. The hash of an
 * object that may move is a mixed sequence number, kept in a table that every collection updates:
 * headers and the paths that allocate, store or trace are not involved.
 *
 * Mixing is a bijection of 64 bits, addresses are even and numbers odd: no two live objects have
 * the same hash.
 *
 * Invariants:
 *  - While mutators run, a table only gains entries, and an entry does not change: a lookup that
 *    finds an entry takes no lock. A replaced table is kept for concurrent readers until the world
 *    stops, when there are none.
 *  - entry[0..old) belong to objects that a minor collection neither moves nor frees.
 *  - A collection needs no memory to update the table.
 */
#include "hash.h"

#include <stdlib.h>

#include "../space/lines.h"

#define LEAST 256 /* entries of a table */

struct entry {
	uintptr_t addr;
	uint64_t hash;
};

struct gc_hashes {
	struct gc_hashes *before; /* the table that it replaced */
	uint32_t room, count,
		old; /* entries; room is a power of two, and there are as many buckets */
	uint32_t *bucket, *next; /* an entry's index and 1; 0 ends */
	struct entry entry[];
};

/* splitmix64's last step: a bijection that maps 0 to 0 */
static uint64_t hash_mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static uint32_t *bucket_of(const struct gc_hashes *t, uintptr_t addr)
{
	return &t->bucket[hash_mix(addr) & (t->room - 1)];
}

static void link_entry(struct gc_hashes *t, uint32_t i)
{
	uint32_t *bucket = bucket_of(t, t->entry[i].addr);

	t->next[i] = *bucket;
	__atomic_store_n(bucket, i + 1, __ATOMIC_RELEASE);
}

static void unlink_entry(struct gc_hashes *t, uint32_t i)
{
	uint32_t *link = bucket_of(t, t->entry[i].addr);

	while (*link != i + 1)
		link = &t->next[*link - 1];
	*link = t->next[i];
}

/* 0: no entry */
static uint64_t table_find(const struct gc_hashes *t, uintptr_t addr)
{
	uint32_t i = t ? __atomic_load_n(bucket_of(t, addr), __ATOMIC_ACQUIRE) : 0;

	for (; i; i = t->next[i - 1])
		if (t->entry[i - 1].addr == addr)
			return t->entry[i - 1].hash;
	return 0;
}

/* A copy of the table with a capacity of @room entries, or NULL */
static struct gc_hashes *table_resize(struct gc_hashes *from, uint32_t room)
{
	size_t each = sizeof(struct entry) + 2 * sizeof(uint32_t);
	struct gc_hashes *t =
		room && room < SIZE_MAX / each - 8 ? malloc(sizeof(*t) + room * each) : NULL;

	if (!t)
		return NULL;
	t->before = NULL;
	t->room = room;
	t->count = from ? from->count : 0;
	t->old = from ? from->old : 0;
	t->bucket = (uint32_t *)&t->entry[room];
	t->next = t->bucket + room;
	memset(t->bucket, 0, room * sizeof(*t->bucket));
	if (from)
		memcpy(t->entry, from->entry, t->count * sizeof(t->entry[0]));
	for (uint32_t i = 0; i < t->count; i++)
		link_entry(t, i);
	return t;
}

static void table_count(struct gc_heap *heap, const struct gc_hashes *t)
{
	__atomic_store_n(&heap->stats.hashed_objects, t->count, __ATOMIC_RELAXED);
}

/* Add a hash for the object at @addr; 0: no memory. The caller holds roots.lock. */
static uint64_t table_add(struct gc_heap *heap, uintptr_t addr)
{
	struct gc_hashes *t = heap->weak.hashes, *more;
	uint64_t hash;

	if (!t || t->count == t->room) {
		more = table_resize(t, t ? 2 * t->room : LEAST);
		if (!more)
			return 0;
		more->before = t;
		__atomic_store_n(&heap->weak.hashes, more, __ATOMIC_RELEASE);
		t = more;
	}
	hash = hash_mix(2 * heap->weak.hash_number++ + 1);
	t->entry[t->count] = (struct entry){ addr, hash };
	link_entry(t, t->count++);
	table_count(heap, t);
	return hash;
}

/* May a collection move the object at @addr? */
static bool object_may_move(struct gc_heap *heap, uintptr_t addr)
{
	if (!gc_in_pages(heap, addr))
		return true;
	return heap->lines && heap->opt.defrag != GC_DEFRAG_NEVER && gc_lines_holds(heap, addr);
}

uint64_t gc_identity_hash(struct gc_mutator *m, const void *obj)
{
	struct gc_heap *heap = gc_thread(m)->heap;
	uintptr_t addr = (uintptr_t)obj;
	uint64_t hash;

	if (!gc_is_ref(heap, obj))
		return hash_mix(addr - heap->base);
	/* The table first: an object that moved to where it stays keeps its hash. */
	hash = table_find(__atomic_load_n(&heap->weak.hashes, __ATOMIC_ACQUIRE), addr);
	if (hash)
		return hash;
	if (!object_may_move(heap, addr))
		return hash_mix(addr - heap->base);
	pthread_mutex_lock(&heap->roots.lock);
	hash = table_find(heap->weak.hashes, addr);
	if (!hash)
		hash = table_add(heap, addr);
	pthread_mutex_unlock(&heap->roots.lock);
	return hash;
}

static void table_free(struct gc_hashes *t)
{
	while (t) {
		struct gc_hashes *before = t->before;

		free(t);
		t = before;
	}
}

/* Replace a nearly empty table by a smaller one, if there is memory for that. */
static void table_shrink(struct gc_heap *heap)
{
	struct gc_hashes *t = heap->weak.hashes, *less;

	if (t->room == LEAST || t->count > t->room / 8)
		return;
	less = table_resize(t, t->room / 4);
	if (!less)
		return;
	free(t);
	heap->weak.hashes = less;
}

void gc_hash_update(struct gc_heap *heap, gc_alive_fn alive)
{
	struct gc_hashes *t = heap->weak.hashes;
	bool minor = heap->cycle.kind == GC_KIND_MINOR;
	uint32_t from, kept;

	if (!t)
		return;
	table_free(t->before);
	t->before = NULL;
	from = kept = minor ? t->old : 0;
	if (!from)
		memset(t->bucket, 0, t->room * sizeof(*t->bucket));
	for (uint32_t i = from; from && i < t->count; i++)
		unlink_entry(t, i);
	t->old = from;
	for (uint32_t i = from; i < t->count; i++) {
		struct entry e = t->entry[i];
		void *obj = (void *)e.addr;

		if (!alive(heap, &obj))
			continue;
		e.addr = (uintptr_t)obj;
		t->entry[kept] = e;
		if (gc_in_pages(heap, e.addr)) {
			t->entry[kept] = t->entry[t->old];
			t->entry[t->old++] = e;
		}
		kept++;
	}
	t->count = kept;
	for (uint32_t i = from; i < kept; i++)
		link_entry(t, i);
	if (!minor)
		table_shrink(heap);
	table_count(heap, heap->weak.hashes);
}

void gc_hash_fini(struct gc_heap *heap)
{
	table_free(heap->weak.hashes);
}
