/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef ANALYSIS_STATS_H
#define ANALYSIS_STATS_H

#include <stddef.h>

/* Two-sided 95 % quantile of Student's t with @df degrees of freedom. */
double stats_t95(size_t df);

/* Number of decimals, 0 to 6, that shows two significant digits of @fine; 2 if that is 0. */
int stats_decimals(double fine);

#endif
