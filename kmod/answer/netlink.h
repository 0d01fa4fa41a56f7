/* SPDX-License-Identifier: GPL-2.0-only */
/* The generic netlink family "gchint". */
#ifndef _GCHINT_NETLINK_H
#define _GCHINT_NETLINK_H

#include <linux/types.h>

int gchint_netlink_init(void);
void gchint_netlink_exit(void);
unsigned int gchint_netlink_recorders(void);

#endif /* _GCHINT_NETLINK_H */
