/* SPDX-License-Identifier: MIT */
/* The most bytes that the heap may hold: max=, or less where a control group's limit is lower. */
#ifndef GC_LIMIT_H
#define GC_LIMIT_H

#include <gchint/gc.h>

#include "../options/options.h"

/* limit=cgroup without max=: whatever the limit becomes, the address space is to suffice. */
void gc_limit_options(struct gc_options *opt);
/* Before the spaces are made; 0, -ENOMEM, -EMFILE or -ENFILE */
int gc_limit_init(struct gc_heap *heap);
void gc_limit_fini(struct gc_heap *heap);
/* A cycle begins: read the limit again, if it may matter by now. */
void gc_limit_begin(struct gc_heap *heap);
/* It ended: return free pages to the system if the limit was lowered below what they held. */
void gc_limit_end(struct gc_heap *heap);

#endif
