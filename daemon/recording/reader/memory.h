/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of what is loaded from a recording. */
#ifndef RECORDING_READER_MEMORY_H
#define RECORDING_READER_MEMORY_H

#include "recording.h"

/* Reports it, and returns false. */
bool recording_no_memory(const struct recording *rec);

/* Makes room for one more in *@array of @nr elements of @size; the capacity doubles. */
bool recording_grow(void *array, size_t nr, size_t size);

#endif
