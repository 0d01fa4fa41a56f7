/* SPDX-License-Identifier: GPL-2.0-only */
/* The generic netlink family "gchint". */
#ifndef _GCHINT_NETLINK_H
#define _GCHINT_NETLINK_H

int gchint_netlink_init(void);
void gchint_netlink_exit(void);

#endif /* _GCHINT_NETLINK_H */
