/* SPDX-License-Identifier: MIT */
#ifndef LAB_WARM_H
#define LAB_WARM_H

#include <gchint/gc.h>

/** warm_watch - watch the allocation of @watched, if LAB_WARM is set */
void warm_watch(const struct gc_heap *watched);

#endif
