/* SPDX-License-Identifier: MIT */
/* The budget of bytes that triggers collections. */
#ifndef GC_BUDGET_H
#define GC_BUDGET_H

#include "heap.h"

bool gc_budget_take(struct gc_heap *heap, size_t bytes, bool force);
/* The same through the thread's credit, so that small runs do not contend for the counter. */
bool gc_budget_spend(struct gc_thread *t, size_t bytes, bool force);
/* The world is stopped, or on the thread itself: credit and counts return to the heap. */
void gc_budget_return(struct gc_thread *t);
/* Bytes of a run worth granting now: small under stress, so that triggers are exact. */
size_t gc_budget_grant(const struct gc_heap *heap, size_t want);

#endif
