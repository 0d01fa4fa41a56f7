// SPDX-License-Identifier: MIT
/*
 * A table of boxed integers, as the mark stack's worst case: one array refers to every
 * entry, so that scanning it pushes all of them.
 */
#include "lib/random.h"
#include "workloads/workload.h"

#include <errno.h>
#include <stdlib.h>

struct boxed {
	HEAP_HEADER
	int64_t value;
};

struct entry {
	HEAP_HEADER
	struct boxed *key, *value;
	struct entry *next;
};

struct hashtable {
	const struct heap_type *boxed, *entry, *refs;
	uint64_t entries, changes, seed;
	uint32_t buckets;
	uint64_t flat, collect;
};

struct worker {
	const struct hashtable *h;
	struct heap_thread *t;
	struct {
		struct heap_frame head;
		struct heap_refs *table;
		struct boxed *key, *value;
	} f;
	struct random draw;
	struct totals totals;
};

static const struct setting settings[] = {
	{ "changes", "2000000", "entries replaced per thread" },
	{ "collect", "0", "explicit collections, spread evenly over the changes" },
	{ "entries", "100000", "integers in the table" },
	{ "flat", "0", "1: an array of integers instead of a table of entries" },
	{ "seed", "1", "first seed; thread i draws from seed+i" },
	{ "threads", "1", "threads, each with its own table; 0: as many as CPUs" },
	{ NULL, NULL, NULL },
};

static int hashtable_prepare(struct bench *b, struct settings_error *err)
{
	const struct heap_kind boxed = { .name = "Integer", .size = sizeof(struct boxed) };
	const struct heap_kind entry = {
		.name = "Entry",
		.size = sizeof(struct entry),
		.refs = HEAP_REF(struct entry, key) | HEAP_REF(struct entry, value) |
			HEAP_REF(struct entry, next),
	};
	const struct heap_kind refs = HEAP_KIND_REFS("Object[]");
	struct hashtable *h = calloc(1, sizeof(*h));
	int code;

	b->state = h;
	if (!h)
		return -ENOMEM;
	if ((code = workload_threads(b, err)) ||
	    (code = settings_size(&b->settings, "changes", 0, UINT32_MAX, &h->changes, err)) ||
	    (code = settings_size(&b->settings, "collect", 0, UINT32_MAX, &h->collect, err)) ||
	    (code = settings_size(&b->settings, "entries", 1, 1 << 28, &h->entries, err)) ||
	    (code = settings_size(&b->settings, "flat", 0, 1, &h->flat, err)) ||
	    (code = settings_size(&b->settings, "seed", 0, UINT32_MAX, &h->seed, err)))
		return code;
	/* Three quarters full, as java.util's tables are kept; flat, a slot an entry. */
	h->buckets = (uint32_t)(h->flat ? h->entries : h->entries * 4 / 3 + 1);
	h->boxed = workload_type(b, &boxed, err);
	h->entry = workload_type(b, &entry, err);
	h->refs = workload_type(b, &refs, err);
	b->steps_total = h->changes * (uint64_t)b->threads;
	return h->boxed && h->entry && h->refs ? 0 : -ENOMEM;
}

static struct boxed *new_boxed(struct worker *w, int64_t value)
{
	struct boxed *boxed = HEAP_NEW(w->t, w->h->boxed, struct boxed);

	if (boxed) {
		boxed->value = value;
		totals_add(&w->totals, sizeof(*boxed));
	}
	return boxed;
}

/* Store number @i under its key, in place of the old value. */
static int table_put(struct worker *w, uint64_t i, int64_t value)
{
	const struct hashtable *h = w->h;
	uint64_t slot = i * 0x9E3779B97F4A7C15u % h->buckets;
	struct entry *e;

	w->f.value = new_boxed(w, value);
	if (!w->f.value)
		return -ENOMEM;
	if (h->flat) {
		heap_store(w->t, w->f.table, &w->f.table->ref[i], w->f.value);
		return 0;
	}
	for (e = w->f.table->ref[slot]; e; e = e->next) {
		if (e->key->value == (int64_t)i) {
			heap_store(w->t, e, &e->value, w->f.value);
			return 0;
		}
	}
	w->f.key = new_boxed(w, (int64_t)i);
	if (!w->f.key)
		return -ENOMEM;
	e = HEAP_NEW(w->t, h->entry, struct entry);
	if (!e)
		return -ENOMEM;
	heap_init(&e->key, w->f.key);
	heap_init(&e->value, w->f.value);
	heap_init(&e->next, w->f.table->ref[slot]);
	heap_store(w->t, w->f.table, &w->f.table->ref[slot], e);
	totals_add(&w->totals, sizeof(*e));
	return 0;
}

static int table_check(struct worker *w)
{
	const struct hashtable *h = w->h;
	uint64_t count = 0;

	for (uint32_t i = 0; i < h->buckets; i++) {
		if (h->flat) {
			struct boxed *boxed = w->f.table->ref[i];

			count += boxed != NULL;
			w->totals.checksum += boxed ? (uint64_t)boxed->value : 0;
			continue;
		}
		for (struct entry *e = w->f.table->ref[i]; e; e = e->next) {
			if ((uint64_t)e->key->value * 0x9E3779B97F4A7C15u % h->buckets != i)
				return -EILSEQ;
			count++;
			w->totals.checksum += (uint64_t)e->value->value;
		}
	}
	return count == h->entries ? 0 : -EILSEQ;
}

static int hashtable_run(struct bench *b, struct heap_thread *t, int index)
{
	const struct hashtable *h = b->state;
	struct worker w = { .h = h, .t = t };
	int code = 0;

	random_seed(&w.draw, (int64_t)h->seed + index);
	HEAP_PUSH(t, w.f);
	w.f.table = heap_array(t, h->refs, h->buckets);
	if (!w.f.table)
		code = -ENOMEM;
	for (uint64_t i = 0; !code && i < h->entries; i++)
		code = table_put(&w, i, (int64_t)i);
	for (uint64_t i = 0; !code && i < h->changes; i++) {
		uint64_t which = (uint64_t)random_below(&w.draw, (int32_t)h->entries);

		code = table_put(&w, which, (int64_t)i);
		if ((i + 1) * h->collect / h->changes != i * h->collect / h->changes)
			heap_collect(t);
		bench_step(b);
	}
	for (uint64_t i = 0; !code && !h->changes && i < h->collect; i++)
		heap_collect(t);
	if (!code)
		code = table_check(&w);
	HEAP_POP(t, w.f);
	totals_merge(&w.totals, b);
	return code;
}

const struct workload workload_hashtable = {
	.name = "hashtable",
	.summary = "a table of 100,000 boxed integers whose values are replaced",
	.stresses = "the mark stack's depth: one array refers to every entry",
	.settings = settings,
	.prepare = hashtable_prepare,
	.run = hashtable_run,
};
