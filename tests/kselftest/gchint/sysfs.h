/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Files of cpufreq, of the governor and of the module. */
#ifndef SYSFS_H
#define SYSFS_H

#include <stdbool.h>
#include <stddef.h>

#define CPUFREQ "/sys/devices/system/cpu/cpufreq"
#define MAX_POLICIES 512
#define MAX_OPPS 32
#define PLUG_US 500000

/**
 * file_put() - write a text into a file
 *
 * A file of tracefs is emptied before, like one on a disk; "" only empties it.
 *
 * Return: 0 or -errno of open or write.
 */
int file_put(const char *path, const char *text);

/**
 * file_get() - first line of a file, without its end
 * Return: length or -errno; @text is then empty.
 */
int file_get(const char *path, char *text, size_t size);

/**
 * cpu_plug() - start or stop a CPU
 *
 * A stopped CPU stays so for at least PLUG_US. QEMU stops a CPU of an i.MX6
 * when that CPU's thread next runs; a start that comes before is refused ("is
 * already on", -d guest_errors), and then no later one is seen either.
 *
 * Return: 0 or -errno.
 */
int cpu_plug(int cpu, bool online);

/* The same for policyN/FILE. */
int policy_put(int policy, const char *file, const char *text);
int policy_get(int policy, const char *file, char *text, size_t size);
long policy_number(int policy, const char *file);

/**
 * policies() - numbers of all policies, ascending
 * Return: how many.
 */
int policies(int *numbers, int max);

/**
 * policy_of() - the policy that a CPU belongs to
 * Return: its number, or -ENODEV.
 */
int policy_of(int cpu);

/** has_table() - does the driver list a policy's frequencies? */
bool has_table(int policy);

/**
 * opps() - frequencies of a policy in kHz, ascending
 *
 * Where the driver has no table, some steps over its range.
 *
 * Return: how many.
 */
int opps(int policy, long *khz, int max);

/**
 * tunable_put() - write a tunable of the governor
 * @policy: one of the policies; all change where the driver shares them
 */
int tunable_put(int policy, const char *name, const char *text);
int tunable_get(int policy, const char *name, char *text, size_t size);

/* The same for a parameter of the module. */
int parameter_put(const char *name, const char *text);
int parameter_get(const char *name, char *text, size_t size);

/**
 * governor_save() - remember the governor of each policy
 * governor_all() - set one governor everywhere; 0 or -errno
 * governor_restore() - restore what governor_save() remembered
 */
void governor_save(void);
int governor_all(const char *name);
void governor_restore(void);

#endif
