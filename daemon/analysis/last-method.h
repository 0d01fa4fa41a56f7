/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The method that a program ran last before an instant, by its samples. */
#ifndef ANALYSIS_LAST_METHOD_H
#define ANALYSIS_LAST_METHOD_H

#include "../recording/reader/recording.h"

/* A sample that is older says nothing about what caused the collection. */
#define LAST_METHOD_NS 100000000ull

/**
 * last_method_find - find the method of the latest sample of a thread in no phase
 * @rec: the recording
 * @tgid: the process
 * @t: the instant
 * @name: receives the innermost named method of that sample, or of the one before it if that has none
 * @size: bytes of @name
 *
 * Returns false if there is none within LAST_METHOD_NS.
 */
bool last_method_find(const struct recording *rec, int32_t tgid, uint64_t t, char *name,
		      size_t size);

#endif
