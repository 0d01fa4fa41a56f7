/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that load a recording have in common. */
#ifndef GCHINTCTL_RUN_PARTS_H
#define GCHINTCTL_RUN_PARTS_H

#include "run.h"

/* Tells it, and returns false. */
bool run_no_memory(const struct run *run);

/* Room for one more in *@array, of @nr elements of @size; doubles. */
bool run_grow(void *array, size_t nr, size_t size);

/* False without memory, told. */
bool run_load_rails(struct run *run);

#endif
