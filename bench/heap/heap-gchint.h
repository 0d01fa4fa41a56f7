/* SPDX-License-Identifier: MIT */
/* The bundled collectors: names only, every call is the embedder API's own. */
#ifndef BENCH_HEAP_GCHINT_H
#define BENCH_HEAP_GCHINT_H

#include <gchint/gc.h>

#define bench_heap  gc_heap
#define heap_thread gc_mutator
#define heap_type   gc_type
#define heap_frame  gc_frame

#define HEAP_HEADER struct gc_header header;
#define HEAP_LENGTH struct gc_header header;
#define HEAP_PUSH   GC_PUSH
#define HEAP_POP    GC_POP

#define heap_alloc   gc_alloc_sized
#define heap_array   gc_alloc_array
#define heap_store   gc_write
#define heap_init    gc_init
#define heap_poll    gc_safepoint
#define heap_park    gc_park
#define heap_unpark  gc_unpark
#define heap_collect gc_collect

#endif
