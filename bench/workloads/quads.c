// SPDX-License-Identifier: MIT
/*
 * Quad trees: one lives through the run, many shallower ones die early alongside it. It
 * tests how well a collector avoids work on old objects.
 */
#include "workloads/workload.h"

#include <errno.h>
#include <stdlib.h>

struct quad {
	HEAP_HEADER
	struct quad *kid[4];
};

struct quads {
	const struct heap_type *quad;
	uint64_t deep, shallow, trees, walks;
};

static const struct setting settings[] = {
	{ "depth", "9", "depth of the long-lived tree: 9 is 14 MB" },
	{ "short", "5", "depth of the short-lived trees" },
	{ "threads", "1", "threads, each with its own trees; 0: as many as CPUs" },
	{ "trees", "2560", "short-lived trees per thread" },
	{ "walks", "0", "times that the long-lived tree is walked meanwhile" },
	{ NULL, NULL, NULL },
};

static int quads_prepare(struct bench *b, struct settings_error *err)
{
	const struct heap_kind quad = {
		.name = "quad",
		.size = sizeof(struct quad),
		.refs = HEAP_REF(struct quad, kid[0]) | HEAP_REF(struct quad, kid[1]) |
			HEAP_REF(struct quad, kid[2]) | HEAP_REF(struct quad, kid[3]),
	};
	struct quads *q = calloc(1, sizeof(*q));
	int code;

	b->state = q;
	if (!q)
		return -ENOMEM;
	if ((code = workload_threads(b, err)) ||
	    (code = settings_size(&b->settings, "depth", 0, 12, &q->deep, err)) ||
	    (code = settings_size(&b->settings, "short", 0, 12, &q->shallow, err)) ||
	    (code = settings_size(&b->settings, "trees", 0, UINT32_MAX, &q->trees, err)) ||
	    (code = settings_size(&b->settings, "walks", 0, UINT32_MAX, &q->walks, err)))
		return code;
	q->quad = workload_type(b, &quad, err);
	b->steps_total = q->trees * (uint64_t)b->threads;
	return q->quad ? 0 : -ENOMEM;
}

static uint64_t quad_nodes(uint64_t depth)
{
	return ((UINT64_C(4) << 2 * depth) - 1) / 3;
}

static struct quad *quad_make(const struct quads *q, struct heap_thread *t, uint64_t depth)
{
	struct {
		struct heap_frame head;
		struct quad *kid[4];
	} f;
	struct quad *quad = NULL;

	if (!depth)
		return HEAP_NEW(t, q->quad, struct quad);
	HEAP_PUSH(t, f);
	for (int i = 0; i < 4; i++) {
		f.kid[i] = quad_make(q, t, depth - 1);
		if (!f.kid[i])
			goto pop;
	}
	quad = HEAP_NEW(t, q->quad, struct quad);
	for (int i = 0; quad && i < 4; i++)
		heap_init(&quad->kid[i], f.kid[i]);
pop:
	HEAP_POP(t, f);
	return quad;
}

static uint64_t quad_count(const struct quad *quad)
{
	uint64_t n = 0;

	if (!quad)
		return 0;
	for (int i = 0; i < 4; i++)
		n += quad_count(quad->kid[i]);
	return n + 1;
}

static int quads_run(struct bench *b, struct heap_thread *t, int index)
{
	const struct quads *q = b->state;
	struct totals totals = { 0 };
	struct {
		struct heap_frame head;
		struct quad *old, *young;
	} f;
	int code = -ENOMEM;

	(void)index;
	HEAP_PUSH(t, f);
	f.old = quad_make(q, t, q->deep);
	if (!f.old)
		goto pop;
	for (uint64_t i = 0; i < q->trees; i++) {
		f.young = quad_make(q, t, q->shallow);
		if (!f.young)
			goto pop;
		/* Evenly over the iterations. */
		if ((i + 1) * q->walks / q->trees > i * q->walks / q->trees &&
		    quad_count(f.old) != quad_nodes(q->deep)) {
			code = -EILSEQ;
			goto pop;
		}
		bench_step(b);
	}
	totals.objects = quad_nodes(q->deep) + q->trees * quad_nodes(q->shallow);
	totals.bytes = totals.objects * sizeof(struct quad);
	totals.checksum = quad_count(f.old) + (q->trees ? quad_count(f.young) : 0);
	code = totals.checksum == quad_nodes(q->deep) + (q->trees ? quad_nodes(q->shallow) : 0) ?
		       0 :
		       -EILSEQ;
pop:
	HEAP_POP(t, f);
	totals_merge(&totals, b);
	return code;
}

const struct workload workload_quads = {
	.name = "quads",
	.summary = "short-lived quad trees alongside a long-lived one",
	.stresses = "tracing an old object graph again and again, or not",
	.settings = settings,
	.prepare = quads_prepare,
	.run = quads_run,
};
