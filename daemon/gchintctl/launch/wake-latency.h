/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A limit on the time that a CPU takes to leave an idle state (PM QoS). */
#ifndef GCHINTCTL_WAKE_LATENCY_H
#define GCHINTCTL_WAKE_LATENCY_H

/**
 * wake_latency_limit - keep all CPUs out of idle states that take longer to leave
 * @us: microseconds, as text; 0: CPUs only poll
 *
 * The kernel holds the limit while the descriptor is open, and no longer: nothing remains of it
 * if we are killed. Needs the right to write /dev/cpu_dma_latency (root). A program that is
 * executed does not have it. Returns an exit code; on failure it has printed the reason.
 */
int wake_latency_limit(const char *us);

#endif
