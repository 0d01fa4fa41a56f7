/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scans of the sources that measure power or energy, for rails_list(). */
#ifndef SOURCE_SCANS_H
#define SOURCE_SCANS_H

struct rails;

void hwmon_scan(struct rails *rails);
void iio_scan(struct rails *rails);
void powercap_scan(struct rails *rails);

#endif
