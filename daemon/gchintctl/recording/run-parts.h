/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Helpers of the files that load a recording. */
#ifndef GCHINTCTL_RUN_PARTS_H
#define GCHINTCTL_RUN_PARTS_H

#include "recording.h"

/* Reports it, and returns false. */
bool run_no_memory(const struct run *run);

/* Makes room for one more in *@array of @nr elements of @size; the capacity doubles. */
bool run_grow(void *array, size_t nr, size_t size);

/* Returns false without memory, after reporting it. */
bool run_load_rails(struct run *run);

#endif
