/* SPDX-License-Identifier: GPL-2.0-only */
/* What all sessions can read: the information page, and an entry a CPU. */
#ifndef _GCHINT_INFO_H
#define _GCHINT_INFO_H

#include <linux/types.h>
#include <linux/wait.h>

struct cpufreq_policy;
struct page;

extern wait_queue_head_t gchint_info_wait;

int gchint_info_init(void);
void gchint_info_exit(void);
struct page *gchint_info_page(void);
unsigned long gchint_info_cpus_size(void);
struct page *gchint_info_cpus_page(unsigned long n);
u32 gchint_info_generation(void);
void gchint_info_refresh(void);
void gchint_info_follow(void);
void gchint_info_clear_khz(void);
void gchint_info_queue_refresh(void);
void gchint_info_set_governed(u32 phases);
void gchint_info_set_recorded(u32 phases);

/* Probes of the tracepoints cpu_frequency and cpu_frequency_limits. */
void gchint_info_probe_frequency(void *data, unsigned int khz, unsigned int cpu);
void gchint_info_probe_limits(void *data, struct cpufreq_policy *policy);

#endif /* _GCHINT_INFO_H */
