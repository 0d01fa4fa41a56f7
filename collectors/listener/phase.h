/* SPDX-License-Identifier: MIT */
/* Edges of the cycle under way and of mutators' pauses, for the listener. */
#ifndef GC_PHASE_H
#define GC_PHASE_H

#include "../heap/heap.h"

#define GC_EDGE(name) offsetof(struct gc_listener_ops, name)

void gc_phase_begin(struct gc_heap *heap, enum gc_phase phase, uint64_t total);
void gc_phase_end(struct gc_heap *heap);
void gc_phase_work(struct gc_heap *heap, uint64_t done);
void gc_phase_cycle(struct gc_heap *heap, bool begin);
void gc_phase_stop(struct gc_heap *heap, size_t edge);
void gc_phase_trim(struct gc_heap *heap, bool begin, uint64_t done, uint64_t begin_ns);
void gc_phase_daemon(struct gc_heap *heap, bool up);
/* @t begins or ceases to be a mutator: called on its own thread, while no stop waits for it. */
void gc_phase_mutator(struct gc_thread *t, bool up);
void gc_phase_help(struct gc_thread *t, bool begin, uint64_t *begin_ns);
/* @t has kept the world waiting for @ns: notify the listener and print to stderr. */
void gc_phase_stalled(struct gc_thread *t, uint64_t ns);
void gc_pause_begin(struct gc_thread *t, enum gc_pause pause, uint64_t *begin_ns);
void gc_pause_end(struct gc_thread *t, enum gc_pause pause, uint64_t begin_ns);

#endif
