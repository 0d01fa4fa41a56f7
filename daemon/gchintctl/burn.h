/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a machine is given to do while it is measured: busy CPUs, a chase through memory. */
#ifndef GCHINTCTL_BURN_H
#define GCHINTCTL_BURN_H

#include <stddef.h>
#include <stdint.h>

#include "../common/root.h"

struct burn;

/* Makes each of these CPUs busy with arithmetic until burn_end(). NULL: one could not be. */
struct burn *burn_begin(const unsigned int *cpu, size_t nr);
/* ns that they have run on a CPU so far, all together. */
uint64_t burn_ns(const struct burn *b);
void burn_end(struct burn *b);

struct chase;

/* A ring through more than the last cache of that CPU; NULL without memory. */
struct chase *chase_new(const struct root *root, unsigned int cpu);
/* ns of a load that waits for the one before, by the calling thread on that CPU; < 0: not there. */
double chase_run(struct chase *c, unsigned int cpu);
void chase_free(struct chase *c);

#endif
