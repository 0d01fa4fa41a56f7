/* SPDX-License-Identifier: MIT */
/* Identity hashes of objects that may move: gc_identity_hash(). */
#ifndef GC_HASH_H
#define GC_HASH_H

#include "weak.h"

/*
 * World stopped, after tracing and before sweeping: drop entries of dead objects and update the
 * addresses of moved ones.
 */
void gc_hash_update(struct gc_heap *heap, gc_alive_fn alive);
void gc_hash_fini(struct gc_heap *heap);

#endif
