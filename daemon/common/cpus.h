/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many CPUs a machine can have. */
#ifndef GCHINT_CPUS_H
#define GCHINT_CPUS_H

/* CPU numbers are below this on every architecture: the highest CONFIG_NR_CPUS, that of x86. */
#define CPUS_MAX 8192

/* A list of all of them, as sysfs prints it: one number and one separator each. */
#define CPUS_TEXT (CPUS_MAX * 5 + 1)

#endif
