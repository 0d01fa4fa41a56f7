/* SPDX-License-Identifier: MIT */
/* The budget that triggers collections, and what is left of it. */
#ifndef GC_BUDGET_H
#define GC_BUDGET_H

#include "heap.h"

bool gc_budget_take(struct gc_heap *heap, size_t bytes, bool force);
/* The same through the thread's credit, for runs that are small. */
bool gc_budget_spend(struct gc_thread *t, size_t bytes, bool force);
/* World stopped or own thread: credit and counts go to the heap. */
void gc_budget_return(struct gc_thread *t);
/* Bytes of a run worth granting now: small under stress, so that triggers are exact. */
size_t gc_budget_grant(const struct gc_heap *heap, size_t want);

#endif
