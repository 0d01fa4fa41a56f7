// SPDX-License-Identifier: MIT
#include "oom.h"

void gc_oom_callback(struct gc_heap *heap,
		     bool (*fn)(struct gc_mutator *m, size_t bytes, enum gc_refusal why, void *arg),
		     void *arg)
{
	pthread_mutex_lock(&heap->roots.lock);
	heap->oom = fn;
	heap->oom_arg = arg;
	pthread_mutex_unlock(&heap->roots.lock);
}

static bool roots_are_left(const struct gc_mutator *m, const struct gc_frame *roots)
{
	for (const struct gc_frame *frame = m->frames; frame; frame = frame->prev)
		if (frame == roots)
			return false;
	return roots;
}

void gc_oom_check(struct gc_thread *t, uintptr_t frame)
{
	if (!GC_NEEDED(16))
		return;
	if (frame >= t->oom_frame || roots_are_left(&t->m, t->oom_roots))
		t->oom_frame = 0;
}

bool gc_oom_call(struct gc_thread *t, size_t bytes)
{
	struct gc_heap *heap = t->heap;
	bool (*fn)(struct gc_mutator * m, size_t bytes, enum gc_refusal why, void *arg);
	enum gc_refusal why = t->refused;
	bool again;
	void *arg;

	pthread_mutex_lock(&heap->roots.lock);
	fn = heap->oom;
	arg = heap->oom_arg;
	pthread_mutex_unlock(&heap->roots.lock);
	if (!fn || t->oom_frame)
		return false;
	t->oom_frame = (uintptr_t)__builtin_frame_address(0);
	t->oom_roots = t->m.frames;
	again = fn(&t->m, bytes, why, arg);
	t->oom_frame = 0;
	t->refused = why;
	return again;
}
