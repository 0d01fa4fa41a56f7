/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loads that run during a measurement: busy CPUs, and a pointer chase through memory. */
#ifndef GCHINTCTL_WORKLOAD_H
#define GCHINTCTL_WORKLOAD_H

#include <stddef.h>
#include <stdint.h>

#include "../../common/root.h"

struct burn;

/* Keeps each of these CPUs busy with arithmetic until burn_end(). NULL if a thread cannot start. */
struct burn *burn_begin(const unsigned int *cpu, size_t nr);
/* CPU time of all these threads so far, in ns. */
uint64_t burn_ns(const struct burn *b);
void burn_end(struct burn *b);

struct chase;

/* A ring of memory larger than that CPU's last-level cache; NULL without memory. */
struct chase *chase_new(const struct root *root, unsigned int cpu);
/* Mean ns of a dependent load by the calling thread on that CPU; < 0 if it cannot run there. */
double chase_run(struct chase *c, unsigned int cpu);
void chase_free(struct chase *c);

#endif
