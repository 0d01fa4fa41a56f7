/* SPDX-License-Identifier: GPL-2.0-only */
/* The generic netlink family "gchint", and /sys/kernel/debug/gchint. */
#ifndef _GCHINT_INTERFACE_H
#define _GCHINT_INTERFACE_H

int gchint_netlink_init(void);
void gchint_netlink_exit(void);
void gchint_debugfs_init(void);
void gchint_debugfs_exit(void);

#endif /* _GCHINT_INTERFACE_H */
