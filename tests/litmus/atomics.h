/* SPDX-License-Identifier: MIT */
/* Included before every modelled source: its atomics go to model.c. */
#ifndef LITMUS_ATOMICS_H
#define LITMUS_ATOMICS_H

#include "model.h"

#define __atomic_store_n(p, v, order)                                                              \
	do {                                                                                       \
		__typeof__(*(p)) model_value = (v);                                                \
		model_store((const volatile void *)(p), sizeof(*(p)), (uintptr_t)model_value,      \
			    order);                                                                \
	} while (0)
#define __atomic_load_n(p, order)                                                                  \
	((__typeof__(*(p)))(uintptr_t)model_load((const volatile void *)(p), sizeof(*(p)), order))
#define __atomic_thread_fence(order) model_fence(order)

#ifdef LITMUS_KERNEL
#include "host.h"
#undef READ_ONCE
#define READ_ONCE(x)                                                                               \
	((__typeof__(x))model_load((const volatile void *)&(x), sizeof(x), __ATOMIC_RELAXED))
#endif

#endif
