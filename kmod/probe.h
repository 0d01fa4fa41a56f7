/* SPDX-License-Identifier: GPL-2.0-only */
/* Which of the kernel's tracepoints are listened to, and when. */
#ifndef _GCHINT_PROBE_H
#define _GCHINT_PROBE_H

int gchint_probe_init(void);
void gchint_probe_exit(void);
int gchint_probe_need(void);
void gchint_probe_relax(void);
void gchint_probe_changed(void);

#endif /* _GCHINT_PROBE_H */
