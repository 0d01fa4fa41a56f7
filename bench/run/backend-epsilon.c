// SPDX-License-Identifier: MIT
#include "run/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const struct setting options[] = {
	{ "max", "4G", "maximum of memory" },
	{ "pretouch", "0", "1: fault pages in as they are taken from the system" },
	{ NULL, NULL, NULL },
};

struct backend {
	struct bench_heap *heap;
};

int backend_open(struct backend **out, const struct run_request *q, struct run_result *r)
{
	struct backend *b = calloc(1, sizeof(*b));
	struct settings_error err = { "out of memory" };
	struct settings s;
	uint64_t max, pretouch;
	int code;

	settings_init(&s, options);
	code = b ? settings_parse(&s, q->options, &err) : -ENOMEM;
	if (!code)
		code = settings_size(&s, "max", 1 << 20, UINT64_C(1) << 40, &max, &err);
	if (!code)
		code = settings_size(&s, "pretouch", 0, 1, &pretouch, &err);
	if (!code) {
		b->heap = heap_epsilon_create(max, pretouch);
		code = b->heap ? 0 : -ENOMEM;
	}
	settings_free(&s);
	if (code) {
		snprintf(r->error, sizeof(r->error), "%s", err.text);
		r->code = code;
		free(b);
		return code;
	}
	snprintf(r->options, sizeof(r->options), "max=%llu,pretouch=%llu", (unsigned long long)max,
		 (unsigned long long)pretouch);
	*out = b;
	return 0;
}

struct bench_heap *backend_heap(struct backend *b)
{
	return b->heap;
}

void backend_results(struct backend *b, const struct backend_life *life, size_t lives,
		     struct run_result *r)
{
	uint64_t bytes, objects;

	(void)life;
	(void)lives;
	heap_epsilon_totals(b->heap, &bytes, &objects);
	r->heap_bytes = bytes;
	r->has_collections = true; /* and there were none */
	r->gc_cpu_ms = 0;
}

void backend_close(struct backend *b)
{
	heap_epsilon_destroy(b->heap);
	free(b);
}

void backend_help(void)
{
	settings_help(options, stdout);
}
