/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GCHINTCTL_STATS_H
#define GCHINTCTL_STATS_H

#include <stddef.h>

/* Two-sided 95 % quantile of Student's t with @df degrees of freedom. */
double stats_t95(size_t df);

#endif
