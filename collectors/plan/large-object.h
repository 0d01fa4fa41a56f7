/* SPDX-License-Identifier: MIT */
/* Large objects of mutators, under every plan */
#ifndef GC_LARGE_OBJECT_H
#define GC_LARGE_OBJECT_H

#include "../heap/heap.h"

/* A zeroed object of @bytes, or 0. A safepoint, where clearing it takes long. */
uintptr_t gc_large_object(struct gc_thread *t, size_t bytes, bool force);

#endif
