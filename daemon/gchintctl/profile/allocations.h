/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which code allocates: stacks with bytes, as adapters write them and recordings keep them. */
#ifndef GCHINTCTL_ALLOCATIONS_H
#define GCHINTCTL_ALLOCATIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "../../recording/reader/recording.h"

/**
 * allocations_store - add what programs sampled to a recording
 * @file: the recording; its recorder must have ended
 * @directory: where adapters found in GCHINT_ALLOCATIONS that they shall write
 *
 * Removes the files. Returns false after reporting an error, also that there is none.
 */
bool allocations_store(const char *file, const char *directory);

/* Prints tables by function and by stack. Returns an exit code, as the next one does. */
int allocations_report(const struct recording *rec, size_t lines);
/* Writes folded stacks with their bytes, one a line, for flame graphs. */
int allocations_fold(const struct recording *rec, FILE *f);

#endif
