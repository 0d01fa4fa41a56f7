/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_DAEMON_UNIT_H
#define TESTS_DAEMON_UNIT_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>

/* One TAP line. */
void unit_check(bool good, const char *name);
#define CHECK(good, name) unit_check(good, name)

/* A text that t-rows.sh checks; false: none of that name. */
bool unit_print(const char *what, const char *path);

/* perf_event_open() of samples, as syscall() returns it. */
struct perf_event_attr;
long unit_hotspots_open(const struct perf_event_attr *attr, int tid);
long unit_hotspots_queue(int pid, int tid, int number, const siginfo_t *info);
long unit_power_open(const struct perf_event_attr *attr, int tid, int cpu, int group,
		     unsigned long flags);
/* Whether the last call goes there. */
extern bool unit_power_asked;
long unit_probes_open(const struct perf_event_attr *attr, int tid, int cpu, int group,
		      unsigned long flags);
/* bpf(), as syscall() returns it. */
union bpf_attr;
long unit_tunnel_bpf(int command, const union bpf_attr *attr);
/* Whether calls go there. */
extern bool unit_tunnel_asked;
int unit_probes_ioctl(int fd, unsigned long request, void *argument);
/* Whether these calls go there. */
extern bool unit_probes_asked;
/* fcntl() that sets the thread which gets samples' signals; false: another call. */
bool unit_hotspots_owner(int command, const void *argument);

/* After that many more allocations one fails; -1: none does. */
void unit_memory_left(long allocations);
/* One has failed since. */
bool unit_memory_failed(void);

/* Removes the directory @dir with everything in it. */
void unit_remove(const char *dir);

void unit_advice(void);
void unit_calibration(void);
void unit_capture(void);
void unit_child(void);
void unit_commands(void);
void unit_config(void);
void unit_counter(void);
void unit_cpus(void);
void unit_endpoint(void);
void unit_energy(void);
void unit_estimate(void);
void unit_findings(void);
void unit_genl(void);
void unit_go(void);
void unit_context(void);
void unit_hotplug(void);
void unit_hotspots(void);
void unit_hsperf(void);
void unit_jitmap(void);
void unit_library(void);
void unit_lock(void);
void unit_loop(void);
void unit_measure(void);
void unit_maps(void);
void unit_memory(void);
void unit_message(void);
void unit_names(void);
void unit_overlap(void);
void unit_pauses(void);
void unit_perf(void);
void unit_power(void);
void unit_probes(void);
void unit_rail(void);
void unit_roles(void);
void unit_resolve(void);
void unit_scarce(void);
void unit_screen(void);
void unit_service(void);
void unit_stacks(void);
void unit_store(void);
void unit_symbols(void);
void unit_thermal(void);
void unit_tracker(void);
void unit_tunnel(void);
void unit_writer(void);

#endif
