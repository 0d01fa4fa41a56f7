/* SPDX-License-Identifier: MIT */
/* All workloads, from workloads.list. Workloads themselves do not use it. */
#ifndef BENCH_REGISTRY_H
#define BENCH_REGISTRY_H

#include "workloads/workload.h"

/** registry_find() - by name; NULL if there is none. */
const struct workload *registry_find(const char *name);
/** registry_at() - the @i-th in order of names; NULL past the last. */
const struct workload *registry_at(size_t i);

#endif
