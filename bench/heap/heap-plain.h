/* SPDX-License-Identifier: MIT */
/* Plain frames and stores, for heaps without barriers and safepoints. */
#ifndef BENCH_HEAP_PLAIN_H
#define BENCH_HEAP_PLAIN_H

struct heap_thread;

struct heap_frame {
	char none[0];
};

#define HEAP_PUSH(t, f) ((void)(t), (void)__builtin_memset(&(f), 0, sizeof(f)))
#define HEAP_POP(t, f)	((void)(t), (void)&(f))

static inline void heap_store(struct heap_thread *t, void *obj, void *slot, void *value)
{
	(void)t;
	(void)obj;
	*(void **)slot = value;
}

static inline void heap_init(void *slot, void *value)
{
	*(void **)slot = value;
}

static inline void heap_poll(struct heap_thread *t)
{
	(void)t;
}

static inline void heap_park(struct heap_thread *t)
{
	(void)t;
}

static inline void heap_unpark(struct heap_thread *t)
{
	(void)t;
}

#endif
