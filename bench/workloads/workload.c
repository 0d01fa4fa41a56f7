// SPDX-License-Identifier: MIT
#include "workloads/workload.h"

#include <unistd.h>

int workload_threads(struct bench *b, struct settings_error *err)
{
	uint64_t n;
	int code = settings_size(&b->settings, "threads", 0, WORKLOAD_THREADS_MAX, &n, err);

	if (code)
		return code;
	if (!n) {
		long cpus = sysconf(_SC_NPROCESSORS_ONLN);

		n = cpus < 1			? 1 :
		    cpus > WORKLOAD_THREADS_MAX ? WORKLOAD_THREADS_MAX :
						  (uint64_t)cpus;
	}
	b->threads = (int)n;
	return 0;
}

const struct heap_type *workload_type(struct bench *b, const struct heap_kind *kind,
				      struct settings_error *err)
{
	const struct heap_type *type = heap_register(b->heap, kind);

	if (!type && err)
		snprintf(err->text, sizeof(err->text), "the heap refuses the type '%s'",
			 kind->name);
	return type;
}

uintptr_t workload_method(const char *name)
{
	return gchint_is_profiled() ? gchint_symbol_add(0, 0, name) : 0;
}

void totals_merge(const struct totals *t, struct bench *b)
{
	atomic_fetch_add(&b->allocated_bytes, t->bytes);
	atomic_fetch_add(&b->allocated_objects, t->objects);
	atomic_fetch_add(&b->checksum, t->checksum);
}
