/* SPDX-License-Identifier: MIT */
/* The embedder's callback before an allocation is refused, which longjmp() may leave */
#ifndef GC_OOM_H
#define GC_OOM_H

#include "../heap/heap.h"

/* An allocation is about to be refused: ask the embedder to drop references; true: it did. */
bool gc_oom_call(struct gc_thread *t, size_t bytes);

/* @frame: of a function that the thread called; forget the callback if that shows that it is left. */
void gc_oom_check(struct gc_thread *t, uintptr_t frame);

/*
 * The callback runs on the stack, above which there is the frame that called it: stacks grow
 * downwards. In a function, so that the frame is that function's.
 */
gc_inline void gc_oom_notice(struct gc_thread *t)
{
	if (unlikely(t->oom_frame))
		gc_oom_check(t, (uintptr_t)__builtin_frame_address(0));
}

#endif
