// SPDX-License-Identifier: MIT
/*
 * chain OPTIONS N: a chain of N ephemerons, in which the value of each is the key of the next, made
 * in random order and collected once. tests/collectors/tracing counts its instructions.
 */
#include <gchint/gc.h>
#include <stdio.h>
#include <stdlib.h>

struct refs {
	struct gc_header header;
	void *element[];
};

static void shuffle(uint32_t *order, uint32_t count)
{
	uint64_t rng = 7;

	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	for (uint32_t i = count - 1; i > 0; i--) {
		uint32_t k, other;

		rng = rng * 6364136223846793005u + 1442695040888963407u;
		k = (uint32_t)((rng >> 33) % (i + 1));
		other = order[k];
		order[k] = order[i];
		order[i] = other;
	}
}

int main(int argc, char **argv)
{
	struct gc_type_desc k = { .name = "key", .size = 16 };
	struct gc_type_desc a = { .name = "refs", .size = 8, .tail = GC_TAIL_REFS };
	uint32_t count = argc > 2 ? (uint32_t)atoi(argv[2]) : 1000, alive = 0;
	uint32_t *order = malloc(count * sizeof(*order));
	struct {
		struct gc_frame head;
		struct refs *keys, *chain;
		void *key, *value, *ephemeron, *first;
	} f;
	const struct gc_type *key, *refs;
	struct gc_error err = { .text = "no memory" };
	struct gc_mutator *m;
	struct gc_heap *heap;

	if (!order || gc_heap_create(&heap, argc > 1 ? argv[1] : NULL, NULL, &err) ||
	    gc_mutator_attach(heap, &m)) {
		fprintf(stderr, "chain: %s\n", err.text);
		return 1;
	}
	key = gc_type_register(heap, &k, NULL);
	refs = gc_type_register(heap, &a, NULL);
	GC_PUSH(m, f);
	f.keys = gc_alloc_array(m, refs, count + 1);
	f.chain = gc_alloc_array(m, refs, count);
	for (uint32_t i = 0; i <= count; i++) {
		f.key = gc_alloc(m, key);
		gc_write(m, f.keys, &f.keys->element[i], f.key);
	}
	shuffle(order, count);
	for (uint32_t i = 0; i < count; i++) {
		f.key = f.keys->element[order[i]];
		f.value = f.keys->element[order[i] + 1];
		f.ephemeron = gc_ephemeron_new(m, &f.key, &f.value);
		gc_write(m, f.chain, &f.chain->element[i], f.ephemeron);
	}
	/* Nothing but the first key is reached by other ways. */
	f.first = f.keys->element[0];
	f.keys = NULL;
	f.key = f.value = f.ephemeron = NULL;
	gc_collect_full(m);
	for (uint32_t i = 0; i < count; i++)
		alive += gc_ephemeron_key(m, f.chain->element[i]) != NULL;
	GC_POP(m, f);
	gc_mutator_detach(m);
	gc_heap_destroy(heap);
	free(order);
	printf("%u\n", alive);
	return alive != count;
}
