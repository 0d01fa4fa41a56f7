/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Why a clock is where it is, for the log of a failed expectation. */
#ifndef EXPLAIN_H
#define EXPLAIN_H

/**
 * explain() - print everything that affects a CPU's frequency
 * @cpu: the CPU
 *
 * What the hardware reports, cpufreq's files of the policy, the module's last
 * decision, and its tables of sessions, switches and time in phases.
 */
void explain(int cpu);

#endif
