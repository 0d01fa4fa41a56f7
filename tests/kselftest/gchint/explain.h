/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Why a clock is where it is, for the log of a test that wants it elsewhere. */
#ifndef EXPLAIN_H
#define EXPLAIN_H

/**
 * explain() - print who has what in force on a CPU
 * @cpu: the CPU
 *
 * What the hardware holds, what cpufreq's files say of the policy, the module's last
 * decision, and its tables of sessions, switches and time in phases.
 */
void explain(int cpu);

#endif
