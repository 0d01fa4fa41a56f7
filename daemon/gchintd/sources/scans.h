/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The channels of those sources that measure power or energy, see rails_list(). */
#ifndef GCHINTD_SCANS_H
#define GCHINTD_SCANS_H

struct rails;

void hwmon_scan(struct rails *rails);
void iio_scan(struct rails *rails);
void powercap_scan(struct rails *rails);

#endif
