/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of perf PMUs that count on a CPU, for all threads that run there. A read of the
 * descriptor returns 8 bytes: the count since it was opened.
 */
#ifndef SOURCE_PMU_H
#define SOURCE_PMU_H

#include <stdint.h>

/**
 * struct pmu_event - which counter
 * @type: the PMU's number, from its file "type"; 0 none
 * @config: the event, as its file in "events" says
 * @cpu: on which CPU, one of its file "cpumask"
 */
struct pmu_event {
	uint32_t type;
	uint64_t config;
	int cpu;
};

/* A descriptor, or -errno: -EACCES and -EPERM if CAP_PERFMON is missing. */
int pmu_open(const struct pmu_event *event);

#endif
