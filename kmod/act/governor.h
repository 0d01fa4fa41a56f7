/* SPDX-License-Identifier: GPL-2.0-only */
/* The cpufreq governor "gchint". */
#ifndef _GCHINT_GOVERNOR_H
#define _GCHINT_GOVERNOR_H

int gchint_governor_init(void);
void gchint_governor_exit(void);

#endif /* _GCHINT_GOVERNOR_H */
