/* SPDX-License-Identifier: GPL-2.0-only */
/* /sys/kernel/debug/gchint */
#ifndef _GCHINT_DEBUGFS_H
#define _GCHINT_DEBUGFS_H

void gchint_debugfs_init(void);
void gchint_debugfs_exit(void);

#endif /* _GCHINT_DEBUGFS_H */
